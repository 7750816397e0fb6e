"""Positions: blocks of 64 postings, numbers of one width a block, any posting reached without reading those before it.

Postings are counted through all terms of a segment, so a block may hold several rare terms and no term needs an offset
of its own. A block is

    head      one byte: the width of a number in bits (0 to 32), plus 64 when some posting has several positions
    how many  only then: the positions of the block, seven bits a byte; and a bit for each, set at a posting's last
    numbers   the first position of a posting, then differences, one after another

``block_start`` has the offset of each block in ``data``, counted from ``block_base`` of its group of 256 blocks. The
data end with eight bytes more than the blocks take, so that a number may be read as part of a word of 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_U8, M_U32, R_U32, bare_helper, helper, kernel, signature
from periplus.core.format.access import read_varint, write_varint
from periplus.core.layout.documents import FIELD_COUNT
from periplus.core.layout.segment_tables import BLOCK, BLOCK_BITS, GROUP_BITS
from periplus.core.machine.bits import lowest_of, ones_of
from periplus.core.machine.memory import item, load64, store64, width_of

SEVERAL = 64
WIDTH = 63

_ONES = np.array([byte.bit_count() for byte in range(256)], np.uint8)
# Where the n-th set bit of a byte stands, at byte << 3 | n.
_NTH = np.array(
    [([bit for bit in range(8) if byte >> bit & 1] + [0] * 8)[nth] for byte in range(256) for nth in range(8)], np.uint8
)


@bare_helper
def number(data: Any, origin: Any, width: Any, place: Any) -> Any:
    """The number at ``place`` among those that begin at the byte ``origin``."""
    bit = place * width
    word = load64(data, origin + (bit >> 3)) >> np.uint64(bit & 7)
    return np.int64(word & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@bare_helper
def _after_ones(data: Any, at: Any, ones: Any) -> Any:
    """The place after the first ``ones`` (at least one) set bits of the bytes at ``at``."""
    byte = at
    while True:
        found = ones_of(load64(data, byte))
        if found >= ones:
            break
        ones -= found
        byte += 8
    found = np.int64(_ONES[data[byte]])
    while found < ones:
        ones -= found
        byte += 1
        found = np.int64(_ONES[data[byte]])
    return ((byte - at) << 3) + np.int64(_NTH[np.int64(data[byte]) << 3 | (ones - 1)]) + 1


@bare_helper
def _until_one(data: Any, at: Any, bit: Any) -> Any:
    """How many bits there are from ``bit`` of the bytes at ``at`` to the next set one, that one included."""
    here = bit
    while True:
        free = 64 - (here & 7)  # bits that the word holds from here on
        lowest = lowest_of(load64(data, at + (here >> 3)) >> np.uint64(here & 7))
        if lowest < free:
            return here + lowest + 1 - bit
        here += free


@bare_helper
def seek(block_base: Any, block_start: Any, data: Any, posting: Any) -> Any:
    """(byte where the numbers of its block begin, width, place of its first number, how many) of a posting."""
    block = posting >> BLOCK_BITS
    rank = posting & (BLOCK - 1)
    at = block_base[block >> GROUP_BITS] + np.int64(block_start[block])
    head = np.int64(data[at])
    at += 1
    if head < SEVERAL:
        return at, head, rank, np.int64(1)
    count, at = read_varint(data, at)
    first = _after_ones(data, at, rank) if rank > 0 else np.int64(0)
    return at + ((count + 7) >> 3), head & WIDTH, first, _until_one(data, at, first)


@bare_helper
def decode(block_base: Any, block_start: Any, data: Any, posting: Any, target: Any) -> Any:
    """The positions of a posting, ascending; how many there are."""
    origin, width, first, count = seek(block_base, block_start, data, posting)
    position = np.int64(0)
    for place in range(count):
        position += number(data, origin, width, first + place)
        target[place] = position
    return count


@helper
def count_fields(
    block_base: Any, block_start: Any, data: Any, posting: Any, starts: Any, document: Any, counts: Any
) -> Any:
    """Occurrences of a posting in each field."""
    for field in range(FIELD_COUNT):
        counts[field] = 0
    origin, width, first, count = seek(block_base, block_start, data, posting)
    base = document * (FIELD_COUNT + 1)
    field = 0
    position = np.int64(0)
    for place in range(count):
        position += number(data, origin, width, first + place)
        while field < FIELD_COUNT - 1 and position >= starts[base + field + 1]:
            field += 1
        counts[field] += 1


@helper
def write_steps(block_base: Any, block_start: Any, data: Any, posting: Any, target: Any, at: Any) -> Any:
    """The first position of a posting and the differences after it, as they are while a segment is written."""
    origin, width, first, count = seek(block_base, block_start, data, posting)
    for place in range(count):
        target[at + place] = number(data, origin, width, first + place)


@helper
def _put_marks(counts: Any, first: Any, last: Any, target: Any, at: Any) -> Any:
    """A bit for each position, set at the last one of every posting."""
    count = np.int64(0)
    for posting in range(first, last):
        count += counts[posting]
    target[at : at + ((count + 7) >> 3)] = 0
    place = np.int64(-1)
    for posting in range(first, last):
        place += counts[posting]
        target[at + (place >> 3)] |= 1 << (place & 7)


@helper
def _put_numbers(steps: Any, first: Any, last: Any, width: Any, target: Any, at: Any) -> Any:
    """Numbers of one width, one after another; the words written reach up to seven bytes beyond them."""
    word = np.uint64(0)
    used = 0  # bits of the word, fewer than eight between numbers
    for place in range(first, last):
        word |= np.uint64(item(steps, place)) << np.uint64(used)
        store64(target, at, word)
        used += width
        word >>= np.uint64(used & ~7)
        at += used >> 3
        used &= 7


@kernel(signature(I64, R_U32, R_U32, M_U8, M_U32))
def pack(counts: Any, steps: Any, target: Any, sizes: Any) -> Any:
    """Postings (how many positions each has, and the steps of all) → blocks.

    ``target`` has eight bytes to spare; ``sizes`` gets the bytes of each block. Returns the largest
    number of positions of one posting.
    """
    step = np.int64(0)
    out = np.int64(0)
    longest = np.int64(0)
    for block in range(len(sizes)):
        first = block * BLOCK
        last = min(first + BLOCK, len(counts))
        count = np.int64(0)
        for posting in range(first, last):
            longest = max(longest, np.int64(counts[posting]))
            count += counts[posting]
        bits = np.uint64(0)
        for place in range(step, step + count):
            bits |= np.uint64(item(steps, place))
        width = width_of(bits)
        begin = out
        target[out] = width if count == last - first else width | SEVERAL
        out += 1
        if count > last - first:
            out = write_varint(target, out, count)
            _put_marks(counts, first, last, target, out)
            out += (count + 7) >> 3
        if width > 0:
            _put_numbers(steps, step, step + count, width, target, out)
        out += (count * width + 7) >> 3
        step += count
        sizes[block] = out - begin
    return longest
