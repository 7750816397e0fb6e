"""A table of spellings: bytes → number, by open addressing over a pool of bytes.

``slots`` holds two words for each place: a key (the bytes themselves when there are at most eight, else a hash of
them), and owner, size and number plus one. A short spelling is so found without a look into the pool. ``start`` says
where in the pool each spelling begins; ``owner`` tells apart equal spellings of different owners (languages), of
which there may be 2^24. Whoever calls sees to it that there is room: kernels never grow an array. Bytes are read in
words of eight, so pool and texts have eight bytes to spare behind the last one that counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, M_U8, M_U32, M_U64, R_I64, R_U8, R_U64, bare_helper, kernel, signature
from periplus.core.layout.word_tables import Spans, SpellingTable
from periplus.core.machine.memory import item, load64, store64, swapped

SEED = np.uint64(0xCBF29CE484222325)
FACTOR = np.uint64(0x9FB21C651E98DF25)
MIXER = np.uint64(0x9E3779B97F4A7C15)
WORD = 8  # bytes
LINE_END = 10
LONGEST = 255  # size that a tag can tell apart


@bare_helper
def hash_of(data: Any, first: Any, last: Any, owner: Any) -> Any:
    """A hash of the bytes [first, last), read in words of eight."""
    value = SEED ^ (np.uint64(owner) << np.uint64(56))
    at = first
    while last - at > WORD:
        value = (value ^ load64(data, at)) * FACTOR
        value ^= value >> np.uint64(32)
        at += WORD
    if last > at:
        value = (value ^ (load64(data, at) & masked(last - at))) * FACTOR
        value ^= value >> np.uint64(32)
    return value * MIXER


@bare_helper
def masked(size: Any) -> Any:
    """Ones for the first ``size`` (1 to 8) bytes of a word."""
    return np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * size)


@bare_helper
def are_equal(one: Any, first: Any, other: Any, second: Any, size: Any) -> Any:
    """Whether ``size`` (at least one) bytes of two arrays are the same."""
    while size > WORD:
        if load64(one, first) != load64(other, second):
            return False
        first += WORD
        second += WORD
        size -= WORD
    return (load64(one, first) ^ load64(other, second)) & masked(size) == np.uint64(0)


@bare_helper
def key_of(data: Any, first: Any, size: Any, value: Any) -> Any:
    """What stands in the table for some bytes: themselves when they are few, else their hash."""
    if size > WORD:
        return value
    return load64(data, first) & masked(size) if size > 0 else np.uint64(0)


@bare_helper
def tag_of(size: Any, owner: Any) -> Any:
    """Owner and size, above the number of an entry."""
    return (np.uint64(owner) << np.uint64(40)) | (np.uint64(min(size, LONGEST)) << np.uint64(32))


@bare_helper
def found_in(table: Any, data: Any, first: Any, size: Any, value: Any, who: Any) -> Any:
    """(number or -1, place in the table) of some bytes with their hash; without a number, the place is a free one."""
    slots, start = table.slots, table.start
    key = key_of(data, first, size, value)
    tag = tag_of(size, who)
    mask = np.uint64((len(slots) >> 1) - 1)
    place = np.int64((value >> np.uint64(32)) & mask) << 1
    while True:
        entry = item(slots, place + 1)
        if entry == np.uint64(0):
            return np.int64(-1), place
        if item(slots, place) == key and (entry ^ tag) >> np.uint64(32) == np.uint64(0):
            number = np.int64(entry & np.uint64(0xFFFFFFFF)) - 1
            if size <= WORD:
                return number, place
            begin = item(start, number)
            if item(start, number + 1) - begin == size and are_equal(table.pool, begin, data, first, size):
                return number, place
        place = np.int64(np.uint64((place >> 1) + 1) & mask) << 1


@bare_helper
def number_of(data: Any, first: Any, last: Any, who: Any, table: Any) -> Any:
    """The number of the bytes [first, last) of ``data`` under ``who``; a new one when they are new."""
    size = np.int64(last - first)
    value = hash_of(data, np.int64(first), np.int64(last), who)
    number, place = found_in(table, data, np.int64(first), size, value, who)
    if number >= 0:
        return number
    number = table.used[0]
    table.slots[place] = key_of(data, np.int64(first), size, value)
    table.slots[place + 1] = tag_of(size, who) | np.uint64(number + 1)
    begin = table.start[number]
    for at in range(size):
        table.pool[begin + at] = data[first + at]
    table.start[number + 1] = begin + size
    table.owner[number] = who
    table.used[0] = number + 1
    return number


@kernel(signature("void", Spans, SpellingTable, M_U32))
def number_all(spellings: Any, table: Any, numbers: Any) -> Any:
    """Numbers of many spellings that belong to nobody in particular."""
    for row in range(len(numbers)):
        numbers[row] = number_of(spellings.data, spellings.begin[row], spellings.end[row], np.uint32(0), table)


@kernel(signature("void", R_U64, M_U64))
def rehash(known: Any, slots: Any) -> Any:
    """Fill a larger, empty table with what a smaller one holds.

    Both are so many places that the lower bits of a hash say where to look: what is read one after the other is
    written in a few runs, and neither pool nor start is looked at.
    """
    mask = np.uint64((len(slots) >> 1) - 1)
    for at in range(0, len(known), 2):
        key, entry = item(known, at), item(known, at + 1)
        if entry == np.uint64(0):
            continue
        size = (entry >> np.uint64(32)) & np.uint64(LONGEST)
        value = key  # hash_of, of the few bytes that the key itself is
        if size <= np.uint64(WORD):
            value = SEED ^ ((entry >> np.uint64(40)) << np.uint64(56))
            if size > np.uint64(0):
                value = (value ^ key) * FACTOR
                value ^= value >> np.uint64(32)
            value *= MIXER
        place = np.int64((value >> np.uint64(32)) & mask) << 1
        while item(slots, place + 1) != np.uint64(0):
            place = np.int64(np.uint64((place >> 1) + 1) & mask) << 1
        slots[place] = key
        slots[place + 1] = entry


@kernel(signature("void", R_U8, R_I64, M_U64))
def leading_bytes(pool: Any, start: Any, keys: Any) -> Any:
    """The first eight bytes of every spelling as a number that sorts as they do."""
    for number in range(len(keys)):
        begin = start[number]
        size = min(np.int64(8), start[number + 1] - begin)
        keys[number] = swapped(load64(pool, begin) & masked(size)) if size > 0 else np.uint64(0)


@bare_helper
def _copied(pool: Any, start: Any, number: Any, text: Any, out: Any) -> Any:
    """Write the bytes of a spelling, and up to seven more; where it ends."""
    begin, size = start[number], start[number + 1] - start[number]
    for at in range(0, size, WORD):
        store64(text, out + at, load64(pool, begin + at))
    return out + size


@kernel(signature("void", R_U8, R_I64, R_I64, I64, M_U8, M_I64))
def gather_spellings(pool: Any, start: Any, numbers: Any, by_line: Any, text: Any, ends: Any) -> Any:
    """The bytes of some spellings one after another, each with its end, and a line end behind it when ``by_line``.

    Eight bytes of ``text`` are to spare.
    """
    out = np.int64(0)
    for row in range(len(numbers)):
        out = _copied(pool, start, numbers[row], text, out)
        ends[row] = out
        if by_line:
            text[out] = LINE_END
            out += 1


@bare_helper
def _comes_after(pool: Any, start: Any, one: Any, other: Any) -> Any:
    first, second = start[one], start[other]
    one_size, other_size = start[one + 1] - first, start[other + 1] - second
    for at in range(min(one_size, other_size)):
        if pool[first + at] != pool[second + at]:
            return pool[first + at] > pool[second + at]
    return one_size > other_size


@kernel(signature("void", R_U8, R_I64, R_U64, M_I64))
def sort_ties(pool: Any, start: Any, keys: Any, order: Any) -> Any:
    """Bring spellings with equal first bytes into order; ``order`` already sorts by ``keys``."""
    low = 0
    while low < len(order):
        high = low + 1
        while high < len(order) and keys[order[high]] == keys[order[low]]:
            high += 1
        gap = (high - low) // 2
        while gap > 0:
            for at in range(low + gap, high):
                moved = order[at]
                place = at
                while place >= low + gap and _comes_after(pool, start, order[place - gap], moved):
                    order[place] = order[place - gap]
                    place -= gap
                order[place] = moved
            gap = gap // 2 if gap < 5 else (gap * 5) // 11
        low = high
