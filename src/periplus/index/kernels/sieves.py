"""Sieves: candidates go through one list after the other, and those that a list does not have are left out.

Candidates stand side by side in ``documents``, ascending, numbered through all segments (``lists_known``). ``slots``
says where what is found of a candidate is written: ``found`` gets the address of its impact in the list, so that
impacts are read only of those that are left in the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.bits import (
    FEWER_LANES,
    LANES,
    byte_at,
    equal_bytes,
    equal_numbers,
    first_lanes,
    larger_or_equal_bytes,
    lowest_of,
    number_at,
)
from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.lists_known import (
    COUNT,
    DOCUMENTS,
    FIRST,
    IMPACTS,
    LENGTH,
    LIST_HEAD,
    LIST_ROW,
    STARTS,
    TABLES,
)
from periplus.index.kernels.tables import IMPACT, PLACE, ROW, at_i64, prefetch

ROOM = 512  # candidates, at most
OPENED = 4  # numbers of a list that is gone through window by window
SEVERAL = 4  # candidates from which on memory is asked for ahead


@bare_helper
def seek_document(documents_at: Any, size: Any, wanted: Any, cursor: Any) -> Any:
    """From where on one of 16 documents may be ``wanted``: none before is as large. ``cursor`` is below ``size``."""
    step = np.int64(FEWER_LANES)
    while cursor + step < size and np.int64(number_at(documents_at + 4 * (cursor + step - 1))) < wanted:
        cursor += step
        step <<= 1
    while step > FEWER_LANES:
        step >>= 1
        if cursor + step < size and np.int64(number_at(documents_at + 4 * (cursor + step - 1))) < wanted:
            cursor += step
    return cursor


@bare_helper
def in_documents(
    head: Any, documents: Any, slots: Any, found: Any, kept: Any, first: Any, count: Any, cursors: Any, item: Any
) -> Any:
    """Keep the candidates [first, count) that the rare postings of a list have, from place ``kept`` on."""
    documents_at, impacts_at, size = head[DOCUMENTS], head[IMPACTS], head[COUNT]
    cursor = cursors[item]
    for at in range(first, count):
        wanted = documents[at]
        cursor = seek_document(documents_at, size, wanted, cursor)
        there = equal_numbers(documents_at + 4 * cursor, np.uint32(wanted))
        slot = slots[at]
        found[slot] = impacts_at + cursor + lowest_of(there)
        documents[kept] = wanted
        slots[kept] = slot
        kept += there != 0
    cursors[item] = cursor
    return kept


@bare_helper
def chunk_of(places: Any, low: Any, high: Any, wanted: Any) -> Any:
    """Where the 64 postings of [low, high) begin that may have a document; places ascend."""
    while high - low > LANES and byte_at(places + low + (LANES - 1)) < wanted:
        low += LANES
    return low


@bare_helper
def in_tables(
    table: Any,
    segment: Any,
    before: Any,
    rows: Any,
    documents: Any,
    slots: Any,
    found: Any,
    kept: Any,
    first: Any,
    count: Any,
) -> Any:
    """The same for a list with tables of windows, and candidates of one segment; ``before`` counts earlier windows."""
    low, high, wanted = np.int64(0), np.int64(0), np.uint8(0)
    own = segment * LIST_ROW
    starts = rows[own + STARTS] - 4 * before
    places = table[segment * ROW + PLACE] + rows[own + FIRST]
    impacts = table[segment * ROW + IMPACT] + rows[own + FIRST]
    if count - first >= SEVERAL:
        for at in range(first, count):
            prefetch(starts + 4 * (documents[at] >> WINDOW_BITS))
        for at in range(first, count):
            prefetch(places + np.int64(number_at(starts + 4 * (documents[at] >> WINDOW_BITS))))
    for at in range(first, count):
        document = documents[at]
        offsets = starts + 4 * (document >> WINDOW_BITS)
        wanted = np.uint8(document & (WINDOW - 1))
        low, high = np.int64(number_at(offsets)), np.int64(number_at(offsets + 4))
        low = chunk_of(places, low, high, wanted)
        there = equal_bytes(places + low, wanted) & first_lanes(high - low)
        slot = slots[at]
        found[slot] = impacts + low + lowest_of(there)
        documents[kept] = document
        slots[kept] = slot
        kept += there != 0
    return kept


@bare_helper
def in_list(
    table: Any,
    segments: Any,
    windows_before: Any,
    list_at: Any,
    documents: Any,
    slots: Any,
    found: Any,
    count: Any,
    cursors: Any,
    item: Any,
) -> Any:
    """Keep the candidates that a list has, whatever it is in their segments; how many."""
    rows = at_i64(list_at, segments * LIST_ROW + LIST_HEAD)
    head = rows[segments * LIST_ROW :]
    if head[TABLES] == 0:
        return in_documents(head, documents, slots, found, 0, 0, count, cursors, item) if head[COUNT] > 0 else 0
    kept, end = 0, 0
    for segment in range(segments):
        begin, last = end, windows_before[segment + 1] << WINDOW_BITS
        while end < count and documents[end] < last:
            end += 1
        if begin == end or rows[segment * LIST_ROW + LENGTH] == 0:
            continue
        if rows[segment * LIST_ROW + STARTS] == 0:
            kept = in_documents(head, documents, slots, found, kept, begin, end, cursors, item)
        else:
            before = windows_before[segment]
            kept = in_tables(table, segment, before, rows, documents, slots, found, kept, begin, end)
        if end == count:
            break
    return kept


@bare_helper
def place_in(places: Any, low: Any, high: Any, wanted: Any) -> Any:
    """Which posting of [low, high) has a document, when one has it."""
    low = chunk_of(places, low, high, wanted)
    return low + lowest_of(equal_bytes(places + low, wanted) & first_lanes(high - low))


@bare_helper
def also_in(places: Any, first: Any, chosen: Any, low: Any, high: Any) -> Any:
    """Which of the chosen postings from ``first`` on (64 bits) have documents that [low, high) has, too."""
    left, lane = chosen, np.int64(0)
    lanes = first_lanes(high - low)
    while left != 0:
        lane = lowest_of(left)
        left &= left - np.uint64(1)
        wanted = byte_at(places + first + lane)
        if high - low > LANES:
            low = chunk_of(places, low, high, wanted)
            lanes = first_lanes(high - low)
        missing = (equal_bytes(places + low, wanted) & lanes) == 0
        chosen &= ~(np.uint64(missing) << np.uint64(lane))
    return chosen


@bare_helper
def all_also_in(places: Any, first: Any, count: Any, low: Any, high: Any) -> Any:
    """The same for all of ``count`` postings, at most 64."""
    chosen = np.uint64(0)
    lanes = first_lanes(high - low)
    if high - low <= LANES:
        for lane in range(count):
            there = equal_bytes(places + low, byte_at(places + first + lane)) & lanes
            chosen |= np.uint64(there != 0) << np.uint64(lane)
        return chosen
    for lane in range(count):
        wanted = byte_at(places + first + lane)
        low = chunk_of(places, low, high, wanted)
        there = equal_bytes(places + low, wanted) & first_lanes(high - low)
        chosen |= np.uint64(there != 0) << np.uint64(lane)
    return chosen


@bare_helper
def in_window(
    places: Any,
    impacts: Any,
    opened: Any,
    turns: Any,
    window: Any,
    lowest: Any,
    least: Any,
    documents: Any,
    slots: Any,
    found: Any,
    count: Any,
) -> Any:
    """Add the documents of a window that the first lists have; how many there are then.

    ``opened`` has of each list its first posting, the address of its offsets, its number and its weight. Documents
    have to have the impact ``lowest`` in the first list, and to be worth ``least`` in all of these together.
    """
    first: Any
    begin, end, worth = np.int64(0), np.int64(0), np.int64(0)
    low = opened[0] + np.int64(number_at(opened[1] + 4 * window))
    high = opened[0] + np.int64(number_at(opened[1] + 4 * window + 4))
    for first in range(low, high, LANES):
        begin = opened[OPENED] + np.int64(number_at(opened[OPENED + 1] + 4 * window))
        end = opened[OPENED] + np.int64(number_at(opened[OPENED + 1] + 4 * window + 4))
        if lowest > 1:
            chosen = larger_or_equal_bytes(impacts + first, np.uint8(lowest)) & first_lanes(high - first)
            chosen = also_in(places, first, chosen, begin, end)
        else:
            chosen = all_also_in(places, first, min(LANES, high - first), begin, end)
        for turn in range(2, turns):
            if chosen == 0:
                break
            own = OPENED * turn
            begin = opened[own] + np.int64(number_at(opened[own + 1] + 4 * window))
            end = opened[own] + np.int64(number_at(opened[own + 1] + 4 * window + 4))
            chosen = also_in(places, first, chosen, begin, end)
        while chosen != 0:
            lane = lowest_of(chosen)
            chosen &= chosen - np.uint64(1)
            wanted = byte_at(places + first + lane)
            found[opened[2] * ROOM + count] = impacts + first + lane
            worth = opened[3] * np.int64(byte_at(impacts + first + lane)) if least > 0 else np.int64(0)
            for turn in range(1, turns):
                own = OPENED * turn
                begin = opened[own] + np.int64(number_at(opened[own + 1] + 4 * window))
                end = opened[own] + np.int64(number_at(opened[own + 1] + 4 * window + 4))
                posting = place_in(places, begin, end, wanted)
                found[opened[own + 2] * ROOM + count] = impacts + posting
                if least > 0:
                    worth += opened[own + 3] * np.int64(byte_at(impacts + posting))
            documents[count] = window << WINDOW_BITS | np.int64(wanted)
            slots[count] = count
            count += worth >= least
    return count
