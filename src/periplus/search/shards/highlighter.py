"""Where words of a query stand in texts, without analysing all of them.

The letters that all forms of a word begin with are looked for by a kernel, in all texts of a page of results at once;
only what follows such a beginning is analysed, and every spelling only once. Another kernel puts what was found of a
spelling at all its places.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, cached_property, lru_cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.core.layout.shown_texts import MATCH, PLACE, STOP
from periplus.index import STRONG_SHARE
from periplus.search.query.plan import is_one_word, stops
from periplus.text import STEM_MARK, analyze, base_language, forms_of
from periplus.text.words import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.text import TermForm

MAX_PLACES = 16  # where one beginning may stand in one text
MAX_TEXT = 50_000  # code points of a text that are looked at
BEHIND = "\n" * 64
SIGNS_BEFORE = "<&"  # of a word, as in <vector> and &str
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


class PlacedMatches(NamedTuple):
    """The matches of some texts as kernels take them: ``MATCH`` numbers each, counted from the first text."""

    numbers: IntArray
    sizes: IntArray  # how many of them each text has


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

    def only_stops(self, language: str) -> bool:
        """Whether every word is a stop word of a language."""
        return {word for term, word in self.words.items() if stops(term, language)} == set(self.words.values())


@lru_cache(maxsize=WORDS_KEPT)
def sought_word(forms: tuple[TermForm, ...], prefix: str = "") -> SoughtWord:
    """The strong terms of a word, and the letters they begin with; those of each when few are common (synonyms)."""
    terms = tuple([form.term for form in forms if form.share >= STRONG_SHARE])
    # What begins with a sign is found by its letters, unless it has no other form: two would overlap.
    plain = [term for term in terms if term[0] not in SIGNS_BEFORE] or terms
    spelled = [prefix] if prefix else list(dict.fromkeys([term.lstrip(STEM_MARK) for term in plain]))
    shared = _common_beginning(spelled)
    several = [shared] if len(shared) > 1 or len(spelled) == 1 else spelled
    low = [lowered(letters) for letters in map(_ascii_part, several) if letters]
    return SoughtWord(terms, tuple([Beginning(one, one.isascii() or not has_unspaced(one)) for one in low]))


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
    return np.frombuffer(bytearray(text.encode("utf-32-le", "surrogatepass")), np.uint32)


class ShownTexts:
    """Some texts, each as far as it is looked at, with their languages."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str]) -> None:
        self.texts = [text[:MAX_TEXT] for text in texts]
        self.languages = languages

    @cached_property
    def points(self) -> LetterArray:
        """The code points of all texts, with a line's end behind each, and behind all of them as many more as a kernel
        looks at at once."""
        return code_points("\n".join([*self.texts, BEHIND]))

    @cached_property
    def ends(self) -> IntArray:
        """Where each text ends among the code points."""
        return np.array(list(accumulate([len(text) + 1 for text in self.texts])), np.int64) - 1

    def matches(self, query: Highlights) -> list[list[Match]]:
        """Words of the query in each text, in any form, by place; no two begin at one place."""
        placed, found, begin = self.placed(query), list[list[Match]](), 0
        rows = iter(placed.numbers.reshape(-1, MATCH).tolist())
        for text, size in zip(self.texts, placed.sizes.tolist(), strict=True):
            several = islice(rows, size)
            found.append([Match(start - begin, end - begin, word, bool(stop)) for start, end, word, stop in several])
            begin += len(text) + 1
        return found

    def placed(self, query: Highlights) -> PlacedMatches:
        """Words of the query in each text, as kernels take them."""
        places, count, spellings = self._places(query)
        spelled = [_matches(stretch, language, query.words) for stretch, language in spellings]
        ends = list(accumulate(map(len, spelled)))
        most = count * max(map(len, spelled), default=0)
        sizes, matches = np.empty(len(self.texts), np.int64), np.empty(MATCH * most, np.int64)
        numbers = np.array([number for several in spelled for match in several for number in match], np.int64)
        found = _kernels().place_matches(places, count, numbers, np.array(ends, np.int64), matches, sizes)
        return PlacedMatches(matches[: MATCH * found], sizes)

    def telling(self, query: Highlights) -> PlacedMatches:
        """Words of the query in each text as kernels take them, but in texts that have only stop words of a query with
        other words: there they say nothing."""
        placed = self.placed(query)
        rows = placed.numbers.reshape(-1, MATCH)
        stops_there = rows[:, STOP] != 0
        if not stops_there.any():
            return placed
        owners = np.repeat(np.arange(len(self.texts)), placed.sizes)
        others = np.bincount(owners[~stops_there], minlength=len(self.texts))
        poor = [
            place
            for place in np.flatnonzero((others == 0) & (placed.sizes > 0)).tolist()
            if not query.only_stops(self.languages[place])
        ]
        if not poor:
            return placed
        sizes = placed.sizes.copy()
        sizes[poor] = 0
        return PlacedMatches(rows[~np.isin(owners, poor)].reshape(-1), sizes)

    def _places(self, query: Highlights) -> tuple[IntArray, int, list[tuple[str, str]]]:
        """Where words may stand, how many places these are, and every spelling there with its language."""
        beginnings, languages = query.beginnings, self.languages
        if not (beginnings and self.texts):
            return np.empty(0, np.int64), 0, []
        letters = "".join([one.letters for one in beginnings])
        ends = accumulate([len(one.letters) for one in beginnings])
        kinds = np.array([(end, one.opens_word) for end, one in zip(ends, beginnings, strict=True)], np.int64)
        tongues = {language: place for place, language in enumerate(dict.fromkeys(languages))}
        most = MAX_PLACES * len(beginnings) * len(self.texts)
        places, firsts = np.empty(PLACE * most, np.int64), np.empty(most + 1, np.int64)
        count = _kernels().find_beginnings(
            self.points,
            self.ends,
            np.array([tongues[language] for language in languages], np.int64),
            bare_letters(),
            code_points(letters),
            kinds.reshape(-1),
            MAX_PLACES,
            places,
            firsts,
        )
        rows = places.reshape(-1, PLACE)[firsts[1 : firsts[0] + 1]].tolist()
        begins = [0, *(self.ends + 1).tolist()]
        return (
            places,
            count,
            [
                (self.texts[place][start - begins[place] : end - begins[place]], languages[place])
                for place, start, end, _ in rows
            ],
        )


class _TextKernels(NamedTuple):
    find_beginnings: Callable[..., int]
    place_matches: Callable[..., int]


@cache
def _kernels() -> _TextKernels:
    from periplus.core.snippets import find_beginnings, place_matches

    return _TextKernels(find_beginnings.entry, place_matches.entry)


def _matches(stretch: str, language: str, words: dict[str, int]) -> list[tuple[int, int, int, bool]]:
    """The words of the query in what follows a beginning; mostly that is a word of the query as it was typed.

    Each as the numbers of a ``Match``.
    """
    low = stretch.lower()
    if is_one_word(stretch):
        if low in words:
            return [(0, len(stretch), words[low], stops(low, language))]
        if stretch.isalpha() and (stretch.istitle() or stretch.isupper()):
            stretch = low  # which has the same forms
    found = []
    for start, end, is_stop, terms in _tokens(stretch, language):
        word = next((words[term] for term in terms if term in words), -1)
        if word >= 0:
            found.append((start, end, word, is_stop))
    return found


@lru_cache(maxsize=SPELLINGS_KEPT)
def _tokens(stretch: str, language: str) -> list[tuple[int, int, bool, tuple[str, ...]]]:
    """The words of a stretch: start, end, whether it is a stop word, and terms."""
    if is_one_word(stretch):
        found = [(0, len(stretch), forms_of(stretch, base_language(language)))]
    else:
        found = [(token.start, token.end, token.forms) for token in analyze(stretch, language)]
    return [
        (start, end, stops(stretch[start:end].lower(), language), tuple([form.term for form in forms]))
        for start, end, forms in found
    ]
