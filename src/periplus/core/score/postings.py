"""Where candidates stand in the lists of a query's terms.

What is read of the index lies far apart, so it is asked for in turns: for all candidates where their windows begin,
then the places in these; each turn finds in the cache what the one before asked for. Rare lists are in memory already,
their documents side by side: they are gone through from end to end, each document looked up among the candidates,
which is quicker than to look for every candidate unless a list is much longer than there are candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.documents import WINDOW, WINDOW_BITS
from periplus.core.layout.lists import COUNT, DOCUMENTS, FIRST, LENGTH, LIST_HEAD, LIST_ROW, MAXIMA, STARTS, TABLES
from periplus.core.layout.segments import PLACE, ROW, WINDOWS
from periplus.core.machine.arrays import at_i64, at_u8, at_u16, at_u32, prefetch
from periplus.core.machine.bits import equal_bytes, first_lanes, lowest_of, number_at
from periplus.core.machine.memory import item

NUMBER_BITS = 32  # a document's number is that of its segment and, below these bits, its own
LOCAL = (1 << NUMBER_BITS) - 1
LANES = 64
SCANNED = 32  # postings of a rare list for each candidate, at most, when all of them are gone through
SPARE = 16  # places of the table for each candidate, at least: most documents meet an empty one


@bare_helper
def _in_window(places: Any, low: Any, high: Any, wanted: Any) -> Any:
    """The posting of [low, high) at the wanted place of its window; -1 when there is none."""
    while low < high:
        here = equal_bytes(places + low, wanted) & first_lanes(high - low)
        if here:
            return low + lowest_of(here)
        low += LANES
    return np.int64(-1)


@bare_helper
def _in_rare(places: Any, windows: Any, first: Any, size: Any, window: Any, wanted: Any) -> Any:
    """The same in a rare list, of which the window of each posting is known; the search has no branches to guess."""
    at, left = np.int64(0), size
    while left > 1:
        half = left >> 1
        at += half * np.int64(item(windows, at + half - 1) < window)
        left -= half
    while at < size and item(windows, at) <= window:
        if item(windows, at) == window and item(places, first + at) >= wanted:
            return first + at if item(places, first + at) == wanted else np.int64(-1)
        at += 1
    return np.int64(-1)


@bare_helper
def slots_of(candidates: Any) -> Any:
    """Places of the table by which documents are looked up among so many candidates."""
    slots = 64
    while slots < SPARE * candidates:
        slots *= 2
    return slots


@bare_helper
def _slot_of(document: Any, slots: Any) -> Any:
    return np.int64((np.uint64(document) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & (slots - 1)


@bare_helper
def _tabled(table: Any, numbers: Any, before: Any, through: Any, rows: Any) -> Any:
    """Brings the candidates' numbers through all segments, and a table of their rows by these; how many windows there
    are."""
    windows = np.int64(0)
    for segment in range(len(before)):
        before[segment] = windows
        windows += table[segment * ROW + WINDOWS]
    for slot in range(len(rows)):
        rows[slot] = 0
    for row in range(len(numbers)):
        document = (before[numbers[row] >> NUMBER_BITS] << WINDOW_BITS) + (numbers[row] & LOCAL)
        through[row] = document
        slot = _slot_of(document, len(rows))
        while rows[slot] != 0:
            slot = (slot + 1) & (len(rows) - 1)
        rows[slot] = row + 1
    return windows


@bare_helper
def _scanned(numbers: Any, through: Any, rows: Any, known: Any, moved: Any, postings: Any, own: Any) -> Any:
    """Candidates among the documents of a rare list."""
    segments = len(moved)
    head = segments * LIST_ROW
    passed = np.int64(0)
    for segment in range(segments):  # a posting is where its document stands, moved by what is before in other segments
        moved[segment] = known[segment * LIST_ROW + FIRST] - passed
        if known[segment * LIST_ROW + STARTS] == 0:
            passed += known[segment * LIST_ROW + LENGTH]
    documents = known[head + DOCUMENTS]
    for at in range(known[head + COUNT]):
        document = np.int64(number_at(documents + 4 * at))
        slot = _slot_of(document, len(rows))
        while rows[slot] != 0:
            row = np.int64(rows[slot]) - 1
            if through[row] == document:
                postings[own + row] = moved[numbers[row] >> NUMBER_BITS] + at
                break
            slot = (slot + 1) & (len(rows) - 1)


@bare_helper
def _sought(table: Any, numbers: Any, known: Any, postings: Any, own: Any) -> Any:
    """The same one by one, in a list that is much longer than there are candidates."""
    for row in range(len(numbers)):
        segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & LOCAL
        first, size = known[segment * LIST_ROW + FIRST], known[segment * LIST_ROW + LENGTH]
        if known[segment * LIST_ROW + STARTS] == 0 and size > 0:
            windows = at_u16(known[segment * LIST_ROW + MAXIMA], size)
            places, wanted = at_u8(table[segment * ROW + PLACE], first + size), np.uint8(document & (WINDOW - 1))
            postings[own + row] = _in_rare(places, windows, first, size, document >> WINDOW_BITS, wanted)


@bare_helper
def find(
    table: Any,  # segments, as ``layout.segments`` lays them out
    numbers: Any,  # of the candidates
    lists: Any,  # addresses, of each term
    terms: Any,
    postings: Any,  # term by term, those of all candidates: -1 when there is none
    memory_at: Any,  # to work in: as many words as ``room_of`` says
) -> Any:
    """The posting of each candidate in each list."""
    segments, candidates, slots = len(table) // ROW, len(numbers), slots_of(len(numbers))
    before, moved = at_i64(memory_at, segments), at_i64(memory_at + 8 * segments, segments)
    through = at_i64(memory_at + 16 * segments, candidates)
    rows = at_u32(memory_at + 16 * segments + 8 * candidates, slots)
    head = segments * LIST_ROW
    for term in range(terms):
        known = at_i64(lists[term], head + LIST_HEAD)
        for row in range(candidates if known[head + TABLES] > 0 else 0):
            segment, window = numbers[row] >> NUMBER_BITS, (numbers[row] & LOCAL) >> WINDOW_BITS
            prefetch(known[segment * LIST_ROW + STARTS] + 4 * window)
    windows = _tabled(table, numbers, before, through, rows)
    for term in range(terms):
        known, own = at_i64(lists[term], head + LIST_HEAD), term * candidates
        for row in range(candidates):
            postings[own + row] = -1
        if known[head + COUNT] <= SCANNED * candidates and windows <= 1 << (NUMBER_BITS - WINDOW_BITS):
            _scanned(numbers, through, rows, known, moved, postings, own)
        else:
            _sought(table, numbers, known, postings, own)
    for term in range(terms):
        known = at_i64(lists[term], head + LIST_HEAD)
        for row in range(candidates if known[head + TABLES] > 0 else 0):
            segment, window = numbers[row] >> NUMBER_BITS, (numbers[row] & LOCAL) >> WINDOW_BITS
            starts = known[segment * LIST_ROW + STARTS]
            if starts != 0:
                low = known[segment * LIST_ROW + FIRST] + np.int64(number_at(starts + 4 * window))
                prefetch(table[segment * ROW + PLACE] + low)
    for term in range(terms):
        known = at_i64(lists[term], head + LIST_HEAD)
        for row in range(candidates if known[head + TABLES] > 0 else 0):
            segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & LOCAL
            first, starts = known[segment * LIST_ROW + FIRST], known[segment * LIST_ROW + STARTS]
            if starts != 0:
                at = starts + 4 * (document >> WINDOW_BITS)
                low, high = first + np.int64(number_at(at)), first + np.int64(number_at(at + 4))
                wanted = np.uint8(document & (WINDOW - 1))
                postings[term * candidates + row] = _in_window(table[segment * ROW + PLACE], low, high, wanted)


@bare_helper
def room_of(segments: Any, candidates: Any) -> Any:
    """Words of memory that ``find`` works in."""
    return 2 * segments + candidates + slots_of(candidates) // 2
