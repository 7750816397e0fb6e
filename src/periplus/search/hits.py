"""Where words of a query stand in a text, without analysing all of it.

The letters that all forms of a word begin with are looked for as they are; only what follows such a beginning is
analysed, and every stretch only once a query.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from periplus.index.analysis import STEM_MARK, analyze
from periplus.index.analysis.words import has_unspaced
from periplus.index.query import STRONG_SHARE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from periplus.search.plan import QueryWord

MAX_PLACES = 24  # where one beginning may stand
MAX_TRIES = 600  # places where its letters may stand inside other words
_STRETCH = re.compile(r"\S{1,64}")
_ACCENTED = re.compile("[\u00c0-\u024f\u0370-\u03ff\u0400-\u045f\u1e00-\u1fff]")  # letters that have a bare form
_PLAIN = re.compile(r"[\x00-\x7f]*")


class Hit(NamedTuple):
    start: int
    end: int
    word: int  # of the query


class Beginning(Struct, frozen=True):
    letters: str
    opens_word: bool  # only at the start of a word; scripts without spaces have none


class Wanted(Struct, frozen=True):
    """The words of a query as a text is searched for them: each word's terms, its weight, and how it begins."""

    terms: dict[str, int]  # term -> word
    weights: tuple[float, ...]
    beginnings: tuple[Beginning, ...]
    known: dict[tuple[str, str], tuple[Hit, ...]]  # language and stretch -> hits in it, while the query is answered


def wanted(words: Sequence[QueryWord], weights: Sequence[float]) -> Wanted:
    terms: dict[str, int] = {}
    beginnings: dict[str, Beginning] = {}
    for place, word in enumerate(words):
        strong = [form.term for form in word.forms if form.share >= STRONG_SHARE]
        for term in strong:
            terms.setdefault(term, place)
        if letters := lowered(_beginning(word, strong)):
            beginnings.setdefault(letters, Beginning(letters, not has_unspaced(letters)))
    return Wanted(terms, tuple(weights), tuple(beginnings.values()), {})


def _beginning(word: QueryWord, terms: list[str]) -> str:
    """The letters that all forms of a word begin with: its plain ASCII ones where there are enough of them."""
    shared = _common_beginning([word.prefix] if word.prefix else [term.lstrip(STEM_MARK) for term in terms])
    plain = _PLAIN.match(shared)
    ascii_part = plain.group() if plain else ""
    return ascii_part if len(ascii_part) > 1 else shared  # accents may be written in two ways


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


def hits(text: str, query: Wanted, language: str, low: str = "") -> list[Hit]:
    """Words of the query in ``text``, in any form, by place; ``low`` is the text lowered, where that is known."""
    found: dict[int, Hit] = {}
    small = low or lowered(text)
    for beginning in query.beginnings:
        for hit in _hits_of(text, small, beginning, query, language):
            found.setdefault(hit.start, hit)
    return [found[start] for start in sorted(found)]


def _hits_of(text: str, low: str, beginning: Beginning, query: Wanted, language: str) -> Iterator[Hit]:
    places = 0
    for at in _places(low, beginning):
        stretch = _STRETCH.match(text, at)
        inside = _in_stretch(stretch.group(), query, language) if stretch else ()
        for start, end, word in inside:
            yield Hit(at + start, at + end, word)
        places += bool(inside)
        if places >= MAX_PLACES:
            return


def _places(low: str, beginning: Beginning) -> Iterator[int]:
    letters, step = beginning.letters, len(beginning.letters)
    at = low.find(letters)
    for _ in range(MAX_TRIES):
        if at < 0:
            return
        if not (beginning.opens_word and at and (low[at - 1].isalnum() or low[at - 1] == "_")):
            yield at
        at = low.find(letters, at + step)


def _in_stretch(stretch: str, query: Wanted, language: str) -> tuple[Hit, ...]:
    key = (language, stretch)
    found = query.known.get(key)
    if found is None:
        found = query.known[key] = tuple(_analyzed(stretch, query, language))
    return found


def _analyzed(stretch: str, query: Wanted, language: str) -> Iterator[Hit]:
    for token in analyze(stretch, language):
        word = next((query.terms[form.term] for form in token.forms if form.term in query.terms), None)
        if word is not None:
            yield Hit(token.start, token.end, word)
