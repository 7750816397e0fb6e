"""Bits of lists: which documents all of some lists have, and where their postings are.

A list that has bits (``lists_known``) is asked for a document by one of them, wherever its posting is; 512 documents
of several lists are compared at once. Of the documents that are left, the place of a posting in its window is how many
bits are set before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.bits import (
    WORDS,
    byte_at,
    common_words,
    lowest_of,
    number_at,
    ones_before,
    ones_of,
    word_at,
)
from periplus.index.kernels.lists_known import (
    BITS,
    FIRST,
    LIST_HEAD,
    LIST_ROW,
    MAXIMA,
    STARTS,
)
from periplus.index.kernels.sieves import SEVERAL, in_documents
from periplus.index.kernels.tables import IMPACT, ROW, at_i64, prefetch
from periplus.index.weights import LARGEST_IMPACT

LINE = 64  # bytes: the bits of two windows


@bare_helper
def in_bits(bits_at: Any, documents: Any, slots: Any, count: Any) -> Any:
    """Keep the candidates that a list has; how many."""
    kept = 0
    if count >= SEVERAL:
        for at in range(count):
            prefetch(bits_at + (documents[at] >> 3))
    for at in range(count):
        document, slot = documents[at], slots[at]
        documents[kept] = document
        slots[kept] = slot
        kept += (np.int64(byte_at(bits_at + (document >> 3))) >> (document & 7)) & 1
    return kept


@bare_helper
def bring_places(
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
    weight: Any,
    values: Any,
) -> Any:
    """Where the impacts of candidates are in a list that has bits, and all of them.

    With a weight, what the list may add is taken off the bounds in ``values``.
    """
    rows = at_i64(list_at, segments * LIST_ROW + LIST_HEAD)
    head = rows[segments * LIST_ROW :]
    end = 0
    for segment in range(segments):
        begin, last = end, windows_before[segment + 1] << WINDOW_BITS
        while end < count and documents[end] < last:
            end += 1
        if begin == end:
            continue
        own = segment * LIST_ROW
        if rows[own + STARTS] == 0:
            cursors[item] = 0
            in_documents(head, documents, slots, found, begin, begin, end, cursors, item)
            for at in range(begin, end):
                values[at] -= weight * LARGEST_IMPACT
            continue
        starts = rows[own + STARTS] - 4 * windows_before[segment]
        maxima = rows[own + MAXIMA] - windows_before[segment]
        impacts = table[segment * ROW + IMPACT] + rows[own + FIRST]
        for at in range(begin, end):
            window, place = documents[at] >> WINDOW_BITS, documents[at] & (WINDOW - 1)
            before = ones_before(head[BITS] + 8 * WORDS * window, place)
            found[slots[at]] = impacts + np.int64(number_at(starts + 4 * window)) + before
            if weight > 0:
                values[at] -= weight * np.int64(byte_at(maxima + window))


@bare_helper
def ask_for_places(segments: Any, windows_before: Any, list_at: Any, documents: Any, count: Any) -> Any:
    """Ask for what ``bring_places`` reads of the windows of candidates."""
    rows = at_i64(list_at, segments * LIST_ROW)
    segment = 0
    for at in range(count):
        window = documents[at] >> WINDOW_BITS
        while window >= windows_before[segment + 1]:
            segment += 1
        prefetch(rows[segment * LIST_ROW + STARTS] + 4 * (window - windows_before[segment]))


@bare_helper
def find_common(sets: Any, lines: Any, common_at: Any) -> Any:
    """Write the bits that all of some lists have; how many."""
    documents = np.int64(0)
    for line in range(lines):
        own = common_at + LINE * line
        left = common_words(sets[0] + LINE * line, sets[1] + LINE * line, own)
        turn = 2
        while left != 0 and turn < len(sets):
            left = common_words(own, sets[turn] + LINE * line, own)
            turn += 1
        if left != 0:
            for word in range(LINE // 8):
                documents += ones_of(word_at(own + 8 * word))
    return documents


@bare_helper
def take_documents(common_at: Any, window: Any, documents: Any, slots: Any, count: Any) -> Any:
    """Add the documents of a window to the candidates; how many there are then."""
    for word in range(WORDS):
        left = word_at(common_at + 8 * (WORDS * window + word))
        while left != 0:
            documents[count] = window << WINDOW_BITS | word << 6 | lowest_of(left)
            slots[count] = count
            left &= left - np.uint64(1)
            count += 1
    return count


@bare_helper
def drop_empty(bounds: Any, common_at: Any) -> Any:
    """No bound where a window has no document in common."""
    for window in range(len(bounds)):
        own = common_at + 8 * WORDS * window
        if word_at(own) | word_at(own + 8) | word_at(own + 16) | word_at(own + 24) == 0:
            bounds[window] = 0


@bare_helper
def add_bound(bound: Any, maxima: Any, weight: Any) -> Any:
    for window in range(len(bound)):
        bound[window] += weight * np.int32(maxima[window])


@bare_helper
def add_most(bound: Any, weight: Any) -> Any:
    """The same for a list without tables in this segment."""
    for window in range(len(bound)):
        bound[window] += weight * np.int32(LARGEST_IMPACT)
