"""Visiting one window of 256 documents: who may be among the best, and what each list adds to their scores.

Where matches need not be counted, candidates come out of the lists alone that can lift a document over the threshold
(MaxScore). Else all clauses are compared by bits, and the documents that match are the candidates. From there on both
are one: priors, then group after group, the largest first; whoever can no longer reach the threshold is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper, inlined
from periplus.core.layout.documents import WINDOW_BITS
from periplus.core.layout.segments import ADMITTED, FETCHED, FIRST_NUMBER, PRIOR, PUBLISHED, ROW
from periplus.core.machine.arrays import at_i64, at_u8, u8
from periplus.core.machine.bits import WORDS
from periplus.core.retrieval.blocks import FORBIDDEN, IMPACTS, open_list, table_of, value_of
from periplus.core.retrieval.collector import FLOOR, MATCHING, keep, make_room
from periplus.core.retrieval.matching import match_window, take_matches
from periplus.core.retrieval.window_scores import (
    PROBE,
    add_best,
    add_list,
    add_priors,
    clear,
    from_list,
    from_scores,
    keep_admitted,
    probe,
    probe_best,
    probe_bits,
    raise_from_list,
    raise_list,
    take_best,
)


@inlined
def _sort_groups(lists: Any, desk: Any, visit: Any) -> Any:
    """The groups that add something here, by rising value; how many."""
    present = 0
    for group in range(len(lists.clauses)):
        if lists.clauses[group] == FORBIDDEN:
            continue
        value = value_of(lists, visit.segment, group, visit.window)
        desk.values[group] = value
        if value == 0:
            continue
        to = present
        while to > 0 and desk.values[desk.order[to - 1]] > value:
            desk.order[to] = desk.order[to - 1]
            to -= 1
        desk.order[to] = group
        present += 1
    return present


@inlined
def _open_group(lists: Any, desk: Any, visit: Any, group: Any) -> Any:
    """Where its postings lie in this window."""
    for item in range(lists.starts[group], lists.starts[group + 1]):
        _, desk.low[item], desk.high[item] = open_list(lists, visit.segment, item, visit.window)


@inlined
def _places(lists: Any, visit: Any, item: Any, high: Any) -> Any:
    return at_u8(lists.tables[table_of(lists, visit.segment, item)], high)


@inlined
def _impacts(lists: Any, visit: Any, item: Any, high: Any) -> Any:
    return at_u8(lists.tables[table_of(lists, visit.segment, item) + IMPACTS], high)


@inlined
def _from_one(lists: Any, desk: Any, visit: Any, group: Any, rest: Any) -> Any:
    """Candidates out of one group: of each form, what reaches the threshold with all that others can add."""
    first, last = lists.starts[group], lists.starts[group + 1]
    if last > first + 1:
        clear(desk.best)
    for item in range(first, last):
        weight, high = np.int32(lists.weights[item]), desk.high[item]
        places, impacts = _places(lists, visit, item, high), _impacts(lists, visit, item, high)
        least = max(np.int64(1), -((rest - visit.threshold) // lists.weights[item]))
        if last == first + 1:
            return from_list(places, impacts, desk.low[item], high, weight, least, desk.found, desk.found_scores)
        raise_from_list(places, impacts, desk.low[item], high, weight, least, desk.best)
    least = np.int32(max(np.int64(1), visit.threshold - rest))
    return from_scores(desk.best, least, desk.found, desk.found_scores)


@inlined
def _from_several(lists: Any, desk: Any, visit: Any, begin: Any, end: Any, rest: Any) -> Any:
    """Candidates out of the groups [begin, end) of the order, added up."""
    clear(desk.scores)
    for at in range(begin, end):
        first, last = lists.starts[desk.order[at]], lists.starts[desk.order[at] + 1]
        if last > first + 1:
            clear(desk.best)
        for item in range(first, last):
            weight, high = np.int32(lists.weights[item]), desk.high[item]
            places, impacts = _places(lists, visit, item, high), _impacts(lists, visit, item, high)
            if last == first + 1:
                add_list(places, impacts, desk.low[item], high, weight, desk.scores)
            else:
                raise_list(places, impacts, desk.low[item], high, weight, desk.best)
        if last > first + 1:
            add_best(desk.scores, desk.best)
    least = np.int32(max(np.int64(1), visit.threshold - rest))
    return from_scores(desk.scores, least, desk.found, desk.found_scores)


@inlined
def _add_group(lists: Any, desk: Any, visit: Any, group: Any, least: Any, found: Any) -> Any:
    """Add a group to the candidates; how many still reach ``least``."""
    first, last = lists.starts[group], lists.starts[group + 1]
    _open_group(lists, desk, visit, group)
    if last == first + 1:
        low, high, weight = desk.low[first], desk.high[first], np.int32(lists.weights[first])
        if lists.bits[first] != 0:
            impacts_at = lists.tables[table_of(lists, visit.segment, first) + IMPACTS] + low
            bits_at = lists.bits[first] + 8 * WORDS * visit.wide
            return probe_bits(bits_at, impacts_at, weight, least, desk.found, desk.found_scores, found)
        if found * PROBE < high - low:
            places, impacts = _places(lists, visit, first, high), _impacts(lists, visit, first, high)
            return probe(places, impacts, low, high, weight, least, desk.found, desk.found_scores, found)
    clear(desk.best)
    for item in range(first, last):
        low, high, weight = desk.low[item], desk.high[item], np.int32(lists.weights[item])
        places, impacts = _places(lists, visit, item, high), _impacts(lists, visit, item, high)
        if found * PROBE < high - low:
            probe_best(places, impacts, low, high, weight, desk.found, found, desk.best)
        else:
            raise_list(places, impacts, low, high, weight, desk.best)
    return take_best(desk.best, least, desk.found, desk.found_scores, found)


@inlined
def _offer(table: Any, best: Any, desk: Any, visit: Any, found: Any, by_date: Any) -> Any:
    """Offer the candidates to the collector, by their scores or by their dates."""
    base = visit.window << WINDOW_BITS
    first_number = table[visit.segment * ROW + FIRST_NUMBER] + base
    for at in range(found):
        place = np.int64(desk.found[at])
        value = np.int64(desk.found_scores[at])
        if by_date:
            value = _date(table, visit.segment, base + place)
        if value >= best.state[FLOOR]:
            keep(best, value, first_number + place)
    make_room(best)


@bare_helper
def _date(table: Any, segment: Any, document: Any) -> Any:
    """When a document was published, else fetched, as the bits of a fraction: they rise as it does."""
    published = at_i64(table[segment * ROW + PUBLISHED], document + 1)[document]
    return published if published > 0 else at_i64(table[segment * ROW + FETCHED], document + 1)[document]


@inlined
def _candidates(table: Any, lists: Any, desk: Any, visit: Any, present: Any) -> Any:
    """By the lists that can lift a document over the threshold: (how many, groups that are left, what they can add)."""
    begin, below, rest = 0, visit.prior_bound, visit.bound
    while begin < present - 1 and below + desk.values[desk.order[begin]] < visit.threshold:
        below += desk.values[desk.order[begin]]
        begin += 1
    for at in range(begin, present):
        rest -= desk.values[desk.order[at]]
        _open_group(lists, desk, visit, desk.order[at])
    if present == begin + 1:
        found = _from_one(lists, desk, visit, desk.order[begin], rest)
    else:
        found = _from_several(lists, desk, visit, begin, present, rest)
    if found > 0 and table[visit.segment * ROW + ADMITTED + 1] > 0:
        admitted = u8(table, visit.segment, ADMITTED)
        found = keep_admitted(admitted, visit.window << WINDOW_BITS, desk.found, desk.found_scores, found)
    return found, begin, rest


@inlined
def visit_window(table: Any, lists: Any, desk: Any, best: Any, visit: Any, by_bits: Any, by_date: Any) -> Any:
    """Offer the documents of a window that may be among the best; with bits, count all that match."""
    rest, found = visit.bound, np.int64(0)
    if by_bits:
        matching = match_window(table, lists, desk, visit.segment, visit.window, visit.wide)
        best.state[MATCHING] += matching
        if matching == 0 or visit.bound < visit.threshold:
            return
        found = take_matches(desk)
    left = _sort_groups(lists, desk, visit)
    if not by_bits:
        found, left, rest = _candidates(table, lists, desk, visit, left)
    if lists.prior_weight > 0 and table[visit.segment * ROW + PRIOR + 1] > 0:
        rest -= visit.prior_bound
        prior, base = u8(table, visit.segment, PRIOR), visit.window << WINDOW_BITS
        least = visit.threshold - rest
        found = add_priors(prior, base, lists.prior_weight, least, desk.found, desk.found_scores, found)
    while left > 0 and found > 0:
        left -= 1
        group = desk.order[left]
        rest -= desk.values[group]
        found = _add_group(lists, desk, visit, group, visit.threshold - rest, found)
    _offer(table, best, desk, visit, found, by_date)
