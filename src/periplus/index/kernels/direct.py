"""Short lists without windows: documents one after the other, where that is less work than tables of windows.

A *cursor* is a posting of a rare list; its document is its window and place in one number. Sums go to the collector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.collector import (
    FEW,
    FLOOR,
    MATCHING,
    SIZE,
    capacity,
    keep_counted,
    keep_sorted,
    make_room,
)
from periplus.index.kernels.lists_known import FIRST, LENGTH, LIST_ROW, MAXIMA, STARTS
from periplus.index.kernels.tables import (
    ADMITTED,
    FIRST_NUMBER,
    IMPACT,
    PLACE,
    PRIOR,
    ROW,
    at_i64,
    at_u8,
    at_u16,
    u8,
)
from periplus.index.kernels.visit import unsigned

MERGED = 64  # postings of all lists up to which any-word queries merge them, when they need not count all of them
LAST = 1 << 40  # no document has this number


@bare_helper
def offer(
    table: Any,
    segment: Any,
    document: Any,
    value: Any,
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
    """A document that matches, with the sum of its groups."""
    if table[segment * ROW + ADMITTED + 1] > 0 and u8(table, segment, ADMITTED)[document] == 0:
        return
    state[MATCHING] += 1
    if prior_weight > 0 and table[segment * ROW + PRIOR + 1] > 0:
        value += prior_weight * np.int64(u8(table, segment, PRIOR)[document])
    if value < state[FLOOR]:
        return
    number = table[segment * ROW + FIRST_NUMBER] + document
    if k <= FEW:
        keep_sorted(table, state, scores, numbers, k, value, number)
        return
    keep_counted(state, scores, numbers, histogram, shift, k, value, number)
    if state[SIZE] > capacity(k) - WINDOW:
        make_room(table, state, scores, numbers, histogram, shift, k, spare_scores, spare_numbers)


@bare_helper
def document_at(windows: Any, places: Any, posting: Any) -> Any:
    return np.int64(windows[unsigned(posting)]) << WINDOW_BITS | np.int64(places[unsigned(posting)])


@bare_helper
def in_rare(windows: Any, places: Any, size: Any, document: Any, cursor: Any) -> Any:
    """The first posting from ``cursor`` on whose document is not below ``document``."""
    step = 1
    while cursor + step < size and document_at(windows, places, cursor + step) < document:
        cursor += step
        step <<= 1
    high = min(size, cursor + step)
    while cursor < high:
        middle = (cursor + high) >> 1
        if document_at(windows, places, middle) < document:
            cursor = middle + 1
        else:
            high = middle
    return cursor


@bare_helper
def all_short(lists_at: Any, segments: Any, segment: Any, most: Any) -> Any:
    """Whether all lists of a segment are rare, and not more than so many postings in all."""
    total = np.int64(0)
    for item in range(len(lists_at)):
        rows = at_i64(lists_at[item], segments * LIST_ROW)
        row = segment * LIST_ROW
        if rows[row + LENGTH] > 0 and rows[row + STARTS] != 0:
            return False
        total += rows[row + LENGTH]
    return total <= most


@bare_helper
def merge_all(
    table: Any,
    segment: Any,
    segments: Any,
    starts: Any,
    weights: Any,
    lists_at: Any,
    current: Any,
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
    """All documents of some rare lists, each once, with the sum of its groups."""
    row = segment * LIST_ROW
    place, impact = table[segment * ROW + PLACE], u8(table, segment, IMPACT)
    document = np.int64(LAST)
    for item in range(len(weights)):
        rows = at_i64(lists_at[item], segments * LIST_ROW)
        cursors[item] = 0
        current[item] = LAST
        if rows[row + LENGTH] > 0:
            current[item] = document_at(at_u16(rows[row + MAXIMA], 1), at_u8(place + rows[row + FIRST], 1), 0)
        document = min(document, current[item])
    while document < LAST:
        value = np.int64(0)
        following = np.int64(LAST)
        for group in range(len(starts) - 1):
            best = np.int64(0)
            for item in range(starts[group], starts[group + 1]):
                if current[item] == document:
                    rows = at_i64(lists_at[item], segments * LIST_ROW)
                    low, size = rows[row + FIRST], rows[row + LENGTH]
                    best = max(best, weights[item] * np.int64(impact[low + cursors[item]]))
                    cursors[item] += 1
                    current[item] = LAST
                    if cursors[item] < size:
                        current[item] = document_at(
                            at_u16(rows[row + MAXIMA], size), at_u8(place + low, size), cursors[item]
                        )
                following = min(following, current[item])
            value += best
        offer(
            table,
            segment,
            document,
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
        document = following
