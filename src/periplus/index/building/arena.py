"""Arena: bytes that are kept until all are let go, in large pieces of memory that are used again; documents in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

SMALL_BYTES = 1 << 16  # of the first piece, for those who keep little
FIRST_LARGE_BYTES = 1 << 28  # of the second; none of it is there before it is used
LARGE_BYTES = 1 << 24  # of all others, unless more is kept at once
ALIGNMENT = 8


class Arena:
    """Fresh memory costs more than what is done with it, so an arena that was cleared goes on with what it has."""

    def __init__(self) -> None:
        self.size = 0  # bytes in use
        self._pieces: list[NDArray[np.uint8]] = []
        self._place = 0  # of the piece in use
        self._used = 0  # bytes of it

    def keep(self, values: NDArray[Any]) -> NDArray[Any]:
        """A copy of an array, valid until the arena is cleared."""
        data = values.view(np.uint8)
        wanted = -(-len(data) // ALIGNMENT) * ALIGNMENT
        while self._place < len(self._pieces) and len(self._pieces[self._place]) - self._used < wanted:
            self._place, self._used = self._place + 1, 0
        if self._place == len(self._pieces):
            self._pieces.append(_piece(wanted, (SMALL_BYTES, FIRST_LARGE_BYTES, LARGE_BYTES)[min(self._place, 2)]))
        kept = self._pieces[self._place][self._used : self._used + len(data)]
        kept[:] = data
        self._used += wanted
        self.size += wanted
        return kept.view(values.dtype)

    def clear(self) -> None:
        self.size = self._place = self._used = 0

    def lent(self, size: int) -> NDArray[np.uint8] | None:
        """So many bytes for whoever needs them while the arena is clear; ``None`` when it has no such piece."""
        return next((piece[:size] for piece in self._pieces if len(piece) >= size), None) if not self.size else None


class PackedDocuments:
    """Documents that wait to be stored, packed, in batches."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._batches: list[memoryview] = []
        self._starts: list[NDArray[np.int64]] = []

    @property
    def size(self) -> int:
        return self._arena.size

    def extend(self, packed: NDArray[np.uint8], starts: NDArray[np.int64]) -> None:
        """Documents one behind the other; where each begins, and the end."""
        self._batches.append(self._arena.keep(packed).data)
        self._starts.append(starts)

    def clear(self) -> None:
        self._batches.clear()
        self._starts.clear()
        self._arena.clear()

    def some(self, rows: Sequence[int]) -> Iterator[memoryview]:
        """Documents by their places, in the order in which they came."""
        sizes = [len(starts) - 1 for starts in self._starts]
        batch = np.repeat(np.arange(len(sizes)), sizes)[rows].tolist()
        begin = np.concatenate([starts[:-1] for starts in self._starts])[rows].tolist()
        end = np.concatenate([starts[1:] for starts in self._starts])[rows].tolist()
        batches = self._batches
        return (batches[place][first:last] for place, first, last in zip(batch, begin, end, strict=True))


def _piece(wanted: int, usual: int) -> NDArray[np.uint8]:
    try:
        return np.empty(max(wanted, usual), np.uint8)
    except MemoryError:  # a process that may not have addresses without memory behind them
        return np.empty(max(wanted, min(usual, LARGE_BYTES)), np.uint8)
