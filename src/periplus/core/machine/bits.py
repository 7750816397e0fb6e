"""Bits and bytes as the processor has them: loads from addresses, counts of bits, and comparisons of 64 bytes at once.

A comparison reads 64 bytes from an address on, however many of them are wanted: the files of a segment end with a table
that is longer than that, so what is read beyond an array is still in the file. ``first_lanes`` cuts the rest off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper, intrinsic, ir, types

LANES = 64
FEWER_LANES = 16  # of 32 bits each
WORDS = 4  # of bits, for the documents of a window
_BYTES = ir.VectorType(ir.IntType(8), LANES)
_NUMBERS = ir.VectorType(ir.IntType(32), LANES)


def loaded(builder: Any, address: Any, kind: Any) -> Any:
    """A vector from anywhere in memory."""
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1
    return value


def spread(builder: Any, value: Any, kind: Any) -> Any:
    """A value in all lanes of a vector."""
    index = ir.IntType(32)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, index(0))
    places = ir.Constant(ir.VectorType(index, kind.count), [0] * kind.count)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), places)


def _compared(relation: str) -> Any:
    """A function of (address, byte): one bit for each of 64 bytes, set where the relation holds."""

    @intrinsic
    def compare(typing_context: Any, address: Any, byte: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            every = spread(builder, arguments[1], _BYTES)
            bits = builder.icmp_unsigned(relation, loaded(builder, arguments[0], _BYTES), every)
            return builder.bitcast(bits, ir.IntType(64))

        return types.uint64(types.int64, types.uint8), generate

    return compare


@intrinsic
def larger_or_equal_numbers(typing_context: Any, address: Any, number: Any) -> Any:
    """One bit for each of 64 numbers of 32 bits with a sign, set where it is not below the one given."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        every = spread(builder, arguments[1], _NUMBERS)
        bits = builder.icmp_signed(">=", loaded(builder, arguments[0], _NUMBERS), every)
        return builder.bitcast(bits, ir.IntType(64))

    return types.uint64(types.int64, types.int32), generate


@intrinsic
def near_sets(typing_context: Any, address: Any, given: Any, most: Any) -> Any:
    """One bit for each of 64 sets of 32 bits, set where at most so many bits of it are not in the set that is given,
    and at most as many of that one not in it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, name = ir.FunctionType(_NUMBERS, [_NUMBERS]), f"llvm.ctpop.v{LANES}i32"
        count = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        sets = loaded(builder, arguments[0], _NUMBERS)
        given, limit = (spread(builder, value, _NUMBERS) for value in arguments[1:])
        both = builder.and_(sets, given)
        alone = [builder.call(count, [builder.xor(both, one)]) for one in (sets, given)]
        near = [builder.icmp_unsigned("<=", members, limit) for members in alone]
        return builder.bitcast(builder.and_(*near), ir.IntType(64))

    return types.uint64(types.int64, types.uint32, types.uint32), generate


equal_bytes: Any = _compared("==")
larger_or_equal_bytes: Any = _compared(">=")


@intrinsic
def byte_at(typing_context: Any, address: Any) -> Any:
    return (
        types.uint8(types.int64),
        lambda context, builder, signature, arguments: loaded(builder, arguments[0], ir.IntType(8)),
    )


@intrinsic
def number_at(typing_context: Any, address: Any) -> Any:
    return (
        types.uint32(types.int64),
        lambda context, builder, signature, arguments: loaded(builder, arguments[0], ir.IntType(32)),
    )


@intrinsic
def word_at(typing_context: Any, address: Any) -> Any:
    return (
        types.uint64(types.int64),
        lambda context, builder, signature, arguments: loaded(builder, arguments[0], ir.IntType(64)),
    )


@intrinsic
def ones_of(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are set."""
    return types.int64(types.uint64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])


@intrinsic
def lowest_of(typing_context: Any, word: Any) -> Any:
    """Where the lowest set bit of a word stands; 64 when there is none."""
    never = ir.Constant(ir.IntType(1), 0)
    return (
        types.int64(types.uint64),
        lambda context, builder, signature, arguments: builder.cttz(arguments[0], never),
    )


@intrinsic
def publish(typing_context: Any, address: Any, number: Any) -> Any:
    """Write a number that another thread may read just now; whoever sees it sees what was written before it, too."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store_atomic(arguments[1], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@bare_helper
def first_lanes(count: Any) -> Any:
    """The bits of the first ``count`` bytes."""
    return ~np.uint64(0) if count >= LANES else (np.uint64(1) << np.uint64(count)) - np.uint64(1)


@bare_helper
def ones_before(bits_at: Any, place: Any) -> Any:
    """How many bits of a window are set before one."""
    word = place >> 6
    count = ones_of(word_at(bits_at + 8 * word) & ((np.uint64(1) << np.uint64(place & 63)) - np.uint64(1)))
    for before in range(WORDS - 1):
        count += ones_of(word_at(bits_at + 8 * before)) * np.int64(before < word)
    return count
