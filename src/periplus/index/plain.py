"""Plain queries: any of some words, or all of them, with or without filters and prior.

Most queries are of this kind, and a kernel of its own answers them (``kernels/plain.py``). Its memory is kept by thread
and passed by address, because asking the system for it anew would take longer than many a search. For the same reason
this file spares objects and calls: what is done once a query here takes about as long as the search itself.
"""

from __future__ import annotations

import threading
from functools import cache
from struct import pack_into
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.index.plan import LARGEST_SCORE, MAX_GROUPS, KnownTerm, form_weights
from periplus.index.weights import LARGEST_IMPACT, fixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index.query import Group, IndexQuery
    from periplus.index.tables import Table

MOST = 20_000  # documents asked for, at most
MAX_LISTS = 1_024
QUERY = 2_560  # numbers of a query, at most; the kernel knows it, too
_LARGEST_WEIGHTS = LARGEST_SCORE // LARGEST_IMPACT
_SIZE = (1 << 31) - 1
_COMPLETE = 1 << 31
_COUNT_SHIFT = 32


class PlainQuery(Struct, gc=False):
    every: bool  # all groups are required, else any of them will do
    starts: list[int]  # first list of each group, and their end
    weights: list[int]
    terms: list[KnownTerm]
    prior_weight: int
    reach: int  # how many postings decide about matches, at most


class Found(Struct, gc=False):
    numbers: NDArray[np.int64]
    scores: NDArray[np.int64]
    matching: int  # documents met
    complete: bool  # that is all of them


class _Memory(threading.local):
    """What a kernel reads its query from and writes to, by thread."""

    def __init__(self) -> None:
        self.grow(1 << 16)

    def grow(self, words: int) -> None:
        self.words = words
        self.numbers: Any = np.zeros(words, np.int64)
        self.address: int = self.numbers.ctypes.data


_memory = _Memory()


def plain_query(query: IndexQuery, known: Callable[[str], KnownTerm], prior_weight: float) -> PlainQuery | None:
    """The query with its lists; None when it is not a plain one, or too large for whole numbers without scaling."""
    groups = query.should or query.must
    if query.must_not or query.any_of or (query.should and query.must) or not 0 < len(groups) <= MAX_GROUPS:
        return None
    every = not query.should
    starts, weights, terms = [0], [], []
    reach, smallest = 0, LARGEST_SCORE
    for group in groups:
        forms = group.forms
        if not forms or group.phrase or group.prefix or group.field:
            return None
        size = 0
        if len(forms) == 1:
            term = known(forms[0].term)
            size = term.frequency
            if size:
                terms.append(term)
                share = group.weight * forms[0].share
                weights.append(term.weight if share == 1.0 else fixed(share * term.idf))
        else:
            for term, weight in _weighted(group, known):
                terms.append(term)
                weights.append(weight)
                size += term.frequency
        if size:
            starts.append(len(terms))
            reach += size
        smallest = min(smallest, size)
    prior = fixed(prior_weight) if prior_weight > 0 else 0
    if prior + sum(weights) > _LARGEST_WEIGHTS or len(weights) > MAX_LISTS:
        return None
    return PlainQuery(every, starts, weights, terms, prior, smallest if every else reach)


def _weighted(group: Group, known: Callable[[str], KnownTerm]) -> list[tuple[KnownTerm, int]]:
    """The forms of a word that occur, with their weights."""
    terms = [known(form.term) for form in group.forms]
    pairs = zip(terms, form_weights(group, terms), strict=True)
    return [pair for pair in pairs if pair[0].frequency]


@cache
def _kernel() -> Callable[[int, int, int], int]:
    from periplus.index.kernels.plain import plain_top

    return plain_top.entry


def search_plain(table: Table, query: PlainQuery, k: int, rank: int, *, prune: bool) -> Found:
    """The best of all segments of the table; ``rank`` of stored best impacts gives a floor (-1: none is known)."""
    starts, weights = query.starts, query.weights
    memory, count = _memory, len(weights)
    segments, windows = table.segments, table.windows
    # Behind query and hits: the buffer of the best, what is known of lists, windows and groups.
    words = QUERY + 10 * k + 12_288 + (4 * segments + 4) * (count + 1) + windows * (count + 4 + (count >> 3))
    if memory.words < words:
        memory.grow(words + (words >> 2))
    addresses = [term.address for term in query.terms]
    head = (segments, len(starts) - 1, query.every, query.prior_weight, rank, prune, k)
    pack_into(f"{7 + len(starts) + 2 * count}q", memory.numbers, 0, *head, *starts, *weights, *addresses)
    found = _kernel()(table.address, memory.address, memory.words)
    size = found & _SIZE
    begin = QUERY + k
    numbers = memory.numbers[begin : begin + size].copy()
    return Found(numbers, memory.numbers[QUERY : QUERY + size], found >> _COUNT_SHIFT, found & _COMPLETE != 0)
