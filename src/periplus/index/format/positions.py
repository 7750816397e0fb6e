"""Positions of a segment: where in its document each posting stands (packed by ``core.format.positions``).

Postings are counted through all terms, in the order of the file of postings, and 64 of them make a block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.core.layout.segment_tables import BLOCK, GROUP_BITS, PositionTables
from periplus.errors import INDEX_PART, Corrupt, StorageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.index.format.files import ArrayFile, ArrayFileWriter

GROUP = 1 << GROUP_BITS  # blocks with a common base
PADDING = 8  # bytes after the last block
LARGEST_GROUP = 1 << 32  # bytes
LARGEST_NUMBER = 4  # bytes of a packed number, at most
BLOCK_HEAD = 8  # bytes before the numbers and marks of a block, at most
PACKED_AT_ONCE = 1 << 16  # postings; a multiple of those of a block


class PositionsWriter:
    """Takes postings in runs (how many positions each has, and the steps from one to the next), and packs them."""

    def __init__(self, file: ArrayFileWriter) -> None:
        self._data = file.stream("data", "u1")
        self._block_base = file.stream("block_base", "<i8")
        self._block_start = file.stream("block_start", "<u4")
        self._longest_stream = file.stream("longest", "<i8")
        self._longest = 0
        self._group_base = 0
        self._target = np.empty(0, np.uint8)  # memory that packing uses again and again
        self._waiting_counts = np.empty(0, np.uint32)  # of postings that do not yet fill a block
        self._waiting_steps = np.empty(0, np.uint32)

    def append(self, counts: NDArray[np.uint32], steps: NDArray[np.uint32]) -> None:
        """The next postings; ``steps`` are the first position of each and the differences after it."""
        filling = min(-len(self._waiting_counts) % BLOCK, len(counts))
        if filling:
            counts, steps = self._fill(counts, steps, filling)
        whole = len(counts) // BLOCK * BLOCK
        cut = int(counts[:whole].sum(dtype=np.int64))
        self._pack(counts[:whole], steps[:cut])
        self._waiting_counts = np.concatenate([self._waiting_counts, counts[whole:]])
        self._waiting_steps = np.concatenate([self._waiting_steps, steps[cut:]])

    def finish(self) -> None:
        self._pack(self._waiting_counts, self._waiting_steps)
        self._data.append(bytes(PADDING))
        self._longest_stream.append(np.array([self._longest]))

    def _fill(
        self, counts: NDArray[np.uint32], steps: NDArray[np.uint32], filling: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Complete the block that waits; what is left."""
        cut = int(counts[:filling].sum(dtype=np.int64))
        self._waiting_counts = np.concatenate([self._waiting_counts, counts[:filling]])
        self._waiting_steps = np.concatenate([self._waiting_steps, steps[:cut]])
        if len(self._waiting_counts) == BLOCK:
            self._pack(self._waiting_counts, self._waiting_steps)
            self._waiting_counts = self._waiting_steps = np.empty(0, np.uint32)
        return counts[filling:], steps[cut:]

    def _pack(self, counts: NDArray[np.uint32], steps: NDArray[np.uint32]) -> None:
        from periplus.core.format import pack

        for first in range(0, len(counts), PACKED_AT_ONCE):
            some = counts[first : first + PACKED_AT_ONCE]
            cut = int(some.sum(dtype=np.int64))
            blocks = -(-len(some) // BLOCK)
            room = (LARGEST_NUMBER + 1) * cut + BLOCK_HEAD * blocks + PADDING
            if len(self._target) < room:
                self._target = np.empty(room, np.uint8)
            target, sizes = self._target, np.empty(blocks, np.uint32)
            self._longest = max(self._longest, int(pack(some, steps[:cut], target, sizes)))
            starts = self._data.length + np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
            self._append_starts(starts[:-1])
            self._data.append(target[: int(starts[-1]) - self._data.length])
            steps = steps[cut:]

    def _append_starts(self, starts: NDArray[np.int64]) -> None:
        """Offsets of the next blocks, as differences from the first of their group."""
        numbers = self._block_start.length + np.arange(len(starts))
        bases = starts[numbers % GROUP == 0]
        self._block_base.append(bases)
        known = np.concatenate([[self._group_base], bases])
        relative = starts - known[np.cumsum(numbers % GROUP == 0)]
        if len(relative) and int(relative.max()) >= LARGEST_GROUP:
            raise StorageError("the positions of one segment do not fit its tables; index with less memory")
        self._block_start.append(relative)
        self._group_base = int(known[-1])


class Positions:
    def __init__(self, file: ArrayFile, postings: int) -> None:
        self.block_base: NDArray[np.int64] = file.array("block_base")
        self.block_start: NDArray[np.uint32] = file.array("block_start")
        self.data: NDArray[np.uint8] = file.array("data")
        self.longest = int(file.array("longest")[0])  # positions of one posting
        blocks = -(-postings // BLOCK)
        if len(self.block_start) != blocks or len(self.block_base) != -(-blocks // GROUP):
            raise Corrupt(f"{file.path}: its tables do not fit together; rebuild the index", INDEX_PART)

    @property
    def tables(self) -> PositionTables:
        """As kernels take them."""
        return PositionTables(self.block_base, self.block_start, self.data)
