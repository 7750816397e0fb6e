"""Segments as a table of addresses, so that one call of a kernel reaches all of them.

A row is one segment: address and length of each array of ``ARRAYS`` in turn, then the numbers of ``NUMBERS``. Whoever
makes a row keeps its arrays alive while a kernel runs.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from periplus.index.kernels.compiler import helper
from periplus.index.tables import ARRAYS, NUMBERS, WIDTH

START, SLOT, PLACE, IMPACT, RARE_WINDOW, WINDOW_START, WINDOW_MAX, BEST = (2 * place for place in range(8))
PRIOR, PRIOR_MAX, ADMITTED, KEY = (2 * place for place in range(8, 12))
MADE_START, MADE_PLACE, MADE_IMPACT, MADE_WINDOW = (2 * place for place in range(12, 16))
TERM_TEXT, TERM_OFFSETS, LIVE_FREQUENCY = (2 * place for place in range(16, 19))
BLOCK_BASE, BLOCK_START, POSITION_DATA, FIELD_STARTS, FIELD_LENGTHS = (2 * place for place in range(19, 24))
WINDOWS, FIRST_NUMBER, LONGEST = (2 * len(ARRAYS) + place for place in range(len(NUMBERS)))
ROW = WIDTH


carray: Any = numba.carray  # type: ignore[attr-defined]


def _pointer_to(element: Any) -> Any:
    @intrinsic
    def pointer(typing_context: Any, address: Any) -> Any:
        pointers: Any = types.CPointer
        signature = pointers(element)(types.int64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return signature, generate

    return pointer


_to_u8 = _pointer_to(types.uint8)
_to_u16 = _pointer_to(types.uint16)
_to_u32 = _pointer_to(types.uint32)
_to_i32 = _pointer_to(types.int32)
_to_i64 = _pointer_to(types.int64)


@helper
def u8(table: Any, row: Any, column: Any) -> Any:
    return carray(_to_u8(table[row * ROW + column]), table[row * ROW + column + 1])


@helper
def u16(table: Any, row: Any, column: Any) -> Any:
    return carray(_to_u16(table[row * ROW + column]), table[row * ROW + column + 1])


@helper
def u32(table: Any, row: Any, column: Any) -> Any:
    return carray(_to_u32(table[row * ROW + column]), table[row * ROW + column + 1])


@helper
def i64(table: Any, row: Any, column: Any) -> Any:
    return carray(_to_i64(table[row * ROW + column]), table[row * ROW + column + 1])


@helper
def at_u8(address: Any, length: Any) -> Any:
    return carray(_to_u8(address), length)


@helper
def at_u16(address: Any, length: Any) -> Any:
    return carray(_to_u16(address), length)


@helper
def at_u32(address: Any, length: Any) -> Any:
    return carray(_to_u32(address), length)


@helper
def at_i32(address: Any, length: Any) -> Any:
    return carray(_to_i32(address), length)


@helper
def at_i64(address: Any, length: Any) -> Any:
    return carray(_to_i64(address), length)


def _prefetch(typing_context: Any, address: Any) -> Any:
    """Ask for the cache line at an address, which need not be a valid one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = ir.IntType(32)
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


prefetch: Any = intrinsic(_prefetch)
