"""Where words of a query stand in texts, without analysing all of them.

The letters that all forms of a word begin with are looked for by a kernel, in all texts of a page of results at once;
only what follows such a beginning is analysed, and every spelling only once.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.index import STRONG_SHARE
from periplus.search.plan import is_one_word, stops
from periplus.text import STEM_MARK, analyze
from periplus.text.words import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.text import TermForm

MAX_PLACES = 16  # where one beginning may stand in one text
MAX_TEXT = 50_000  # code points of a text that are looked at
PLACE = 3  # numbers of a place, as the kernel gives them
BARE_CODES = 0x2000  # code points of the scripts that have capitals and accents
SPELLINGS_KEPT = 30_000  # of words in texts, each with its terms: some 10 MB
WORDS_KEPT = 10_000  # of queries
_ACCENTED = re.compile("[\u00c0-\u024f\u0370-\u03ff\u0400-\u045f\u1e00-\u1fff]")  # letters that have a bare form
_ASCII = re.compile(r"[\x00-\x7f]*")

LetterArray = np.ndarray[Any, np.dtype[np.uint32]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]


class Match(NamedTuple):
    """A word of the query in a text."""

    start: int
    end: int
    word: int  # of the query
    is_stop: bool  # a stop word of the text's language


class Beginning(NamedTuple):
    """Letters in lower case and without accents that a word's forms begin with."""

    letters: str
    opens_word: bool  # it stands only at the start of a word; scripts without spaces have no such starts


class SoughtWord(NamedTuple):
    """A word of a query as texts are searched for it."""

    terms: tuple[str, ...]  # its strong forms
    beginnings: tuple[Beginning, ...]


class Highlights(Struct, frozen=True):
    """The words of a query as texts are searched for them, all together."""

    words: dict[str, int]  # a term to the first word that it is a form of
    beginnings: tuple[Beginning, ...]
    weights: tuple[float, ...]  # of each word

    @classmethod
    def of(cls, words: Sequence[SoughtWord], weights: Sequence[float]) -> Highlights:
        terms: dict[str, int] = {}
        for place, word in enumerate(words):
            for term in word.terms:
                terms.setdefault(term, place)
        beginnings = dict.fromkeys(one for word in words for one in word.beginnings)
        return cls(terms, tuple(beginnings), tuple(weights))


@lru_cache(maxsize=WORDS_KEPT)
def sought_word(forms: tuple[TermForm, ...], prefix: str = "") -> SoughtWord:
    """The strong terms of a word, and the letters they begin with; those of each when few are common (synonyms)."""
    terms = tuple([form.term for form in forms if form.share >= STRONG_SHARE])
    spelled = [prefix] if prefix else list(dict.fromkeys([term.lstrip(STEM_MARK) for term in terms]))
    shared = _common_beginning(spelled)
    several = [shared] if len(shared) > 1 or len(spelled) == 1 else spelled
    plain = [lowered(letters) for letters in map(_ascii_part, several) if letters]
    return SoughtWord(terms, tuple([Beginning(one, one.isascii() or not has_unspaced(one)) for one in plain]))


def _ascii_part(letters: str) -> str:
    """The ASCII letters it begins with, where there are enough of them: accents may be written in two ways."""
    if letters.isascii():
        return letters
    found = _ASCII.match(letters)
    plain = found.group() if found else ""
    return plain if len(plain) > 1 else letters


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
def bare_letters() -> LetterArray:
    """Code point to the same without accent and in lower case, for the scripts that have such letters."""
    return np.array([ord(_BARE[code]) for code in range(BARE_CODES)], np.uint32)


def code_points(text: str) -> LetterArray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


class ShownTexts:
    """Some texts, each as far as it is looked at, with their languages."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str]) -> None:
        self.texts = [text[:MAX_TEXT] for text in texts]
        self.languages = languages

    @cached_property
    def points(self) -> LetterArray:
        """The code points of all texts, with a line's end behind each."""
        return code_points("\n".join([*self.texts, ""]))

    @cached_property
    def ends(self) -> IntArray:
        """Where each text ends among the code points."""
        return np.cumsum(np.array([len(text) + 1 for text in self.texts], np.int64)) - 1

    def matches(self, query: Highlights) -> list[list[Match]]:
        """Words of the query in each text, in any form, by place; no two begin at one place."""
        found: list[dict[int, Match]] = [{} for _ in self.texts]
        known: dict[tuple[str, str], list[Match]] = {}
        begins = [0, *(self.ends + 1).tolist()]
        texts, languages = self.texts, self.languages
        for place, start, end in self._places(query):
            begin, own = begins[place], found[place]
            spelling = texts[place][start - begin : end - begin], languages[place]
            matches = known.get(spelling)
            if matches is None:
                matches = known[spelling] = _matches(*spelling, query.words)
            begin = start - begin
            for first, last, word, is_stop in matches:
                if begin + first not in own:
                    own[begin + first] = Match(begin + first, begin + last, word, is_stop)
        return [[own[start] for start in sorted(own)] for own in found]

    def _places(self, query: Highlights) -> list[list[int]]:
        """Where words may stand: text, start and end of what is to be analysed."""
        from periplus.core.snippets import find_beginnings

        beginnings = query.beginnings
        if not (beginnings and self.texts):
            return []
        letters = code_points("".join([one.letters for one in beginnings]))
        starts = np.cumsum(np.array([0, *[len(one.letters) for one in beginnings]], np.int64))
        opens = np.array([one.opens_word for one in beginnings], np.int64)
        places = np.empty(PLACE * MAX_PLACES * len(beginnings) * len(self.texts), np.int64)
        count = find_beginnings(self.points, self.ends, bare_letters(), letters, starts, opens, MAX_PLACES, places)
        rows: list[list[int]] = places[: PLACE * count].reshape(-1, PLACE).tolist()
        return rows


def _matches(stretch: str, language: str, words: dict[str, int]) -> list[Match]:
    """The words of the query in what follows a beginning; mostly that is a word of the query as it was typed."""
    low = stretch.lower()
    if low in words and is_one_word(stretch):
        return [Match(0, len(stretch), words[low], stops(low, language))]
    found = []
    for start, end, is_stop, terms in _tokens(stretch, language):
        word = next((words[term] for term in terms if term in words), -1)
        if word >= 0:
            found.append(Match(start, end, word, is_stop))
    return found


@lru_cache(maxsize=SPELLINGS_KEPT)
def _tokens(stretch: str, language: str) -> list[tuple[int, int, bool, tuple[str, ...]]]:
    """The words of a stretch: start, end, whether it is a stop word, and terms."""
    return [
        (
            token.start,
            token.end,
            stops(stretch[token.start : token.end].lower(), language),
            tuple([form.term for form in token.forms]),
        )
        for token in analyze(stretch, language)
    ]
