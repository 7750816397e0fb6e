"""Entries whose words begin as something typed does, with or without a mistake in it."""

from __future__ import annotations

from typing import Any, NamedTuple

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
EXTRA, SWAPPED, WRONG, MISSING = range(4)  # mistakes: a letter too much, two swapped, a wrong one, one missing
KINDS = 4
BLOCK = 128  # rows whose highest worth is known beforehand: a block that cannot win is passed over


class Entries(NamedTuple):
    """What can be offered, by rows: every word of an entry begins one."""

    keys: Any  # the first bytes of each row
    rows: Any  # the entry of each row
    offsets: Any  # where a row begins in its entry
    starts: Any  # of the entries in ``text``
    text: Any
    weights: Any  # of the entries
    blocks: Any  # the highest worth of each block of rows
    inside: Any  # share of the weight of a match inside the entry


class Heaviest(NamedTuple):
    """The best entries met so far, best first."""

    entries: Any
    worths: Any


@bare_helper
def _key(typed: Any, size: Any) -> Any:
    """The first bytes of what was typed, as rows have them; those that are not there do not count."""
    key = np.uint64(0)
    for i in range(min(size, KEY_BYTES)):
        key = (key << np.uint64(8)) | np.uint64(typed[i])
    return key, np.uint64(8 * max(0, KEY_BYTES - size))


@bare_helper
def _compared(known: Any, row: Any, typed: Any, size: Any, key: Any, shift: Any) -> Any:
    """-1, 0 or 1: the row before, beginning with, or behind what was typed."""
    own = np.uint64(known.keys[row]) >> shift
    if own != key:
        return -1 if own < key else 1
    if size <= KEY_BYTES:
        return 0
    begin, end = known.starts[known.rows[row]] + known.offsets[row], known.starts[known.rows[row] + 1]
    for i in range(KEY_BYTES, size):
        letter = known.text[begin + i] if begin + i < end else 0
        if letter != typed[i]:
            return -1 if letter < typed[i] else 1
    return 0


@bare_helper
def _bound(known: Any, typed: Any, size: Any, low: Any, high: Any, behind: Any) -> Any:
    """The first row of [low, high) that begins with what was typed, or (``behind``) the first after all of these."""
    key, shift = _key(typed, size)
    while low < high:
        middle = (low + high) // 2
        order = _compared(known, middle, typed, size, key, shift)
        if order < 0 or (behind and order == 0):
            low = middle + 1
        else:
            high = middle
    return low


@bare_helper
def _letter(known: Any, row: Any, place: Any) -> Any:
    """What a row has at a place; 0 behind its end."""
    if place < KEY_BYTES:
        return np.int64(np.uint64(known.keys[row]) >> np.uint64(8 * (KEY_BYTES - 1 - place))) & 0xFF
    at = known.starts[known.rows[row]] + known.offsets[row] + place
    return np.int64(known.text[at]) if at < known.starts[known.rows[row] + 1] else np.int64(0)


@bare_helper
def _set_firsts(known: Any, place: Any, low: Any, high: Any, firsts: Any) -> Any:
    """Where the rows with each letter at a place begin, among those of [low, high), which are alike before it; and
    where the last of them end."""
    for letter in range(LETTERS + 1):
        end = high
        if low < high and _letter(known, low, place) >= FIRST_LETTER + letter:
            end = low  # mostly: not every letter goes on
        while low < end:
            middle = (low + end) // 2
            if _letter(known, middle, place) < FIRST_LETTER + letter:
                low = middle + 1
            else:
                end = middle
        firsts[letter] = low


@bare_helper
def _offered(entry: Any, worth: Any, found: Any, best: Any) -> Any:
    """The entry in its place among the best, once; how many there are."""
    entries, worths, size = best.entries, best.worths, len(best.entries)
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
def _taken(known: Any, typed: Any, size: Any, low: Any, high: Any, share: Any, most: Any, found: Any, best: Any) -> Any:
    """All rows of [low, high) that begin with what was typed, offered; at most ``most`` of them."""
    low = _bound(known, typed, size, low, high, 0)
    key, shift = _key(typed, size)
    if low == high or _compared(known, low, typed, size, key, shift) != 0:
        return found
    high = min(_bound(known, typed, size, low, high, 1), low + most)
    last = len(best.entries) - 1
    for block in range(low // BLOCK, (high + BLOCK - 1) // BLOCK):
        if found > last and share * known.blocks[block] <= best.worths[last]:
            continue
        for row in range(max(low, block * BLOCK), min(high, (block + 1) * BLOCK)):
            worth = share * known.weights[known.rows[row]]
            if known.offsets[row] > 0:
                worth *= known.inside
            found = _offered(np.int64(known.rows[row]), worth, found, best)
    return found


@bare_helper
def _mistaken(typed: Any, size: Any, place: Any, kind: Any, other: Any) -> Any:
    """What was typed as it is without a mistake at a place, into ``other``; how long that is. 0: there is no such one.

    A letter that is wrong or missing there is still to be filled in.
    """
    if kind == SWAPPED and (place + 1 >= size or typed[place] == typed[place + 1]):
        return 0
    longer = size - 1 if kind == EXTRA else size + 1 if kind == MISSING else size
    for i in range(longer):
        source = i if i < place else i + 1 if kind == EXTRA else i - 1 if kind == MISSING and i > place else i
        other[i] = typed[min(source, size - 1)]
    if kind == SWAPPED:
        other[place], other[place + 1] = typed[place + 1], typed[place]
    return longer


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
    known = Entries(
        at_i64(table[KEYS], table[KEYS + 1]),
        at_u32(table[ROWS], table[ROWS + 1]),
        at_u32(table[OFFSETS], table[OFFSETS + 1]),
        at_i64(table[STARTS], table[STARTS + 1]),
        at_u8(table[TEXT], table[TEXT + 1]),
        at_f64(table[WEIGHTS], table[WEIGHTS + 1]),
        at_f64(table[BLOCKS], table[BLOCKS + 1]),
        inside,
    )
    best = Heaviest(at_i64(best_at, limit), at_f64(best_at + 8 * limit, limit))
    typed, other = at_u8(memory_at, MAX_TYPED), at_u8(memory_at + MAX_TYPED, MAX_TYPED)
    firsts = at_i64(memory_at + 2 * MAX_TYPED, LETTERS + 1)
    low, high = np.int64(0), np.int64(len(known.keys))
    found = _taken(known, typed, size, low, high, 1.0, high, np.int64(0), best)
    if found >= enough or size < 4:
        return found
    for place in range(1, size):
        # What stands before the mistake narrows the rows; where nothing begins so, there is no use in going on.
        low = _bound(known, typed, place, low, high, 0)
        high = _bound(known, typed, place, low, high, 1)
        if low == high:
            break
        _set_firsts(known, place, low, high, firsts)
        for kind in range(KINDS):
            longer = _mistaken(typed, size, place, kind, other)
            if longer > 0 and kind in (EXTRA, SWAPPED):
                found = _taken(known, other, longer, low, high, mistaken, MAX_SCANNED, found, best)
                continue
            for letter in range(LETTERS if longer > 0 else 0):
                other[place] = FIRST_LETTER + letter
                is_same = kind == WRONG and other[place] == typed[place]
                if firsts[letter] < firsts[letter + 1] and not is_same:
                    begin, end = firsts[letter], firsts[letter + 1]
                    found = _taken(known, other, longer, begin, end, mistaken, MAX_SCANNED, found, best)
    return found
