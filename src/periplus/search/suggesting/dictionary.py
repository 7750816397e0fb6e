"""The words of a generation with how often they occur, and those of them that are near a word.

They are laid out as arrays by length and frequency: letters, which letters a word has, documents. One kernel compares a
word with those whose length and letters allow the distance (restricted Damerau-Levenshtein), until no other one is
frequent enough to win. Likely mistakes cost less than a whole edit: neighbouring keys, swapped and doubled letters,
letters that sound alike or are hardly heard.
Bound: the ``MAX_WORDS`` most frequent words.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from msgspec import Struct

MAX_WORDS = 300_000
MAX_TERMS = 1_000_000  # of the index, looked at for words: numbers and names with digits are none
MAX_LETTERS = 24
LETTER_BITS = 27  # kinds of letters that are told apart
COMPARED_AT_ONCE = 64  # words, by a kernel
LEAST_LETTERS = 3  # shorter words are left alone: everything is near them
SHORT_LETTERS, SHORT_EDITS, EDITS = 4, 1, 2  # of words up to so many letters, typed or meant; of others
WORDS_KEPT = 10_000  # whose candidates are remembered

# Costs of one edit, in units of a plain one: two letters swapped, a doubled letter, a key beside the right one, a vowel
# for a vowel, a vowel or an h too much or too few, a letter that sounds alike.
SWAP, DOUBLE, NEIGHBOUR, VOWEL, UNHEARD, ALIKE = 0.5, 0.3, 0.75, 0.7, 0.7, 0.5
FIRST_LETTER = 0.8  # added for another first letter: people get that right

# What a candidate is worth: frequency_worth(documents) - EDIT_WORTH * cost.
EDIT_WORTH = 8.0
# Words of few documents lose half as much again: among them are mistakes that others made in the word that is meant.
FEW_DOCUMENTS, FEW_LOSE = 20, 0.5
# What a candidate must be worth, in a small collection and more for every e-fold of it: a word of few documents among
# very many is hardly what two mistakes were made in.
LEAST_WORTH, WORTH_GROWTH, SMALL_COLLECTION = -22.0, 1.35, 1_000
MARGIN = 3.0  # of worth, below the best candidate: what is further down is of no use
FAR = 99.0

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SOUNDS = ("ckqs", "sz", "gj", "fv", "mn", "dt", "bp", "iy")

IntArray = np.ndarray[Any, np.dtype[np.int64]]
LetterArray = np.ndarray[Any, np.dtype[np.uint32]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def _neighbours() -> dict[str, frozenset[str]]:
    """Keys that touch on a keyboard with staggered rows."""
    places = {key: (row, column + row * 0.5) for row, keys in enumerate(_ROWS) for column, key in enumerate(keys)}
    return {
        key: frozenset(
            other for other, (r, c) in places.items() if other != key and abs(r - row) <= 1 and abs(c - column) <= 1.0
        )
        for key, (row, column) in places.items()
    }


def _alike() -> dict[str, frozenset[str]]:
    """Letters that sound alike."""
    return {key: frozenset("".join(group for group in _SOUNDS if key in group)) - {key} for key in "".join(_SOUNDS)}


def _as_bits(others: dict[str, frozenset[str]]) -> list[int]:
    return [sum(1 << (ord(other) - 97) for other in others.get(chr(97 + i), ())) for i in range(26)]


_RELATED = np.array([*_as_bits(_neighbours()), *_as_bits(_alike())], dtype=np.int64)
_PRICES = np.array([SWAP, DOUBLE, NEIGHBOUR, VOWEL, FIRST_LETTER, UNHEARD, ALIKE])


class Candidate(Struct, frozen=True):
    word: str
    frequency: int
    cost: float

    @property
    def worth(self) -> float:
        return frequency_worth(self.frequency) - EDIT_WORTH * self.cost


def frequency_worth(documents: float) -> float:
    """What it says for a word that so many documents have it."""
    logarithm = math.log(documents + 1)
    return logarithm + FEW_LOSE * min(0.0, logarithm - math.log(FEW_DOCUMENTS))


class SpellingDictionary:
    """Words and frequencies, laid out by length and frequency for comparing one word with those near it."""

    def __init__(self, words: list[tuple[str, int]], documents: int = 0) -> None:
        self.floor = LEAST_WORTH + WORTH_GROWTH * math.log(max(1.0, documents / SMALL_COLLECTION))
        kept = [(word, count) for word, count in words if _comparable(word)][:MAX_WORDS]
        kept.sort(key=lambda entry: (len(entry[0]), -entry[1], entry[0]))
        lengths = np.array([len(word) for word, _ in kept], np.int64)
        self.letters = _laid_out([word for word, _ in kept])
        self.counts = np.array([count for _, count in kept], dtype=np.int64)
        self._masks, self._worths = _masks(self.letters), _frequency_worths(self.counts)
        self._starts = np.searchsorted(lengths, np.arange(MAX_LETTERS + 2)).astype(np.int64)
        self._known: dict[tuple[str, int, float, float, float], list[Candidate]] = {}

    @property
    def words(self) -> list[str]:
        """All of them, in the order of the arrays: hundreds of thousands of objects, so not for every query."""
        return [self.word(row) for row in range(len(self.counts))]

    def word(self, row: int) -> str:
        """One of them."""
        return bytes(self.letters[row].tobytes()).decode("utf-32-le").rstrip("\0")

    def near(
        self, word: str, limit: int = 8, *, most_cost: float = FAR, least_count: float = 0.0, margin: float = MARGIN
    ) -> list[Candidate]:
        """The likeliest words at one edit (two where both are long), best first; without ``word`` itself.

        Candidates far below the best are left out, as are those that cost more or occur in fewer documents than said.
        """
        if not len(self.counts) or not _comparable(word):
            return []
        asked = (word, limit, most_cost, least_count, margin)
        known = self._known.get(asked)
        if known is None:
            if len(self._known) >= WORDS_KEPT:
                self._known.clear()
            known = self._known[asked] = self._near(*asked)
        return known

    def _near(self, word: str, limit: int, most_cost: float, least_count: float, margin: float) -> list[Candidate]:
        from periplus.core.words import near

        edits = (SHORT_LETTERS, SHORT_EDITS, EDITS)
        bounds = np.array([*edits, most_cost, frequency_worth(least_count), margin, EDIT_WORTH, self.floor])
        rows, costs, worths = np.empty(limit, np.int64), np.empty(limit), np.empty(limit)
        dictionary = (self.letters.reshape(-1), self._masks, self._worths, self._starts)
        found = near(*dictionary, _points(word), _RELATED, _PRICES, bounds, rows, costs, worths)
        pairs = zip(rows[:found].tolist(), costs[:found].tolist(), strict=True)
        return [Candidate(self.word(row), int(self.counts[row]), cost) for row, cost in pairs]


def _comparable(word: str) -> bool:
    return LEAST_LETTERS <= len(word) <= MAX_LETTERS and word.replace("'", "").isalpha()


def _frequency_worths(documents: IntArray) -> FloatArray:
    """``frequency_worth`` of many words."""
    logarithms: FloatArray = np.log(documents + 1.0)
    return logarithms + FEW_LOSE * np.minimum(0.0, logarithms - math.log(FEW_DOCUMENTS))


def _points(word: str) -> LetterArray:
    return np.frombuffer(word.encode("utf-32-le", "replace"), dtype=np.uint32)


def _laid_out(words: list[str]) -> LetterArray:
    """A row a word; zero behind a word's end."""
    padded = "".join(word.ljust(MAX_LETTERS, "\0") for word in words)
    return _points(padded).reshape(len(words), MAX_LETTERS)


def _masks(letters: LetterArray) -> LetterArray:
    """The letters of each word as bits; different letters may be taken for the same, which only lets more words
    through. Some masks of nothing stand behind them, since the kernel compares many at once."""
    masks = np.zeros(len(letters) + COMPARED_AT_ONCE, dtype=np.uint32)
    for column in letters.T:
        bits = np.left_shift(np.uint32(1), column % np.uint32(LETTER_BITS))
        masks[: len(letters)] |= np.where(column > 0, bits, np.uint32(0))
    return masks


class Worded(Protocol):
    """A collection that knows its words."""

    @property
    def live(self) -> int:
        """Documents."""

    def words(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent ones with their documents."""


def dictionary_of(collection: Worded) -> SpellingDictionary:
    """The words of a generation."""
    return SpellingDictionary(collection.words(MAX_TERMS), collection.live)
