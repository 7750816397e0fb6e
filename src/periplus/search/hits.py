"""Where words of a query stand in a text, without analysing all of it.

The letters that all forms of a word begin with are looked for by a kernel, in all texts of a page of results at once;
only what follows such a beginning is analysed, and every spelling only once (``spellings.py``).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from functools import cache
from struct import Struct as Layout
from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.index.analysis import STEM_MARK
from periplus.index.analysis.words import has_unspaced
from periplus.index.query import STRONG_SHARE
from periplus.search.spellings import UNKNOWN, judged, language_name, language_numbers, shared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.query import TermForm
    from periplus.search.plan import QueryWord

MAX_PLACES = 16  # where one beginning may stand in one text
MAX_TEXT = 50_000  # code points of a text that are looked at
_SPAN, _PLACE, _HIT = 4, 3, 5  # numbers of a text, a place and a hit, as kernels have them
BARE_CODES = 0x2000  # code points of the scripts that have capitals and accents
_ACCENTED = re.compile("[\u00c0-\u024f\u0370-\u03ff\u0400-\u045f\u1e00-\u1fff]")  # letters that have a bare form
_PLAIN = re.compile(r"[\x00-\x7f]*")

_two = Layout("2q").pack

LetterArray = np.ndarray[Any, np.dtype[np.uint32]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]

_NOTHING = np.zeros(0, np.int64)


class Hit(NamedTuple):
    start: int
    end: int
    word: int  # of the query
    is_stop: bool  # a stop word of the text's language


class Begins(NamedTuple):
    """The strong terms of a word, and the letters that these begin with."""

    terms: list[str]
    hashes: bytes  # how many terms, and the hash of each: as kernels take them
    beginnings: list[bytes]  # of each how many letters, whether it stands only at the start of a word, the letters


class Wanted(Struct, frozen=True):
    """The words of a query as texts are searched for them."""

    beginnings: int
    packed: IntArray  # how many beginnings and words; the terms of each word; the beginnings
    weights: FloatArray  # of each word


def wanted(words: Sequence[QueryWord], weights: Sequence[float]) -> Wanted:
    return sought([begins(word.forms, word.prefix) for word in words], weights)


def sought(words: Sequence[Begins], weights: Sequence[float]) -> Wanted:
    """The same from what each word begins with."""
    beginnings = dict.fromkeys([beginning for word in words for beginning in word.beginnings])
    packed = b"".join([_two(len(beginnings), len(words)), *[word.hashes for word in words], *beginnings])
    return Wanted(len(beginnings), np.frombuffer(packed, np.int64), np.array(weights, np.float64))


def begins(forms: tuple[TermForm, ...], prefix: str) -> Begins:
    """The strong terms of a word, and the letters they begin with; those of each when few are common (synonyms)."""
    terms = [form.term for form in forms if form.share >= STRONG_SHARE]
    spelled = [prefix] if prefix else list(dict.fromkeys([term.lstrip(STEM_MARK) for term in terms]))
    shared = _common_beginning(spelled)
    several = [shared] if len(shared) > 1 or len(spelled) == 1 else spelled
    plain = [lowered(letters) for letters in map(_plain_part, several) if letters]
    return Begins(terms, pack(f"{1 + len(terms)}q", len(terms), *map(hash, terms)), [_beginning(one) for one in plain])


def _beginning(letters: str) -> bytes:
    """Scripts without spaces have no starts of words."""
    opens_word = letters.isascii() or not has_unspaced(letters)
    return pack(f"{2 + len(letters)}q", len(letters), opens_word, *map(ord, letters))


def _plain_part(letters: str) -> str:
    """The ASCII letters it begins with, where there are enough of them: accents may be written in two ways."""
    if letters.isascii():
        return letters
    plain = _PLAIN.match(letters)
    ascii_part = plain.group() if plain else ""
    return ascii_part if len(ascii_part) > 1 else letters


def _common_beginning(texts: list[str]) -> str:
    if not texts:
        return ""
    least, most = min(texts), max(texts)
    for i, letter in enumerate(least):
        if letter != most[i : i + 1]:
            return least[:i]
    return least


class _Bare(dict[int, str]):
    """A letter's code to that letter without its accent and in lower case, always one letter; filled as they come."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        bare = unicodedata.normalize("NFD", letter.lower())[:1]
        self[code] = bare if len(bare.lower()) == 1 else letter
        return self[code]


_BARE = _Bare()


def lowered(text: str) -> str:
    """``text`` in lower case and without accents, every letter at its place."""
    if text.isascii():
        return text.lower()
    low = text.lower()
    return low if len(low) == len(text) and not _ACCENTED.search(text) else text.translate(_BARE)


@cache
def _bare_table() -> LetterArray:
    """Code point to the same without accent and in lower case, for the scripts that have such letters."""
    return np.array([ord(_BARE[code]) for code in range(BARE_CODES)], np.uint32)


class Texts:
    """Some texts as code points, with the places where words of a query may stand."""

    def __init__(self, packed: bytes, spans: IntArray, query: Wanted) -> None:
        """``packed`` holds the texts in UTF-8; ``spans`` tells where, and of their languages."""
        texts = len(spans) // _SPAN
        room = MAX_PLACES * query.beginnings * texts
        spellings = shared()
        self.query = query.packed
        self.entries = spellings.entries
        self.points = np.empty(len(packed) + texts, np.uint32)
        self.ends = np.empty(texts, np.int64)
        places, unknown = np.empty(_PLACE * room, np.int64), np.empty(UNKNOWN * room, np.int64)
        both = _look()(
            np.frombuffer(packed, np.uint8),
            spans,
            self.query,
            _bare_table(),
            MAX_TEXT,
            MAX_PLACES,
            spellings.used,
            self.entries,
            spellings.slots,
            self.points,
            self.ends,
            places,
            unknown,
        )
        self.places = places[: _PLACE * (both & 0xFFFF_FFFF)]
        self.judged = _NOTHING
        if both >> 32:
            unknown = unknown[: UNKNOWN * (both >> 32)]
            self.judged = judged(self._stretches(unknown, spans))
            spellings.keep(self.points, spans, unknown, self.judged)

    @classmethod
    def of(cls, texts: Sequence[str], languages: Sequence[str], query: Wanted) -> Texts:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        spans = array("q")
        end = 0
        for text, language in zip(encoded, languages, strict=True):
            spans.extend((end, end + len(text), *language_numbers(language)))
            end += len(text)
        return cls(b"".join(encoded), np.frombuffer(spans, np.int64), query)

    def _stretches(self, unknown: IntArray, spans: IntArray) -> list[tuple[str, int, str]]:
        """Text, whether case says nothing about it, and language of the spellings that are to be judged."""
        rows, numbers = iter(unknown.tolist()), spans.tolist()
        points = self.points.data.cast("B")
        return [
            (
                str(points[4 * start : 4 * end], "utf-32-le", "surrogatepass"),
                simple,
                language_name(numbers[_SPAN * place + 2], numbers[_SPAN * place + 3]),
            )
            for place, start, end, simple, _ in zip(rows, rows, rows, rows, rows, strict=True)
        ]

    def hits(self) -> list[tuple[int, int, int, int, int]]:
        """Of each hit its start, end and word, whether it is a stop word, and its text; by place."""
        out = np.empty(_HIT * len(self.points), np.int64)
        count = _gather()(self.ends, self.places, self.entries, self.judged, self.query, out)
        numbers = iter(out[: _HIT * count].tolist())
        return list(zip(numbers, numbers, numbers, numbers, numbers, strict=True))


@cache
def _look() -> Callable[..., int]:
    from periplus.search.kernels.texts import look

    return look.entry


@cache
def _gather() -> Callable[..., int]:
    from periplus.search.kernels.hits import gather

    return gather.entry


def hits(text: str, query: Wanted, language: str) -> list[Hit]:
    """Words of the query in ``text``, in any form, by place."""
    return hits_of_all([text], query, [language])[0]


def hits_of_all(several: Sequence[str], query: Wanted, languages: Sequence[str]) -> list[list[Hit]]:
    """The same in each of some texts, at the cost of one."""
    found: list[list[Hit]] = [[] for _ in several]
    if query.beginnings and several:
        for start, end, word, stop, place in Texts.of(several, languages, query).hits():
            found[place].append(Hit(start, end, word, bool(stop)))
    return found
