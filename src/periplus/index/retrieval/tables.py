"""Rows of addresses that kernels take to reach many segments in one call (``core.layout.segments``)."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.core.layout.segments import LONGEST, ROW, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def addressed(arrays: Sequence[NDArray[Any]]) -> list[int]:
    """Address and length of each array."""
    return [number for array in arrays for number in (array.__array_interface__["data"][0], len(array))]


class Table:
    """Rows of segments, with the arrays that they point to."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.rows = np.array(rows, np.int64).reshape(-1)
        self.address: int = self.rows.ctypes.data
        self.segments = len(rows)
        self.windows = sum(row[WINDOWS] for row in rows)
        self.longest = max((row[LONGEST] for row in rows), default=0)
        self.kept: list[NDArray[Any]] = []

    def copy(self) -> Table:
        """The same, to put other arrays into."""
        table = copy(self)
        table.rows = self.rows.copy()
        table.address = table.rows.ctypes.data
        table.kept = self.kept.copy()
        return table

    def put(self, row: int, column: int, arrays: Sequence[NDArray[Any]]) -> None:
        """Other arrays than the segment's own, from a column on."""
        self.kept += arrays
        numbers = addressed(arrays)
        self.rows[row * ROW + column : row * ROW + column + len(numbers)] = numbers
