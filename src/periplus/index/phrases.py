"""Phrases and words near each other, as the kernels that look for them are asked."""

from __future__ import annotations

from functools import cache
from struct import Struct as Layout
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.errors import UsageError
from periplus.index.fields import PIECE_GAP
from periplus.index.query import FIELDS
from periplus.index.rooms import COUNT_SHIFT, QUERY, found_in, room_of
from periplus.index.weights import LARGEST_IMPACT, fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.plan import KnownTerm, MadeList
    from periplus.index.query import Group, IndexQuery
    from periplus.index.rooms import TopHits
    from periplus.index.tables import Table

MAX_SLOP = PIECE_GAP - 1  # a wider one would reach from one piece of text into the next
MAX_WORDS = 1_024  # of a phrase that is searched at once
PLACES = (
    1 << 21
)  # of words near each other in one document, at most: of each word, the first ones; kernels know it, too
LARGEST_WEIGHT = ((1 << 31) - 1) // LARGEST_IMPACT  # of a score that fits 32 bits
_head, _word = Layout("12q").pack, Layout("2q").pack


class PhraseQuery(NamedTuple):
    """A query that asks for one phrase and nothing else."""

    group: Group
    field: int
    words: list[KnownTerm]
    weight: int
    prior_weight: int
    reach: int  # live documents that may match, at most


def checked_slop(slop: int) -> int:
    if not 0 <= slop <= MAX_SLOP:
        raise UsageError(f"a phrase cannot have {slop} words in between; give a number from 0 to {MAX_SLOP}")
    return slop


class Norms(NamedTuple):
    """What is baked into impacts, as ``kernels.phrases`` takes it; to ask for an address takes a microsecond."""

    values: NDArray[np.float64]
    address: int


def norms_of(epoch: Epoch) -> Norms:
    averages = (max(average, 1.0) for average in epoch.averages)
    values = np.array([epoch.k1, *epoch.weights, *epoch.penalties, *averages])
    return Norms(values, values.ctypes.data)


def only_phrase(query: IndexQuery, known: Callable[[str], KnownTerm], prior_weight: float) -> PhraseQuery | None:
    """``None`` for all queries that need a plan: those that ask for more, and where scores have to be scaled down."""
    if query.must_not or query.any_of or len(query.must) + len(query.should) != 1:
        return None
    group = (query.must or query.should)[0]
    if not group.phrase:
        return None
    if group.slop:
        checked_slop(group.slop)
    if len(group.phrase) > MAX_WORDS:
        return None
    words = [known(term) for term in group.phrase]
    weight = fixed(group.weight * sum([word.idf for word in words]))
    prior = fixed(prior_weight) if prior_weight > 0 else 0
    if weight + prior > LARGEST_WEIGHT:
        return None
    field = FIELDS.index(group.field) if group.field else -1
    return PhraseQuery(group, field, words, weight, prior, min([word.frequency for word in words]))


@cache
def _kernel() -> Callable[[int, int, int], int]:
    from periplus.index.kernels.phrases import phrase_search

    return phrase_search.entry


def search_phrase(table: Table, query: PhraseQuery, norms: Norms, k: int, *, prune: bool) -> TopHits:
    """The best of all segments."""
    group, words = query.group, query.words
    room = room_of(_room_for(table, len(words), k, near=bool(group.slop or not group.ordered)))
    head = (table.segments, len(words), query.field, group.slop, group.ordered, query.weight, query.prior_weight)
    data = b"".join((_head(*head, prune, k, norms.address, 0, 0), *[word.packed for word in words]))
    room.view[: len(data)] = data
    return found_in(room, _kernel()(table.address, room.address, room.words), k)


def stand_side_by_side(table: Table, words: Sequence[bytes], norms: Norms) -> bool:
    """Whether some document has words in a row; each is given by a weight, which is not needed, and its lists'
    address."""
    room = room_of(room_for_row(table, len(words)))
    ordered = prune = weight = k = 1
    head = (table.segments, len(words), -1, 0, ordered, weight, 0, prune, k, norms.address, 0, 0)
    data = b"".join((_head(*head), *words))
    room.view[: len(data)] = data
    return _kernel()(table.address, room.address, room.words) >> COUNT_SHIFT > 0


def phrase_list(
    table: Table, entry: MadeList, lists: Sequence[int], norms: Norms, most: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """All documents of a table of one segment, deleted ones among them, with their impacts; at most ``most``.

    ``lists`` has the address of what is known of each word there.
    """
    room = room_of(_room_for(table, len(lists), 0, near=bool(entry.slop or not entry.ordered)))
    documents, impacts = np.empty(most, np.uint32), np.empty(most, np.uint8)
    head = (table.segments, len(lists), entry.field, entry.slop, entry.ordered, 0, 0, False, 0)
    addresses = (norms.address, documents.ctypes.data, impacts.ctypes.data)
    data = b"".join((_head(*head, *addresses), *[_word(0, known) for known in lists]))
    room.view[: len(data)] = data
    found = _kernel()(table.address, room.address, room.words)
    return documents[:found], impacts[:found]


def room_for_row(table: Table, words: int) -> int:
    """Numbers that it takes to see whether words stand side by side."""
    return _room_for(table, words, 1, near=False)


def _room_for(table: Table, words: int, k: int, *, near: bool) -> int:
    """Numbers that a search needs: query, hits, the buffer of the best, candidates, positions, bounds of windows."""
    places = min(words * (table.longest + 1), PLACES) if near else table.longest + 1
    return QUERY + 10 * k + 8_192 + words * 640 + 2 * places + table.windows
