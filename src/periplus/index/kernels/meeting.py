"""The best of the documents that all of some lists have, by the bits of these lists.

A few are all scored. Of many, windows get bounds: the most promising ones come first, those whose bound is *strictly*
below the floor are left out, and of a document that can no longer reach it no further impacts are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.bits import WORDS, byte_at
from periplus.index.kernels.bounds import add_prior, by_bound, most_promising, zero_bound
from periplus.index.kernels.collector import FLOOR, MATCHING
from periplus.index.kernels.common import (
    LINE,
    add_bound,
    add_most,
    ask_for_places,
    bring_places,
    drop_empty,
    find_common,
    take_documents,
)
from periplus.index.kernels.direct import offer
from periplus.index.kernels.keeping import offer_all
from periplus.index.kernels.lists_known import LIST_ROW, MAXIMA, STARTS
from periplus.index.kernels.plain_steps import ADDRESS, GIVEN, WEIGHT
from periplus.index.kernels.sieves import ROOM
from periplus.index.kernels.tables import ADMITTED, PRIOR, PRIOR_MAX, ROW, at_i64, at_u8, prefetch, u8

FEW = 512  # documents in common that are all scored, without bounds
FIRST_WINDOWS = 16  # visited before all others, to raise the floor early


@bare_helper
def meeting_words(windows: Any) -> Any:
    """Numbers for bounds of candidates, and for the bits in common from the begin of a line on."""
    return ROOM + WORDS * (windows + 1) + LINE // 8


@bare_helper
def meet(
    table: Any,
    segments: Any,
    windows_before: Any,
    query: Any,
    order: Any,
    sets: Any,
    documents: Any,
    slots: Any,
    found: Any,
    cursors: Any,
    memory: Any,
    bounds: Any,
    todo: Any,
    prune: Any,
    prior_weight: Any,
    state: Any,
    scores: Any,
    numbers: Any,
    histogram: Any,
    shift: Any,
    k: Any,
    spare_scores: Any,
    spare_numbers: Any,
) -> Any:
    """Offer all of them, or those that may be among the best; whether they are counted exactly."""
    for at in range(len(order)):
        cursors[at] = sets[order[at]]
    common = (memory.ctypes.data + 8 * ROOM + LINE - 1) & -LINE
    matching = find_common(cursors, (len(bounds) + 1) >> 1, common)
    if not prune or matching <= FEW:
        meet_all(
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
            common,
            len(bounds),
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
        return True
    bound_common(table, segments, windows_before, query, len(order), common, prior_weight, bounds)
    values, whole = memory[:ROOM], True
    meet_best(
        table,
        segments,
        windows_before,
        query,
        order,
        documents,
        slots,
        found,
        cursors,
        common,
        values,
        bounds,
        todo,
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
    for segment in range(segments):
        whole = whole and table[segment * ROW + ADMITTED + 1] == 0
    if whole:
        state[MATCHING] = matching
    return whole


@bare_helper
def meet_all(
    table: Any,
    segments: Any,
    windows_before: Any,
    query: Any,
    order: Any,
    sets: Any,
    documents: Any,
    slots: Any,
    found: Any,
    cursors: Any,
    common: Any,
    windows: Any,
    prior_weight: Any,
    state: Any,
    scores: Any,
    numbers: Any,
    histogram: Any,
    shift: Any,
    k: Any,
    spare_scores: Any,
    spare_numbers: Any,
) -> Any:
    """Offer all documents in common."""
    count = np.int64(0)
    for window in range(windows):
        count = take_documents(common, window, documents, slots, count)
        if count > 0 and (window == windows - 1 or count > ROOM - WINDOW):
            offer_all(
                table,
                segments,
                windows_before,
                query,
                order,
                sets,
                0,
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
            count = np.int64(0)


@bare_helper
def bound_common(
    table: Any,
    segments: Any,
    windows_before: Any,
    query: Any,
    lists: Any,
    common: Any,
    prior_weight: Any,
    bounds: Any,
) -> Any:
    """What a document of each window can score at most: nothing where none is in common."""
    zero_bound(bounds)
    for segment in range(segments):
        bound = bounds[windows_before[segment] : windows_before[segment + 1]]
        for item in range(lists):
            rows, weight = at_i64(query[GIVEN * item + ADDRESS], segments * LIST_ROW), query[GIVEN * item + WEIGHT]
            if rows[segment * LIST_ROW + STARTS] == 0:
                add_most(bound, np.int32(weight))
            else:
                add_bound(bound, at_u8(rows[segment * LIST_ROW + MAXIMA], len(bound)), np.int32(weight))
        if prior_weight > 0 and table[segment * ROW + PRIOR + 1] > 0:
            add_prior(bound, u8(table, segment, PRIOR_MAX), np.int32(prior_weight))
    drop_empty(bounds, common)


@bare_helper
def meet_best(
    table: Any,
    segments: Any,
    windows_before: Any,
    query: Any,
    order: Any,
    documents: Any,
    slots: Any,
    found: Any,
    cursors: Any,
    common: Any,
    values: Any,
    bounds: Any,
    todo: Any,
    prior_weight: Any,
    state: Any,
    scores: Any,
    numbers: Any,
    histogram: Any,
    shift: Any,
    k: Any,
    spare_scores: Any,
    spare_numbers: Any,
) -> Any:
    """Offer the documents in common that may be among the best, window by window."""
    for phase in range(2):
        if phase == 0:
            end = most_promising(bounds, todo[:FIRST_WINDOWS])
            for at in range(1, end):  # as they come
                wide, to = todo[at], at
                while to > 0 and todo[to - 1] > wide:
                    todo[to] = todo[to - 1]
                    to -= 1
                todo[to] = wide
        else:
            end = by_bound(bounds, max(np.int64(1), state[FLOOR]), falling=False, chosen=todo, spare=todo)
        count = np.int64(0)
        for at in range(end):
            window = np.int64(todo[at])
            if bounds[window] >= state[FLOOR]:
                before = count
                count = take_documents(common, window, documents, slots, count)
                for place in range(before, count):
                    values[place] = bounds[window]
            bounds[window] = 0  # visited
            if count > 0 and (at == end - 1 or count > ROOM - WINDOW):
                offer_best(
                    table,
                    segments,
                    windows_before,
                    query,
                    order,
                    documents,
                    slots,
                    found,
                    values,
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
                count = np.int64(0)


@bare_helper
def offer_best(
    table: Any,
    segments: Any,
    windows_before: Any,
    query: Any,
    order: Any,
    documents: Any,
    slots: Any,
    found: Any,
    values: Any,
    count: Any,
    cursors: Any,
    prior_weight: Any,
    state: Any,
    scores: Any,
    numbers: Any,
    histogram: Any,
    shift: Any,
    k: Any,
    spare_scores: Any,
    spare_numbers: Any,
) -> Any:
    """Offer those of some candidates, with their bounds in ``values``, that reach the floor."""
    for turn in range(len(order)):
        item = order[turn]
        list_at, weight = query[GIVEN * item + ADDRESS], query[GIVEN * item + WEIGHT]
        for at in range(count):
            slots[at] = at
        ask_for_places(segments, windows_before, list_at, documents, count)
        bring_places(
            table, segments, windows_before, list_at, documents, slots, found, count, cursors, item, weight, values
        )
        for at in range(count):
            prefetch(found[at])
        kept = 0
        for at in range(count):
            value = values[at] + weight * np.int64(byte_at(found[at]))
            documents[kept] = documents[at]
            values[kept] = value
            kept += value >= state[FLOOR]
        count = kept
        if count == 0:
            return
    segment = 0
    for at in range(count):
        document, value = documents[at], values[at]
        while document >= windows_before[segment + 1] << WINDOW_BITS:
            segment += 1
        if prior_weight > 0 and table[segment * ROW + PRIOR + 1] > 0:
            most = u8(table, segment, PRIOR_MAX)[(document >> WINDOW_BITS) - windows_before[segment]]
            value -= prior_weight * np.int64(most)
        offer(
            table,
            segment,
            document - (windows_before[segment] << WINDOW_BITS),
            value,
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
