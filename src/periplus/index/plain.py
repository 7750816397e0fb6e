"""Plain queries: any of some words, or all of them, with or without filters and prior.

Most queries are of this kind, and a kernel of its own answers them (``kernels/asking.py``). What is done once a query
here takes as long as many a search, so this file spares objects and calls: terms bring their numbers packed, memory is
kept by thread and passed by address.
"""

from __future__ import annotations

from functools import cache
from struct import Struct as Layout
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.index.plan import KnownTerm, form_weights
from periplus.index.query import MAX_GROUPS
from periplus.index.rooms import QUERY, HitsAt, TopHits, found_in, needed, room_of, rooms
from periplus.index.weights import FIXED_POINT

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index.query import Group, IndexQuery
    from periplus.index.tables import Table

MOST = 20_000  # documents asked for, at most
MAX_LISTS = 1_024
ALL_REQUIRED, ALL_ADMITTED = 1, 2  # flags; kernels know them, too
TOO_HEAVY = -1  # why there is no answer
_triple = Layout("3q").pack
_context = Layout("9q").pack  # and how many numbers a room has
CONTEXT_BYTES = 72  # before a room


class PlainQuery(Struct, gc=False):
    every: bool  # all groups are required, else any of them will do
    groups: int
    lists: list[bytes]  # weight, address and live documents of each
    terms: list[KnownTerm]  # whose lists these are: they must live for as long as their addresses are used
    starts: list[int]  # first list of each group, and their end


def plain_query(query: IndexQuery, known: Callable[[str], KnownTerm]) -> PlainQuery | None:
    """The query with its lists; None when it is not a plain one."""
    groups = query.should or query.must
    if query.must_not or query.any_of or (query.should and query.must) or not 0 < len(groups) <= MAX_GROUPS:
        return None
    if [group for group in groups if not group.forms or group.phrase or group.prefix or group.field]:
        return None
    every = not query.should
    made = PlainQuery(every, 0, [], [], [0])
    for group in groups:
        for term, weight in _weighted(group, known):
            made.lists.append(_triple(weight, term.address, term.frequency))
            made.terms.append(term)
        if len(made.lists) > made.starts[-1]:
            made.starts.append(len(made.lists))
        elif every:  # nothing matches
            return PlainQuery(every, 0, [], [], [0])
    made.groups = len(made.starts) - 1
    return made if len(made.lists) <= MAX_LISTS else None


def _weighted(group: Group, known: Callable[[str], KnownTerm]) -> list[tuple[KnownTerm, int]]:
    """The forms of a word that occur, with their weights."""
    terms = [known(form.term) for form in group.forms]
    pairs = zip(terms, form_weights(group.forms, terms, group.weight), strict=True)
    return [pair for pair in pairs if pair[0].frequency]


@cache
def first_pass_at() -> int:
    """The address of the kernel that ``ask`` leaves most searches to."""
    from periplus.index.kernels.first_pass import first_pass

    return first_pass.address


@cache
def asking() -> Callable[[int, int, float, int, bytes], int]:
    """The kernel: context, room, weight of the prior, how many, text."""
    from periplus.index.kernels.asking import ask

    return ask.entry


def search_plain(table: Table, query: PlainQuery, flags: int, prior: int, k: int, limit: int) -> TopHits | None:
    """The best of all segments; None when the weights are too large to be added up."""
    lists = b"".join(query.lists)
    if len(query.lists) != query.groups:
        lists += Layout(f"{len(query.starts)}q").pack(*query.starts)
    flags |= ALL_REQUIRED if query.every else 0
    return search_lists(table, lists, len(query.lists), query.groups, flags, prior, k, limit)


def search_lists(
    table: Table, lists: bytes, count: int, groups: int, flags: int, prior: int, k: int, limit: int
) -> TopHits | None:
    """The same for packed lists, in as many groups; up to ``limit`` postings all matches are counted."""
    room = rooms.own or room_of(0)
    data = _context(table.address, table.segments, limit, 0, count, groups, flags, first_pass_at(), room.words) + lists
    room.front[: len(data)] = data
    context = room.address - CONTEXT_BYTES
    result = asking()(context, room.address, prior / FIXED_POINT, k, b"")
    if result >= 0:
        return found_in(room, result, k)
    if result == TOO_HEAVY:
        return None
    room_of(needed(result))
    return search_lists(table, lists, count, groups, flags, prior, k, limit)


def search_in_place(
    table: Table, lists: bytes, count: int, groups: int, prior: int, k: int, limit: int
) -> HitsAt | None:
    """The same for any of the groups and all documents; where they were found, for the next kernel."""
    hits = search_lists(table, lists, count, groups, ALL_ADMITTED, prior, k, limit)
    room = rooms.own
    if hits is None or room is None:
        return None
    numbers = room.address + 8 * QUERY
    return HitsAt(numbers, numbers + 8 * k, len(hits.numbers), hits.total, hits)
