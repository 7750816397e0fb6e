"""Giving lists what makes them quicker to ask: bits, and tables of windows (``lists_known``).

Both take memory that is zeros so far, and other threads see them when they are whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import I64, bare_helper, bare_kernel, signature
from periplus.index.kernels.bits import WORDS, byte_at, number_at, publish
from periplus.index.kernels.lists_known import (
    BITS,
    COUNT,
    DOCUMENTS,
    FIRST,
    GIVEN_TABLE,
    LENGTH,
    LIST_HEAD,
    LIST_ROW,
    MAXIMA,
    STARTS,
    TABLES,
)
from periplus.index.kernels.plain_steps import rare_impacts
from periplus.index.kernels.tables import PLACE, ROW, WINDOWS, at_i32, at_i64, at_u8, at_u16

FEWEST = 16  # postings of a rare list that may get a table
SPARSEST = 4  # windows a posting, at most, in such a list


@bare_helper
def may_have_table(length: Any, starts: Any, windows: Any) -> Any:
    """Whether a list is rare in a segment, and long enough for a table to be read sooner than its postings."""
    return starts == 0 and length >= FEWEST and length * SPARSEST >= windows


@bare_kernel(signature(*[I64] * 5))
def give_bits(table_at: Any, segments: Any, list_at: Any, bits_at: Any) -> Any:
    """Give a list bits where it is frequent; how many numbers they take. Without memory they are only counted."""
    table, rows = at_i64(table_at, segments * ROW), at_i64(list_at, segments * LIST_ROW + LIST_HEAD)
    head = rows[segments * LIST_ROW :]
    windows = np.int64(0)
    for segment in range(segments):
        windows += table[segment * ROW + WINDOWS]
    taken = 2 * WORDS * ((windows + 1) >> 1) if head[TABLES] > 0 else np.int64(0)  # whole lines of memory
    if taken == 0 or bits_at == 0:
        return taken
    for at in range(head[COUNT]):
        document = np.int64(number_at(head[DOCUMENTS] + 4 * at))
        at_i64(bits_at, (document >> 6) + 1)[document >> 6] |= np.int64(1) << (document & 63)
    to = bits_at
    for segment in range(segments):
        windows, starts = table[segment * ROW + WINDOWS], rows[segment * LIST_ROW + STARTS]
        places = table[segment * ROW + PLACE] + rows[segment * LIST_ROW + FIRST]
        for window in range(windows if starts != 0 else 0):
            own = at_i64(to + 8 * WORDS * window, WORDS)
            for posting in range(number_at(starts + 4 * window), number_at(starts + 4 * window + 4)):
                place = np.int64(byte_at(places + posting))
                own[place >> 6] |= np.int64(1) << (place & 63)
        to += 8 * WORDS * windows
    publish(list_at + 8 * (segments * LIST_ROW + BITS), bits_at)
    return taken


@bare_kernel(signature(*[I64] * 5))
def give_tables(table_at: Any, segments: Any, list_at: Any, memory_at: Any) -> Any:
    """Give a list tables where it is rare; how many numbers they take. Without memory they are only counted."""
    table, rows = at_i64(table_at, segments * ROW), at_i64(list_at, segments * LIST_ROW + LIST_HEAD)
    taken: Any = np.int64(0)
    for segment in range(segments):
        row, windows = segment * LIST_ROW, table[segment * ROW + WINDOWS]
        size = rows[row + LENGTH]
        if not may_have_table(size, rows[row + STARTS], windows):
            continue
        if memory_at > 0:
            starts = at_i32(memory_at + 8 * taken, windows + 1)
            maxima = at_u8(memory_at + 8 * taken + 4 * (windows + 1), windows)
            window_of, impacts = at_u16(rows[row + MAXIMA], size), at_u8(rare_impacts(rows, segments, segment), size)
            for posting in range(size):
                window = np.int64(window_of[posting])
                starts[window + 1] += 1
                maxima[window] = max(maxima[window], impacts[posting])
            for at in range(windows):
                starts[at + 1] += starts[at]
            publish(list_at + 8 * (row + GIVEN_TABLE), memory_at + 8 * taken)
        taken += (5 * windows + 4 + 7) >> 3
    return taken
