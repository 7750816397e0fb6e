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
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from periplus.index.kernels.access import FIELD_COUNT, read_varint, varint_size, write_varint
from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.types import I64, M_U8, M_U32, R_U8, signature

BLOCK = 64
BLOCK_BITS = 6
GROUP_BITS = 8  # blocks that share a base
SEVERAL = 64
WIDTH = 63

_ONES = np.array([byte.bit_count() for byte in range(256)], np.uint8)
# Where the n-th set bit of a byte stands, at byte << 3 | n.
_NTH = np.array(
    [([bit for bit in range(8) if byte >> bit & 1] + [0] * 8)[nth] for byte in range(256) for nth in range(8)], np.uint8
)
_make_array: Any = make_array


def _generate_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = _make_array(signature.args[0])(context, builder, arguments[0]).data
    word = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
    value = builder.load(word)
    value.align = 1
    return value


@intrinsic
def _load(typing_context: Any, array: Any, at: Any) -> Any:
    """Eight bytes of an array as one number, from any offset."""
    return types.uint64(array, types.int64), _generate_load


@intrinsic
def _ones_of(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are set."""
    return types.int64(types.uint64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])


@intrinsic
def _lowest_of(typing_context: Any, word: Any) -> Any:
    """Where the lowest set bit of a word stands; 64 when there is none."""
    never = ir.Constant(ir.IntType(1), 0)
    return (
        types.int64(types.uint64),
        lambda context, builder, signature, arguments: builder.cttz(arguments[0], never),
    )


load64: Any = _load
ones_of: Any = _ones_of
lowest_of: Any = _lowest_of


@helper
def number(data: Any, origin: Any, width: Any, place: Any) -> Any:
    """The number at ``place`` among those that begin at the byte ``origin``."""
    bit = place * width
    word = load64(data, origin + (bit >> 3)) >> np.uint64(bit & 7)
    return np.int64(word & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@helper
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


@helper
def _until_one(data: Any, at: Any, bit: Any) -> Any:
    """How many bits there are from ``bit`` of the bytes at ``at`` to the next set one, that one included."""
    here = bit
    while True:
        free = 64 - (here & 7)  # bits that the word holds from here on
        lowest = lowest_of(load64(data, at + (here >> 3)) >> np.uint64(here & 7))
        if lowest < free:
            return here + lowest + 1 - bit
        here += free


@helper
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


@helper
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
def bytes_size(block_base: Any, block_start: Any, data: Any, posting: Any) -> Any:
    """How many bytes ``write_bytes`` needs."""
    origin, width, first, count = seek(block_base, block_start, data, posting)
    size = 0
    for place in range(count):
        size += varint_size(number(data, origin, width, first + place))
    return size + varint_size(size)


@helper
def write_bytes(block_base: Any, block_start: Any, data: Any, posting: Any, target: Any, at: Any) -> Any:
    """A posting as it is while a segment is written: the length of what follows, then numbers, seven bits a byte."""
    origin, width, first, count = seek(block_base, block_start, data, posting)
    size = 0
    for place in range(count):
        size += varint_size(number(data, origin, width, first + place))
    at = write_varint(target, at, np.int64(size))
    for place in range(count):
        at = write_varint(target, at, number(data, origin, width, first + place))
    return at


@helper
def _bit_width(value: Any) -> Any:
    width = 0
    while value > 0:
        value >>= 1
        width += 1
    return width


@helper
def _put(target: Any, origin: Any, width: Any, place: Any, value: Any) -> Any:
    """Set bits in bytes that were zero."""
    bit = place * width
    byte = origin + (bit >> 3)
    value <<= bit & 7
    while value > 0:
        target[byte] |= value & 255
        value >>= 8
        byte += 1


@kernel(signature(I64, R_U8, I64, M_U8, M_U32))
def pack(source: Any, postings: Any, target: Any, sizes: Any) -> Any:
    """Postings as ``write_bytes`` leaves them → blocks; ``target`` is all zero, ``sizes`` gets the bytes of each block.

    Returns the largest number of positions of one posting.
    """
    at = 0
    out = 0
    longest = 0
    for block in range(len(sizes)):
        held = min(BLOCK, postings - block * BLOCK)
        begin = at
        width = 0
        count = 0
        for _ in range(held):
            length, at = read_varint(source, at)
            end = at + length
            before = count
            while at < end:
                value, at = read_varint(source, at)
                width = max(width, _bit_width(value))
                count += 1
            longest = max(longest, count - before)
        first_byte = out
        target[out] = width if count == held else width | SEVERAL
        out += 1
        marks = out
        if count > held:
            marks = write_varint(target, out, np.int64(count))
            out = marks + ((count + 7) >> 3)
        at = begin
        place = 0
        for _ in range(held):
            length, at = read_varint(source, at)
            end = at + length
            while at < end:
                value, at = read_varint(source, at)
                _put(target, out, width, place, value)
                place += 1
            if count > held:
                target[marks + ((place - 1) >> 3)] |= 1 << ((place - 1) & 7)
        out += (count * width + 7) >> 3
        sizes[block] = out - first_byte
    return longest
