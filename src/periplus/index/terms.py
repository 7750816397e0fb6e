"""Terms: what one snapshot knows of the words that it was asked for, ready for kernels.

Kernels reach what is known by address. So whoever asks one holds on to this object until the kernel is done: it forgets
nothing while it lives, and when it is full the snapshot begins another one.
"""

from __future__ import annotations

import threading
from functools import cache
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index.pages import HUGE, pages
from periplus.index.plain import asking, first_pass_at
from periplus.index.rooms import free

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.index.plan import KnownTerm
    from periplus.index.tables import Table

TERMS_KEPT = 65_000  # half of a table of hashes of 8 MB
BYTES_KEPT = 64_000_000  # that their lists take
GIVEN_KEPT = 32_000_000  # bytes that their bits and tables take; lists beyond that have none
FIRST_CHUNK, CHUNK = 1 << 15, 1 << 19  # numbers
UNKNOWN = -3  # the kernel's result for terms that it does not know
FIRST_POWER = 9  # of two: entries of the first table of hashes
ENTRY, ENTRIES = 8, 3  # numbers of an entry, and where the table stands in a context; kernels know them, too
_triple = Layout("3q").pack


def _not_yet(*_: object) -> int:
    return UNKNOWN


class Terms:
    """``ask`` is the kernel; ``address`` is that of the context it takes; ``rooms`` are free ones."""

    __slots__ = (
        *("ask", "address", "rooms"),  # first, so that a query finds them in one line of memory
        *("known", "packed", "_bytes", "_table", "_limit", "_adding"),
        *("_free", "_context", "_entries", "_power", "_count", "_entered", "_given", "chunks"),
    )

    def __init__(self, table: Table | None = None, limit: int = 0) -> None:
        self.ask: Callable[..., int] = _not_yet
        self.address = 0
        self.rooms = free
        self.known: dict[str, KnownTerm] = {}
        self._bytes = 0
        self.packed: dict[str, bytes] = {}  # as ``kernels.plain`` takes them: weight, address, live documents
        self._table, self._limit = table, limit
        self._adding = threading.Lock()
        self._free = self._context = np.empty(0, np.int64)
        self.chunks: list[NDArray[np.int64]] = []  # all of them: kernels know addresses in them
        self._entries: list[NDArray[np.int64]] = []  # the last one is in use, and the others may be still
        self._power, self._count = FIRST_POWER, 0
        self._entered: set[str] = set()
        self._given = 0

    def takes(self, count: int) -> bool:
        """Whether there is room for so many more; an empty one takes any number."""
        return not self.known or (len(self.known) + count <= TERMS_KEPT and self._bytes <= BYTES_KEPT)

    @property
    def is_open(self) -> bool:
        return self._table is not None

    def memory(self, words: int) -> NDArray[np.int64]:
        """So many numbers for the lists of terms, near those of others."""
        words = (words + 7) & ~7
        with self._adding:
            if len(self._free) < words:
                self._free = _chunk(FIRST_CHUNK if not self._bytes else CHUNK, words)
                self.chunks.append(self._free)
            taken, self._free = self._free[:words], self._free[words:]
        return taken

    def add(self, term: str, known: KnownTerm) -> KnownTerm:
        """Keep a term. The first to come stays, as its address may be in use already."""
        with self._adding:
            if term in self.known:
                return self.known[term]
            self.known[term] = known
            self._bytes += known.size or known.lists.nbytes
            self.packed[term] = _triple(known.weight, known.address, known.frequency)
        return known

    def found(self, term: str, look_up: Callable[[str, Terms], KnownTerm]) -> KnownTerm:
        """A term, whose lists go to this memory."""
        return self.add(term, look_up(term, self))

    def pack(self, terms: Sequence[str], look_up: Callable[[str, Terms], KnownTerm]) -> bytes:
        """The triples of some terms, one after the other; those that are not known yet are looked up.

        From now on the kernel finds them by their bytes, and their lists have all that makes them quick.
        """
        for term in terms:
            if term not in self.packed:
                self.found(term, look_up)
            if term not in self._entered and self._table is not None:
                self._entered.add(term)
                self._give(self._table, self.known[term])
                with self._adding:
                    self._enter(self._table, term, self.known[term])
        return b"".join([self.packed[term] for term in terms])

    def _give(self, table: Table, known: KnownTerm) -> None:
        """Bits and tables for the lists of a term, where they may have them (``kernels.giving``), and there is room."""
        kernels, lists = _kernels(), (table.address, table.segments, known.address)
        for give in (kernels.give_bits, kernels.give_tables):
            words = give(*lists, 0)
            if words and self._given + 8 * words <= GIVEN_KEPT:
                self._given += 8 * words
                give(*lists, self.memory(words).ctypes.data)

    def _enter(self, table: Table, term: str, known: KnownTerm) -> None:
        """Bring a term to the table of hashes."""
        if not self._entries or 2 * self._count >= len(self._entries[-1]) // ENTRY:
            self._grow(table)
        text = term.encode("utf-8", "surrogatepass") + b"\0"
        if text.find(b"\0") == len(text) - 1:
            entries = int(self._context[ENTRIES])
            self._count += _kernels().keep_term(entries, known.weight, known.address, known.frequency, text)

    def _grow(self, table: Table) -> None:
        """Twice as many places."""
        power = self._power = self._power + 1 if self._entries else FIRST_POWER
        entries = pages(ENTRY << power) if ENTRY << power >= HUGE // 8 else _aligned(ENTRY << power)
        packed = entries.ctypes.data | power
        if not self._entries:
            searched = (table.address, table.segments, self._limit, packed, 0, 0, 0, first_pass_at())
            self._context = np.array(searched, np.int64)
            self.address, self.ask = self._context.ctypes.data, asking()
        else:
            _kernels().move_terms(int(self._context[ENTRIES]), packed)
        self._entries.append(entries)
        self._context[ENTRIES] = packed


def _aligned(words: int) -> NDArray[np.int64]:
    """Zeros from the begin of a line on."""
    numbers = np.zeros(words + 8, np.int64)
    begin = -numbers.ctypes.data % 64 // 8
    return numbers[begin : begin + words]


def _chunk(usual: int, words: int) -> NDArray[np.int64]:
    return pages(max(usual, words)) if usual >= HUGE // 8 else _aligned(max(usual, words))


class _Kernels:
    def __init__(self) -> None:
        from periplus.index.kernels.giving import give_bits, give_tables
        from periplus.index.kernels.term_table import keep_term, move_terms

        self.give_bits: Any = give_bits.entry
        self.give_tables: Any = give_tables.entry
        self.keep_term: Any = keep_term.entry
        self.move_terms: Any = move_terms.entry


@cache
def _kernels() -> _Kernels:
    return _Kernels()
