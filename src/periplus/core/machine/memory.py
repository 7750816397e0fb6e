"""Memory as the processor has it: elements without a look at the sign of the index, words of 64 bits at any offset.

numba asks of every index whether it counts from the end, which the innermost loops of building do not need. Whoever
calls sees to it that the index is within the array; a word may reach up to seven bytes beyond the element it is for.
"""

from __future__ import annotations

from typing import Any

from periplus.core.compiler import arrayobj, intrinsic, ir, types

_BYTES = ir.VectorType(ir.IntType(8), 64)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    data = arrayobj.make_array(array_type)(context, builder, array).data
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


def _vector(builder: Any, context: Any, array_type: Any, array: Any, at: Any) -> Any:
    pointer = _pointer(context, builder, array_type, array, at)
    value = builder.load(builder.bitcast(pointer, _BYTES.as_pointer()))
    value.align = 1
    return value


def _between(builder: Any, bytes_: Any, low: int, high: int) -> Any:
    """A bit for every byte from ``low`` to ``high``."""
    moved = builder.sub(bytes_, _all(low))
    return builder.icmp_unsigned("<=", moved, _all(high - low))


def _all(byte: int) -> Any:
    return ir.Constant(_BYTES, [byte] * _BYTES.count)


def _plain(builder: Any, bytes_: Any) -> Any:
    letters = _between(builder, builder.or_(bytes_, _all(32)), 97, 122)
    return builder.or_(builder.or_(letters, _between(builder, bytes_, 48, 57)), _between(builder, bytes_, 95, 95))


def _generate_plain_bits(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    bytes_ = _vector(builder, context, signature.args[0], *arguments)
    return builder.bitcast(_plain(builder, bytes_), ir.IntType(64))


def _generate_stop_bits(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    bytes_ = _vector(builder, context, signature.args[0], *arguments)
    found = _plain(builder, bytes_)
    for low, high in ((35, 35), (38, 38), (46, 46), (60, 60), (64, 64), (128, 255)):
        found = builder.or_(found, _between(builder, bytes_, low, high))
    return builder.bitcast(found, ir.IntType(64))


@intrinsic
def plain_bits(typing_context: Any, array: Any, at: Any) -> Any:
    """A bit for each of 64 bytes: ASCII letters, digits and underscores."""
    return types.uint64(array, types.int64), _generate_plain_bits


@intrinsic
def stop_bits(typing_context: Any, array: Any, at: Any) -> Any:
    """The same for these, the signs ``#``, ``&``, ``.``, ``<`` and ``@``, and all bytes outside ASCII."""
    return types.uint64(array, types.int64), _generate_stop_bits


@intrinsic
def ask(typing_context: Any, array: Any, at: Any) -> Any:
    """Ask for the cache line of an element, which will be written soon."""
    return types.void(array, types.int64), _generate_ask


@intrinsic
def swapped(typing_context: Any, word: Any) -> Any:
    """The bytes of a word in the opposite order."""
    return types.uint64(types.uint64), _generate_swapped


@intrinsic
def item(typing_context: Any, array: Any, at: Any) -> Any:
    """The element at an index that is not negative."""
    return array.dtype(array, types.int64), _generate_item


@intrinsic
def load64(typing_context: Any, array: Any, at: Any) -> Any:
    """Eight bytes of an array as one number, from any offset."""
    return types.uint64(array, types.int64), _generate_load64


@intrinsic
def store64(typing_context: Any, array: Any, at: Any, value: Any) -> Any:
    """Write a number into eight bytes of an array, at any offset."""
    return types.void(array, types.int64, types.uint64), _generate_store64


@intrinsic
def width_of(typing_context: Any, value: Any) -> Any:
    """How many bits a number takes; none for zero."""
    return types.int64(types.uint64), _generate_width
