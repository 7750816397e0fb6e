"""Completion: what people may be about to type, from titles, headings, link texts, site names and past queries.

All entries of a generation stand in one text, and every beginning of a word in them is a row of a sorted table, so a
prefix is a range found by bisection; a kernel weighs the range, passing over blocks of rows that cannot win. Where
few rows begin so, the same is tried with one mistake behind the first letter. Bounds: 50,000 pages by link prior,
``MAX_HOSTS`` sites, ``MAX_TITLE_PARTS`` of a title, ``MAX_ENTRIES`` entries, ``MAX_BEGINNINGS`` of one entry.
"""

from __future__ import annotations

import re
from array import array
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from periplus import addresses
from periplus.records import ADULT_WORDS, Suggestion
from periplus.search.query.text import clean, folded, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from periplus.index import TitledPage

MAX_HOSTS = 50_000
MAX_ENTRIES = 1_000_000
MAX_BEGINNINGS = 8
MAX_CHARACTERS = 70
MAX_TYPED = 60  # bytes
LEAST_CHARACTERS = 2
SUGGESTED_BELOW = 3  # results of a query: then others are suggested
MAX_TITLE_PARTS = 8  # of one page
INSIDE_SHARE = 0.5  # of the weight, when the match is not at the beginning
MISTAKEN_SHARE = 0.1  # of the weight, when there is a mistake in what was typed
ENOUGH = 3  # exact matches: then nothing is taken for a mistake
SITE_WEIGHT, TITLE_WEIGHT, HEADING_WEIGHT, LINK_WEIGHT, ASKED_WEIGHT = 1.5, 1.0, 0.4, 0.3, 0.5
KEY_BYTES = 8  # of a beginning, as one number
KEYS_AT_ONCE = 3  # of these, in one sort of all rows: few are alike so far
_FIRST_BYTES = np.array([(1 << 64) - (1 << 8 * (KEY_BYTES - size)) for size in range(KEY_BYTES + 1)], np.uint64)

_WORD = re.compile(r"\w[\w'’.+#-]*")
_BEGINNING = re.compile(r"\w[\w'’.+#]*")  # also behind a hyphen: "reb" is completed to git-rebase
# 3. Tides · 3.2 Tides · Chapter 5: Tides · Chapter 5 - Tides · Appendix B. Tides · Kapitola 3. Tides · 第3章 Tides
_NUMBERED = re.compile(
    r"(?:§\s*)?\d{1,3}(?:\.\d{1,3})*\.\s+(?=\w)|\d{1,2}(?:\.\d{1,2})+\s+(?=\w)"
    r"|(?:chapter|section|appendix|part|kapitel|abschnitt|anhang|teil|chapitre|annexe|capítulo|capitolo|hoofdstuk)"
    r"\s+(?:\d{1,3}|[a-z]|[ivxlc]{1,6})(?:\.\d{1,3})*(?:[.:]|\s+[–—-])?\s+(?=\w)"
    r"|[^\W\d]{1,10}\.?\s+\d{1,3}\.\s+(?=\w)|第?\s?\d{1,3}\s?[장章]\.?\s+(?=\w)",
    re.IGNORECASE,
)
_TITLE_PARTS = re.compile(r"\s+[|–—·:»-]\s+")

WEIGHT_UNIT = 1 << 20  # weights are added up as whole numbers: the sum does not depend on the order

Entries = dict[str, tuple[str, float]]  # folded text -> as shown, weight


class Titled(Protocol):
    """A collection that knows its hosts and what its best pages are called."""

    @property
    def hosts(self) -> Sequence[str]:
        """In the order of their names."""

    def titled_pages(self) -> Iterable[TitledPage]:
        """The best pages (``index.reading.titles.TITLED_PAGES``), in any order."""


class Completion:
    """The entries of one generation."""

    def __init__(self, entries: Entries) -> None:
        kept = sorted(entries.items(), key=lambda entry: (-entry[1][1], entry[0]))[:MAX_ENTRIES]
        self._count = len(kept)
        self._shown, self._shown_starts = _laid_out([text for _, (text, _) in kept])
        self._text, self._starts = _laid_out([plain for plain, _ in kept])
        self._weights = np.array([weight for _, (_, weight) in kept], np.float32).astype(np.float64)
        rows, offsets = _beginnings([plain for plain, _ in kept])
        order, keys = _sorted(self._text, self._starts, rows, offsets)
        self._keys, self._rows, self._offsets = keys, rows[order], offsets[order]
        self._blocks = _highest(self._weights[self._rows] * np.where(self._offsets, INSIDE_SHARE, 1.0))
        self._table: array[int] | None = None

    @classmethod
    def build(
        cls,
        collection: Titled,
        links: Mapping[str, int] | None = None,
        asked: Mapping[str, int] | None = None,
        blocked: frozenset[str] = frozenset(),
    ) -> Completion:
        """From the pages with the highest link prior, the texts of links and past queries, with their counts.

        Pages and names of hosts that are ``blocked`` say nothing.
        """
        gathered = _Gathered()
        hidden = {addresses.page_key(target) for target in blocked if "://" in target}  # http and https alike
        for page in collection.titled_pages():
            if not ((page.host and page.host in blocked) or page.page_key in hidden):
                worth = 0.2 + page.worth
                for part in title_parts(page.title.title):
                    gathered.add(part, TITLE_WEIGHT * worth)
                for heading in page.title.headings:
                    gathered.add_heading(_unnumbered(clean(heading)), HEADING_WEIGHT * worth)
        for host in collection.hosts[:MAX_HOSTS]:
            if host and host not in blocked:
                gathered.add(addresses.site(host), SITE_WEIGHT)
        for text, count in (links or {}).items():
            if _has_letter(text):
                gathered.add(_unnumbered(clean(text)), LINK_WEIGHT * float(np.log1p(count)))
        for text, count in (asked or {}).items():
            gathered.add(clean(text), ASKED_WEIGHT * float(np.log1p(count)))
        return cls(gathered.entries())

    def __len__(self) -> int:
        return self._count

    def complete(self, text: str, limit: int, never: frozenset[str] = frozenset()) -> list[Suggestion]:
        """Entries with a word that begins as ``text`` does, the heaviest first.

        None has a word of ``never``, or one that is unfit for all ages, unless that was typed whole.
        """
        plain = folded(text)
        typed = plain.encode("utf-8", "replace")[:MAX_TYPED]
        if not typed or limit < 1 or not self._count:
            return []
        hidden = never | (ADULT_WORDS - set(_WORD.findall(plain)))
        found = self._best(typed, 4 * limit + 16)
        return [one for one in found if hidden.isdisjoint(_WORD.findall(folded(one.text)))][:limit]

    def related(self, words: Iterable[str], limit: int, never: frozenset[str] = frozenset()) -> list[Suggestion]:
        """Entries that begin a word with one of ``words``, for a query that found little."""
        found: dict[str, Suggestion] = {}
        for word in words:
            for suggestion in self.complete(word, limit, never):
                found.setdefault(suggestion.text, suggestion)
        return sorted(found.values(), key=lambda s: (-s.weight, s.text))[:limit]

    def _best(self, typed: bytes, limit: int) -> list[Suggestion]:
        complete, room = _kernel()
        table = self._table or self._lay_out()
        memory = array("q", typed.ljust(room, b"\0"))
        best = array("q", bytes(16 * limit))
        given = (memory.buffer_info()[0], len(typed), min(ENOUGH, limit), limit, best.buffer_info()[0])
        found = complete(table.buffer_info()[0], *given, INSIDE_SHARE, MISTAKEN_SHARE)
        worths = memoryview(best).cast("B").cast("d")[limit : limit + found]
        return [Suggestion(self._text_of(entry), round(worth, 6)) for entry, worth in zip(best, worths, strict=False)]

    def _lay_out(self) -> array[int]:
        """Where everything is that kernels ask for."""
        parts = (self._keys, self._rows, self._offsets, self._starts, self._text, self._weights, self._blocks)
        self._table = array("q", [number for part in parts for number in (part.ctypes.data, len(part))])
        return self._table

    def __getstate__(self) -> dict[str, Any]:
        """For another process, where everything is elsewhere."""
        return {**self.__dict__, "_table": None}

    def _text_of(self, entry: int) -> str:
        begin, end = self._shown_starts[entry], self._shown_starts[entry + 1]
        text: str = self._shown[begin:end].tobytes().decode("utf-8")
        return text


@cache
def _kernel() -> tuple[Callable[..., int], int]:
    """With how many bytes it works in."""
    from periplus.core.words import MEMORY, complete

    return complete.entry, 8 * MEMORY


def _laid_out(texts: list[str]) -> tuple[Any, Any]:
    packed = [text.encode("utf-8", "replace") for text in texts]
    starts = np.cumsum([0, *map(len, packed)], dtype=np.int64)
    return np.frombuffer(b"".join(packed), np.uint8), starts


def _beginnings(plain: list[str]) -> tuple[Any, Any]:
    """The entry of each beginning of a word, and where in its bytes that is."""
    rows: list[int] = []
    offsets: list[int] = []
    for entry, text in enumerate(plain):
        places = [match.start() for match in _BEGINNING.finditer(text)][: MAX_BEGINNINGS - 1]
        if not text.isascii():
            places = [len(text[:place].encode("utf-8", "replace")) for place in places]
        found = places if places[:1] == [0] else [0, *places]
        rows += [entry] * len(found)
        offsets += found
    return np.array(rows, np.uint32), np.array(offsets, np.uint32)


def _sorted(text: Any, starts: Any, rows: Any, offsets: Any) -> tuple[Any, Any]:
    """The order of the beginnings by as many bytes as can be compared, and the first eight of each as a number."""
    begins, ends = starts[rows] + offsets, starts[rows.astype(np.int64) + 1]
    windows = np.lib.stride_tricks.sliding_window_view(np.append(text, np.zeros(KEY_BYTES, np.uint8)), KEY_BYTES)
    order = np.arange(len(rows))
    alike = order > 0  # with the row before, in all bytes so far
    for first in range(0, MAX_TYPED + 1, KEYS_AT_ONCE * KEY_BYTES):  # a mistake may be a letter more than was typed
        unsettled = np.flatnonzero(alike | np.append(alike[1:], False))
        if not len(unsettled):
            break
        own = order[unsettled]
        keys = [_keys(windows, begins[own] + first + i * KEY_BYTES, ends[own]) for i in range(KEYS_AT_ONCE)]
        inner = np.lexsort((*keys[::-1], np.cumsum(~alike)[unsettled]))
        order[unsettled] = own[inner]
        for key in keys:
            alike[unsettled[1:]] &= key[inner[1:]] == key[inner[:-1]]
    return order, _keys(windows, begins[order], ends[order])


def _keys(windows: Any, begins: Any, ends: Any) -> Any:
    """The eight bytes from each of these places as a number; behind the end of an entry there are zeros."""
    within = windows[np.minimum(begins, ends)].view(">u8")[:, 0].astype(np.uint64)
    return within & _FIRST_BYTES[np.clip(ends - begins, 0, KEY_BYTES)]


def _highest(worths: Any) -> Any:
    """The highest worth in each block of rows, as the kernel looks at them."""
    from periplus.core.words import BLOCK

    firsts = np.arange(0, len(worths), BLOCK)
    return np.maximum.reduceat(worths, firsts) if len(worths) else np.empty(0)


def title_parts(title: str) -> list[str]:
    """A site's name and the page's own, without the number of its chapter."""
    return [_unnumbered(part) for part in _TITLE_PARTS.split(_unnumbered(clean(title)))[:MAX_TITLE_PARTS]]


def _unnumbered(text: str) -> str:
    number = _NUMBERED.match(text)
    return text[number.end() :] if number else text


def _has_letter(text: str) -> bool:
    return any(sign.isalpha() for sign in text)


class _Gathered:
    """Entries as they come together; in which order they come makes no difference.

    An entry is shown as it is spelt where that weighs most. Headings are added up last: one that many pages have
    (``Constructor Summary``) is no more than one that a page has.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int, str]] = {}  # folded text -> all weights, the largest one, as shown
        self._headings: dict[str, tuple[float, str]] = {}  # folded text -> less the largest weight, as shown there

    def add_heading(self, text: str, weight: float) -> None:
        plain, one = folded(text), (-weight, text)
        if plain in self._headings:
            self._headings[plain] = min(one, self._headings[plain])
        elif _has_letter(text) and len(self._headings) < 2 * MAX_ENTRIES:
            self._headings[plain] = one

    def add(self, text: str, weight: float) -> None:
        shown = shortened(text, MAX_CHARACTERS)
        plain = folded(shown.rstrip("…"))
        known = self._found.get(plain)
        if len(plain) < LEAST_CHARACTERS or (known is None and len(self._found) >= 2 * MAX_ENTRIES):
            return
        units = round(weight * WEIGHT_UNIT)
        if known is None:
            self._found[plain] = (units, units, shown)
        else:
            every, most, spelling = known
            if units > most or (units == most and shown < spelling):
                most, spelling = units, shown
            self._found[plain] = (every + units, most, spelling)

    def entries(self) -> Entries:
        for less, text in self._headings.values():
            self.add(text, -less)
        self._headings.clear()
        return {plain: (shown, units / WEIGHT_UNIT) for plain, (units, _, shown) in self._found.items()}


class Beginnings(Protocol):
    """Who knows the words of a collection."""

    @property
    def prefix(self) -> Callable[[str, int], list[tuple[str, int]]]:
        """The most frequent words that begin so, with their documents."""


def by_words(words: Beginnings, text: str, limit: int, never: frozenset[str] = frozenset()) -> list[Suggestion]:
    """Completions of the last word alone, from the dictionary: while the entries are being gathered."""
    typed = clean(text).casefold()
    before, _, last = typed.rpartition(" ")
    if not last or limit < 1:
        return []
    hidden = never | (ADULT_WORDS - {last})
    return [
        Suggestion(f"{before} {word}".strip(), float(frequency))
        for word, frequency in words.prefix(last, limit)
        if word not in hidden
    ]
