"""Steps of a plain search, over the lists of all segments: a first floor, tables of windows, bounds, openings."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.bits import byte_at, number_at
from periplus.index.kernels.bounds import (
    add_group,
    fill,
    raise_bound,
    require_group,
    set_bound,
    zero_bound,
)
from periplus.index.kernels.lists_known import (
    BESTS,
    COUNT,
    FIRST,
    GIVEN_TABLE,
    IMPACTS,
    LENGTH,
    LIST_HEAD,
    LIST_ROW,
    MAXIMA,
    STARTS,
)
from periplus.index.kernels.tables import (
    IMPACT,
    PLACE,
    ROW,
    WINDOWS,
    at_i64,
    at_u8,
    at_u16,
    prefetch,
)

ALL_REQUIRED, ALL_ADMITTED = 1, 2  # flags
RANKS = 4  # best impacts are stored of: 1, 10, 100 and 1000 documents
QUERY = 3_840  # numbers of a query, at most
GIVEN = 3  # numbers of a list
WEIGHT, ADDRESS, FREQUENCY = range(GIVEN)


@bare_helper
def words_needed(segments: Any, lists: Any, windows: Any, k: Any) -> Any:
    """Numbers for query and hits, the buffer of the best, and what is known of lists, windows and groups."""
    return QUERY + 10 * k + 12_288 + (6 * segments + 9) * (lists + 1) + windows * (2 * lists + 4)


@bare_helper
def without_empty(query: Any, lists: Any, every: Any) -> Any:
    """Leave out lists without documents; how many remain: none when one is missing that is required."""
    kept = np.int64(0)
    for item in range(lists):
        if query[GIVEN * item + FREQUENCY] > 0:
            for place in range(GIVEN):
                query[GIVEN * kept + place] = query[GIVEN * item + place]
            kept += 1
        elif every:
            return np.int64(0)
    return kept


@bare_helper
def heaviest(query: Any, lists: Any) -> Any:
    """All weights together."""
    total = np.int64(0)
    for item in range(lists):
        total += query[GIVEN * item + WEIGHT]
    return total


@bare_helper
def most_documents(query: Any, lists: Any) -> Any:
    """Live documents of the longest list."""
    largest = np.int64(0)
    for item in range(lists):
        largest = max(largest, query[GIVEN * item + FREQUENCY])
    return largest


@bare_helper
def reach_of(query: Any, lists: Any, groups: Any, every: Any) -> Any:
    """How many postings decide about matches, at most."""
    total, least = np.int64(0), np.int64(1) << 60
    for group in range(groups):
        first, last = group, group + 1
        if lists != groups:
            first, last = query[GIVEN * lists + group], query[GIVEN * lists + group + 1]
        size = np.int64(0)
        for item in range(first, last):
            size += query[GIVEN * item + FREQUENCY]
        total += size
        least = min(least, size)
    return least if every else total


@bare_helper
def rank_for(k: Any) -> Any:
    """Which stored best impact at least ``k`` documents reach; -1: none is stored for so many."""
    rank, documents = np.int64(0), 1
    while documents < k:
        rank += 1
        documents *= 10
    return rank if rank < RANKS else np.int64(-1)


@bare_helper
def take_query(query: Any, lists: Any, groups: Any, weights: Any, lists_at: Any, starts: Any) -> Any:
    """Weights, addresses and groups of the lists, out of a query."""
    for item in range(lists):
        weights[item] = query[GIVEN * item + WEIGHT]
        lists_at[item] = query[GIVEN * item + ADDRESS]
    for group in range(groups + 1):
        starts[group] = group if lists == groups else query[GIVEN * lists + group]


@bare_helper
def fetch_offsets(tables: Any, lists: Any, window: Any) -> Any:
    """Ask for the offsets of all lists in a window."""
    for item in range(lists):
        row = 4 * item
        if tables[row + 3] != 0:
            prefetch(tables[row + 1] + 4 * window)


@bare_helper
def fetch_postings(table: Any, segment: Any, tables: Any, first: Any, last: Any, window: Any) -> Any:
    """Ask for the postings of the lists [first, last) in a window."""
    for item in range(first, last):
        row = 4 * item
        if tables[row + 3] != 0 and byte_at(tables[row + 3] + window) > 0:
            begin = np.int64(number_at(tables[row + 1] + 4 * window))
            end = np.int64(number_at(tables[row + 2] + 4 * window))
            place, impact = table[segment * ROW + PLACE] + tables[row], table[segment * ROW + IMPACT] + tables[row]
            for line in range(begin, end, 64):
                prefetch(place + line)
                prefetch(impact + line)


@bare_helper
def fetch_offsets_of(tables: Any, starts: Any, order: Any, groups: Any, window: Any) -> Any:
    """The offsets of the first groups of an order."""
    for at in range(groups):
        for item in range(starts[order[at]], starts[order[at] + 1]):
            if tables[4 * item + 3] != 0:
                prefetch(tables[4 * item + 1] + 4 * window)


@bare_helper
def fetch_postings_of(table: Any, segment: Any, tables: Any, starts: Any, order: Any, groups: Any, window: Any) -> Any:
    """The postings of the first groups of an order."""
    for at in range(groups):
        fetch_postings(table, segment, tables, starts[order[at]], starts[order[at] + 1], window)


@bare_helper
def value_in(tables: Any, weights: Any, first: Any, last: Any, window: Any) -> Any:
    """The most that the lists [first, last) of a group can add in a window."""
    value = np.int64(0)
    for item in range(first, last):
        maxima = tables[4 * item + 3]
        if maxima != 0:
            value = max(value, weights[item] * np.int64(byte_at(maxima + window)))
    return value


@bare_helper
def first_floor(segments: Any, weights: Any, lists_at: Any, rank: Any) -> Any:
    """A score that so many documents of one segment reach as the rank stands for."""
    floor = np.int64(0)
    for item in range(len(weights)):
        rows = at_i64(lists_at[item], segments * LIST_ROW)
        for segment in range(segments):
            floor = max(floor, ((rows[segment * LIST_ROW + BESTS] >> 8 * rank) & 255) * weights[item])
    return floor


@bare_helper
def largest_score(starts: Any, weights: Any, prior_weight: Any) -> Any:
    """No document can score more."""
    total = prior_weight
    for group in range(len(starts) - 1):
        best = np.int64(0)
        for item in range(starts[group], starts[group + 1]):
            best = max(best, weights[item])
        total += best
    return 255 * total


@bare_helper
def rare_impacts(rows: Any, segments: Any, segment: Any) -> Any:
    """Where the impacts of a list are that is rare in a segment, beside its windows."""
    impacts, count = rows[segments * LIST_ROW + IMPACTS], rows[segments * LIST_ROW + COUNT]
    return impacts + ((rows[segment * LIST_ROW + MAXIMA] - impacts - count) >> 1)


@bare_helper
def locate(
    table: Any, segments: Any, segment: Any, rows: Any, made: Any, made_offsets: Any, made_maxima: Any, tables: Any
) -> Any:
    """Where the postings and window tables of a list are in a segment; a rare one without a table gets one here.

    ``tables`` gets the first posting, and the addresses of where windows start, end, and their maxima (0: no list).
    """
    row = segment * LIST_ROW
    low, size = rows[row + FIRST], rows[row + LENGTH]
    tables[0] = low
    tables[1] = rows[row + STARTS]
    tables[2] = rows[row + STARTS] + 4
    tables[3] = rows[row + MAXIMA]
    if size == 0 or rows[row + STARTS] != 0:
        return made
    windows = table[segment * ROW + WINDOWS]
    if rows[row + GIVEN_TABLE] != 0:
        tables[1] = rows[row + GIVEN_TABLE]
        tables[2] = rows[row + GIVEN_TABLE] + 4
        tables[3] = rows[row + GIVEN_TABLE] + 4 * (windows + 1)
        return made
    starts, ends = made_offsets[2 * made : 2 * made + windows], made_offsets[2 * made + windows : 2 * (made + windows)]
    maxima = made_maxima[made : made + windows]
    fill(at_u16(rows[row + MAXIMA], size), at_u8(rare_impacts(rows, segments, segment), size), starts, ends, maxima)
    tables[1] = starts.ctypes.data
    tables[2] = ends.ctypes.data
    tables[3] = maxima.ctypes.data
    return made + windows


@bare_helper
def bound_windows(starts: Any, weights: Any, tables: Any, every: Any, bound: Any, group_bound: Any) -> Any:
    """Add up the windows of a segment."""
    windows = len(bound)
    begun = False
    for group in range(len(starts) - 1):
        lists = 0
        for item in range(starts[group], starts[group + 1]):
            if tables[4 * item + 3] == 0:
                continue
            maxima = at_u8(tables[4 * item + 3], windows)
            if not begun and lists == 0:
                set_bound(bound, maxima, np.int32(weights[item]))
            elif not begun:
                raise_bound(bound, maxima, np.int32(weights[item]))
            elif lists == 0:
                set_bound(group_bound, maxima, np.int32(weights[item]))
            else:
                raise_bound(group_bound, maxima, np.int32(weights[item]))
            lists += 1
        if every and lists == 0:
            begun = False
            break
        if begun and every:
            require_group(bound, group_bound)
        elif begun and lists > 0:
            add_group(bound, group_bound)
        begun = begun or lists > 0
    if not begun:
        zero_bound(bound)


@bare_helper
def open_window(tables: Any, first: Any, last: Any, window: Any, low: Any, high: Any) -> Any:
    """Where the postings of the lists [first, last) lie in a window; how many there are."""
    size = np.int64(0)
    for item in range(first, last):
        low[item] = 0
        high[item] = 0
        maxima = tables[4 * item + 3]
        if maxima != 0 and byte_at(maxima + window) > 0:
            low[item] = tables[4 * item] + np.int64(number_at(tables[4 * item + 1] + 4 * window))
            high[item] = tables[4 * item] + np.int64(number_at(tables[4 * item + 2] + 4 * window))
            size += high[item] - low[item]
    return size


@bare_helper
def fetch_first(table: Any, segments: Any, lists_at: Any) -> Any:
    """Ask for the memory that comes first, all at once."""
    for item in range(len(lists_at)):
        for line in range(0, 8 * (segments * LIST_ROW + LIST_HEAD), 64):
            prefetch(lists_at[item] + line)
    for item in range(len(lists_at)):
        rows = at_i64(lists_at[item], segments * LIST_ROW + LIST_HEAD)
        for segment in range(segments):
            row = segment * LIST_ROW
            if rows[row + LENGTH] == 0:
                continue
            maxima = rows[row + MAXIMA]
            if rows[row + GIVEN_TABLE] != 0:
                maxima = rows[row + GIVEN_TABLE] + 4 * (table[segment * ROW + WINDOWS] + 1)
            prefetch(maxima)
            prefetch(maxima + 64)
            if rows[row + STARTS] == 0 and rows[row + GIVEN_TABLE] == 0:
                prefetch(rare_impacts(rows, segments, segment))
            else:
                prefetch(maxima + 128)
                prefetch(maxima + 192)


@bare_helper
def by_size(starts: Any, lists_at: Any, segments: Any, segment: Any, order: Any) -> Any:
    """Orders groups by their postings in a segment; how many the smallest one has."""
    for group in range(len(order)):
        size = np.int64(0)
        for item in range(starts[group], starts[group + 1]):
            size += at_i64(lists_at[item], segments * LIST_ROW)[segment * LIST_ROW + LENGTH]
        to = group
        while to > 0 and order[to - 1] >> 16 > size:
            order[to] = order[to - 1]
            to -= 1
        order[to] = group | size << 16
    least = order[0] >> 16
    for at in range(len(order)):
        order[at] &= 0xFFFF
    return least
