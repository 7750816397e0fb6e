"""Plain queries: any of some words, or all of them, with or without filters and prior.

Most queries are of this kind, and a kernel of its own answers them (``kernels/plain.py``). What is done once a query
here takes as long as many a search, so this file spares objects and calls: terms bring their numbers packed, memory is
kept by thread and passed by address.
"""

from __future__ import annotations

from functools import cache
from struct import Struct as Layout
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.index.plan import LARGEST_SCORE, MAX_GROUPS, KnownTerm, form_weights
from periplus.index.rooms import QUERY, found_in, room_of
from periplus.index.weights import LARGEST_IMPACT, fixed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from periplus.index.query import Group, IndexQuery
    from periplus.index.tables import Table

MOST = 20_000  # documents asked for, at most
MAX_LISTS = 1_024
_LARGEST_WEIGHTS = LARGEST_SCORE // LARGEST_IMPACT
_head = Layout("8q").pack
_pair = Layout("2q").pack


class PlainQuery(Struct, gc=False):
    every: bool  # all groups are required, else any of them will do
    groups: int  # that have a list
    lists: list[bytes]  # weight and address of each
    terms: list[KnownTerm]  # whose lists these are: they must live for as long as their addresses are used
    starts: list[int]  # first list of each group, and their end; empty when every group is one list
    prior_weight: int
    reach: int  # how many postings decide about matches, at most
    largest: int  # documents of the longest list


def plain_query(query: IndexQuery, known: Callable[[str], KnownTerm], prior_weight: float) -> PlainQuery | None:
    """The query with its lists; None when it is not a plain one, or too large for whole numbers without scaling."""
    groups = query.should or query.must
    if query.must_not or query.any_of or (query.should and query.must) or not 0 < len(groups) <= MAX_GROUPS:
        return None
    lists: list[bytes] = []
    terms: list[KnownTerm] = []
    total = prior = fixed(prior_weight) if prior_weight > 0 else 0
    reach, largest, smallest = 0, 0, LARGEST_SCORE
    for group in groups:
        forms = group.forms
        if group.phrase or group.prefix or group.field or not forms:
            return None
        if len(forms) > 1:
            return _with_forms(query, known, prior)
        form = forms[0]
        term = known(form.term)
        size = term.frequency
        if size:
            terms.append(term)
            share = group.weight * form.share
            if share == 1.0:
                total += term.weight
                lists.append(term.packed)
            else:
                weight = fixed(share * term.idf)
                total += weight
                lists.append(_pair(weight, term.address))
            reach += size
            largest = max(largest, size)
        smallest = min(smallest, size)
    if total > _LARGEST_WEIGHTS:
        return None
    every = not query.should
    return PlainQuery(every, len(lists), lists, terms, [], prior, smallest if every else reach, largest)


def _with_forms(query: IndexQuery, known: Callable[[str], KnownTerm], prior: int) -> PlainQuery | None:
    """The same for words that have several forms."""
    starts, lists = [0], []
    terms: list[KnownTerm] = []
    sizes: list[int] = []
    total, largest = prior, 0
    for group in query.should or query.must:
        if not group.forms or group.phrase or group.prefix or group.field:
            return None
        size = 0
        for term, weight in _weighted(group, known):
            lists.append(_pair(weight, term.address))
            terms.append(term)
            total += weight
            size += term.frequency
            largest = max(largest, term.frequency)
        if size:
            starts.append(len(lists))
        sizes.append(size)
    if total > _LARGEST_WEIGHTS or len(lists) > MAX_LISTS:
        return None
    every = not query.should
    reach = min(sizes) if every else sum(sizes)
    return PlainQuery(every, len(starts) - 1, lists, terms, starts, prior, reach, largest)


def _weighted(group: Group, known: Callable[[str], KnownTerm]) -> list[tuple[KnownTerm, int]]:
    """The forms of a word that occur, with their weights."""
    terms = [known(form.term) for form in group.forms]
    pairs = zip(terms, form_weights(group, terms), strict=True)
    return [pair for pair in pairs if pair[0].frequency]


@cache
def _kernel() -> Callable[[int, int, int], int]:
    from periplus.index.kernels.plain import plain_top

    return plain_top.entry


def search_plain(
    table: Table, query: PlainQuery, k: int, rank: int, *, prune: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64], int, bool]:
    """The best of all segments: numbers and scores, best first; how many matches were met, and whether that is all.

    ``rank`` of stored best impacts gives a floor (-1: none is known).
    """
    lists = query.lists
    count, segments = len(lists), table.segments
    # Behind query and hits: the buffer of the best, what is known of lists, windows and groups.
    words = QUERY + 10 * k + 12_288 + (5 * segments + 8) * (count + 1) + table.windows * (2 * count + 4)
    room = room_of(words)
    head = _head(segments, count, query.groups, query.every, query.prior_weight, rank, prune, k)
    data = b"".join((head, *lists))
    if count != query.groups:
        data += Layout(f"{len(query.starts)}q").pack(*query.starts)
    room.view[: len(data)] = data
    return found_in(room, _kernel()(table.address, room.address, room.words), k)
