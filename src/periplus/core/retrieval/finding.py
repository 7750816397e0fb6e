"""Looking up terms in all segments: one, or many at once.

Terms that were never asked for lie anywhere in the dictionaries, so that nearly every step of a bisection waits for
memory. Of many terms all bisections go on together, a step of each in turn, and what the next step reads is asked for
before: they wait together, about as long as one alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, R_I64, R_U8, helper, kernel, signature
from periplus.core.format.heads import list_of, ranked_of
from periplus.core.format.lookup import find_in_block, sorts_after
from periplus.core.layout.lists import BESTS, FIRST, IMPACTS_AT, LENGTH, LIST_ROW, MAXIMA, PLACES_AT, STARTS
from periplus.core.layout.segment_tables import COLUMNS, TERM_BITS
from periplus.core.layout.segments import (
    BEST,
    BLOCKS,
    FREQUENCY,
    IMPACT,
    LARGE,
    LIVE_FREQUENCY,
    PLACE,
    ROW,
    TERM_OFFSETS,
    TERM_TEXT,
    WINDOW_MAX,
    WINDOW_START,
    WINDOWS,
)
from periplus.core.machine.arrays import prefetch, u8, u32

BEYOND = 2  # numbers of a term behind its numbers in the segments: live documents, windows of its rare postings


@helper
def take_list(table: Any, segment: Any, term: Any, lists: Any, at: Any) -> Any:
    """What searching needs to know of one list, from ``at`` on; its live documents, and windows of rare postings."""
    for place in range(LIST_ROW):
        lists[at + place] = 0
    if term < 0:
        return np.int64(0), np.int64(0)
    frequency, blocks = u8(table, segment, FREQUENCY), u32(table, segment, BLOCKS)
    first, size, row, rare = list_of(frequency, blocks, u32(table, segment, LARGE), term)
    live_frequency = u32(table, segment, LIVE_FREQUENCY)
    live = np.int64(live_frequency[term]) if len(live_frequency) > 0 else size
    lists[at + FIRST], lists[at + LENGTH] = first, size
    lists[at + PLACES_AT] = table[segment * ROW + PLACE] + first
    lists[at + IMPACTS_AT] = table[segment * ROW + IMPACT] + first
    opened = np.int64(0)
    if row >= 0:
        windows = table[segment * ROW + WINDOWS]
        lists[at + STARTS] = table[segment * ROW + WINDOW_START] + 4 * (row * (windows + 1))
        lists[at + MAXIMA] = table[segment * ROW + WINDOW_MAX] + row * windows
    else:
        lists[at + MAXIMA] = rare
        opened = size
    ranked = ranked_of(frequency, blocks, term)
    if ranked >= 0:
        best = u8(table, segment, BEST)
        for rank in range(4):
            lists[at + BESTS] |= np.int64(best[4 * ranked + rank]) << 8 * rank
    return live, opened


@helper
def find_terms(table: Any, text: Any, ends: Any, segments: Any, each: Any, found: Any) -> Any:
    """The numbers in every segment (-1: not there) of the terms that end at ``ends`` in ``text``; of each from the
    next ``each`` of ``found`` on."""
    count = len(ends)
    low, high = np.zeros(count * segments, np.int64), np.empty(count * segments, np.int64)
    for search in range(count * segments):
        high[search] = len(u32(table, search % segments, TERM_OFFSETS)) - 1
    left = True
    while left:
        left = False
        for search in range(count * segments):
            if low[search] < high[search]:
                left = True
                middle = (low[search] + high[search]) >> 1
                prefetch(table[(search % segments) * ROW + TERM_OFFSETS] + 4 * middle)
        for search in range(count * segments):
            if low[search] < high[search]:
                segment, middle = search % segments, (low[search] + high[search]) >> 1
                prefetch(table[segment * ROW + TERM_TEXT] + np.int64(u32(table, segment, TERM_OFFSETS)[middle]))
        for search in range(count * segments):
            if low[search] < high[search]:
                segment, term = search % segments, search // segments
                middle = (low[search] + high[search]) >> 1
                at = np.int64(u32(table, segment, TERM_OFFSETS)[middle])
                begin = ends[term - 1] if term > 0 else np.int64(0)
                if sorts_after(u8(table, segment, TERM_TEXT), at, text, begin, ends[term]):
                    high[search] = middle
                else:
                    low[search] = middle + 1
    for search in range(count * segments):
        segment, term = search % segments, search // segments
        begin = ends[term - 1] if term > 0 else np.int64(0)
        data, offsets = u8(table, segment, TERM_TEXT), u32(table, segment, TERM_OFFSETS)
        number, is_there = find_in_block(data, offsets, low[search] - 1, text, begin, ends[term])
        number = number if is_there else np.int64(-1)
        found[term * each + segment] = number
        if number >= 0:
            prefetch(table[segment * ROW + FREQUENCY] + number)
            prefetch(table[segment * ROW + BLOCKS] + 4 * COLUMNS * (number >> TERM_BITS))


@kernel(signature("void", R_I64, R_U8, R_I64, I64, M_I64, M_I64))
def find_all(table: Any, text: Any, ends: Any, segments: Any, found: Any, lists: Any) -> Any:
    """What is known of the terms that end at ``ends`` in ``text``.

    Of each, ``found`` gets its number in every segment, its live documents and the windows of its rare postings;
    ``lists`` gets its rows, but for these windows.
    """
    find_terms(table, text, ends, segments, segments + BEYOND, found)
    for term in range(len(ends)):
        base = term * (segments + BEYOND)
        live, windows = np.int64(0), np.int64(0)
        for segment in range(segments):
            at = (term * segments + segment) * LIST_ROW
            here, opened = take_list(table, segment, found[base + segment], lists, at)
            live += here
            windows += opened
        found[base + segments], found[base + segments + 1] = live, windows
