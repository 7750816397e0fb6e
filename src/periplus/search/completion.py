"""Completion: what people may be about to type, from titles, headings and site names.

All entries of a generation are laid out as one sorted list of their word beginnings, so a prefix is a range found by
bisection: the entry's own beginning first, beginnings of words inside it after. Bounds: ``MAX_DOCUMENTS`` pages by
link prior, ``MAX_ENTRIES`` entries, ``MAX_SCANNED`` matches weighed for one answer.
"""

from __future__ import annotations

import bisect
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus import addresses
from periplus.records import Suggestion
from periplus.search.text import clean, folded, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from periplus.index.snapshot import Snapshot
    from periplus.index.stored import StoredDocument

MAX_DOCUMENTS = 20_000
MAX_ENTRIES = 200_000
MAX_SCANNED = 50_000
MAX_CHARACTERS = 70
LEAST_CHARACTERS = 2
MAX_HEADINGS = 4  # of one page
INSIDE_SHARE = 0.5  # of the weight, when the match is not at the beginning
SITE_WEIGHT, TITLE_WEIGHT, HEADING_WEIGHT = 1.5, 1.0, 0.4

_WORD = re.compile(r"\w[\w'’.+#-]*")
_TITLE_PARTS = re.compile(r"\s+[|–—·:»-]\s+")

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


class Completion:
    """The entries of one generation."""

    def __init__(self, entries: dict[str, tuple[str, float]]) -> None:
        """``entries``: folded text to (text as shown, weight)."""
        kept = sorted(entries.items(), key=lambda entry: (-entry[1][1], entry[0]))[:MAX_ENTRIES]
        self._texts = [text for _, (text, _) in kept]
        self._weights = np.array([weight for _, (_, weight) in kept], dtype=np.float64)
        beginnings = [
            (match_text, place, offset)
            for place, (plain, _) in enumerate(kept)
            for match_text, offset in _beginnings(plain)
        ]
        beginnings.sort()
        self._keys = [text for text, _, _ in beginnings]
        self._places = np.array([place for _, place, _ in beginnings], dtype=np.int64)
        self._inside = np.array([offset > 0 for _, _, offset in beginnings], dtype=np.bool_)

    @classmethod
    def build(cls, snapshot: Snapshot) -> Completion:
        """From the pages with the highest link prior."""
        numbers = snapshot.numbers()
        prior = np.asarray(snapshot.column("prior", numbers), dtype=np.float64)
        best = np.lexsort((numbers, -prior))[:MAX_DOCUMENTS]
        entries: dict[str, tuple[str, float]] = {}
        for number, worth in zip(numbers[best].tolist(), prior[best].tolist(), strict=True):
            for text, weight in _phrases(snapshot.stored(number)):
                _add(entries, text, weight * (0.2 + worth))
        for host in snapshot.host_names()[:MAX_DOCUMENTS]:
            if host:
                _add(entries, addresses.site(host), SITE_WEIGHT)
        return cls(entries)

    def __len__(self) -> int:
        return len(self._texts)

    def complete(self, text: str, limit: int) -> list[Suggestion]:
        """Entries with a word that begins as ``text`` does, the heaviest first."""
        typed = folded(text)
        if not typed or limit < 1:
            return []
        return self._best(*self._range(typed), limit)

    def related(self, words: Iterable[str], limit: int) -> list[Suggestion]:
        """Entries that begin a word with one of ``words``, for a query that found little."""
        found: dict[str, Suggestion] = {}
        for word in words:
            for suggestion in self.complete(word, limit):
                found.setdefault(suggestion.text, suggestion)
        return sorted(found.values(), key=lambda s: (-s.weight, s.text))[:limit]

    def _range(self, typed: str) -> tuple[int, int]:
        low = bisect.bisect_left(self._keys, typed)
        high = bisect.bisect_right(self._keys, typed + "\U0010ffff")
        return low, min(high, low + MAX_SCANNED)

    def _best(self, low: int, high: int, limit: int) -> list[Suggestion]:
        places = self._places[low:high]
        worth = self._weights[places] * np.where(self._inside[low:high], INSIDE_SHARE, 1.0)
        chosen: dict[int, float] = {}
        for i in np.lexsort((places, -worth))[: limit * 8].tolist():
            chosen.setdefault(int(places[i]), float(worth[i]))
            if len(chosen) == limit:
                break
        return [Suggestion(self._texts[place], round(weight, 6)) for place, weight in chosen.items()]


def _beginnings(plain: str) -> Iterator[tuple[str, int]]:
    """The text from each of its words on; shortened, because nobody types so much before choosing."""
    yield plain[:40], 0
    for match in list(_WORD.finditer(plain))[:10]:
        if match.start():
            yield plain[match.start() : match.start() + 40], match.start()


def _phrases(document: StoredDocument) -> Iterator[tuple[str, float]]:
    for part in _TITLE_PARTS.split(clean(document.title)):  # a site's name and the page's own
        yield part, TITLE_WEIGHT
    for heading in document.headings[:MAX_HEADINGS]:
        yield clean(heading.text), HEADING_WEIGHT


def _add(entries: dict[str, tuple[str, float]], text: str, weight: float) -> None:
    shown = shortened(text, MAX_CHARACTERS)
    plain = folded(shown.rstrip("…"))
    if len(plain) < LEAST_CHARACTERS or (plain not in entries and len(entries) >= 2 * MAX_ENTRIES):
        return
    known, worth = entries.get(plain, (shown, 0.0))
    entries[plain] = (known, worth + weight)


def by_words(snapshot: Snapshot, text: str, limit: int) -> list[Suggestion]:
    """Completions of the last word alone, from the dictionary: while the entries are being gathered."""
    typed = clean(text).casefold()
    before, _, last = typed.rpartition(" ")
    if not last or limit < 1:
        return []
    return [
        Suggestion(f"{before} {word}".strip(), float(frequency)) for word, frequency in snapshot.prefix(last, limit)
    ]
