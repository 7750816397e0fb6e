"""Kernels that call kernels by their addresses: each is compiled once, whoever it works for.

By numba's own convention (``compiling``): what comes back is 0 unless something went wrong, which only happens where
array accesses are checked.
"""

from __future__ import annotations

from typing import Any

from periplus.core.compiler.helpers import intrinsic
from periplus.core.compiler.late import cgutils, ir, types
from periplus.core.compiler.signatures import FAILED


@intrinsic
def _call(typing_context: Any, function: Any, arguments: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        address, packed = given
        number, anything = ir.IntType(64), ir.IntType(8).as_pointer()
        parts = [builder.extract_value(packed, place) for place in range(len(arguments.types))]
        result, failure = cgutils.alloca_once(builder, number), cgutils.alloca_once(builder, anything)
        kinds = [result.type, failure.type, *[part.type for part in parts]]
        entry = builder.inttoptr(address, ir.FunctionType(ir.IntType(32), kinds).as_pointer())
        status = builder.call(entry, [result, failure, *parts])
        went_well = builder.icmp_signed("==", status, status.type(0))
        return builder.select(went_well, builder.load(result), number(FAILED))

    return types.int64(types.int64, arguments), generate


call_kernel: Any = _call  # (address, a tuple of numbers and fractions) -> number
