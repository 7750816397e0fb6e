"""Phrases and words near each other, as the kernels that look for them are asked."""

from __future__ import annotations

from functools import cache
from struct import Struct as Layout
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.errors import UsageError
from periplus.index.format.fields import PIECE_GAP
from periplus.index.retrieval.hits import TopHits
from periplus.index.retrieval.scratch import scratch_of
from periplus.records import Total

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.index.format.norms import Epoch
    from periplus.index.retrieval.made import MadeList
    from periplus.index.retrieval.scratch import ScratchBuffer
    from periplus.index.retrieval.tables import Table
    from periplus.index.retrieval.terms import KnownTerm

MAX_SLOP = PIECE_GAP - 1  # a wider one would reach from one piece of text into the next
MAX_WORDS = 1_024  # of a phrase that is searched at once
HEAD, CUT, MATCHES = 15, 13, 14  # numbers before the words, and places among them; the kernel knows them, too


class PhraseQuery(NamedTuple):
    """A query that asks for one phrase and nothing else."""

    entry: MadeList
    words: list[KnownTerm]
    weight: int
    prior_weight: int


def checked_slop(slop: int) -> int:
    if not 0 <= slop <= MAX_SLOP:
        raise UsageError(f"a phrase cannot have {slop} words in between; give a number from 0 to {MAX_SLOP}")
    return slop


class Norms(NamedTuple):
    """What is baked into impacts, as ``core.retrieval.phrases`` takes it; to ask for an address takes a microsecond."""

    values: NDArray[np.float64]
    address: int


def norms_of(epoch: Epoch) -> Norms:
    averages = (max(average, 1.0) for average in epoch.averages)
    values = np.array([epoch.k1, *epoch.weights, *epoch.penalties, *averages])
    return Norms(values, values.ctypes.data)


@cache
def _kernel() -> Callable[[int, int, int], int]:
    from periplus.core.retrieval import phrase_search

    return phrase_search.entry


def search_phrase(table: Table, query: PhraseQuery, norms: Norms, k: int, *, prune: bool) -> TopHits:
    """The best of all segments."""
    words = [word.address for word in query.words]
    scratch, found = _asked(
        table, query.entry, words, (query.weight, query.prior_weight, prune, k, norms.address, 0, 0)
    )
    at = HEAD + len(words)
    total = Total(int(scratch.numbers[MATCHES]), "gte" if scratch.numbers[CUT] else "eq")
    return TopHits(scratch.numbers[at : at + found].copy(), scratch.scores[at + k : at + k + found].copy(), total)


def phrase_list(
    table: Table, entry: MadeList, lists: Sequence[int], norms: Norms, most: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """All documents of a table of one segment, deleted ones among them, with their impacts; at most ``most``.

    ``lists`` has the address of what is known of each word there.
    """
    documents, impacts = np.empty(most, np.uint32), np.empty(most, np.uint8)
    addresses = (norms.address, documents.ctypes.data, impacts.ctypes.data)
    _, found = _asked(table, entry, lists, (0, 0, False, 0, *addresses))
    return documents[:found], impacts[:found]


def _asked(table: Table, entry: MadeList, words: Sequence[int], more: tuple[int, ...]) -> tuple[ScratchBuffer, int]:
    """What the kernel found, and where."""
    head = (table.segments, len(words), entry.field, entry.slop, entry.ordered, *more, 0, 0, 0)
    data = Layout(f"{HEAD + len(words)}q").pack(*head, *words)
    kernel, scratch = _kernel(), scratch_of(len(data) // 8)
    scratch.view[: len(data)] = data
    found = kernel(table.address, scratch.address, scratch.words)
    if found < 0:
        scratch = scratch_of(-found)
        scratch.view[: len(data)] = data
        found = kernel(table.address, scratch.address, scratch.words)
    return scratch, found
