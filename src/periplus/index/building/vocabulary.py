"""Vocabulary: numbers for words and terms while a segment is built in memory.

A *word* is a spelling as it stands in a text of one language; a *term* is what it is indexed under. Texts become
streams of word numbers by a kernel. The forms of a word (exact, folded, stem, parts) are found once a spelling and
language: those of most words by a kernel, stems and what is left by ``analysis.forms``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from periplus.core.layout.streams import MORE, NO_TERM
from periplus.core.layout.word_tables import (
    FOREIGN,
    MAX_TERM_BYTES,
    STATE,
    STEM,
    WANTED,
    WORDS,
    FormsFound,
    TokenStream,
    WordsAdded,
)
from periplus.index.building.spelling_table import Spellings
from periplus.index.format.dictionary import JoinedTerms
from periplus.text import (
    STEM_MARK,
    base_language,
    class_table,
    forms_of_words,
    letter_table,
    stem_lines,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.core.layout.word_tables import Spans
    from periplus.text import FormLines

SLICE = 8_192  # new words whose forms are found at once
FOREIGN_TOGETHER = 256  # words left to Python: one of them that is too long takes all of them another way
MAX_FORMS = 10  # of an ASCII word: its parts (``core.build.forms``), itself, and itself with signs
MAX_NAMES = 1_000  # of languages that are remembered as they were given


class SortedTerms(NamedTuple):
    """All terms of a vocabulary in byte order."""

    spellings: Spellings
    order: NDArray[np.int64]
    is_word: NDArray[np.uint8]  # words as written, not stems: they decide a document's largest frequency

    def joined(self, places: NDArray[np.int64]) -> JoinedTerms:
        """The terms at these places of the order."""
        return JoinedTerms(*self.spellings.joined(self.order[places]))


class WordForms(NamedTuple):
    """The forms of all words as ``core.build.inverting.scatter`` takes them."""

    pairs: NDArray[np.uint64]  # the first two of each word
    start: NDArray[np.int64]
    forms: NDArray[np.uint32]


class Vocabulary:
    def __init__(self) -> None:
        self._words = Spellings()
        self._terms = Spellings()
        self._forms = np.empty(1 << 13, np.uint32)
        self._form_start = np.zeros(1 << 12, np.int64)
        self._known = 0  # words whose forms are known
        self._languages: dict[str, int] = {}
        self._names: dict[str, int] = {}  # of languages as documents name them
        self._bits = np.zeros(0, np.uint8), np.zeros(0, np.uint8)
        self._stream = np.empty(0, np.uint32)

    def language(self, name: str) -> int:
        """The number under which words of a language are kept."""
        number = self._names.get(name)
        if number is None:
            number = self._languages.setdefault(base_language(name), len(self._languages))
            if len(self._names) < MAX_NAMES:
                self._names[name] = number
        return number

    def numbers(self, texts: Spans, languages: NDArray[np.uint32]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The words of all texts by position, as numbers, valid until the next call; and how many each text has."""
        from periplus.core.build import tokenize

        self._make_room(len(texts.data))
        count = len(texts.begin)
        counts, state = np.zeros(count, np.uint32), np.zeros(STATE, np.int64)
        text = 0
        while True:
            stream = TokenStream(*self._bits, self._stream, counts, state)
            text = tokenize(texts, languages, text, class_table(), self._words.table, stream)
            if text == count:
                break
            wanted = int(state[WANTED])
            self._words.reserve(max(wanted, 1 << 12), max(2 * wanted, 1 << 15))
            if len(self._stream) - state[WORDS] < wanted:
                self._stream = np.concatenate([self._stream, np.empty(len(self._stream) + wanted, np.uint32)])
        self._find_forms()
        return self._stream[: state[WORDS]], counts

    def _make_room(self, size: int) -> None:
        """For words and bits of so many bytes of text."""
        if len(self._bits[0]) < size // 8 + 8:
            self._bits = np.zeros(size // 6 + 8, np.uint8), np.zeros(size // 6 + 8, np.uint8)
            self._stream = np.empty(size // 3 + 64, np.uint32)

    def sorted(self) -> tuple[SortedTerms, WordForms]:
        """Terms in byte order, and the forms of all words as numbers of that order."""
        order = self._terms.in_order()
        rank = np.empty(len(order), np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        start = self._form_start[: self._known + 1]
        is_word = (self._terms.first_bytes(order) != ord(STEM_MARK)).astype(np.uint8)
        forms = rank[self._forms[: int(start[-1])]]
        return SortedTerms(self._terms, order, is_word), WordForms(_first_pairs(start, forms), start, forms)

    @property
    def memory(self) -> int:
        """Bytes that the tables take, for the memory bound of the builder."""
        return self._words.memory + self._terms.memory + self._forms.nbytes + self._form_start.nbytes

    def _find_forms(self) -> None:
        while self._known < len(self._words):
            high = min(self._known + SLICE, len(self._words))
            self._find_slice(self._known, high)
            self._known = high

    def _find_slice(self, low: int, high: int) -> None:
        from periplus.core.build import join_forms, plain_forms

        size = high - low
        found = FormsFound(
            np.zeros(size, np.uint32),
            np.zeros(size, np.uint8),
            np.empty(MAX_FORMS * size, np.uint32),
            np.empty(size + 1, np.int64),
        )
        self._terms.reserve(MAX_FORMS * size, MAX_FORMS * size * MAX_TERM_BYTES)
        words = WordsAdded(self._words.pool, self._words.start, class_table(), letter_table())
        plain_forms(words, low, high, self._terms.table, found)
        stems = self._stems_of(self._words.owner[low:high], found.exact, found.kind == STEM)
        *bounds, foreign = self._foreign(low + np.flatnonzero(found.kind == FOREIGN))
        self._reserve_forms(high, (MAX_FORMS + 1) * size + len(foreign))
        join_forms(
            found,
            stems,
            *bounds,
            foreign,
            self._forms,
            int(self._form_start[low]),
            self._form_start[low + 1 : high + 1],
        )

    def _stems_of(
        self, languages: NDArray[np.uint32], exact: NDArray[np.uint32], asked: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The terms of the stems of some words; -1 for words that were not asked for."""
        stems = np.full(len(exact), -1, np.int64)
        for name, language in self._languages.items():
            rows = np.flatnonzero(asked & (languages == language))
            if len(rows):
                stems[rows] = self._stems_in(name, exact[rows])
        return stems

    def _stems_in(self, name: str, exact: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Of terms in one language. Remembering them would take a table of all terms for every language."""
        terms, places = np.unique(exact, return_inverse=True)
        lines = stem_lines(self._terms.lines(terms), name)
        return self._terms.numbers_of_lines(lines, len(terms))[places]

    def _foreign(self, words: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]:
        """Forms of words that the kernel leaves to Python: where those of each begin and end, and all of them."""
        begin, end = np.empty(len(words), np.int64), np.empty(len(words), np.int64)
        found, size = [np.empty(0, np.uint32)], 0
        languages = self._words.owner[words]
        for name, language in self._languages.items():
            of_language = np.flatnonzero(languages == language)
            for first in range(0, len(of_language), FOREIGN_TOGETHER):
                rows = of_language[first : first + FOREIGN_TOGETHER]
                counts, terms = self._numbered(forms_of_words(self._words.lines(words[rows]), name))
                end[rows] = size + np.cumsum(counts)
                begin[rows] = end[rows] - counts
                found.append(terms)
                size += len(terms)
        return begin, end, np.concatenate(found)

    def _numbered(self, forms: FormLines | list[list[bytes]]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """How many forms each of some words has, and the terms of all."""
        if isinstance(forms, list):
            counts = np.fromiter(map(len, forms), np.int64, len(forms))
            return counts, self._terms.numbers([term for some in forms for term in some])
        has_stem = np.array(forms.has_stem)
        counts = 2 + has_stem.astype(np.int64)
        counts[list(forms.others)] += np.array(list(map(len, forms.others.values())), np.int64)
        begin = np.cumsum(counts) - counts
        terms = np.empty(int(counts.sum()), np.uint32)
        terms[begin] = self._terms.numbers_of_lines(forms.exact, len(counts))
        terms[begin + 1] = self._terms.numbers_of_lines(forms.folded, len(counts))
        stemmed = begin[has_stem]
        terms[stemmed + 2] = self._terms.numbers_of_lines(forms.stems, len(stemmed))
        others = self._terms.numbers([term for some in forms.others.values() for term in some])
        places = [int(begin[row]) + 2 + forms.has_stem[row] for row in forms.others]
        sizes = map(len, forms.others.values())
        terms[[place + at for place, size in zip(places, sizes, strict=True) for at in range(size)]] = others
        return counts, terms

    def _reserve_forms(self, words: int, more: int) -> None:
        if words + 1 > len(self._form_start):
            self._form_start = _grown(self._form_start, 2 * (words + 1))
        wanted = int(self._form_start[self._known]) + more
        if wanted > len(self._forms):
            self._forms = _grown(self._forms, max(wanted, 2 * len(self._forms)))


def _first_pairs(start: NDArray[np.int64], forms: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """The first two forms of every word in one number, and whether there are more."""
    first, sizes = start[:-1], np.diff(start)
    pairs = np.full((len(sizes), 2), NO_TERM, np.uint32)
    pairs[sizes > 0, 0] = forms[first[sizes > 0]]
    pairs[sizes > 1, 1] = forms[first[sizes > 1] + 1]
    pairs[sizes > 2, 0] |= np.uint32(MORE)
    return pairs.astype("<u4", copy=False).reshape(-1).view("<u8")


def _grown(values: NDArray[Any], capacity: int) -> NDArray[Any]:
    larger = np.zeros(capacity, values.dtype)
    larger[: len(values)] = values
    return larger
