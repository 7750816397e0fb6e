"""Columns of a merged segment, read from its sources and given some documents at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.core.layout.documents import GONE
from periplus.index.format.aligned import aligned_ranges
from periplus.index.format.columns import NAMED, ColumnSource
from periplus.index.format.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from periplus.index.format.columns import Columns
    from periplus.index.merging.merged_order import MergedOrder

WIDE = {"lengths": len(FIELDS), "starts": len(FIELDS) + 1}  # columns with several values a document


class MergedColumns(ColumnSource):
    def __init__(self, order: MergedOrder) -> None:
        self._order = order
        self._columns = [source.segment.columns for source in order.sources]
        self._named = {name: _Names(order, name) for name in NAMED}

    @property
    def names(self) -> dict[str, list[str]]:
        return {name: named.used for name, named in self._named.items()}

    def values(self, name: str) -> Iterator[NDArray[Any]]:
        columns = [_rows(column.array(name), name) for column in self._columns]
        for rows in self._order.parts():
            values = rows.of(columns)
            yield self._named[name].renamed(rows.sources, values) if name in self._named else values.reshape(-1)

    def texts(self, name: str) -> Iterator[list[bytes]]:
        for rows in self._order.parts():
            texts: list[bytes] = [b""] * len(rows.sources)
            for place in np.unique(rows.sources).tolist():
                here = np.flatnonzero(rows.sources == place)
                found = self._columns[place].texts(name, rows.numbers[here].astype(np.int64))
                for row, text in zip(here.tolist(), found, strict=True):
                    texts[row] = text
            yield texts

    def key_order(self) -> Iterator[NDArray[Any]]:
        keyed = [_Keys(columns) for columns in self._columns]
        for ranges in aligned_ranges(keyed, self._order.together):
            keys, numbers = [], []
            for (low, high), one, renumbered in zip(ranges, keyed, self._order.renumbered, strict=True):
                new = renumbered[one.documents[low:high]]
                keys.append(one.keys[low:high][new != GONE])
                numbers.append(new[new != GONE])
            found = np.concatenate(numbers)
            yield found[np.lexsort((found, np.concatenate(keys)))]


def _rows(values: NDArray[Any], name: str) -> NDArray[Any]:
    return values.reshape(-1, WIDE[name]) if name in WIDE else values


class _Names:
    """The names of a column that are still in use, and their numbers."""

    def __init__(self, order: MergedOrder, name: str) -> None:
        columns = [source.segment.columns for source in order.sources]
        every = sorted({entry for column in columns for entry in column.read_names(name)})
        places = {entry: place for place, entry in enumerate(every)}
        is_used = np.zeros(len(every), np.bool_)
        tables = []
        for source in order.sources:
            tables.append(np.array([places[entry] for entry in source.segment.columns.read_names(name)], np.int64))
            values = source.segment.columns.array(name)
            for first in range(0, len(values), order.together):
                some = slice(first, first + order.together)
                is_used[tables[-1][values[some][source.alive[some] > 0]]] = True
        numbers = np.cumsum(is_used) - 1
        self.used = [every[place] for place in np.flatnonzero(is_used).tolist()]
        self._tables = [numbers[table].astype(np.uint32) for table in tables]

    def renamed(self, sources: NDArray[np.uint32], values: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Numbers of the sources as those of the merged segment."""
        renamed = np.empty(len(values), np.uint32)
        for place in np.unique(sources).tolist():
            here = sources == place
            renamed[here] = self._tables[place][values[here]]
        return renamed


class _Keys:
    """The keys of a segment, ascending."""

    def __init__(self, columns: Columns) -> None:
        self.keys, self.documents = columns.by_key()
        self.weight = len(self.keys)

    def __len__(self) -> int:
        return self.weight

    def at(self, place: int) -> int:
        return int(self.keys[place])

    def before(self, value: int) -> int:
        return int(np.searchsorted(self.keys, np.int64(value)))

    def reach(self, low: int, share: int) -> int:
        return min(low + share, self.weight)
