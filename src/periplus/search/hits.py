"""Where words of a query stand in a text, without analysing all of it.

The letters that all forms of a word begin with are looked for by a kernel, in all texts of a page of results at once;
only what follows such a beginning is analysed, and every stretch only once a query.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.analysis import STEM_MARK, analyze
from periplus.index.analysis.words import has_unspaced
from periplus.index.query import STRONG_SHARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.search.plan import QueryWord

MAX_PLACES = 16  # where one beginning may stand in one text
STRETCHES_KEPT = 50_000  # analysed for the texts of any query
BARE_CODES = 0x2000  # code points of the scripts that have capitals and accents
_ACCENTED = re.compile("[\u00c0-\u024f\u0370-\u03ff\u0400-\u045f\u1e00-\u1fff]")  # letters that have a bare form
_PLAIN = re.compile(r"[\x00-\x7f]*")


LetterArray = np.ndarray[Any, np.dtype[np.uint32]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]


Hit = tuple[int, int, int]  # start, end, word of the query


class Beginning(Struct, frozen=True):
    letters: str
    opens_word: bool  # only at the start of a word; scripts without spaces have none


class Wanted(Struct, frozen=True):
    """The words of a query as a text is searched for them: each word's terms, its weight, and how it begins."""

    terms: dict[str, int]  # term -> word
    weights: tuple[float, ...]
    beginnings: tuple[Beginning, ...]
    letters: tuple[LetterArray, IntArray, IntArray]  # the beginnings as kernels take them
    known: dict[tuple[str, str], tuple[Hit, ...]]  # language and stretch -> hits in it, while the query is answered


def wanted(words: Sequence[QueryWord], weights: Sequence[float]) -> Wanted:
    terms: dict[str, int] = {}
    beginnings: dict[str, Beginning] = {}
    for place, word in enumerate(words):
        strong = [form.term for form in word.forms if form.share >= STRONG_SHARE]
        for term in strong:
            terms.setdefault(term, place)
        for letters in map(lowered, _beginnings(word, strong)):
            beginnings.setdefault(letters, Beginning(letters, not has_unspaced(letters)))
    return Wanted(terms, tuple(weights), tuple(beginnings.values()), _as_arrays(list(beginnings.values())), {})


def _as_arrays(beginnings: list[Beginning]) -> tuple[LetterArray, IntArray, IntArray]:
    points = "".join(beginning.letters for beginning in beginnings).encode("utf-32-le", "surrogatepass")
    ends = np.cumsum([len(beginning.letters) for beginning in beginnings], dtype=np.int64)
    opens = np.array([beginning.opens_word for beginning in beginnings], np.int64)
    return np.frombuffer(points, np.uint32), ends, opens


def _beginnings(word: QueryWord, terms: list[str]) -> list[str]:
    """The letters that all forms of a word begin with; where they have too few in common (synonyms), those of each."""
    spelled = [word.prefix] if word.prefix else list(dict.fromkeys(term.lstrip(STEM_MARK) for term in terms))
    shared = _common_beginning(spelled)
    several = [shared] if len(shared) > 1 or len(spelled) == 1 else spelled
    return [letters for letters in map(_plain_part, several) if letters]


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
    """Some texts as code points, with the words of a query found in them."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str], query: Wanted) -> None:
        self.texts = texts
        joined = "\n".join(texts)
        self.points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        self.ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64) - 1
        self.starts = [0, *(self.ends[:-1] + 1).tolist()]
        self.hits = self._found(languages, query)

    def _found(self, languages: Sequence[str], query: Wanted) -> list[list[Hit]]:
        """Of each text, by place in that text."""
        from periplus.search.kernels.texts import beginnings

        found: list[dict[int, Hit]] = [{} for _ in self.texts]
        if not query.beginnings:
            return [[] for _ in self.texts]
        out = np.empty(3 * MAX_PLACES * len(query.beginnings) * len(self.texts), np.int64)
        count = beginnings(self.points, self.ends, _bare_table(), *query.letters, MAX_PLACES, out)
        rows = out[: 3 * count].tolist()
        known, texts, starts = query.known, self.texts, self.starts
        for i in range(0, 3 * count, 3):  # some sixty times a page: no more than is needed
            place = rows[i]
            at = rows[i + 1] - starts[place]
            stretch = texts[place][at : rows[i + 2] - starts[place]]
            inside = known.get((languages[place], stretch))
            if inside is None:
                inside = _in_stretch(stretch, query, languages[place])
            for start, end, word in inside:
                if at + start not in found[place]:
                    found[place][at + start] = (at + start, at + end, word)
        return [_by_place(one) for one in found]


def _by_place(found: dict[int, Hit]) -> list[Hit]:
    places = list(found)
    ordered = all(one < other for one, other in pairwise(places))
    return list(found.values()) if ordered else [found[start] for start in sorted(places)]


def hits(text: str, query: Wanted, language: str) -> list[Hit]:
    """Words of the query in ``text``, in any form, by place."""
    return Texts([text], [language], query).hits[0] if query.terms else []


def _in_stretch(stretch: str, query: Wanted, language: str) -> tuple[Hit, ...]:
    terms = query.terms
    found = query.known[language, stretch] = tuple(
        (start, end, next(terms[form] for form in forms if form in terms))
        for start, end, forms in _analyzed(stretch, language)
        if not terms.keys().isdisjoint(forms)
    )
    return found


@lru_cache(maxsize=STRETCHES_KEPT)
def _analyzed(stretch: str, language: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """The tokens of a stretch: start, end and terms."""
    return tuple(
        (token.start, token.end, tuple(form.term for form in token.forms)) for token in analyze(stretch, language)
    )
