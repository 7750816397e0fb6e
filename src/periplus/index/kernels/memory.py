"""Memory as the processor has it: elements without a look at the sign of the index, words of 64 bits at any offset.

numba asks of every index whether it counts from the end, which the innermost loops of building do not need. Whoever
calls sees to it that the index is within the array; a word may reach up to seven bytes beyond the element it is for.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

_make_array: Any = make_array


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    data = _make_array(array_type)(context, builder, array).data
    return builder.gep(data, [at])


def _generate_item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.load(_pointer(context, builder, signature.args[0], *arguments))


def _generate_load64(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    pointer = _pointer(context, builder, signature.args[0], *arguments)
    value = builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()))
    value.align = 1
    return value


def _generate_store64(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array, at, value = arguments
    pointer = _pointer(context, builder, signature.args[0], array, at)
    word = builder.bitcast(pointer, ir.IntType(64).as_pointer())
    builder.store(value, word).align = 1
    return context.get_dummy_value()


def _generate_width(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
    return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)


def _generate_swapped(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.bswap(arguments[0])


def _generate_ask(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    pointer = _pointer(context, builder, signature.args[0], *arguments)
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    numbers = [ir.Constant(number, value) for value in (1, 3, 1)]  # to write, to be kept, data
    builder.call(function, [builder.bitcast(pointer, byte), *numbers])
    return context.get_dummy_value()


@intrinsic
def _ask(typing_context: Any, array: Any, at: Any) -> Any:
    """Ask for the cache line of an element, which will be written soon."""
    return types.void(array, types.int64), _generate_ask


@intrinsic
def _swapped(typing_context: Any, word: Any) -> Any:
    """The bytes of a word in the opposite order."""
    return types.uint64(types.uint64), _generate_swapped


@intrinsic
def _item(typing_context: Any, array: Any, at: Any) -> Any:
    """The element at an index that is not negative."""
    return array.dtype(array, types.int64), _generate_item


@intrinsic
def _load64(typing_context: Any, array: Any, at: Any) -> Any:
    """Eight bytes of an array as one number, from any offset."""
    return types.uint64(array, types.int64), _generate_load64


@intrinsic
def _store64(typing_context: Any, array: Any, at: Any, value: Any) -> Any:
    """Write a number into eight bytes of an array, at any offset."""
    return types.void(array, types.int64, types.uint64), _generate_store64


@intrinsic
def _width_of(typing_context: Any, value: Any) -> Any:
    """How many bits a number takes; none for zero."""
    return types.int64(types.uint64), _generate_width


item: Any = _item
load64: Any = _load64
store64: Any = _store64
width_of: Any = _width_of
swapped: Any = _swapped
ask: Any = _ask
