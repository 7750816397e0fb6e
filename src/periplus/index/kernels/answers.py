"""What crosses the border between Python and a kernel that is asked often, without a step of Python in between.

``Text`` is an object of bytes, of which a kernel gets the address; they end with a zero. ``Makers`` are a tuple of what
makes an answer: a class of hits, one of totals, and the word for a total that is a lower bound. An ``Answer`` is the
address of some numbers, the first of which says how many documents were found; below 0 there is no answer, so it
becomes ``None``. Else it becomes hits: arrays of numbers and scores, copied from two addresses, and the total.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.extending import intrinsic

tools: Any = cgutils  # without types of their own
numba: Any = extending
SIZE, TOTAL, IS_EXACT, NUMBERS, SCORES, MAKERS = range(6)
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_INT64, _FLOAT64 = np.dtype(np.int64).num, np.dtype(np.float64).num


class Text(types.Type):
    def __init__(self) -> None:
        super().__init__("text")


class Makers(types.Type):
    def __init__(self) -> None:
        super().__init__("makers")


class Answer(types.Type):
    def __init__(self) -> None:
        super().__init__("answer")


_Model: Any = models.PrimitiveModel


class _Address(_Model):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _I64)


for _kind in (Text, Makers, Answer):
    register_default(_kind)(_Address)


@numba.unbox(Text)
def _text(kind: Any, value: Any, context: Any) -> Any:
    address = context.builder.ptrtoint(context.pyapi.bytes_as_string(value), _I64)
    return numba.NativeValue(address, is_error=context.builder.icmp_unsigned("==", address, _I64(0)))


@numba.unbox(Makers)
def _makers(kind: Any, value: Any, context: Any) -> Any:
    return numba.NativeValue(context.builder.ptrtoint(value, _I64))


@numba.box(Answer)
def _answer(kind: Any, value: Any, context: Any) -> Any:
    builder, python = context.builder, context.pyapi
    numbers = builder.inttoptr(value, _I64.as_pointer())
    parts = [builder.load(builder.gep(numbers, [_I32(place)])) for place in range(MAKERS + 1)]
    made = tools.alloca_once_value(builder, python.get_null_object())
    with builder.if_else(builder.icmp_signed("<", parts[SIZE], _I64(0))) as (none, some):
        with none:
            builder.store(python.make_none(), made)
        with some:
            makers = builder.inttoptr(parts[MAKERS], python.pyobj)
            owned = [
                _array(context, parts[SIZE], parts[NUMBERS], _INT64),
                _array(context, parts[SIZE], parts[SCORES], _FLOAT64),
                _total(context, makers, parts),
            ]
            failed = builder.or_(tools.is_null(builder, owned[0]), tools.is_null(builder, owned[1]))
            failed = builder.or_(failed, tools.is_null(builder, owned[2]))
            with tools.if_likely(builder, builder.not_(failed)):
                builder.store(python.call_function_objargs(python.tuple_getitem(makers, 0), owned), made)
            for one in owned:
                python.decref(one)
    return builder.load(made)


def _total(context: Any, makers: Any, parts: list[Any]) -> Any:
    """How many documents match."""
    builder, python = context.builder, context.pyapi
    maker, made = python.tuple_getitem(makers, 1), tools.alloca_once_value(builder, python.get_null_object())
    count = python.long_from_longlong(parts[TOTAL])
    is_exact = builder.icmp_signed("!=", parts[IS_EXACT], _I64(0))
    with tools.if_likely(builder, tools.is_not_null(builder, count)), builder.if_else(is_exact) as (exact, bound):
        with exact:
            builder.store(python.call_function_objargs(maker, [count]), made)
        with bound:
            builder.store(python.call_function_objargs(maker, [count, python.tuple_getitem(makers, 2)]), made)
    python.decref(count)
    return builder.load(made)


def _array(context: Any, size: Any, source: Any, kind: int) -> Any:
    """A new array with a copy of what is at an address."""
    builder, python = context.builder, context.pyapi
    length = tools.alloca_once_value(builder, size)
    arguments = [_I32, length.type, length.type, python.voidptr, _I32, _I32]
    kind_of = ir.FunctionType(python.pyobj, arguments)
    function = tools.get_or_insert_function(builder.module, kind_of, "numba_ndarray_new")
    no_strides, no_data = ir.Constant(length.type, None), ir.Constant(python.voidptr, None)
    array = builder.call(function, [_I32(1), length, no_strides, no_data, _I32(kind), _I32(0)])
    with tools.if_likely(builder, tools.is_not_null(builder, array)):
        data = builder.load(builder.gep(builder.bitcast(array, _I64.as_pointer()), [_I32(2)]))  # behind a PyObject
        to = builder.inttoptr(data, python.voidptr)
        tools.raw_memcpy(builder, to, builder.inttoptr(source, python.voidptr), size, 8)
    return array


@intrinsic
def _address_of(typing_context: Any, given: Any) -> Any:
    return types.int64(given), lambda context, builder, signature, arguments: arguments[0]


@intrinsic
def _answer_at(typing_context: Any, address: Any) -> Any:
    return Answer()(types.int64), lambda context, builder, signature, arguments: arguments[0]


address_of: Any = _address_of
answer_at: Any = _answer_at
