"""Quality signals of a document, each a number that ranking and the inspector can use.

All are shares or likelihoods in 0..1 unless the README's table says otherwise. They are measured on the first
``_SAMPLE`` words, which is enough to tell a stuffed page from an honest one and keeps long pages cheap.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from periplus.documents import bounds
from periplus.documents.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from periplus.documents.reading import Reading
    from periplus.records import Page

_SAMPLE: Final = 1000  # words
_FEWEST: Final = 20  # words below which shares of words say nothing
_UNSPACED: Final = frozenset({"zh", "ja", "th", "lo", "km", "my"})  # written without spaces between words
_CHARS_A_WORD: Final = {"zh": 1.7, "ja": 2.3}  # … and this many characters to a word; others 4.5
_NOT_FOUND: Final = re.compile(
    r"\b404\b|\bnot found\b|\b(?:page|file|document) (?:was |could |can )?(?:not|no longer) (?:be )?(?:found|exists?)"
    r"|seite (?:wurde )?nicht gefunden|page (?:introuvable|non trouv)|página (?:no encontrad|não encontrad)"
    r"|pagina (?:non trovat|niet gevonden)|страница не найдена|ページが見つかりません|页面不存在|找不到",
    re.IGNORECASE,
)
_SHORT_PAGE: Final = 150  # words; a page that says "not found" in more is about something
# Words that hardly occur outside pages for adults; a density, not a verdict.
_ADULT: Final = frozenset({"porn", "porno", "xxx", "hentai", "milf", "camgirls", "pornstar", "pornstars", "upskirt"})


def measure(page: Page, reading: Reading, language: str) -> tuple[int, dict[str, float]]:
    """The number of words in the main text, and all signals."""
    count = word_count(reading.text, language)
    signals = dict(reading.signals)
    if len(reading.text) >= bounds.TEXT_CHARS:
        signals["truncated"] = 1.0
    sample = reading.text[: _SAMPLE * 8].lower().split()[:_SAMPLE]
    if len(sample) >= _FEWEST:
        signals.update(_word_shares(sample, language))
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
    if "  " in text:  # code keeps its spacing
        return len(text.split())
    return text.count(" ") + text.count("\n") + 1 if text else 0


def _word_shares(sample: list[str], language: str) -> dict[str, float]:
    counts = Counter(sample)
    total = len(sample)
    stops = STOP_WORDS.get(language)
    shares: dict[str, float] = {}
    if stops is not None:
        shares["stop_words"] = sum([counts[word] for word in stops.intersection(counts)]) / total
    common = ((times, word) for word, times in counts.items() if times > 2 and len(word) > 3)
    shares["repetition"] = (
        max((times for times, word in common if stops is None or word not in stops), default=1) / total
    )
    if adult := sum([counts[word] for word in _ADULT.intersection(counts)]):
        shares["adult_words"] = adult / total
    return shares


def repeated_lines(text: str) -> float:
    """The share of the text's lines, by length, that stood there before."""
    seen: set[str] = set()
    repeated = 0
    for line in text[: _SAMPLE * 12].split("\n"):
        if line in seen:
            repeated += len(line)
        seen.add(line)
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
