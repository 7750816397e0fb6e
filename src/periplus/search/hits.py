"""Where words of a query stand in a text, without analysing all of it.

The letters that all forms of a word begin with are looked for by a kernel, in all texts of a page of results at once;
only what follows such a beginning is analysed, and every spelling only once.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.index.analysis import STEM_MARK, analyze
from periplus.index.analysis.forms import exact_term, parts, stem_term
from periplus.index.analysis.stemming import base_language
from periplus.index.analysis.words import ascii_pattern, has_unspaced
from periplus.index.query import STRONG_SHARE
from periplus.search.plan import stops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.query import TermForm
    from periplus.search.plan import QueryWord

MAX_PLACES = 16  # where one beginning may stand in one text
STRETCHES_KEPT = 50_000  # analysed for the texts of any query
_PLACE, _SPELLING = 4, 4  # numbers of a place and of a spelling, as the kernel writes them
BARE_CODES = 0x2000  # code points of the scripts that have capitals and accents
_ACCENTED = re.compile("[\u00c0-\u024f\u0370-\u03ff\u0400-\u045f\u1e00-\u1fff]")  # letters that have a bare form
_PLAIN = re.compile(r"[\x00-\x7f]*")


LetterArray = np.ndarray[Any, np.dtype[np.uint32]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]

_NOTHING = np.zeros(0, np.int64)


class Hit(NamedTuple):
    start: int
    end: int
    word: int  # of the query
    is_stop: bool  # a stop word of the text's language


class Beginning(Struct, frozen=True):
    letters: str
    opens_word: bool  # only at the start of a word; scripts without spaces have none
    points: bytes  # the letters as kernels take them


class Begins(NamedTuple):
    """The strong terms of a word, and the letters that these begin with."""

    terms: list[str]
    beginnings: list[Beginning]


class Wanted(Struct, frozen=True):
    """The words of a query as a text is searched for them: each word's terms, its weight, and how it begins."""

    terms: dict[str, int]  # term -> word
    weights: FloatArray
    beginnings: tuple[Beginning, ...]

    def letters(self) -> tuple[LetterArray, IntArray, IntArray]:
        """The beginnings as kernels take them."""
        points, ends, end = [], [], 0
        for beginning in self.beginnings:
            points.append(beginning.points)
            end += len(beginning.letters)
            ends.append(end)
        opens = [beginning.opens_word for beginning in self.beginnings]
        return np.frombuffer(b"".join(points), np.uint32), np.array(ends, np.int64), np.array(opens, np.int64)


def wanted(words: Sequence[QueryWord], weights: Sequence[float]) -> Wanted:
    return sought([begins(word.forms, word.prefix) for word in words], weights)


def sought(words: Sequence[Begins], weights: Sequence[float]) -> Wanted:
    """The same from what each word begins with."""
    terms: dict[str, int] = {}
    beginnings: dict[str, Beginning] = {}
    for place, (strong, several) in enumerate(words):
        for term in strong:
            terms.setdefault(term, place)
        for beginning in several:
            beginnings.setdefault(beginning.letters, beginning)
    return Wanted(terms, np.array(weights, np.float64), tuple(beginnings.values()))


def begins(forms: tuple[TermForm, ...], prefix: str) -> Begins:
    """The strong terms of a word, and the letters they begin with; those of each when few are common (synonyms)."""
    terms = [form.term for form in forms if form.share >= STRONG_SHARE]
    spelled = [prefix] if prefix else list(dict.fromkeys(term.lstrip(STEM_MARK) for term in terms))
    shared = _common_beginning(spelled)
    several = [shared] if len(shared) > 1 or len(spelled) == 1 else spelled
    plain = [lowered(letters) for letters in map(_plain_part, several) if letters]
    return Begins(terms, [Beginning(letters, not has_unspaced(letters), _points(letters)) for letters in plain])


def _points(text: str) -> bytes:
    return text.encode("utf-32-le", "surrogatepass")


def _plain_part(letters: str) -> str:
    """The ASCII letters it begins with, where there are enough of them: accents may be written in two ways."""
    plain = _PLAIN.match(letters)
    ascii_part = plain.group() if plain else ""
    return ascii_part if len(ascii_part) > 1 else letters


def _common_beginning(texts: list[str]) -> str:
    if not texts:
        return ""
    least, most = min(texts), max(texts)
    differing = (i for i, letter in enumerate(least) if i >= len(most) or letter != most[i])
    return least[: next(differing, len(least))]


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
    """Some texts as code points, with the places where words of a query stand."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str], query: Wanted) -> None:
        self.joined = texts[0] if len(texts) == 1 else "\n".join(texts)
        self.points = np.frombuffer(_points(self.joined), np.uint32)
        self.ends = np.array(list(accumulate([len(text) + 1 for text in texts])), np.int64) - 1
        self.places = _NOTHING  # four numbers each: text, place, end of the stretch, its spelling
        self.found: list[int] = []  # the hits of every spelling: start, end, word, whether it is a stop word
        self.found_ends: list[int] = []
        self.most = 0  # hits in one spelling
        if query.beginnings:
            self._look(languages, query)

    def _look(self, languages: Sequence[str], query: Wanted) -> None:
        room = MAX_PLACES * len(query.beginnings) * len(languages)
        places, spellings = np.empty(_PLACE * room, np.int64), np.empty(_SPELLING * room, np.int64)
        both = _kernel()(
            self.points, self.ends, _numbered(languages), _bare_table(), *query.letters(), MAX_PLACES, places, spellings
        )
        self.places = places[: _PLACE * (both & 0xFFFF_FFFF)]
        rows = iter(spellings[: _SPELLING * (both >> 32)].tolist())
        joined, terms, found, ends = self.joined, query.terms, self.found, self.found_ends
        most = 0
        for place, start, end, simple in zip(rows, rows, rows, rows, strict=True):
            before = len(found)
            found += (_in_word if simple else _in_stretch)(joined[start:end], terms, languages[place])
            behind = len(found)
            ends.append(behind >> 2)
            most = max(most, behind - before)
        self.most = most >> 2

    @property
    def arrays(self) -> tuple[LetterArray, IntArray, IntArray, IntArray, IntArray]:
        """As kernels take it."""
        found, found_ends = np.array(self.found, np.int64), np.array(self.found_ends, np.int64)
        return self.points, self.ends, self.places, found, found_ends


@cache
def _kernel() -> Callable[..., int]:
    from periplus.search.kernels.texts import beginnings

    return beginnings.entry


def _numbered(languages: Sequence[str]) -> IntArray:
    if languages.count(languages[0]) == len(languages):
        return np.zeros(len(languages), np.int64)
    known = {language: number for number, language in enumerate(dict.fromkeys(languages))}
    return np.array([known[language] for language in languages], np.int64)


def hits(text: str, query: Wanted, language: str) -> list[Hit]:
    """Words of the query in ``text``, in any form, by place."""
    return hits_of_all([text], query, [language])[0]


def hits_of_all(several: Sequence[str], query: Wanted, languages: Sequence[str]) -> list[list[Hit]]:
    """The same in each of some texts, at the cost of one."""
    if not query.terms or not several:
        return [[] for _ in several]
    texts = Texts(several, languages, query)
    found: list[dict[int, Hit]] = [{} for _ in several]
    begins = [0, *(texts.ends[:-1] + 1).tolist()]
    rows = texts.places.tolist()
    for document, at, spelling in zip(rows[::4], rows[1::4], rows[3::4], strict=True):
        begin = texts.found_ends[spelling - 1] if spelling else 0
        place = at - begins[document]
        for i in range(4 * begin, 4 * texts.found_ends[spelling], 4):
            start, end, word, stop = texts.found[i : i + 4]
            found[document].setdefault(place + start, Hit(place + start, place + end, word, bool(stop)))
    return [[one[start] for start in sorted(one)] for one in found]


def _in_word(stretch: str, terms: dict[str, int], language: str) -> list[int]:
    """The hit that a stretch of letters is, if it is one: the same as ``_in_stretch``, at once."""
    word = stretch.lower()
    place = terms.get(word)
    if place is None:
        place = terms.get(_stemmed(word, language))
    return [] if place is None else [0, len(stretch), place, stops(word, language)]


def _in_stretch(stretch: str, terms: dict[str, int], language: str) -> list[int]:
    plain = stretch.replace("\u2019", "'")  # which the analysis does, too
    if plain.isascii():
        return _in_ascii(plain, stretch, terms, language)
    found: list[int] = []
    for start, end, forms in _analyzed(stretch, language):
        place = next((terms[form] for form in forms if form in terms), None)
        if place is not None:
            found += (start, end, place, stops(stretch[start:end].lower(), language))
    return found


def _in_ascii(plain: str, stretch: str, terms: dict[str, int], language: str) -> list[int]:
    """The same without making forms that no word of the query has: names of programs are mostly met once."""
    found: list[int] = []
    for match in ascii_pattern().finditer(plain):
        word = match[0]
        exact = exact_term(word)
        place = terms.get(exact)
        if place is None:
            place = terms.get(_stemmed(exact, language))
        if place is None and True in [term in exact for term in terms]:
            place = next((terms[part] for part in parts(word) if part in terms), None)
        if place is not None:
            start, end = match.span()
            found += (start, end, place, stops(stretch[start:end].lower(), language))
    return found


@lru_cache(maxsize=STRETCHES_KEPT)
def _stemmed(word: str, language: str) -> str:
    return stem_term(word, base_language(language))


@lru_cache(maxsize=STRETCHES_KEPT)
def _analyzed(stretch: str, language: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """The tokens of a stretch: start, end and terms."""
    return tuple(
        (token.start, token.end, tuple(form.term for form in token.forms)) for token in analyze(stretch, language)
    )
