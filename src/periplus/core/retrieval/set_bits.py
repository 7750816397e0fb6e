"""Bits of a frequent list, in memory: one a document through all segments, set where the list has it.

Which documents several lists have is then seen of 64 at once, and the place of a posting in its window is how many bits
are set before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, bare_kernel, signature
from periplus.core.layout.lists import BITS, COUNT, DOCUMENTS, FIRST, LIST_HEAD, LIST_ROW, STARTS, TABLES
from periplus.core.layout.segments import PLACE, ROW, WINDOWS
from periplus.core.machine.arrays import at_i64
from periplus.core.machine.bits import WORDS, byte_at, number_at, publish


@bare_kernel(signature(*[I64] * 5))
def give_bits(table_at: Any, segments: Any, list_at: Any, bits_at: Any) -> Any:
    """Give a list bits if it is frequent anywhere; how many numbers they take. Without memory they are only counted.

    The memory is zeros so far; other threads see the bits when they are whole.
    """
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
