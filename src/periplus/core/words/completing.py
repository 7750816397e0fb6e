"""Entries whose words begin as something typed does, with or without a mistake in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import F64, I64, bare_helper, bare_kernel, signature
from periplus.core.machine.arrays import at_f64, at_i64, at_u8, at_u32

# What there is, by place: the address and the length of each of these.
KEYS, ROWS, OFFSETS, STARTS, TEXT, WEIGHTS, BLOCKS = range(0, 14, 2)
TABLE = 14

KEY_BYTES = 8  # of a row, in its key
FIRST_LETTER, LETTERS = 97, 26
MAX_TYPED = 64  # bytes
MEMORY = LETTERS + 1 + 2 * MAX_TYPED // 8  # numbers to work in, beside two of each entry that is wanted
MAX_SCANNED = 3_000  # matches of one mistaken spelling that are weighed
BLOCK = 128  # rows whose highest worth is known beforehand: a block that cannot win is passed over


@bare_helper
def _key(typed: Any, size: Any) -> Any:
    """The first bytes of what was typed, as rows have them; those that are not there do not count."""
    key = np.uint64(0)
    for i in range(min(size, KEY_BYTES)):
        key = (key << np.uint64(8)) | np.uint64(typed[i])
    return key, np.uint64(8 * max(0, KEY_BYTES - size))


@bare_helper
def _compared(
    keys: Any, rows: Any, offsets: Any, starts: Any, text: Any, row: Any, typed: Any, size: Any, key: Any, shift: Any
) -> Any:
    """-1, 0 or 1: the row before, beginning with, or behind what was typed."""
    own = np.uint64(keys[row]) >> shift
    if own != key:
        return -1 if own < key else 1
    if size <= KEY_BYTES:
        return 0
    begin, end = starts[rows[row]] + offsets[row], starts[rows[row] + 1]
    for i in range(KEY_BYTES, size):
        letter = text[begin + i] if begin + i < end else 0
        if letter != typed[i]:
            return -1 if letter < typed[i] else 1
    return 0


@bare_helper
def _bound(
    keys: Any, rows: Any, offsets: Any, starts: Any, text: Any, typed: Any, size: Any, low: Any, high: Any, behind: Any
) -> Any:
    """The first row of [low, high) that begins with what was typed, or (``behind``) the first after all of these."""
    key, shift = _key(typed, size)
    while low < high:
        middle = (low + high) // 2
        order = _compared(keys, rows, offsets, starts, text, middle, typed, size, key, shift)
        if order < 0 or (behind and order == 0):
            low = middle + 1
        else:
            high = middle
    return low


@bare_helper
def _letter(keys: Any, rows: Any, offsets: Any, starts: Any, text: Any, row: Any, place: Any) -> Any:
    """What a row has at a place; 0 behind its end."""
    if place < KEY_BYTES:
        return np.int64(np.uint64(keys[row]) >> np.uint64(8 * (KEY_BYTES - 1 - place))) & 0xFF
    at = starts[rows[row]] + offsets[row] + place
    return np.int64(text[at]) if at < starts[rows[row] + 1] else np.int64(0)


@bare_helper
def _set_firsts(
    keys: Any, rows: Any, offsets: Any, starts: Any, text: Any, place: Any, low: Any, high: Any, firsts: Any
) -> Any:
    """Where the rows with each letter at a place begin, among those of [low, high), which are alike before it; and
    where the last of them end."""
    for letter in range(LETTERS + 1):
        end = high
        if low < high and _letter(keys, rows, offsets, starts, text, low, place) >= FIRST_LETTER + letter:
            end = low  # mostly: not every letter goes on
        while low < end:
            middle = (low + end) // 2
            if _letter(keys, rows, offsets, starts, text, middle, place) < FIRST_LETTER + letter:
                low = middle + 1
            else:
                end = middle
        firsts[letter] = low


@bare_helper
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


@bare_helper
def _taken(
    keys: Any, rows: Any, offsets: Any, starts: Any, text: Any, weights: Any, blocks: Any, inside: Any,
    typed: Any, size: Any, low: Any, high: Any, share: Any, most: Any, found: Any, entries: Any, worths: Any,
) -> Any:  # fmt: skip
    """All rows of [low, high) that begin with what was typed, offered."""
    low = _bound(keys, rows, offsets, starts, text, typed, size, low, high, 0)
    key, shift = _key(typed, size)
    if low == high or _compared(keys, rows, offsets, starts, text, low, typed, size, key, shift) != 0:
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


@bare_kernel(signature(I64, *[I64] * 6, F64, F64))
def complete(
    table_at: Any,  # of the rows: their first bytes, entries and where they begin in these; the entries; the blocks
    memory_at: Any,  # what was typed, and room to work in
    size: Any,  # bytes that were typed
    enough: Any,  # as many exact matches make mistakes unlikely
    limit: Any,  # entries that are wanted
    best_at: Any,  # for these, best first, and behind them their worths
    inside: Any,  # share of the weight of a match inside the entry
    mistaken: Any,  # share of the weight of a match with a mistake
) -> Any:
    """The heaviest entries of which a word begins so; with one mistake behind the first letter where there are few."""
    table = at_i64(table_at, TABLE)
    keys, starts = at_i64(table[KEYS], table[KEYS + 1]), at_i64(table[STARTS], table[STARTS + 1])
    rows, offsets = at_u32(table[ROWS], table[ROWS + 1]), at_u32(table[OFFSETS], table[OFFSETS + 1])
    text, weights = at_u8(table[TEXT], table[TEXT + 1]), at_f64(table[WEIGHTS], table[WEIGHTS + 1])
    blocks = at_f64(table[BLOCKS], table[BLOCKS + 1])
    typed, other = at_u8(memory_at, MAX_TYPED), at_u8(memory_at + MAX_TYPED, MAX_TYPED)
    firsts = at_i64(memory_at + 2 * MAX_TYPED, LETTERS + 1)
    entries, worths = at_i64(best_at, limit), at_f64(best_at + 8 * limit, limit)
    low, high = np.int64(0), np.int64(len(keys))
    found = _taken(
        keys, rows, offsets, starts, text, weights, blocks, inside, typed, size, low, high, 1.0, high, np.int64(0),
        entries, worths,
    )  # fmt: skip
    if found >= enough or size < 4:
        return found
    for place in range(1, size):
        # What stands before the mistake narrows the rows; where nothing begins so, there is no use in going on.
        low = _bound(keys, rows, offsets, starts, text, typed, place, low, high, 0)
        high = _bound(keys, rows, offsets, starts, text, typed, place, low, high, 1)
        if low == high:
            break
        _set_firsts(keys, rows, offsets, starts, text, place, low, high, firsts)
        for kind in range(4):  # a letter too much, two swapped, a wrong one, one missing
            longer = size - 1 if kind == 0 else size if kind < 3 else size + 1
            if kind == 1 and (place + 1 >= size or typed[place] == typed[place + 1]):
                continue
            for i in range(longer):
                source = i if i < place else i + 1 if kind == 0 else i - 1 if kind == 3 and i > place else i
                other[i] = typed[min(source, size - 1)]
            if kind == 1:
                other[place], other[place + 1] = typed[place + 1], typed[place]
            for letter in range(LETTERS if kind > 1 else 1):
                begin, end = low, high
                if kind > 1:
                    if kind == 2 and FIRST_LETTER + letter == typed[place]:
                        continue
                    other[place] = FIRST_LETTER + letter
                    begin, end = firsts[letter], firsts[letter + 1]
                if begin < end:
                    found = _taken(
                        keys, rows, offsets, starts, text, weights, blocks, inside, other, longer, begin, end, mistaken,
                        MAX_SCANNED, found, entries, worths,
                    )  # fmt: skip
    return found
