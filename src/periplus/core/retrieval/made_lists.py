"""Lists made for one query out of a segment: prefixes and words in one field (``phrases`` has those of phrases).

``table`` has the segment as its only row (``layout.segments``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import F64, I64, M_U8, M_U32, R_F64, R_I64, bare_helper, kernel, signature
from periplus.core.format.access import folded
from periplus.core.format.heads import bits_of, list_of, window_at
from periplus.core.format.positions import count_fields
from periplus.core.layout.documents import FIELD_COUNT, WINDOW_BITS
from periplus.core.layout.segments import (
    BLOCK_BASE,
    BLOCK_START,
    BLOCKS,
    FIELD_STARTS,
    FREQUENCY,
    IMPACT,
    LARGE,
    PLACE,
    POSITION_DATA,
    RARE_WINDOW,
    WINDOW_START,
    WINDOWS,
)
from periplus.core.machine.arrays import i64, u8, u32


@bare_helper
def _head(table: Any, term: Any) -> Any:
    """(first posting, how many, row of the window tables or -1, first among rare postings) of a term."""
    return list_of(u8(table, 0, FREQUENCY), u32(table, 0, BLOCKS), u32(table, 0, LARGE), term)


@bare_helper
def _window(table: Any, row: Any, rare: Any, place: Any, window: Any) -> Any:
    """The window of a posting, given its place in its list and the window of the one before."""
    windows = table[WINDOWS]
    if row < 0:
        return window_at(u8(table, 0, RARE_WINDOW), bits_of(windows), rare + place)
    window_start = u32(table, 0, WINDOW_START)
    while window_start[row * (windows + 1) + window + 1] <= place:
        window += 1
    return window


@kernel(signature("void", R_I64, I64, I64, M_U8))
def spread(table: Any, low: Any, high: Any, best: Any) -> Any:
    """The largest impact of the terms [low, high) by document."""
    places, impacts = u8(table, 0, PLACE), u8(table, 0, IMPACT)
    for term in range(low, high):
        base, size, row, rare = _head(table, term)
        window = np.int64(0)
        for place in range(size):
            window = _window(table, row, rare, place, window)
            document = (window << WINDOW_BITS) | places[base + place]
            best[document] = max(best[document], impacts[base + place])


@kernel(signature(I64, R_I64, R_F64, F64, I64, I64, M_U32, M_U8))
def in_field(table: Any, factors: Any, k1: Any, term: Any, field: Any, documents: Any, impacts: Any) -> Any:
    """The documents that have a term in one field, ascending, with the impact of that field alone; how many."""
    counts = np.zeros(FIELD_COUNT, np.int64)
    places, starts = u8(table, 0, PLACE), u32(table, 0, FIELD_STARTS)
    block_base, block_start, data = i64(table, 0, BLOCK_BASE), u32(table, 0, BLOCK_START), u8(table, 0, POSITION_DATA)
    base, size, row, rare = _head(table, term)
    window = np.int64(0)
    found = 0
    for place in range(size):
        window = _window(table, row, rare, place, window)
        document = (window << WINDOW_BITS) | places[base + place]
        count_fields(block_base, block_start, data, base + place, starts, document, counts)
        if counts[field] > 0:
            documents[found] = document
            impacts[found] = folded(counts, factors, document, k1, field)
            found += 1
    return found
