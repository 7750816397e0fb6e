"""Asking the kernel for the best documents of weighted lists (laid out as ``core/retrieval/blockmax.py`` says)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf
from struct import Struct as Layout
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.index.retrieval.scratch import scratch_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index.retrieval.tables import Table

COUNTED, MATCHES = 6, 14  # places among the first numbers of a query; the kernel knows them, too
UNFINISHED = -1
VISITS = 4_096  # windows between two looks at the clock: a million documents
NO_END = 1 << 60


class Weighted(Struct):
    """Lists in groups, groups in clauses: required ones, those that seldom match first, then optional ones, then
    forbidden ones."""

    lists: Sequence[int]  # weight and address of each, in turns
    starts: Sequence[int]  # first list of each group, and their end
    clauses: Sequence[int]
    required: int  # clauses
    prior_weight: int


class Manner(Struct, frozen=True):
    """How the best are found."""

    k: int
    rank: int = -1  # of stored best impacts, that gives a first threshold
    counted: bool = True  # all matches
    by_date: bool = False
    deadline: float = inf  # from which on matches are no longer counted


class Best(Struct):
    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    matches: int  # that were met
    is_counted: bool  # whether that is all of them


def best_of(table: Table, asked: Weighted, manner: Manner) -> Best:
    """The best documents of all segments."""
    lists, clauses, k, counted = asked.lists, asked.clauses, manner.k, manner.counted
    visits = VISITS if counted and manner.deadline < inf and not manner.by_date else NO_END
    head = (table.segments, len(lists) >> 1, len(clauses), asked.required, asked.prior_weight)
    more = (k, counted, manner.by_date, manner.rank, visits, 0, 0, 0, 0, 0)
    numbers = (*head, *more, *lists, *asked.starts, *clauses)
    at = len(numbers)
    data = _layout(at)(*numbers)
    kernel, scratch = _kernel(), scratch_of(at)
    scratch.view[: len(data)] = data
    result = kernel(table.address, scratch.address, scratch.words)
    while result < 0:
        if result != UNFINISHED:
            scratch = scratch_of(-result)
            scratch.view[: len(data)] = data
        elif perf_counter() >= manner.deadline:
            counted = False
            scratch.numbers[COUNTED] = 0
        result = kernel(table.address, scratch.address, scratch.words)
    found = scratch.numbers[at : at + result].copy(), scratch.scores[at + k : at + k + result].copy()
    return Best(*found, int(scratch.numbers[MATCHES]), counted)


@cache
def _layout(numbers: int) -> Callable[..., bytes]:
    return Layout(f"{numbers}q").pack


@cache
def _kernel() -> Callable[[int, int, int], int]:
    from periplus.core.retrieval import block_max

    return block_max.entry
