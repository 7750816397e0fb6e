"""Sieves: candidates go through one list after the other, and those that a list does not have are left out.

Candidates stand side by side in ``documents``, ascending, numbered through all segments (``lists_known``). ``slots``
says where what is found of a candidate is written: ``found`` gets the address of its impact in the list, so that
impacts are read only of those that are left in the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.bits import (
    FEWER_LANES,
    LANES,
    byte_at,
    equal_bytes,
    equal_numbers,
    first_lanes,
    lowest_of,
    number_at,
)
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
