"""Exact top-k of the documents that hold all of some words, one list a word; over all segments, with one floor.

Query, memory and result are those of ``plain``. Candidates are found by their places alone (``sieves``), from the
shortest list on, many at once, so that waits for memory overlap; impacts are read of those that all lists have.

When the shortest list is rare in all segments, its documents are the first candidates, and the segments are one to it.
Else, where all lists have bits, ``meeting`` compares those. Where one has none, candidates come segment by segment: out
of the shortest list where it is rare there, or of windows that the ``DEEP``
shortest all have documents in. Of windows, the most promising come first, and those whose bound is *strictly* below the
floor are left out; so are documents for which these lists and the rest of the bound are not enough.

The result is ``NOT_HERE`` where ``plain`` is the better one: a single frequent word, words so frequent that most of
their documents match, and an index with more documents than 32 bits can number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import WINDOW
from periplus.index.kernels.bits import byte_at, number_at
from periplus.index.kernels.bounds import add_prior, by_bound, most_promising, set_bound, zero_bound
from periplus.index.kernels.collector import (
    BUCKETS,
    FEW,
    FLOOR,
    MATCHING,
    SIZE,
    STATE,
    bucket_shift,
    capacity,
    finish,
    make_room,
)
from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.keeping import keep
from periplus.index.kernels.lists_known import (
    BITS,
    COUNT,
    DOCUMENTS,
    FIRST,
    IMPACTS,
    LENGTH,
    LIST_HEAD,
    LIST_ROW,
    MAXIMA,
    STARTS,
    TABLES,
)
from periplus.index.kernels.meeting import meet, meeting_words
from periplus.index.kernels.plain_steps import ADDRESS, FREQUENCY, GIVEN, QUERY, WEIGHT, heaviest, without_empty
from periplus.index.kernels.sieves import OPENED, ROOM, in_window
from periplus.index.kernels.tables import (
    IMPACT,
    PLACE,
    PRIOR,
    PRIOR_MAX,
    ROW,
    WINDOWS,
    at_f64,
    at_i32,
    at_i64,
    at_u8,
    prefetch,
    u8,
)
from periplus.index.weights import LARGEST_IMPACT, LARGEST_WEIGHTS, UNIT

TOO_HEAVY, NOT_HERE = -1, -2
EXACT = 1 << 31
COUNT_SHIFT = 32
FIRST_WINDOWS = 16  # visited before all others, to raise the floor early
DENSE = 32  # documents of the shortest list a window, on average, from which on bounds are the better guide
MOST_WINDOWS = 1 << 24
DEEP = 3  # lists that are gone through window by window; few documents are left for the others
LINES = 8  # of memory, asked for of each list at the beginning
NEAR, FAR = 4, 10  # windows ahead, of which the postings and their offsets are asked for


@bare_helper
def require_list(bound: Any, maxima: Any, weight: Any) -> Any:
    """Add a list to the bounds of windows: nothing where either is nothing."""
    for window in range(len(bound)):
        most = np.int32(maxima[window])
        both = min(bound[window], np.int32(1)) * min(most, np.int32(1))  # without a branch: many at once
        bound[window] = (bound[window] + weight * most) * both


@bare_helper
def order_by_frequency(query: Any, order: Any) -> Any:
    for item in range(len(order)):
        size = query[GIVEN * item + FREQUENCY]
        to = item
        while to > 0 and query[GIVEN * order[to - 1] + FREQUENCY] > size:
            order[to] = order[to - 1]
            to -= 1
        order[to] = item


@bare_helper
def order_by_length(query: Any, segments: Any, segment: Any, order: Any) -> Any:
    """Orders lists by their postings in a segment."""
    for item in range(len(order)):
        size = at_i64(query[GIVEN * item + ADDRESS], segments * LIST_ROW)[segment * LIST_ROW + LENGTH]
        to = item
        while to > 0 and order[to - 1] >> 16 > size:
            order[to] = order[to - 1]
            to -= 1
        order[to] = item | size << 16
    for at in range(len(order)):
        order[at] &= 0xFFFF


@bare_helper
def bits_of(query: Any, segments: Any, sets: Any) -> Any:
    """Where the bits of lists are (0: none); whether all have them."""
    every = True
    for item in range(len(sets)):
        head = at_i64(query[GIVEN * item + ADDRESS], segments * LIST_ROW + LIST_HEAD)[segments * LIST_ROW :]
        sets[item] = head[BITS]
        every = every and head[BITS] != 0
    return every


@bare_helper
def from_rare(head: Any, at: Any, end: Any, documents: Any, slots: Any, found: Any) -> Any:
    """Candidates out of the rare postings [at, end) of a list; how many."""
    count = min(end - at, ROOM)
    documents_at, impacts_at = head[DOCUMENTS] + 4 * at, head[IMPACTS] + at
    for place in range(count):
        documents[place] = number_at(documents_at + 4 * place)
        slots[place] = place
        found[place] = impacts_at + place
    return count


@bare_helper
def open_first(query: Any, segments: Any, segment: Any, before: Any, order: Any, opened: Any, turns: Any) -> Any:
    """What ``in_window`` takes of the first lists of a segment; windows are numbered through all segments."""
    for turn in range(turns):
        item = order[turn]
        rows = at_i64(query[GIVEN * item + ADDRESS], segments * LIST_ROW)
        opened[OPENED * turn] = rows[segment * LIST_ROW + FIRST]
        opened[OPENED * turn + 1] = rows[segment * LIST_ROW + STARTS] - 4 * before
        opened[OPENED * turn + 2] = item
        opened[OPENED * turn + 3] = query[GIVEN * item + WEIGHT]
        opened[OPENED * DEEP + turn] = rows[segment * LIST_ROW + MAXIMA] - before


@bare_helper
def worth_needed(opened: Any, turns: Any, window: Any, bound: Any, floor: Any) -> Any:
    """What the first lists have to be worth in a document of a window that is to reach the floor."""
    if floor == 0:
        return np.int64(0)
    for turn in range(turns):
        bound -= opened[OPENED * turn + 3] * np.int64(byte_at(opened[OPENED * DEEP + turn] + window))
    return floor - bound


@bare_helper
def ask_for_maxima(query: Any, lists: Any, segments: Any, windows_before: Any) -> Any:
    """Ask for the tables that bounds are made of, all at once."""
    for segment in range(segments):
        windows = windows_before[segment + 1] - windows_before[segment]
        for item in range(lists):
            rows = at_i64(query[GIVEN * item + ADDRESS], segments * LIST_ROW)
            if rows[segment * LIST_ROW + STARTS] != 0:
                for line in range(0, windows, 64):
                    prefetch(rows[segment * LIST_ROW + MAXIMA] + line)


@bare_helper
def ask_for_first(
    table: Any, query: Any, segments: Any, windows_before: Any, orders: Any, lists: Any, turns: Any, todo: Any
) -> Any:
    """Ask for what the first lists have in some windows of any segments: offsets of all, then postings of all."""
    for step in range(2):
        segment = np.int64(0)
        for at in range(len(todo)):
            window = np.int64(todo[at])
            while window >= windows_before[segment + 1]:
                segment += 1
            for turn in range(turns):
                item = orders[segment * lists + turn]
                rows = at_i64(query[GIVEN * item + ADDRESS], segments * LIST_ROW)
                offsets = rows[segment * LIST_ROW + STARTS] + 4 * (window - windows_before[segment])
                if step == 0:
                    prefetch(offsets)
                    continue
                begin = rows[segment * LIST_ROW + FIRST] + np.int64(number_at(offsets))
                end = rows[segment * LIST_ROW + FIRST] + np.int64(number_at(offsets + 4))
                prefetch(table[segment * ROW + PLACE] + begin)
                prefetch(table[segment * ROW + PLACE] + end)


@bare_helper
def ask_ahead(places: Any, impacts: Any, opened: Any, turns: Any, todo: Any, at: Any, last: Any) -> Any:
    """Ask for what the first lists have in the windows that come next, if they are of the same segment."""
    if at + FAR < len(todo) and todo[at + FAR] < last:
        for turn in range(turns):
            prefetch(opened[OPENED * turn + 1] + 4 * np.int64(todo[at + FAR]))
    if at + NEAR < len(todo) and todo[at + NEAR] < last:
        for turn in range(turns):
            offsets = opened[OPENED * turn + 1] + 4 * np.int64(todo[at + NEAR])
            begin, end = np.int64(number_at(offsets)), np.int64(number_at(offsets + 4))
            prefetch(places + opened[OPENED * turn] + begin)
            prefetch(places + opened[OPENED * turn] + end)
            if turn == 0:
                prefetch(impacts + opened[0] + begin)


@bare_helper
def all_top(
    table_at: Any,
    memory_at: Any,
    words: Any,
    segments: Any,
    lists: Any,
    prior_weight: Any,
    k: Any,
    limit: Any,
) -> Any:
    at: Any
    count: Any
    begin: Any
    end: Any
    wide: Any
    segment: Any
    memory = at_i64(memory_at, words)
    query = memory[:QUERY]
    if without_empty(query, lists, every=True) == 0:
        return np.int64(EXACT)
    for item in range(lists):
        for line in range(0, min(LINES * 64, 8 * (segments * LIST_ROW + LIST_HEAD) + 64), 64):
            prefetch(query[GIVEN * item + ADDRESS] + line)
    table = at_i64(table_at, segments * ROW)
    windows = np.int64(0)
    for segment in range(segments):
        windows += table[segment * ROW + WINDOWS]
    room = capacity(k)
    needed = QUERY + 2 * k + STATE + DEEP * (OPENED + 1) + 4 * room + BUCKETS + lists * (segments + 2) + segments + 1
    needed += ROOM * (lists + 2) + windows + 16 + lists + meeting_words(windows)
    if words < needed:
        return -needed
    weight = heaviest(query, lists)
    if weight + prior_weight > LARGEST_WEIGHTS:
        return np.int64(TOO_HEAVY)

    # Everything that is needed on the way.
    out, out_scores = memory[QUERY : QUERY + k], at_f64(memory_at + 8 * (QUERY + k), k)
    scratch = memory[QUERY + 2 * k :]
    state, at = scratch[:STATE], np.int64(STATE)
    order, at = scratch[at : at + lists], at + lists
    cursors, at = scratch[at : at + lists], at + lists
    windows_before, at = scratch[at : at + segments + 1], at + segments + 1
    opened, at = scratch[at : at + DEEP * (OPENED + 1)], at + DEEP * (OPENED + 1)
    scores, at = scratch[at : at + room], at + room
    numbers, at = scratch[at : at + room], at + room
    documents, at = scratch[at : at + ROOM], at + ROOM
    slots, at = scratch[at : at + ROOM], at + ROOM
    found, at = scratch[at : at + lists * ROOM], at + lists * ROOM
    spare_scores, at = scratch[at : at + room], at + room
    spare_numbers, at = scratch[at : at + room], at + room
    histogram, at = scratch[at : at + BUCKETS], at + BUCKETS
    orders, at = scratch[at : at + segments * lists], at + segments * lists
    sets, at = scratch[at : at + lists], at + lists
    meeting, at = scratch[at : at + meeting_words(windows)], at + meeting_words(windows)
    narrow = at_i32(memory_at + 8 * (QUERY + 2 * k + at), 2 * (windows + 8))
    bounds, todo = narrow[:windows], narrow[windows : 2 * windows + 16]
    state[:] = 0
    for item in range(lists):
        cursors[item] = 0
    windows_before[0] = 0
    for segment in range(segments):
        windows_before[segment + 1] = windows_before[segment] + table[segment * ROW + WINDOWS]
    shift = 0
    if k > FEW:
        histogram[:] = 0
        shift = bucket_shift(255 * (weight + prior_weight))

    order_by_frequency(query, order)
    leader = order[0]
    rows = at_i64(query[GIVEN * leader + ADDRESS], segments * LIST_ROW + LIST_HEAD)
    head = rows[segments * LIST_ROW :]
    least = query[GIVEN * leader + FREQUENCY]
    prune = least > limit
    if windows >= MOST_WINDOWS or (head[TABLES] > 0 and lists == 1):
        return np.int64(NOT_HERE)
    by_bits = bits_of(query, segments, sets)
    if head[TABLES] > 0 and least > DENSE * windows and not by_bits:
        return np.int64(NOT_HERE)
    exact = True
    if head[TABLES] == 0:
        for at in range(0, head[COUNT], ROOM):
            count = from_rare(head, at, head[COUNT], documents, slots, found[leader * ROOM :])
            keep(
                table,
                segments,
                windows_before,
                query,
                order,
                sets,
                1,
                documents,
                slots,
                found,
                count,
                cursors,
                prior_weight,
                state,
                scores,
                numbers,
                histogram,
                shift,
                k,
                spare_scores,
                spare_numbers,
            )

    elif by_bits:
        exact = meet(
            table,
            segments,
            windows_before,
            query,
            order,
            sets,
            documents,
            slots,
            found,
            cursors,
            meeting,
            bounds,
            todo,
            prune,
            prior_weight,
            state,
            scores,
            numbers,
            histogram,
            shift,
            k,
            spare_scores,
            spare_numbers,
        )

    # Segments in which the shortest list is rare are done with at once; of the others, bounds of windows.
    left, by_windows = False, head[TABLES] > 0 and not by_bits
    if by_windows:
        ask_for_maxima(query, lists, segments, windows_before)
    for segment in range(segments if by_windows else 0):
        row = segment * LIST_ROW
        bound = bounds[windows_before[segment] : windows_before[segment + 1]]
        zero_bound(bound)
        order = orders[segment * lists : (segment + 1) * lists]
        order_by_length(query, segments, segment, order)
        leader = order[0]
        rows = at_i64(query[GIVEN * leader + ADDRESS], segments * LIST_ROW + LIST_HEAD)
        if rows[row + LENGTH] == 0:
            continue
        if rows[row + STARTS] == 0:
            head = rows[segments * LIST_ROW :]
            begin = (rows[row + MAXIMA] - head[IMPACTS] - head[COUNT]) >> 1
            end = begin + rows[row + LENGTH]
            for at in range(begin, end, ROOM):
                count = from_rare(head, at, end, documents, slots, found[leader * ROOM :])
                keep(
                    table,
                    segments,
                    windows_before,
                    query,
                    order,
                    sets,
                    1,
                    documents,
                    slots,
                    found,
                    count,
                    cursors,
                    prior_weight,
                    state,
                    scores,
                    numbers,
                    histogram,
                    shift,
                    k,
                    spare_scores,
                    spare_numbers,
                )
            continue
        left = True
        for item in range(lists):
            rows = at_i64(query[GIVEN * item + ADDRESS], segments * LIST_ROW)
            maxima = at_u8(rows[row + MAXIMA], len(bound))
            if item == 0:
                set_bound(bound, maxima, np.int32(query[WEIGHT]))
            else:
                require_list(bound, maxima, np.int32(query[GIVEN * item + WEIGHT]))
        if prior_weight > 0 and table[segment * ROW + PRIOR + 1] > 0:
            add_prior(bound, u8(table, segment, PRIOR_MAX), np.int32(prior_weight))

    turns = min(lists, DEEP)
    for phase in range(2 if left else 0):
        if phase == 0:
            if not prune:
                continue
            end = most_promising(bounds, todo[:FIRST_WINDOWS])
            for at in range(1, end):  # as they come
                wide, begin = todo[at], at
                while begin > 0 and todo[begin - 1] > wide:
                    todo[begin] = todo[begin - 1]
                    begin -= 1
                todo[begin] = wide
            ask_for_first(table, query, segments, windows_before, orders, lists, turns, todo[:end])
        else:
            end = by_bound(
                bounds, max(np.int64(1), state[FLOOR] if prune else np.int64(0)), falling=False, chosen=todo, spare=todo
            )
        segment, count = np.int64(-1), np.int64(0)
        last, places, impacts = np.int64(0), np.int64(0), np.int64(0)
        for at in range(end + 1):
            wide = np.int64(todo[at]) if at < end else np.int64(MOST_WINDOWS)
            if count > 0 and (wide >= last or count > ROOM - WINDOW):
                keep(
                    table,
                    segments,
                    windows_before,
                    query,
                    order,
                    sets,
                    turns,
                    documents,
                    slots,
                    found,
                    count,
                    cursors,
                    prior_weight,
                    state,
                    scores,
                    numbers,
                    histogram,
                    shift,
                    k,
                    spare_scores,
                    spare_numbers,
                )
                count = 0
            if at == end:
                break
            if wide >= last:
                segment += 1
                while wide >= windows_before[segment + 1]:
                    segment += 1
                last = windows_before[segment + 1]
                places, impacts = table[segment * ROW + PLACE], table[segment * ROW + IMPACT]
                order = orders[segment * lists : (segment + 1) * lists]
                open_first(query, segments, segment, windows_before[segment], order, opened, turns)
            ask_ahead(places, impacts, opened, turns, todo[:end], at, last)
            floor = state[FLOOR] if prune else np.int64(0)
            if bounds[wide] < floor:
                continue
            here = np.int64(bounds[wide])
            bounds[wide] = 0  # visited
            least = worth_needed(opened, turns, wide, here, floor)
            lowest = -(-worth_needed(opened, 1, wide, here, floor) // opened[3])
            if lowest > LARGEST_IMPACT:
                continue
            count = in_window(places, impacts, opened, turns, wide, lowest, least, documents, slots, found, count)

    if k > FEW:
        make_room(table, state, scores, numbers, histogram, shift, k, spare_scores, spare_numbers)
        finish(table, state, scores, numbers, histogram, k, spare_scores, spare_numbers)
    for at in range(state[SIZE]):
        out[at] = numbers[at]
        out_scores[at] = scores[at] / UNIT
    exact = exact and (not prune or not left or state[FLOOR] == 0)
    return state[SIZE] | (np.int64(EXACT) if exact else np.int64(0)) | state[MATCHING] << COUNT_SHIFT
