"""Spellings: a growing table of byte strings with numbers, kept in arrays that kernels fill."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.core.layout.word_tables import Spans, SpellingTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FIRST_ENTRIES = 1 << 12
FIRST_BYTES = 1 << 15
LINE_END = 10
SPARE = 8  # bytes behind the last one that counts, because kernels read words of eight


class Spellings:
    def __init__(self) -> None:
        self.slots = np.zeros(4 * FIRST_ENTRIES, np.uint64)  # two for each of twice as many places
        self.pool = np.empty(FIRST_BYTES, np.uint8)
        self.start = np.zeros(FIRST_ENTRIES + 1, np.int64)
        self.owner = np.zeros(FIRST_ENTRIES, np.uint32)
        self.count = np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self.count[0])

    @property
    def memory(self) -> int:
        return self.slots.nbytes + self.pool.nbytes + self.start.nbytes + self.owner.nbytes

    @property
    def table(self) -> SpellingTable:
        """As kernels take it; good until more room is reserved."""
        return SpellingTable(self.slots, self.pool, self.start, self.owner, self.count)

    def reserve(self, entries: int, size: int) -> None:
        """Make room for so many more entries, of so many bytes together."""
        wanted = len(self) + entries
        if wanted > len(self.owner):
            capacity = max(wanted, 2 * len(self.owner))
            self.start = _grown(self.start, capacity + 1)
            self.owner = _grown(self.owner, capacity)
        used = int(self.start[len(self)])
        if used + size + SPARE > len(self.pool):
            self.pool = _grown(self.pool, max(used + size + SPARE, 2 * len(self.pool)))
        if 4 * wanted > len(self.slots):
            self._widen(1 << (2 * wanted - 1).bit_length())

    def numbers(self, spellings: Sequence[bytes]) -> NDArray[np.uint32]:
        """The numbers of some spellings that belong to nobody in particular; new ones are added."""
        ends = np.cumsum(np.fromiter(map(len, spellings), np.int64, len(spellings)))
        begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        return self._numbered(b"".join(spellings), begins, ends)

    def numbers_of_lines(self, lines: bytes, count: int) -> NDArray[np.uint32]:
        """The numbers of ``count`` spellings that come one a line; new ones are added."""
        data = lines + b"\n"
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_END)[:count]
        return self._numbered(data, np.concatenate([[0], ends[:-1] + 1])[:count], ends)

    def _numbered(self, data: bytes, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint32]:
        from periplus.core.build import number_all

        self.reserve(len(ends), len(data))
        numbers = np.empty(len(ends), np.uint32)
        number_all(Spans(np.frombuffer(data + bytes(SPARE), np.uint8), begins, ends), self.table, numbers)
        return numbers

    def joined(self, numbers: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The bytes of these entries one after another, and where each ends."""
        return self._gathered(numbers, by_line=False)

    def lines(self, numbers: NDArray[Any]) -> list[str]:
        """These entries as texts; there is at least one, and none holds a line end."""
        text, _ = self._gathered(numbers, by_line=True)
        return text[:-1].tobytes().decode("utf-8", "surrogatepass").split("\n")

    def _gathered(self, numbers: NDArray[Any], *, by_line: bool) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        from periplus.core.build import gather_spellings

        numbers = numbers.astype(np.int64)
        size = int((self.start[numbers + 1] - self.start[numbers]).sum()) + by_line * len(numbers)
        text, ends = np.empty(size + SPARE, np.uint8), np.empty(len(numbers), np.int64)
        gather_spellings(self.pool, self.start, numbers, by_line, text, ends)
        return text[:size], ends

    def some(self, numbers: NDArray[Any]) -> list[bytes]:
        """The bytes of these entries."""
        text, ends = self.joined(numbers)
        data = text.tobytes()
        return [data[begin:end] for begin, end in pairwise([0, *ends.tolist()])]

    def first_bytes(self, numbers: NDArray[Any]) -> NDArray[np.uint8]:
        """The first byte of each of these entries, none of which is empty."""
        first: NDArray[np.uint8] = self.pool[self.start[numbers]]
        return first

    def in_order(self) -> NDArray[np.int64]:
        """The numbers of all entries, in the order of their bytes."""
        from periplus.core.build import leading_bytes, sort_ties

        keys = np.empty(len(self), np.uint64)
        leading_bytes(self.pool, self.start, keys)
        order = np.argsort(keys).astype(np.int64, copy=False)  # the quickest way: ties are brought into order below
        sort_ties(self.pool, self.start, keys, order)
        return order

    def _widen(self, places: int) -> None:
        from periplus.core.build import rehash

        known, self.slots = self.slots, np.zeros(2 * places, np.uint64)
        rehash(known, self.slots)


def _grown(values: NDArray[Any], capacity: int) -> NDArray[Any]:
    larger = np.zeros(capacity, values.dtype)
    larger[: len(values)] = values
    return larger
