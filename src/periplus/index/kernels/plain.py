"""Exact top-k for plain queries: any of some words, or all of them; over all segments, with one floor.

``memory`` begins with the query: for each list its weight, the address of what is known of it (``LIST_ROW`` numbers a
segment) and its live documents; and, unless every group is one list, the first list of each group and their end. Where
every group is one list, some may have no documents. ``flags`` says whether all groups are required, and whether all
documents are admitted, so that stored best impacts give a floor. Up to ``limit`` postings every match is counted.

k numbers and k scores (as floating-point numbers), best first, are written behind the query, and the rest of ``memory``
is for work. The result is one number: how many documents were found (31 bits), whether the total is exact (1 bit), and
the total, which may be a lower bound. It is ``TOO_HEAVY`` when scores could exceed 32 bits, and minus the numbers
needed when ``words`` of memory are too few.

The largest impacts of the lists by window add up to bounds. The most promising windows of all segments are visited
first, then those that still may hold one of the best, by falling bound. A window or a document is left out only when
its bound is *strictly* below the floor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.bits import WORDS
from periplus.index.kernels.bounds import LEVELS, add_prior, by_bound, most_promising, zero_bound
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
    keep_counted,
    keep_sorted,
    make_room,
)
from periplus.index.kernels.direct import MERGED, all_short, merge_all
from periplus.index.kernels.lists_known import BITS, LIST_HEAD, LIST_ROW
from periplus.index.kernels.plain_steps import (
    ALL_ADMITTED,
    ALL_REQUIRED,
    QUERY,
    bound_windows,
    by_size,
    fetch_first,
    fetch_offsets,
    fetch_offsets_of,
    fetch_postings,
    fetch_postings_of,
    first_floor,
    heaviest,
    largest_score,
    locate,
    most_documents,
    open_window,
    rank_for,
    reach_of,
    take_query,
    value_in,
    without_empty,
    words_needed,
)
from periplus.index.kernels.tables import (
    ADMITTED,
    FIRST_NUMBER,
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
from periplus.index.kernels.visit import (
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
from periplus.index.weights import LARGEST_WEIGHTS, UNIT

FIRST_WINDOWS = 16  # visited before all others, to raise the floor early
AHEAD = 8  # windows whose postings are fetched into the cache before they are needed
FETCHED = 2  # groups fetched so when all are required: few windows need more of them


TOO_HEAVY = -1
EXACT = 1 << 31
COUNT_SHIFT = 32


@bare_helper
def plain_top(
    table_at: Any,
    memory_at: Any,
    words: Any,
    segments: Any,
    lists: Any,
    groups: Any,
    flags: Any,
    prior_weight: Any,
    k: Any,
    limit: Any,
) -> Any:
    at: Any
    item: Any
    made: Any
    begin: Any
    least: Any
    value: Any
    rest: Any
    memory = at_i64(memory_at, words)
    query = memory[:QUERY]
    segment: Any
    every, whole = flags & ALL_REQUIRED != 0, flags & ALL_ADMITTED != 0
    if lists == groups:
        lists = groups = without_empty(query, lists, every)
    if lists == 0:
        return np.int64(EXACT)
    table = at_i64(table_at, segments * ROW)
    windows, widest = np.int64(0), np.int64(0)
    for segment in range(segments):
        windows += table[segment * ROW + WINDOWS]
        widest = max(widest, table[segment * ROW + WINDOWS])
    needed = words_needed(segments, lists, windows, k)
    if words < needed:
        return -needed
    if heaviest(query, lists) + prior_weight > LARGEST_WEIGHTS:
        return np.int64(TOO_HEAVY)
    prune = reach_of(query, lists, groups, every) > limit
    best_rank = rank_for(k) if prune and whole and not every else np.int64(-1)
    longest = most_documents(query, lists) if whole and not (every and lists > 1) else np.int64(0)
    out = memory[QUERY : QUERY + k]
    out_scores = at_f64(memory_at + 8 * (QUERY + k), k)
    scratch = memory[QUERY + 2 * k :]

    # Everything that is needed on the way.
    room = capacity(k)
    few = k <= FEW
    state, at = scratch[:STATE], np.int64(STATE)
    state[:] = 0
    scores, at = scratch[at : at + room], at + room
    numbers, at = scratch[at : at + room], at + room
    spare_scores, at = scratch[at : at + room], at + room
    spare_numbers, at = scratch[at : at + room], at + room
    histogram, at = scratch[at : at + BUCKETS], at + BUCKETS
    tables, at = scratch[at : at + 4 * segments * lists], at + 4 * segments * lists
    weights, at = scratch[at : at + lists], at + lists
    lists_at, at = scratch[at : at + lists], at + lists
    sets, at = scratch[at : at + lists], at + lists
    starts, at = scratch[at : at + groups + 1], at + groups + 1
    take_query(query, lists, groups, weights, lists_at, starts)
    first_window, at = scratch[at : at + segments], at + segments
    orders, at = scratch[at : at + segments * groups], at + segments * groups
    group_value, at = scratch[at : at + groups], at + groups
    low, at = scratch[at : at + lists], at + lists
    high, at = scratch[at : at + lists], at + lists
    narrow = at_i32(memory_at + 8 * (QUERY + 2 * k + at), 2 * (len(scratch) - at))
    score, best, found_score = narrow[:WINDOW], narrow[WINDOW : 2 * WINDOW], narrow[2 * WINDOW : 3 * WINDOW]
    at = np.int64(3 * WINDOW)
    every_bound, at = narrow[at : at + windows], at + windows
    todo, at = narrow[at : at + windows], at + windows
    segment_of, at = narrow[at : at + windows], at + windows
    group_bound, at = narrow[at : at + widest], at + widest
    spare, at = narrow[at : at + windows + LEVELS + 1], at + windows + LEVELS + 1
    made_offsets, at = narrow[at : at + 2 * lists * windows], at + 2 * lists * windows
    small = at_u8(narrow.ctypes.data + 4 * at, 4 * (len(narrow) - at))
    found_place, made_maxima = small[:WINDOW], small[WINDOW:]
    shift = bucket_shift(largest_score(starts, weights, prior_weight))
    if not few:
        histogram[:] = 0

    fetch_first(table, segments, lists_at)
    for item in range(lists):
        sets[item] = at_i64(lists_at[item], segments * LIST_ROW + LIST_HEAD)[segments * LIST_ROW + BITS]
    if best_rank >= 0:
        state[FLOOR] = first_floor(segments, weights, lists_at, best_rank)
    required = np.int32(1) if every else np.int32(0)

    # Bounds of all windows of all segments; short lists are done with at once.
    made, begin = np.int64(0), np.int64(0)
    left = False
    ahead = min(groups, FETCHED)
    for segment in range(segments):
        here = table[segment * ROW + WINDOWS]
        first_window[segment] = begin
        bound = every_bound[begin : begin + here]
        order = orders[segment * groups : (segment + 1) * groups]
        size = by_size(starts, lists_at, segments, segment, order) if every else np.int64(0)
        done = every and size == 0
        if not every and all_short(lists_at, segments, segment, MERGED if prune else windows * WINDOW * lists):
            merge_all(
                table,
                segment,
                segments,
                starts,
                weights,
                lists_at,
                low,
                high,
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
            done = True
        if done:
            zero_bound(bound)
            begin += here
            continue
        left = True
        for item in range(lists):
            rows = at_i64(lists_at[item], segments * LIST_ROW + LIST_HEAD)
            own = tables[4 * (segment * lists + item) :]
            made = locate(table, segments, segment, rows, made, made_offsets, made_maxima, own)
        bound_windows(starts, weights, tables[4 * segment * lists :], every, bound, group_bound)
        if prior_weight > 0 and table[segment * ROW + PRIOR + 1] > 0:
            add_prior(bound, u8(table, segment, PRIOR_MAX), np.int32(prior_weight))
        segment_of[begin : begin + here] = segment
        begin += here

    for phase in range(2 if left else 0):
        if phase == 0:
            if not prune:
                continue
            count = most_promising(every_bound, todo[:FIRST_WINDOWS])
        else:
            count = by_bound(every_bound, max(np.int64(1), state[FLOOR] if prune else np.int64(0)), prune, todo, spare)
        for visit in range(count):
            if visit % AHEAD == 0:
                # Offsets of the next windows, then their postings, so that the waits for memory overlap.
                floor = state[FLOOR] if prune else np.int64(0)
                for step in range(visit, min(visit + AHEAD, count)):
                    wide = np.int64(todo[step])
                    if every_bound[wide] < floor:
                        continue
                    segment = np.int64(segment_of[wide])
                    own = tables[4 * segment * lists : 4 * (segment + 1) * lists]
                    if every:
                        fetch_offsets_of(own, starts, orders[segment * groups :], ahead, wide - first_window[segment])
                    else:
                        fetch_offsets(own, lists, wide - first_window[segment])
                for step in range(visit, min(visit + AHEAD, count)):
                    wide = np.int64(todo[step])
                    if every_bound[wide] < floor:
                        continue
                    segment = np.int64(segment_of[wide])
                    own = tables[4 * segment * lists : 4 * (segment + 1) * lists]
                    window = wide - first_window[segment]
                    if every:
                        order = orders[segment * groups :]
                        fetch_postings_of(table, segment, own, starts, order, ahead, window)
                    else:
                        fetch_postings(table, segment, own, 0, lists, window)
                    for item in range(lists):
                        if sets[item] != 0:
                            prefetch(sets[item] + 8 * WORDS * wide)

            wide = np.int64(todo[visit])
            window_bound = np.int64(every_bound[wide])
            floor = state[FLOOR] if prune else np.int64(0)
            if window_bound < floor:
                continue
            every_bound[wide] = 0  # visited
            segment = np.int64(segment_of[wide])
            window = wide - first_window[segment]
            place, impact = u8(table, segment, PLACE), u8(table, segment, IMPACT)
            base = window << WINDOW_BITS

            own = tables[4 * segment * lists : 4 * (segment + 1) * lists]

            # What is in this window: groups by ascending value; when all are required, they are by size already.
            order = orders[segment * groups : (segment + 1) * groups]
            present = groups
            if not every:
                present = 0
                for group in range(groups):
                    value = value_in(own, weights, starts[group], starts[group + 1], window)
                    if value == 0:
                        continue
                    group_value[group] = value
                    to = present
                    while to > 0 and group_value[order[to - 1]] > value:
                        order[to] = order[to - 1]
                        to -= 1
                    order[to] = group
                    present += 1
            has_prior = prior_weight > 0 and table[segment * ROW + PRIOR + 1] > 0
            prior_bound = np.int64(0)
            if has_prior:
                prior_bound = prior_weight * np.int64(u8(table, segment, PRIOR_MAX)[window])

            # Candidates come from the groups order[begin:end].
            rest = window_bound
            begin, end = 0, 1
            if not every:
                end = present
                below = prior_bound
                while begin < present - 1 and below + group_value[order[begin]] < floor:
                    below += group_value[order[begin]]
                    begin += 1
            for at in range(begin, end):
                group = order[at]
                if every:
                    group_value[group] = value_in(own, weights, starts[group], starts[group + 1], window)
                rest -= group_value[group]
                open_window(own, starts[group], starts[group + 1], window, low, high)
            item = starts[order[begin]]
            if end == begin + 1 and starts[order[begin] + 1] == item + 1:
                least = max(np.int64(1), -((rest - floor) // weights[item]))
                found = from_list(
                    place, impact, low[item], high[item], np.int32(weights[item]), least, found_place, found_score
                )
            elif end == begin + 1:
                # Of several forms, each alone has to reach what the other groups leave to this one.
                clear(best)
                for form in range(item, starts[order[begin] + 1]):
                    least = max(np.int64(1), -((rest - floor) // weights[form]))
                    raise_from_list(place, impact, low[form], high[form], np.int32(weights[form]), least, best)
                found = from_scores(best, np.int32(max(np.int64(1), floor - rest)), found_place, found_score)
            else:
                clear(score)
                for at in range(begin, end):
                    item, last = starts[order[at]], starts[order[at] + 1]
                    if last == item + 1:
                        add_list(place, impact, low[item], high[item], np.int32(weights[item]), score)
                        continue
                    clear(best)
                    for form in range(item, last):
                        raise_list(place, impact, low[form], high[form], np.int32(weights[form]), best)
                    add_best(score, best)
                found = from_scores(score, np.int32(max(np.int64(1), floor - rest)), found_place, found_score)

            if found > 0 and table[segment * ROW + ADMITTED + 1] > 0:
                found = keep_admitted(u8(table, segment, ADMITTED), base, found_place, found_score, found)
            if has_prior:
                rest -= prior_bound
                prior = u8(table, segment, PRIOR)
                found = add_priors(prior, base, prior_weight, floor - rest, found_place, found_score, found)

            # The other groups.
            for step in range(present - 1 if every else begin):
                if found == 0:
                    break
                group = order[step + 1] if every else order[begin - 1 - step]
                item, last = starts[group], starts[group + 1]
                rest -= value_in(own, weights, item, last, window) if every else group_value[group]
                least = floor - rest
                open_window(own, item, last, window, low, high)
                if last == item + 1 and sets[item] != 0:
                    bits_at, impacts_at = sets[item] + 8 * WORDS * wide, table[segment * ROW + IMPACT] + low[item]
                    weight = np.int32(weights[item])
                    found = probe_bits(bits_at, impacts_at, weight, required, least, found_place, found_score, found)
                    continue
                if last == item + 1 and found * PROBE < high[item] - low[item]:
                    weight = np.int32(weights[item])
                    found = probe(
                        place, impact, low[item], high[item], weight, required, least, found_place, found_score, found
                    )
                    continue
                clear(best)
                for form in range(item, last):
                    if found * PROBE < high[form] - low[form]:
                        probe_best(
                            place, impact, low[form], high[form], np.int32(weights[form]), found_place, found, best
                        )
                    else:
                        raise_list(place, impact, low[form], high[form], np.int32(weights[form]), best)
                found = take_best(best, required, least, found_place, found_score, found)

            state[MATCHING] += found
            first_number = table[segment * ROW + FIRST_NUMBER] + base
            for at in range(found):
                value = np.int64(found_score[at])
                if value < state[FLOOR]:
                    continue
                number = first_number + np.int64(found_place[at])
                if few:
                    keep_sorted(table, state, scores, numbers, k, value, number)
                else:
                    keep_counted(state, scores, numbers, histogram, shift, k, value, number)
            if not few and state[SIZE] > room - WINDOW:
                make_room(table, state, scores, numbers, histogram, shift, k, spare_scores, spare_numbers)

    if not few:
        make_room(table, state, scores, numbers, histogram, shift, k, spare_scores, spare_numbers)
        finish(table, state, scores, numbers, histogram, k, spare_scores, spare_numbers)
    for at in range(state[SIZE]):
        out[at] = numbers[at]
        out_scores[at] = scores[at] / UNIT
    exact = not prune or state[FLOOR] == 0
    total = state[MATCHING]
    if not exact:
        total = max(total, longest)
        exact = whole and lists == 1
    return state[SIZE] | (np.int64(EXACT) if exact else np.int64(0)) | total << COUNT_SHIFT
