"""Heads of lists: where the postings of a term stand, in three bytes or so a term.

``frequency`` has a byte a term: how many postings it has, or 255 when ``large`` says so. ``blocks`` has a row for every
16 terms (first posting, first rare posting, first ranked term) and one after the last, ``large`` a row (term, how many
postings, row of the window tables) for every term with a window table or 255 postings and more, by term. Ranked terms
are those with at least ten postings; only they have best impacts.

The windows of rare postings are numbers of so many bits as the last window needs, one after another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, M_U8, M_U32, R_U16, R_U32, bare_helper, kernel, signature
from periplus.core.layout.segment_tables import COLUMNS, ESCAPE, NO_ROW, RANKED, TERM_BITS, TERMS
from periplus.core.machine.memory import load64, store64, width_of


@bare_helper
def _large_at(large: Any, term: Any) -> Any:
    """Where the row of a large term begins."""
    low, high = np.int64(0), np.int64(len(large) // COLUMNS)
    while low < high:
        middle = (low + high) >> 1
        if np.int64(large[COLUMNS * middle]) < term:
            low = middle + 1
        else:
            high = middle
    return COLUMNS * low


@bare_helper
def list_of(frequency: Any, blocks: Any, large: Any, term: Any) -> Any:
    """(first posting, how many, row of the window tables or -1, first among rare postings) of a term."""
    block = (term >> TERM_BITS) * COLUMNS
    first, rare = np.int64(blocks[block]), np.int64(blocks[block + 1])
    for before in range(term & ~(TERMS - 1), term):
        size = np.int64(frequency[before])
        if size == ESCAPE:
            at = _large_at(large, before)
            size = np.int64(large[at + 1])
            if large[at + 2] != NO_ROW:
                rare -= size
        first += size
        rare += size
    size = np.int64(frequency[term])
    row = np.int64(-1)
    if size == ESCAPE:
        at = _large_at(large, term)
        size = np.int64(large[at + 1])
        if large[at + 2] != NO_ROW:
            row = np.int64(large[at + 2])
    return first, size, row, rare


@bare_helper
def ranked_of(frequency: Any, blocks: Any, term: Any) -> Any:
    """The number of a term among those with best impacts; -1 when it has none."""
    if frequency[term] < RANKED:
        return np.int64(-1)
    number = np.int64(blocks[(term >> TERM_BITS) * COLUMNS + 2])
    for before in range(term & ~(TERMS - 1), term):
        number += frequency[before] >= RANKED
    return number


@bare_helper
def bits_of(windows: Any) -> Any:
    """Bits of the number of a window."""
    return width_of(np.uint64(max(1, windows - 1)))


@bare_helper
def window_at(rare_window: Any, bits: Any, place: Any) -> Any:
    """The window of a rare posting."""
    bit = place * bits
    word = load64(rare_window, bit >> 3) >> np.uint64(bit & 7)
    return np.int64(word & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1)))


@bare_helper
def unpack_windows(rare_window: Any, windows: Any, first: Any, target: Any) -> Any:
    """The windows of the rare postings from ``first`` on, as many as ``target`` holds."""
    bits = bits_of(windows)
    for place in range(len(target)):
        target[place] = window_at(rare_window, bits, first + place)


@kernel(signature("void", R_U32, I64, M_I64, M_U8, M_U32, M_U32))
def describe(frequency: Any, frequent_from: Any, totals: Any, bytes_of: Any, blocks: Any, large: Any) -> Any:
    """Heads of the next terms. ``totals`` carries on: terms, postings, rare postings, ranked and frequent terms."""
    block = 0
    row = 0
    for place in range(len(frequency)):
        size = np.int64(frequency[place])
        if totals[0] % TERMS == 0:
            for column in range(COLUMNS):
                blocks[block + column] = totals[1 + column]
            block += COLUMNS
        is_frequent = size >= frequent_from
        if is_frequent or size >= ESCAPE:
            bytes_of[place] = ESCAPE
            large[row] = totals[0]
            large[row + 1] = size
            large[row + 2] = totals[4] if is_frequent else NO_ROW
            row += COLUMNS
        else:
            bytes_of[place] = size
        totals[0] += 1
        totals[1] += size
        totals[2] += 0 if is_frequent else size
        totals[3] += size >= RANKED
        totals[4] += is_frequent


@kernel(signature("void", R_U16, I64, M_U8))
def pack_windows(windows: Any, bits: Any, target: Any) -> Any:
    """Numbers of so many bits, one after another; ``target`` is zero, and has eight bytes more than they need."""
    bit = np.int64(0)
    for place in range(len(windows)):
        at = bit >> 3
        store64(target, at, load64(target, at) | np.uint64(windows[place]) << np.uint64(bit & 7))
        bit += bits
