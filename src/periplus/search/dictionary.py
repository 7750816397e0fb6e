"""The words of a generation with how often they occur, and those of them that are near a word.

They are laid out as arrays by length, by which of ten telling letters a word has, and by frequency: letters, and in one
number each word's other letters, its first one and how frequent it is. One kernel compares a word with those whose
length and letters allow the distance (restricted Damerau-Levenshtein), and leaves out those that are not frequent
enough to win with as many letters, or another first letter, as they have. Likely mistakes cost less than a whole edit:
neighbouring keys, swapped and doubled letters, letters that sound alike or are hardly heard.
Bound: the ``MAX_WORDS`` most frequent words.
"""

from __future__ import annotations

import math
from array import array
from functools import cache, cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.pages import pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index.snapshot import Snapshot

MAX_WORDS = 300_000
MAX_TERMS = 1_000_000  # of the index, looked at for words: numbers and names with digits are none
MAX_LETTERS = 24
LETTER_BITS, SIGNATURE_BITS = 27, 10  # letters that are told apart, and those by which words are parted
# What kernels know, too: bytes of a word, a letter beyond ASCII, numbers that are read at once; kinds of first letters
# and where they stand in a number, and the same of documents, as levels of an e-fold.
SHORT_ROW, FOREIGN, READ_AT_ONCE = 32, 255, 16
DESK = (4 * MAX_LETTERS + 2 * SHORT_ROW) // 8  # numbers of a word that is asked for, before what is found
FIRSTS, FIRST_SHIFT, LEVELS, LEVEL_SHIFT = 32, LETTER_BITS - SIGNATURE_BITS, 32, 22
LEAST_LETTERS = 3  # shorter words are left alone: everything is near them
NEAR_REACH, FAR_REACH, SHORT_REACH = 1, 2, 4  # edits of words up to so many letters, and of longer ones
WORDS_KEPT = 10_000  # whose candidates are remembered

# Costs of one edit, in units of a plain one: two letters swapped, a doubled letter, a key beside the right one, a vowel
# for a vowel, a vowel or an h too much or too few, a letter that sounds alike.
SWAP, DOUBLE, NEIGHBOUR, VOWEL, UNHEARD, ALIKE = 0.5, 0.3, 0.75, 0.7, 0.7, 0.5
FIRST_LETTER = 0.8  # added for another first letter: people get that right

# What a candidate is worth: ln(documents + 1) - EDIT_WORTH * cost.
EDIT_WORTH = 6.5
# What a candidate must be worth, in a small collection and more for every e-fold of it: a word of few documents among
# very many is hardly what two mistakes were made in.
LEAST_WORTH, WORTH_GROWTH, SMALL_COLLECTION = -18.0, 1.1, 1_000
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


# Arrays of a dictionary that kernels read, in the order that they know.
_READ = ("letters", "_short", "_heads", "_logarithms", "_ranks", "_starts", "_tops", "_buckets", "_bits")

_OF_ONE_PROCESS = frozenset({"_memory", "_table", "_rows", "_numbers"})


class Candidate(Struct, frozen=True):
    word: str
    frequency: int
    cost: float

    @property
    def worth(self) -> float:
        return math.log(self.frequency + 1) - EDIT_WORTH * self.cost


class Dictionary:
    """Words and frequencies, laid out by length and frequency for comparing one word with those near it."""

    def __init__(self, words: list[tuple[str, int]], documents: int = 0) -> None:
        self.floor = LEAST_WORTH + WORTH_GROWTH * math.log(max(1.0, documents / SMALL_COLLECTION))
        kept = [(word, count) for word, count in words if _comparable(word)][:MAX_WORDS]
        kept.sort(key=lambda entry: (len(entry[0]), -entry[1], entry[0]))
        letters, lengths = _laid_out([word for word, _ in kept]), np.array([len(word) for word, _ in kept], np.int64)
        masks = _masks(letters)
        self._bits = _by_telling(masks)
        signatures = _chosen(masks, self._bits[:SIGNATURE_BITS])
        keys = lengths << SIGNATURE_BITS | signatures
        order = np.argsort(keys, kind="stable")
        self.counts = np.array([count for _, count in kept], dtype=np.int64)[order]
        self.lengths, self.letters = lengths[order], letters[order]
        self._logarithms, self._ranks = np.log(self.counts + 1.0), order.astype(np.uint32)
        firsts, levels = letters[order, 0] % FIRSTS, _levels(self._logarithms)
        others = _chosen(masks[order], self._bits[SIGNATURE_BITS:])
        self._heads = _lengthened(levels | firsts << FIRST_SHIFT | others)
        buckets, starts = np.unique(keys[order], return_index=True)
        self._starts = np.append(starts, len(kept)).astype(np.int64)
        self._tops = _lengthened(levels[starts] | buckets & (1 << SIGNATURE_BITS) - 1)
        self._buckets = np.searchsorted(buckets, np.arange(MAX_LETTERS + 2) << SIGNATURE_BITS).astype(np.int64)
        self._short = _shortened(self.letters)
        self._settle()
        self._known: dict[tuple[str, int, float, float, float], list[Candidate]] = {}

    @property
    def words(self) -> list[str]:
        """All of them, in the order of the arrays: hundreds of thousands of objects, so not for every query."""
        return [self.word(row) for row in range(len(self.counts))]

    def word(self, row: int) -> str:
        """One of them."""
        short = self._rows[SHORT_ROW * row : SHORT_ROW * (row + 1)].tobytes()
        if FOREIGN not in short:
            return short.rstrip(b"\0").decode("ascii")
        return self.letters[row, : self.lengths[row]].tobytes().decode("utf-32-le")

    def near(
        self, word: str, limit: int = 8, *, most_cost: float = FAR, least_count: float = 0.0, margin: float = MARGIN
    ) -> list[Candidate]:
        """The likeliest words at one edit (two for long words), best first; without ``word`` itself.

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
        reach = NEAR_REACH if len(word) <= SHORT_REACH else FAR_REACH
        desk = array("q", word.encode("utf-32-le", "replace").ljust(8 * DESK + 24 * limit, b"\0"))
        table, asked = self._table.buffer_info()[0], desk.buffer_info()[0]
        found = _kernel()(table, asked, len(word), reach, limit, most_cost, math.log(least_count + 1.0), margin)
        costs = memoryview(desk).cast("B").cast("d")[DESK + limit :]
        rows = desk[DESK : DESK + found]
        return [Candidate(self.word(row), self._numbers[row], costs[place]) for place, row in enumerate(rows)]

    @cached_property
    def _rows(self) -> memoryview:
        """The words as bytes, to be cut out quickly."""
        return self._short.data

    @cached_property
    def _numbers(self) -> memoryview:
        """The counts, in the same way."""
        return self.counts.data

    def _settle(self) -> None:
        """Put what kernels read side by side into large pages: it is looked up here and there."""
        arrays = [getattr(self, name) for name in _READ]
        sizes = [-(-one.nbytes // 64) * 8 for one in arrays]
        self._memory = pages(sum(sizes))
        for name, one, begin in zip(_READ, arrays, accumulate(sizes, initial=0), strict=False):
            place = self._memory[begin : begin + -(-one.nbytes // 8)].view(one.dtype)[: one.size].reshape(one.shape)
            place[:] = one
            setattr(self, name, place)

    @cached_property
    def _table(self) -> array[int]:
        """What ``near`` is given of the dictionary: addresses and lengths of arrays, and numbers."""
        arrays = [*[getattr(self, name) for name in _READ], _RELATED, _PRICES]
        table = array("q", [number for one in arrays for number in (one.ctypes.data, one.size)])
        table.append(SIGNATURE_BITS)
        table.frombytes(array("d", [EDIT_WORTH, self.floor]).tobytes())
        return table

    def __getstate__(self) -> dict[str, object]:
        """Addresses mean nothing to another process."""
        return {name: value for name, value in vars(self).items() if name not in _OF_ONE_PROCESS}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._settle()

    def measured(self, word: str, reach: int) -> tuple[IntArray, FloatArray]:
        """Plain edits (at most ``reach`` + 1) and costs from ``word`` to every word."""
        from periplus.search.kernels.words import measured

        edits, costs = np.empty(len(self.counts), np.int64), np.empty(len(self.counts))
        packed = np.concatenate([_points(word).astype(np.int64), _RELATED])
        measured(self.letters.reshape(-1), self.lengths, reach, packed, _PRICES, edits, costs)
        return edits, costs


@cache
def _kernel() -> Callable[..., int]:
    from periplus.search.kernels.words import near

    return near.entry


def _comparable(word: str) -> bool:
    return LEAST_LETTERS <= len(word) <= MAX_LETTERS and word.replace("'", "").isalpha()


def _points(word: str) -> LetterArray:
    return np.frombuffer(word.encode("utf-32-le", "replace"), dtype=np.uint32)


def _laid_out(words: list[str]) -> LetterArray:
    """A row a word; zero behind a word's end."""
    padded = "".join(word.ljust(MAX_LETTERS, "\0") for word in words)
    return _points(padded).reshape(len(words), MAX_LETTERS)


def _shortened(letters: LetterArray) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A row of bytes a word, in which all letters beyond ASCII are one."""
    short = np.zeros((len(letters), SHORT_ROW), np.uint8)
    short[:, :MAX_LETTERS] = np.where(letters < 128, letters, FOREIGN)
    return short.reshape(-1)


def _lengthened(numbers: IntArray) -> LetterArray:
    """In 32 bits, with room behind them: many are read at once."""
    return np.append(numbers, np.zeros(READ_AT_ONCE, np.int64)).astype(np.uint32)


def _masks(letters: LetterArray) -> LetterArray:
    """The letters of each word as bits; different letters may be taken for the same, which only lets more words
    through."""
    masks = np.zeros(len(letters), dtype=np.uint32)
    for column in letters.T:
        bits = np.left_shift(np.uint32(1), column % np.uint32(LETTER_BITS))
        masks |= np.where(column > 0, bits, np.uint32(0))
    return masks


def _by_telling(masks: LetterArray) -> IntArray:
    """The letters that part words best first, in the order of the alphabet: about half of the words have each of these;
    then all others."""
    shares = np.array([np.count_nonzero(masks >> np.uint32(bit) & np.uint32(1)) for bit in range(LETTER_BITS)])
    ranked = np.argsort(np.abs(2 * shares - len(masks)), kind="stable")
    return np.append(np.sort(ranked[:SIGNATURE_BITS]), np.sort(ranked[SIGNATURE_BITS:])).astype(np.int64)


def _chosen(masks: LetterArray, bits: IntArray) -> IntArray:
    """Some bits of masks, side by side."""
    found = np.zeros(len(masks), np.int64)
    for place, bit in enumerate(bits.tolist()):
        found |= (masks >> np.uint32(bit) & np.uint32(1)).astype(np.int64) << place
    return found


def _levels(logarithms: FloatArray) -> IntArray:
    """Documents in a few bits, rounded up, above all others: what is more frequent is a larger number."""
    return np.ceil(logarithms * LEVELS).astype(np.int64) << LEVEL_SHIFT


def dictionary_of(snapshot: Snapshot) -> Dictionary:
    """The words of a generation."""
    return Dictionary(snapshot.words(MAX_TERMS), snapshot.live)
