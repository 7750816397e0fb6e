"""Exact top-k over one segment: bounds by window, the most promising windows first, MaxScore inside a window.

A query is a table of lists (terms of the segment, or lists made for this query) in groups; a group's value is the best
of its lists, a document's score the sum of its groups plus the prior. A group is optional (clause -1), forbidden (-2)
or belongs to a required clause, of which at least one group has to match. All values are positive integers, and a
window or a document is left out only when its bound is *strictly* below the score of the k-th best: what remains equals
exhaustive scoring.

``state`` is carried from segment to segment: size of the heap, matching documents met, whether anything was left out,
and a floor under the k-th best score that the caller knows to be valid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import helper
from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.heads import list_of, unpack_windows
from periplus.index.kernels.window import clear, generate, generate_best, probe, push, scan

FIRST_WINDOWS = 16  # visited before all others, to raise the threshold early
OPTIONAL = -1
FORBIDDEN = -2
FREQUENT, RARE, MADE = 0, 1, 2


@helper
def _fill(
    window_of: Any,
    offset: Any,
    low: Any,
    high: Any,
    impact: Any,
    windows: Any,
    starts: Any,
    row: Any,
    maxima: Any,
    row_max: Any,
) -> Any:
    """Window table of a list without one."""
    window = 0
    for posting in range(low, high):
        there = np.int64(window_of[posting + offset])
        while window <= there:
            starts[row + window] = posting - low
            window += 1
        maxima[row_max + there] = max(maxima[row_max + there], impact[posting])
    while window <= windows:
        starts[row + window] = high - low
        window += 1


@helper
def _add_bound(maxima: Any, row: Any, weight: Any, windows: Any, bound: Any) -> Any:
    for window in range(windows):
        bound[window] += weight * np.int32(maxima[row + window])


@helper
def _raise_bound(maxima: Any, row: Any, weight: Any, windows: Any, bound: Any) -> Any:
    for window in range(windows):
        bound[window] = max(bound[window], weight * np.int32(maxima[row + window]))


@helper
def _mark_present(maxima: Any, row: Any, windows: Any, present: Any) -> Any:
    for window in range(windows):
        present[window] |= maxima[row + window]


@helper
def _most_promising(bound: Any, windows: Any, chosen: Any) -> Any:
    """The windows with the largest bounds, at most ``len(chosen)`` of them."""
    count = 0
    least = np.int32(-1)
    for window in range(windows):
        if bound[window] <= least:
            continue
        at = min(count, len(chosen) - 1)
        while at > 0 and bound[chosen[at - 1]] < bound[window]:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = window
        count = min(count + 1, len(chosen))
        if count == len(chosen):
            least = bound[chosen[count - 1]]
    return count


@helper
def search_segment(
    frequency: Any,
    blocks: Any,
    large: Any,
    place: Any,
    impact: Any,
    rare_window: Any,
    window_start: Any,
    window_max: Any,
    windows: Any,
    made_start: Any,
    made_place: Any,
    made_impact: Any,
    made_window: Any,
    list_term: Any,
    list_weight: Any,
    group_start: Any,
    group_clause: Any,
    clauses: Any,
    prior: Any,
    prior_max: Any,
    prior_weight: Any,
    admitted: Any,
    keys: Any,
    first_number: Any,
    prune: Any,
    heap_score: Any,
    heap_key: Any,
    heap_number: Any,
    state: Any,
    all_documents: Any,
    all_scores: Any,
) -> Any:
    window: Any = 0
    clause: Any = 0
    lists = len(list_term)
    groups = len(group_clause)
    weights = list_weight
    prior_unit = np.int32(prior_weight)
    has_prior = len(prior) > 0 and prior_weight > 0
    collect = len(all_documents) > 0
    collected = 0

    # Window tables: those of frequent terms are in the file, the others are made here.
    kind = np.zeros(lists, np.uint8)
    origin = np.zeros(lists, np.int64)
    row = np.zeros(lists, np.int64)
    row_max = np.zeros(lists, np.int64)
    own_first, own_size = np.zeros(lists, np.int64), np.zeros(lists, np.int64)
    own_row, own_rare = np.full(lists, -1, np.int64), np.zeros(lists, np.int64)
    without = 0
    for item in range(lists):
        if list_term[item] >= 0:
            own_first[item], own_size[item], own_row[item], own_rare[item] = list_of(
                frequency, blocks, large, list_term[item]
            )
        if own_row[item] < 0:
            without += 1
    made_starts = np.empty(without * (windows + 1), np.uint32)
    made_maxima = np.zeros(without * windows, np.uint8)
    without = 0
    for item in range(lists):
        term = list_term[item]
        if own_row[item] >= 0:
            kind[item] = FREQUENT
            origin[item] = own_first[item]
            row[item] = own_row[item] * (windows + 1)
            row_max[item] = own_row[item] * windows
            continue
        row[item] = without * (windows + 1)
        row_max[item] = without * windows
        without += 1
        if term >= 0:
            kind[item] = RARE
            low, high = own_first[item], own_first[item] + own_size[item]
            window_of = np.empty(own_size[item], np.uint16)
            unpack_windows(rare_window, windows, own_rare[item], window_of)
            _fill(window_of, -low, low, high, impact, windows, made_starts, row[item], made_maxima, row_max[item])
        else:
            kind[item] = MADE
            low, high = made_start[~term], made_start[~term + 1]
            _fill(made_window, 0, low, high, made_impact, windows, made_starts, row[item], made_maxima, row_max[item])
        origin[item] = low

    # Bounds.
    bound = np.zeros(windows, np.int32)
    group_bound = np.empty(windows, np.int32)
    for group in range(groups):
        if group_clause[group] == FORBIDDEN:
            continue
        single = group_start[group + 1] - group_start[group] == 1
        if not single:
            group_bound[:] = 0
        for item in range(group_start[group], group_start[group + 1]):
            if single and kind[item] == FREQUENT:
                _add_bound(window_max, row_max[item], weights[item], windows, bound)
            elif single:
                _add_bound(made_maxima, row_max[item], weights[item], windows, bound)
            elif kind[item] == FREQUENT:
                _raise_bound(window_max, row_max[item], weights[item], windows, group_bound)
            else:
                _raise_bound(made_maxima, row_max[item], weights[item], windows, group_bound)
        if not single:
            for window in range(windows):
                bound[window] += group_bound[window]
    present = np.empty(windows, np.uint8)
    for clause in range(clauses):
        present[:] = 0
        for group in range(groups):
            if group_clause[group] != clause:
                continue
            for item in range(group_start[group], group_start[group + 1]):
                if kind[item] == FREQUENT:
                    _mark_present(window_max, row_max[item], windows, present)
                else:
                    _mark_present(made_maxima, row_max[item], windows, present)
        for window in range(windows):
            if present[window] == 0:
                bound[window] = 0
    for window in range(windows):
        if bound[window] == 0:
            bound[window] = -1  # nothing matches here
        elif has_prior:
            bound[window] += prior_unit * np.int32(prior_max[window])

    # The order of visits: a few promising windows, then all in order.
    chosen = np.empty(FIRST_WINDOWS, np.int64)
    first = _most_promising(bound, windows, chosen) if prune else 0

    low = np.empty(lists, np.int64)
    high = np.empty(lists, np.int64)
    group_value = np.empty(groups, np.int64)
    group_size = np.empty(groups, np.int64)
    order = np.empty(groups, np.int64)
    score = np.zeros(WINDOW, np.int32)
    best = np.zeros(WINDOW, np.int32)
    is_candidate = np.zeros(WINDOW, np.uint8)
    has_clause = np.zeros(WINDOW, np.uint8)
    touched = np.empty(WINDOW, np.uint8)
    candidates = np.empty(WINDOW, np.uint8)
    clause_size = np.empty(clauses + 1, np.int64)
    clause_order = np.empty(clauses + 1, np.int64)
    k = len(heap_score)

    for visit in range(first + windows):
        window = chosen[visit] if visit < first else np.int64(visit - first)
        if bound[window] < 0:
            continue
        floor = max(state[3], heap_score[0]) if state[0] == k and k > 0 else state[3]
        if prune and bound[window] < floor:
            state[2] = 1
            continue
        window_bound = np.int64(bound[window])
        bound[window] = -1  # visited

        # What is in this window.
        for group in range(groups):
            group_value[group] = 0
            group_size[group] = 0
            for item in range(group_start[group], group_start[group + 1]):
                if kind[item] == FREQUENT:
                    low[item] = origin[item] + window_start[row[item] + window]
                    high[item] = origin[item] + window_start[row[item] + window + 1]
                    largest = np.int64(window_max[row_max[item] + window])
                else:
                    low[item] = origin[item] + made_starts[row[item] + window]
                    high[item] = origin[item] + made_starts[row[item] + window + 1]
                    largest = np.int64(made_maxima[row_max[item] + window])
                group_value[group] = max(group_value[group], largest * weights[item])
                group_size[group] += high[item] - low[item]
        prior_bound = np.int64(prior_unit) * np.int64(prior_max[window]) if has_prior else np.int64(0)

        # Optional groups that are present, by ascending value.
        optional = 0
        for group in range(groups):
            if group_clause[group] == OPTIONAL and group_size[group] > 0:
                at = optional
                while at > 0 and group_value[order[at - 1]] > group_value[group]:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = group
                optional += 1

        # Candidates: of the essential lists, or of the smallest required clause.
        count = 0
        remaining = window_bound - prior_bound
        if clauses == 0:
            split = 0
            below = np.int64(0)
            if prune:
                while split < optional and below + group_value[order[split]] + prior_bound < floor:
                    below += group_value[order[split]]
                    split += 1
            if split > 0:
                state[2] = 1
            for at in range(split, optional):
                group = order[at]
                remaining -= group_value[group]
                single = group_start[group + 1] - group_start[group] == 1
                for item in range(group_start[group], group_start[group + 1]):
                    if single and kind[item] == MADE:
                        count = generate(
                            made_place, made_impact, low[item], high[item], weights[item], score, touched, count
                        )
                    elif single:
                        count = generate(place, impact, low[item], high[item], weights[item], score, touched, count)
                    elif kind[item] == MADE:
                        count = generate_best(
                            made_place, made_impact, low[item], high[item], weights[item], score, best, touched, count
                        )
                    else:
                        count = generate_best(
                            place, impact, low[item], high[item], weights[item], score, best, touched, count
                        )
                if not single:
                    for item in range(group_start[group], group_start[group + 1]):
                        if kind[item] == MADE:
                            clear(made_place, low[item], high[item], best)
                        else:
                            clear(place, low[item], high[item], best)
            optional = split
        else:
            for clause in range(clauses):
                clause_size[clause] = 0
                for group in range(groups):
                    if group_clause[group] == clause:
                        clause_size[clause] += group_size[group]
                at = clause
                while at > 0 and clause_size[clause_order[at - 1]] > clause_size[clause]:
                    clause_order[at] = clause_order[at - 1]
                    at -= 1
                clause_order[at] = clause
            for group in range(groups):
                if group_clause[group] != clause_order[0]:
                    continue
                remaining -= group_value[group]
                for item in range(group_start[group], group_start[group + 1]):
                    if kind[item] == MADE:
                        count = generate_best(
                            made_place, made_impact, low[item], high[item], weights[item], score, best, touched, count
                        )
                    else:
                        count = generate_best(
                            place, impact, low[item], high[item], weights[item], score, best, touched, count
                        )
                for item in range(group_start[group], group_start[group + 1]):
                    if kind[item] == MADE:
                        clear(made_place, low[item], high[item], best)
                    else:
                        clear(place, low[item], high[item], best)

        # Only admitted ones go on.
        base = window << WINDOW_BITS
        kept = 0
        for at in range(count):
            document = touched[at]
            if len(admitted) == 0 or admitted[base + document]:
                candidates[kept] = document
                is_candidate[document] = 1
                kept += 1

        # The other required clauses, forbidden groups, then optional groups from the largest value down.
        steps = max(clauses - 1, 0) + groups + optional
        for step in range(steps):
            if kept == 0:
                break
            is_required = step < clauses - 1
            is_forbidden = not is_required and step < max(clauses - 1, 0) + groups
            clause = np.int64(-1)
            first_group = np.int64(0)
            last_group = np.int64(groups)
            if is_required:
                clause = clause_order[step + 1]
            elif is_forbidden:
                first_group = step - max(clauses - 1, 0)
                last_group = first_group + 1
                if group_clause[first_group] != FORBIDDEN or group_size[first_group] == 0:
                    continue
            else:
                first_group = order[steps - 1 - step]
                last_group = first_group + 1
            if prune and not is_forbidden:
                still = 0
                for at in range(kept):
                    document = candidates[at]
                    reach = np.int64(score[document]) + remaining
                    if has_prior:
                        reach += prior_unit * np.int64(prior[base + document])
                    if reach < floor:
                        is_candidate[document] = 0
                        state[2] = 1
                    else:
                        candidates[still] = document
                        still += 1
                kept = still
                if kept == 0:
                    break
            for group in range(first_group, last_group):
                if is_required and group_clause[group] != clause:
                    continue
                if not is_forbidden:
                    remaining -= group_value[group]
                for item in range(group_start[group], group_start[group + 1]):
                    size = high[item] - low[item]
                    if size == 0:
                        continue
                    if kept * 6 < size:
                        if kind[item] == MADE:
                            probe(made_place, made_impact, low[item], high[item], weights[item], candidates, kept, best)
                        else:
                            probe(place, impact, low[item], high[item], weights[item], candidates, kept, best)
                    elif kind[item] == MADE:
                        scan(made_place, made_impact, low[item], high[item], weights[item], is_candidate, best)
                    else:
                        scan(place, impact, low[item], high[item], weights[item], is_candidate, best)
                for at in range(kept):
                    document = candidates[at]
                    if best[document] > 0:
                        has_clause[document] = 1
                        if not is_forbidden:
                            score[document] += best[document]
                        best[document] = 0
            if is_required or is_forbidden:
                still = 0
                for at in range(kept):
                    document = candidates[at]
                    if (has_clause[document] > 0) == is_required:
                        candidates[still] = document
                        still += 1
                    else:
                        is_candidate[document] = 0
                    has_clause[document] = 0
                kept = still
            else:
                for at in range(kept):
                    has_clause[candidates[at]] = 0

        for at in range(kept):
            document = candidates[at]
            is_candidate[document] = 0
            value = np.int64(score[document])
            if has_prior:
                value += prior_unit * np.int64(prior[base + document])
            if collect:
                all_documents[collected] = base + document
                all_scores[collected] = value
                collected += 1
            state[1] += 1
            if k > 0 and value >= state[3]:
                state[0] = push(
                    heap_score,
                    heap_key,
                    heap_number,
                    state[0],
                    value,
                    keys[base + document],
                    first_number + base + document,
                )
        for at in range(count):
            score[touched[at]] = 0
            is_candidate[touched[at]] = 0
