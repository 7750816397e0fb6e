"""Looking up a term in all segments: what kernels need to know of its lists, in memory of its own."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from periplus.index.tables import Table

WINDOWS_A_WORD = 4  # windows of rare postings, in one number of 64 bits


def looked_up(table: Table, term: str) -> tuple[int, list[int], NDArray[np.int64]]:
    """How many live documents have a term, its number in every segment (-1: not there), and its lists.

    The lists are rows of ``kernels.lists_known``; behind them are the windows of rare postings, to which they point.
    """
    find, open_windows, row = _kernels()
    segments = table.segments
    found, rows = np.empty(segments + 1, np.int64), np.empty(row * segments, np.int64)
    live = find(table.rows, np.frombuffer(term.encode("utf-8", "surrogatepass"), np.uint8), found, rows)
    *numbers, windows = found.tolist()
    if not windows:
        return live, numbers, rows
    lists = np.empty(len(rows) - -windows // WINDOWS_A_WORD, np.int64)
    lists[: len(rows)] = rows
    open_windows(table.rows, segments, lists)
    return live, numbers, lists


@cache
def _kernels() -> tuple[Callable[..., int], Callable[..., None], int]:
    """The two kernels, without numba's choice among signatures, which takes longer than they do; numbers of a row."""
    from periplus.index.kernels.lists_known import LIST_ROW
    from periplus.index.kernels.search import find, open_windows

    return find.entry, open_windows.entry, LIST_ROW
