"""Documents that hold all words of a phrase, with the posting of each word in them.

Candidates stand side by side in ``documents``. While the lists are gone through, from the shortest on, ``slots`` says
where the postings of a candidate are (``postings`` has a row of ``ROOM`` a list, in the order of their lengths);
``settle`` puts them under the candidate itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.documents import WINDOW, WINDOW_BITS
from periplus.core.layout.lists import FIRST, LENGTH, MAXIMA, STARTS
from periplus.core.layout.segments import PLACE, ROW
from periplus.core.machine.arrays import at_u8, at_u16, prefetch, u8
from periplus.core.machine.bits import byte_at, equal_bytes, first_lanes, lowest_of, number_at
from periplus.core.retrieval.window_scores import chunk_of, unsigned

ROOM = 512  # candidates, at most


@bare_helper
def from_window(
    place: Any, low: Any, high: Any, window: Any, documents: Any, slots: Any, postings: Any, count: Any
) -> Any:
    """Every document of a list in a window; how many candidates there are then."""
    for posting in range(low, high):
        documents[count] = window << WINDOW_BITS | np.int64(place[posting])
        slots[count] = count
        postings[count] = posting
        count += 1
    return count


@bare_helper
def in_window(place: Any, low: Any, high: Any, documents: Any, slots: Any, found: Any, first: Any, count: Any) -> Any:
    """Keep the candidates of one window (from ``first`` on) that a list has; how many there are then."""
    kept = first
    for at in range(first, count):
        wanted = np.uint8(documents[at] & (WINDOW - 1))
        low = chunk_of(place, low, high, wanted)
        there = equal_bytes(place.ctypes.data + low, wanted) & first_lanes(high - low)
        slot = slots[at]
        found[slot] = low + lowest_of(there)
        documents[kept] = documents[at]
        slots[kept] = slot
        kept += there != 0
    return kept


@bare_helper
def in_frequent(
    table: Any, segment: Any, rows: Any, row: Any, documents: Any, slots: Any, found: Any, count: Any
) -> Any:
    """The same for candidates of all windows, and a list with window tables."""
    place, base = u8(table, segment, PLACE), rows[row + FIRST]
    starts, maxima = rows[row + STARTS], rows[row + MAXIMA]
    for at in range(count):
        prefetch(starts + 4 * (documents[at] >> WINDOW_BITS))
    for at in range(count):
        prefetch(place.ctypes.data + base + np.int64(number_at(starts + 4 * (documents[at] >> WINDOW_BITS))))
    kept = 0
    for at in range(count):
        window, wanted = documents[at] >> WINDOW_BITS, np.uint8(documents[at] & (WINDOW - 1))
        if byte_at(maxima + window) == 0:
            continue
        high = base + np.int64(number_at(starts + 4 * window + 4))
        low = chunk_of(place, base + np.int64(number_at(starts + 4 * window)), high, wanted)
        there = equal_bytes(place.ctypes.data + low, wanted) & first_lanes(high - low)
        slot = slots[at]
        found[slot] = low + lowest_of(there)
        documents[kept] = documents[at]
        slots[kept] = slot
        kept += there != 0
    return kept


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
def in_short(
    table: Any, segment: Any, rows: Any, row: Any, cursor: Any, documents: Any, slots: Any, found: Any, count: Any
) -> Any:
    """The same for a list without window tables, from ``cursor`` on; (how many there are then, the next cursor)."""
    size = rows[row + LENGTH]
    windows = at_u16(rows[row + MAXIMA], size)
    places = at_u8(table[segment * ROW + PLACE] + rows[row + FIRST], size)
    kept = 0
    for at in range(count):
        cursor = in_rare(windows, places, size, documents[at], cursor)
        if cursor == size:
            break
        if document_at(windows, places, cursor) == documents[at]:
            slot = slots[at]
            found[slot] = rows[row + FIRST] + cursor
            documents[kept] = documents[at]
            slots[kept] = slot
            kept += 1
    return kept, cursor


@bare_helper
def settle(slots: Any, postings: Any, lists: Any, first: Any, count: Any) -> Any:
    for item in range(lists):
        for at in range(first, count):  # a slot is never before its candidate
            postings[item * ROOM + at] = postings[item * ROOM + slots[at]]
