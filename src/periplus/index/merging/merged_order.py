"""The order of a merged segment: for each of its documents, which segment it comes from and its number there."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from periplus.core.layout.documents import GONE
from periplus.index.format.aligned import aligned_ranges
from periplus.index.merging.mapped import mapped_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.format.segment import Segment

LEAST_ROWS, MOST_ROWS = 1 << 6, 1 << 15  # documents that are looked at together
ROW_BYTES = 2_000  # memory that one of these takes, about


class Source:
    """A segment with the documents of it that are still live."""

    def __init__(self, segment: Segment, alive: NDArray[np.uint8] | None) -> None:
        self.segment = segment
        self.alive = np.ones(segment.documents, np.uint8) if alive is None else alive

    @property
    def live(self) -> int:
        return int(self.alive.sum())


class Rows(NamedTuple):
    """Some documents of the merged segment, from ``first`` on."""

    first: int
    sources: NDArray[np.uint32]
    numbers: NDArray[np.uint32]

    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Their values, where each source has a column."""
        values = np.empty((len(self.sources), *columns[0].shape[1:]), columns[0].dtype)
        for place in np.unique(self.sources).tolist():
            here = self.sources == place
            values[here] = columns[place][self.numbers[here]]
        return values


class MergedOrder:
    """Documents by address, then by key; 12 bytes each in mapped files."""

    def __init__(self, folder: Path, sources: Sequence[Source], memory: int) -> None:
        self.sources = sources
        self.together = max(LEAST_ROWS, min(MOST_ROWS, memory // ROW_BYTES))
        self._count = sum(source.live for source in sources)
        self._sources = mapped_array(folder, "<u4", self._count)
        self._numbers = mapped_array(folder, "<u4", self._count)
        self.renumbered = [mapped_array(folder, "<u4", source.segment.documents) for source in sources]
        self._fill()

    def __len__(self) -> int:
        return self._count

    def rows(self, first: int = 0, last: int | None = None, step: int = 1) -> Rows:
        return Rows(first, self._sources[first:last:step], self._numbers[first:last:step])

    def parts(self) -> Iterator[Rows]:
        """All rows, some at a time."""
        return (self.rows(first, first + self.together) for first in range(0, self._count, self.together))

    def joined(self, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """A whole column, where each source has one."""
        joined = np.empty(self._count, columns[0].dtype)
        for rows in self.parts():
            joined[rows.first : rows.first + len(rows.sources)] = rows.of(columns)
        return joined

    def forget_new_numbers(self) -> None:
        """Of the documents of the sources: they are needed only while the segment is written."""
        self.renumbered = []

    def rest(self) -> None:
        """Let go of pages of the sources: each is read once, and would count as memory of this process."""
        for source in self.sources:
            source.segment.rest()

    def _fill(self) -> None:
        for renumbered in self.renumbered:
            renumbered[:] = GONE
        addresses = [_Addresses(source.segment) for source in self.sources]
        first = 0
        for ranges in aligned_ranges(addresses, self.together):
            some = [
                (*addresses[place].at(number), place, number)
                for place, (low, high) in enumerate(ranges)
                for number in (low + np.flatnonzero(self.sources[place].alive[low:high])).tolist()
            ]
            some.sort()
            self._put(first, [(place, number) for _, _, place, number in some])
            first += len(some)

    def _put(self, first: int, some: list[tuple[int, int]]) -> None:
        rows = np.array(some, np.uint32).reshape(-1, 2)
        last = first + len(rows)
        self._sources[first:last], self._numbers[first:last] = rows[:, 0], rows[:, 1]
        for place in np.unique(rows[:, 0]).tolist():
            here = np.flatnonzero(rows[:, 0] == place)
            self.renumbered[place][rows[here, 1]] = first + here


class _Addresses:
    """Sort keys of the addresses of a segment with the keys of its documents, ascending."""

    def __init__(self, segment: Segment) -> None:
        self._text = segment.columns.array("order").data
        self._ends = segment.columns.array("order_end").data
        self._keys = segment.columns.key.data
        self.weight = segment.documents

    def __len__(self) -> int:
        return self.weight

    def at(self, place: int) -> tuple[bytes, int]:
        begin = self._ends[place - 1] if place else 0
        return bytes(self._text[begin : self._ends[place]]), self._keys[place]

    def before(self, value: tuple[bytes, int]) -> int:
        return bisect_left(range(self.weight), value, key=self.at)

    def reach(self, low: int, share: int) -> int:
        return min(low + share, self.weight)
