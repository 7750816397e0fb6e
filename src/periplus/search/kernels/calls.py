"""Functions of C called by their addresses, with numbers or pointers; each gives back a number."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

NUMBER = ir.IntType(64)


def _code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    function, *given = arguments
    kind = ir.FunctionType(NUMBER, [NUMBER] * len(given))
    return builder.call(builder.inttoptr(function, kind.as_pointer()), given)


@intrinsic
def _call1(typing_context: Any, function: Any, a: Any) -> Any:
    return types.int64(types.int64, types.int64), _code


@intrinsic
def _call3(typing_context: Any, function: Any, a: Any, b: Any, c: Any) -> Any:
    return types.int64(*[types.int64] * 4), _code


@intrinsic
def _call6(typing_context: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
    return types.int64(*[types.int64] * 7), _code


call1: Any = _call1
call3: Any = _call3
call6: Any = _call6
