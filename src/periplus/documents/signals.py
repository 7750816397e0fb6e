"""Quality signals of a document, each a number that ranking and the inspector can use.

All are shares or likelihoods in 0..1 unless the README's table says otherwise. They are measured on the first
``_SAMPLE`` words, which is enough to tell a stuffed page from an honest one and keeps long pages cheap.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from periplus.documents import bounds
from periplus.documents.stopwords import STOP_WORDS
from periplus.records import ADULT_WORDS

if TYPE_CHECKING:
    from periplus.documents.reading import Reading
    from periplus.records import Page

_SAMPLE: Final = 1000  # words
_FEWEST: Final = 20  # words below which shares of words say nothing
_UNSPACED: Final = frozenset({"zh", "ja", "th", "lo", "km", "my"})  # written without spaces between words
_CHARS_A_WORD: Final = {"zh": 1.7, "ja": 2.3}  # … and this many characters to a word; others 4.5
_NOT_FOUND: Final = re.compile(
    r"\b404\b|\bnot found\b|\b(?:page|file|document) (?:was |could |can )?(?:not|no longer) (?:be )?(?:found|exists?)"
    r"|\b(?:page|file|document)(?: (?:that )?you(?: are|'re|’re) looking for)? (?:does(?: not|n't|n’t) exist|is gone)"
    r"|seite existiert nicht"
    r"|seite (?:wurde )?nicht gefunden|page (?:introuvable|non trouv)|página (?:no encontrad|não encontrad)"
    r"|pagina (?:non trovat|niet gevonden)|страница не найдена|ページが見つかりません|页面不存在|找不到",
    re.IGNORECASE,
)
_SPACE: Final = 32  # the highest of the bytes that part words: texts hold no other white space, and no controls
_SHORT_PAGE: Final = 150  # words; a page that says "not found" in more is about something


def measure(page: Page, reading: Reading, language: str, lowered: str) -> tuple[int, dict[str, float]]:
    """The number of words in the main text, and all signals; ``lowered`` is the beginning of the text in lower case."""
    count = word_count(reading.text, language)
    signals = dict(reading.signals)
    if len(reading.text) >= bounds.TEXT_CHARS:
        signals["truncated"] = 1.0
    shares = _shares_of(lowered, language)
    if shares:
        signals.update(shares)
        signals["repeated_lines"] = repeated_lines(reading.text)
    if page.status < 300 and (likelihood := soft_404(reading, count)):
        signals["soft_404"] = likelihood
    return count, signals


def word_count(text: str, language: str) -> int:
    """Words in a text; where a script has no spaces, characters by how many a word has on average."""
    spaced = _spaced(text)
    if language not in _UNSPACED:
        return spaced
    return max(spaced, round((len(text) - text.count(" ") - text.count("\n")) / _CHARS_A_WORD.get(language, 4.5)))


def _spaced(text: str) -> int:
    if not text:
        return 0
    if "  " not in text:
        return text.count(" ") + text.count("\n") + 1
    inside = np.frombuffer(b" %b" % text.encode("utf-8", "ignore"), dtype=np.uint8) > _SPACE  # code keeps its spacing
    return int(np.count_nonzero(inside[1:] > inside[:-1]))


def _shares_of(lowered: str, language: str) -> dict[str, float]:
    sample = lowered[: _SAMPLE * 8].split(None, _SAMPLE)[:_SAMPLE]
    return _word_shares(sample, language) if len(sample) >= _FEWEST else {}


def _word_shares(sample: list[str], language: str) -> dict[str, float]:
    counts = Counter(sample)
    total = len(sample)
    stops = STOP_WORDS.get(language, frozenset())
    shares: dict[str, float] = {}
    if stops:
        shares["stop_words"] = sum([counts[word] for word in stops.intersection(counts)]) / total
    repeated = [times for word, times in counts.items() if times > 2 and len(word) > 3 and word not in stops]
    shares["repetition"] = max(repeated, default=1) / total
    if not ADULT_WORDS.isdisjoint(counts):
        shares["adult_words"] = sum([counts[word] for word in ADULT_WORDS]) / total
    return shares


def repeated_lines(text: str) -> float:
    """The share of the text's lines, by length, that stood there before."""
    lines = text[: _SAMPLE * 12].split("\n")
    distinct = set(lines)
    if len(distinct) == len(lines):
        return 0.0
    repeated = sum(map(len, lines)) - sum(map(len, distinct))
    return repeated / max(1, min(len(text), _SAMPLE * 12))


def soft_404(reading: Reading, words: int) -> float:
    """How likely a page that was answered with success says that there is no such page."""
    if words > _SHORT_PAGE:
        return 0.0
    heading = reading.headings[0].text if reading.headings else ""
    in_title = bool(_NOT_FOUND.search(reading.title))
    in_heading = bool(_NOT_FOUND.search(heading))
    in_text = bool(_NOT_FOUND.search(reading.text[:400]))
    return min(1.0, 0.5 * in_title + 0.4 * in_heading + 0.25 * in_text)
