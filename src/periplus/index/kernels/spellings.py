"""A table of spellings: bytes → number, by open addressing over a pool of bytes.

``slots`` holds, for each taken place, 32 bits of the hash and the number plus one; ``start`` says where in the pool
each spelling begins; ``owner`` tells apart equal spellings of different owners (languages). Whoever calls sees to it
that there is room: kernels never grow an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.types import M_I64, M_U8, M_U32, M_U64, R_I64, R_U8, R_U32, R_U64, signature

TABLE = (M_U64, M_U8, M_I64, M_U32, M_I64)  # slots, pool, start, owner, count (of one element)


@helper
def hash_of(data: Any, first: Any, last: Any, owner: Any) -> Any:
    value = np.uint64(0xCBF29CE484222325) ^ np.uint64(owner)
    for at in range(first, last):
        value = (value ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
    value ^= value >> np.uint64(29)
    return value * np.uint64(0x9E3779B97F4A7C15)


@helper
def number_of(
    data: Any, first: Any, last: Any, who: Any, slots: Any, pool: Any, start: Any, owner: Any, count: Any
) -> Any:
    """The number of the bytes [first, last) of ``data`` under ``who``; a new one when they are new."""
    value = hash_of(data, first, last, who)
    mask = np.uint64(len(slots) - 1)
    tag = (value >> np.uint64(32)) << np.uint64(32)
    place = value & mask
    size = last - first
    while True:
        slot = slots[place]
        if slot == np.uint64(0):
            break
        if (slot >> np.uint64(32)) << np.uint64(32) == tag:
            number = np.int64(slot & np.uint64(0xFFFFFFFF)) - 1
            begin = start[number]
            if start[number + 1] - begin == size and owner[number] == who:
                same = True
                for at in range(size):
                    if pool[begin + at] != data[first + at]:
                        same = False
                        break
                if same:
                    return number
        place = (place + np.uint64(1)) & mask
    number = count[0]
    slots[place] = tag | np.uint64(number + 1)
    begin = start[number]
    for at in range(size):
        pool[begin + at] = data[first + at]
    start[number + 1] = begin + size
    owner[number] = who
    count[0] = number + 1
    return number


@kernel(signature("void", R_U8, R_I64, R_U32, *TABLE, M_U32))
def number_all(
    data: Any, ends: Any, owners: Any, slots: Any, pool: Any, start: Any, owner: Any, count: Any, numbers: Any
) -> Any:
    """Numbers of many spellings, which stand one after the other in ``data``."""
    for row in range(len(numbers)):
        numbers[row] = number_of(data, ends[row], ends[row + 1], owners[row], slots, pool, start, owner, count)


@kernel(signature("void", R_U8, R_I64, R_U32, R_I64, M_U64))
def rehash(pool: Any, start: Any, owner: Any, count: Any, slots: Any) -> Any:
    """Fill a larger, empty table with the spellings known so far."""
    mask = np.uint64(len(slots) - 1)
    for number in range(count[0]):
        value = hash_of(pool, start[number], start[number + 1], owner[number])
        place = value & mask
        while slots[place] != np.uint64(0):
            place = (place + np.uint64(1)) & mask
        slots[place] = ((value >> np.uint64(32)) << np.uint64(32)) | np.uint64(number + 1)


@kernel(signature("void", R_U8, R_I64, M_U64))
def leading_bytes(pool: Any, start: Any, keys: Any) -> Any:
    """The first eight bytes of every spelling as a number that sorts as they do."""
    for number in range(len(keys)):
        key = np.uint64(0)
        begin = start[number]
        size = min(np.int64(8), start[number + 1] - begin)
        for at in range(size):
            key |= np.uint64(pool[begin + at]) << np.uint64(56 - 8 * at)
        keys[number] = key


@helper
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
