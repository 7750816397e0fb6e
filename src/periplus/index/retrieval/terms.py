"""Terms: what one snapshot knows of the words that it was asked for, ready for kernels.

Kernels reach what is known by address. So whoever asks one holds on to the terms until the kernel is done: what was
found stays while a term of it lives, and when this is full the snapshot begins another one.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.index.retrieval.pages import HUGE, pages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.retrieval.lookups import Found
    from periplus.index.retrieval.tables import Table

TERMS_KEPT = 65_000
BYTES_KEPT = 64_000_000  # that their lists take
GIVEN_KEPT = 32_000_000  # bytes that their bits take; lists beyond that have none
FIRST_CHUNK, CHUNK = 1 << 15, 1 << 19  # numbers


class KnownTerm(Struct, frozen=True, gc=False):
    """A term in a snapshot: live documents that have it, and its number in every segment (-1: not there)."""

    frequency: int
    numbers: tuple[int, ...]
    lists: NDArray[np.int64]  # where its postings lie, for kernels (``core.layout.lists``)
    address: int  # of its rows
    size: int = 0  # bytes that its lists take
    kept: object = None  # all memory that these, and what is given to them later, lie in


class HeldLists(NamedTuple):
    """Lists of terms, whose addresses are good for as long as this object is held."""

    lists: list[tuple[int, int]]  # of each term: live documents that have it here, and the address of its rows
    held: Sequence[KnownTerm]


class Terms:
    def __init__(self) -> None:
        self.known: dict[str, KnownTerm] = {}
        self.chunks: list[NDArray[np.int64]] = []  # all of them: kernels know addresses in them
        self._bytes = 0
        self._adding = threading.Lock()
        self._free = np.empty(0, np.int64)
        self._given: set[int] = set()
        self._given_bytes = 0

    def takes(self, count: int) -> bool:
        """Whether there is room for so many more; an empty one takes any number."""
        return not self.known or (len(self.known) + count <= TERMS_KEPT and self._bytes <= BYTES_KEPT)

    def memory(self, words: int) -> NDArray[np.int64]:
        """So many numbers for the lists of terms, near those of others."""
        words = (words + 7) & ~7
        with self._adding:
            if len(self._free) < words:
                self._free = _chunk(FIRST_CHUNK if not self._bytes else CHUNK, words)
                self.chunks.append(self._free)
            taken, self._free = self._free[:words], self._free[words:]
        return taken

    def add(self, term: str, found: Found) -> KnownTerm:
        """Keep a term. The first to come stays, as its address may be in use already."""
        known = KnownTerm(found.live, tuple(found.numbers), found.lists, found.address, found.size, self.chunks)
        with self._adding:
            kept = self.known.setdefault(term, known)
            if kept is known:
                self._bytes += known.size
        return kept

    def give(self, table: Table, terms: Sequence[KnownTerm]) -> None:
        """Bits for the frequent lists of terms that are searched (``core.retrieval.set_bits``), while there is room."""
        for known in terms:
            if known.address in self._given or known.kept is not self.chunks:  # of an earlier one
                continue
            self._given.add(known.address)
            lists = (table.address, table.segments, known.address)
            words = _give_bits()(*lists, 0)
            if words and self._given_bytes + 8 * words <= GIVEN_KEPT:
                self._given_bytes += 8 * words
                _give_bits()(*lists, self.memory(words).ctypes.data)


def _aligned(words: int) -> NDArray[np.int64]:
    """Zeros from the begin of a line on."""
    numbers = np.zeros(words + 8, np.int64)
    begin = -numbers.ctypes.data % 64 // 8
    return numbers[begin : begin + words]


def _chunk(usual: int, words: int) -> NDArray[np.int64]:
    return pages(max(usual, words)) if usual >= HUGE // 8 else _aligned(max(usual, words))


@cache
def _give_bits() -> Callable[[int, int, int, int], int]:
    from periplus.core.retrieval import give_bits

    return give_bits.entry
