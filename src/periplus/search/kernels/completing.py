"""Entries whose words begin as something typed does, with or without a mistake in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.types import F64, I64, M_I64, R_I64, R_U8, R_U32, signature

R_U64 = "Array(uint64, 1, 'C', True)"
R_F32 = "Array(float32, 1, 'C', True)"
M_F64 = "Array(float64, 1, 'C')"

KEY_BYTES = 8
FIRST_LETTER, LAST_LETTER = 97, 122
MAX_SCANNED = 3_000  # matches of one mistaken spelling that are weighed
BLOCK = 128  # rows whose highest worth is known beforehand: a block that cannot win is passed over


@helper
def _compared(keys: Any, rows: Any, offsets: Any, starts: Any, text: Any, row: Any, typed: Any, size: Any) -> Any:
    """-1, 0 or 1: the row before, beginning with, or behind what was typed."""
    key = np.uint64(0)
    for i in range(KEY_BYTES):
        key = (key << np.uint64(8)) | np.uint64(typed[i] if i < size else 0)
    own = keys[row]
    if size < KEY_BYTES:
        shift = np.uint64(8 * (KEY_BYTES - size))
        own, key = own >> shift, key >> shift
    if own != key:
        return -1 if own < key else 1
    begin, end = starts[rows[row]] + offsets[row], starts[rows[row] + 1]
    for i in range(KEY_BYTES, size):
        letter = text[begin + i] if begin + i < end else 0
        if letter != typed[i]:
            return -1 if letter < typed[i] else 1
    return 0


@helper
def _bound(
    keys: Any, rows: Any, offsets: Any, starts: Any, text: Any, typed: Any, size: Any, low: Any, high: Any, behind: Any
) -> Any:
    """The first row of [low, high) that begins with what was typed, or (``behind``) the first after all of these."""
    while low < high:
        middle = (low + high) // 2
        order = _compared(keys, rows, offsets, starts, text, middle, typed, size)
        if order < 0 or (behind and order == 0):
            low = middle + 1
        else:
            high = middle
    return low


@helper
def _offered(entry: Any, worth: Any, found: Any, entries: Any, worths: Any) -> Any:
    """The entry in its place among the best, once; how many there are."""
    size = len(entries)
    if found == size and worth <= worths[size - 1]:
        return found
    place = found
    for i in range(found):
        if entries[i] == entry:
            if worths[i] >= worth:
                return found
            place = i
            break
    if place == found:
        if found == size:
            place = size - 1
        else:
            found += 1
    while place > 0 and (worths[place - 1] < worth or (worths[place - 1] == worth and entries[place - 1] > entry)):
        entries[place], worths[place] = entries[place - 1], worths[place - 1]
        place -= 1
    entries[place], worths[place] = entry, worth
    return found


@helper
def _taken(
    keys: Any, rows: Any, offsets: Any, starts: Any, text: Any, weights: Any, blocks: Any, inside: Any,
    typed: Any, size: Any, low: Any, high: Any, share: Any, most: Any, found: Any, entries: Any, worths: Any,
) -> Any:  # fmt: skip
    """All rows of [low, high) that begin with what was typed, offered."""
    low = _bound(keys, rows, offsets, starts, text, typed, size, low, high, 0)
    if low == high or _compared(keys, rows, offsets, starts, text, low, typed, size) != 0:
        return found
    high = _bound(keys, rows, offsets, starts, text, typed, size, low, high, 1)
    high = min(high, low + most)
    last = len(entries) - 1
    for block in range(low // BLOCK, (high + BLOCK - 1) // BLOCK):
        if found > last and share * blocks[block] <= worths[last]:
            continue
        for row in range(max(low, block * BLOCK), min(high, (block + 1) * BLOCK)):
            worth = share * weights[rows[row]]
            if offsets[row] > 0:
                worth *= inside
            found = _offered(np.int64(rows[row]), worth, found, entries, worths)
    return found


@kernel(signature(I64, R_U64, R_U32, R_U32, R_I64, R_U8, R_F32, R_F32, R_U8, F64, F64, I64, M_I64, M_F64))
def complete(
    keys: Any,  # the first bytes of each row, in order
    rows: Any,  # its entry
    offsets: Any,  # where in the entry it begins
    starts: Any,  # of each entry in ``text``
    text: Any,
    weights: Any,  # of each entry
    blocks: Any,  # the highest worth in each BLOCK of rows
    typed: Any,
    inside: Any,  # share of the weight of a match inside the entry
    mistaken: Any,  # share of the weight of a match with a mistake
    enough: Any,  # as many exact matches make mistakes unlikely
    entries: Any,  # the best, best first
    worths: Any,
) -> Any:
    """The heaviest entries of which a word begins so; with one mistake behind the first letter where there are few."""
    size = len(typed)
    low, high = 0, len(keys)
    found = _taken(
        keys, rows, offsets, starts, text, weights, blocks, inside, typed, size, low, high, 1.0, high, 0, entries,
        worths,
    )  # fmt: skip
    if found >= enough or size < 4:
        return found
    other = np.empty(size + 1, np.uint8)
    for place in range(1, size):
        # What stands before the mistake narrows the rows; where nothing begins so, there is no use in going on.
        low = _bound(keys, rows, offsets, starts, text, typed, place, low, high, 0)
        high = _bound(keys, rows, offsets, starts, text, typed, place, low, high, 1)
        if low == high:
            break
        for kind in range(4):  # a letter too much, two swapped, a wrong one, one missing
            longer = size - 1 if kind == 0 else size if kind < 3 else size + 1
            if kind == 1 and (place + 1 >= size or typed[place] == typed[place + 1]):
                continue
            for i in range(longer):
                source = i if i < place else i + 1 if kind == 0 else i - 1 if kind == 3 and i > place else i
                other[i] = typed[min(source, size - 1)]
            if kind == 1:
                other[place], other[place + 1] = typed[place + 1], typed[place]
            for letter in range(FIRST_LETTER, LAST_LETTER + 1 if kind > 1 else FIRST_LETTER + 1):
                if kind == 2 and letter == typed[place]:
                    continue
                if kind > 1:
                    other[place] = letter
                found = _taken(
                    keys, rows, offsets, starts, text, weights, blocks, inside, other, longer, low, high, mistaken,
                    MAX_SCANNED, found, entries, worths,
                )  # fmt: skip
    return found
