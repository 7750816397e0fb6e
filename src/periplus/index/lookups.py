"""Looking up a term in all segments: what kernels need to know of its lists, in memory of its own."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.index.tables import Table

WINDOWS_A_WORD = 4  # windows of rare postings, in one number of 64 bits


class Found(NamedTuple):
    """A term in all segments."""

    live: int  # documents that have it
    numbers: list[int]  # its number in every segment (-1: not there)
    lists: NDArray[np.int64]  # whose address may be used for as long as this lives
    address: int  # of its rows
    size: int  # bytes that its rows and windows take


def looked_up(table: Table, term: str) -> Found:
    """What there is to know of a term.

    The lists are rows of ``kernels.lists_known``; behind them are the windows of rare postings, to which they point.
    """
    kernels = _kernels()
    segments = table.segments
    found, rows = np.empty(segments + 1, np.int64), np.empty(kernels.row * segments, np.int64)
    live = kernels.find(table.rows, np.frombuffer(_encoded(term), np.uint8), found, rows)
    *numbers, windows = found.tolist()
    lists = _opened(table, rows, 1, windows)
    return Found(live, numbers, lists, _address(lists), lists.nbytes)


def looked_up_all(table: Table, terms: Sequence[str]) -> list[Found]:
    """The same of some terms, whose lists share one array."""
    kernels = _kernels()
    segments, count = table.segments, len(terms)
    encoded = list(map(_encoded, terms))
    ends = np.array(list(accumulate(map(len, encoded))), np.int64)
    each = segments + kernels.beyond
    found, rows = np.empty(count * each, np.int64), np.empty(count * segments * kernels.row, np.int64)
    kernels.find_all(table.rows, np.frombuffer(b"".join(encoded), np.uint8), ends, segments, found, rows)
    known = found.reshape(count, each).tolist()
    lists = _opened(table, rows, count, sum([one[-1] for one in known]))
    address, size = _address(lists), 8 * kernels.row * segments
    return [
        Found(live, numbers, lists, address + place * size, size + 2 * windows)
        for place, (*numbers, live, windows) in enumerate(known)
    ]


def _opened(table: Table, rows: NDArray[np.int64], terms: int, windows: int) -> NDArray[np.int64]:
    """The rows of some terms, with the windows of their rare postings behind them."""
    if not windows:
        return rows
    lists = np.empty(len(rows) - -windows // WINDOWS_A_WORD, np.int64)
    lists[: len(rows)] = rows
    _kernels().open_windows(table.rows, table.segments, lists, terms)
    return lists


def _encoded(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")


def _address(array: NDArray[np.int64]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


class _Kernels(NamedTuple):
    """Without numba's choice among signatures, which takes longer than they do."""

    find: Callable[..., int]
    find_all: Callable[..., None]
    open_windows: Callable[..., None]
    row: int  # numbers of a list
    beyond: int  # numbers of a term, besides those it has in segments


@cache
def _kernels() -> _Kernels:
    from periplus.index.kernels.finding import BEYOND, find_all
    from periplus.index.kernels.lists_known import LIST_ROW
    from periplus.index.kernels.search import find, open_windows

    return _Kernels(find.entry, find_all.entry, open_windows.entry, LIST_ROW, BEYOND)
