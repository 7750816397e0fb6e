"""Looking up a term in all segments: what kernels need to know of its lists, in memory of its own."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.core.compiler import address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.index.retrieval.tables import Table

RARE_BYTES = 7  # of a rare posting: document, impact and window
PADDING = 4 * 16  # bytes of documents behind the last one


class Found(NamedTuple):
    """A term in all segments."""

    live: int  # documents that have it
    numbers: list[int]  # its number in every segment (-1: not there)
    lists: NDArray[np.int64]  # whose address may be used for as long as this lives
    address: int  # of its rows
    size: int  # bytes that it takes


def _memory(words: int) -> NDArray[np.int64]:
    return np.empty(words, np.int64)


def looked_up_all(
    table: Table, terms: Sequence[str], memory: Callable[[int], NDArray[np.int64]] = _memory
) -> list[Found]:
    """What there is to know of some terms, whose lists share one array.

    The lists are rows and a head of ``core.layout.lists``; behind them are the rare postings, to which they point.
    """
    kernels = _kernels()
    segments, count = table.segments, len(terms)
    encoded = list(map(_encoded, terms))
    ends = np.array(list(accumulate(map(len, encoded))), np.int64)
    each = segments + kernels.beyond
    found, rows = np.empty(count * each, np.int64), np.empty(count * segments * kernels.row, np.int64)
    kernels.find_all(table.rows, np.frombuffer(bytearray().join(encoded), np.uint8), ends, segments, found, rows)
    known = [(numbers, live, rare) for *numbers, live, rare in found.reshape(count, each).tolist()]
    return _opened(table, rows, known, memory)


def _opened(
    table: Table,
    rows: NDArray[np.int64],
    known: list[tuple[list[int], int, int]],
    memory: Callable[[int], NDArray[np.int64]],
) -> list[Found]:
    """Terms with their numbers, live documents and how many rare postings there are of them."""
    kernels = _kernels()
    each = kernels.row * table.segments + kernels.head
    sizes = [each + (RARE_BYTES * rare + PADDING + 8) // 8 if rare else each for _, _, rare in known]
    starts = list(accumulate(sizes, initial=0))
    lists = memory(starts[-1])
    kernels.open_lists(table.rows, table.segments, len(known), rows, lists)
    address = address_of(lists)
    return [
        Found(live, numbers, lists, address + 8 * start, 8 * size)
        for (numbers, live, _), start, size in zip(known, starts, sizes, strict=False)
    ]


def _encoded(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")


class _Kernels(NamedTuple):
    """What a lookup calls, and what it has to know of their arrays."""

    find_all: Callable[..., int]
    open_lists: Callable[..., int]
    row: int  # numbers of a list
    head: int  # numbers behind the lists of all segments
    beyond: int  # numbers of a term, besides those it has in segments


@cache
def _kernels() -> _Kernels:
    from periplus.core.layout.lists import LIST_HEAD, LIST_ROW
    from periplus.core.retrieval import BEYOND, find_all, open_lists

    return _Kernels(find_all.entry, open_lists.entry, LIST_ROW, LIST_HEAD, BEYOND)
