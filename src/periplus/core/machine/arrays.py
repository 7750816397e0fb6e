"""Arrays at addresses: what lies there as an array that nobody owns, and columns of the table of segments."""

from __future__ import annotations

from typing import Any

from periplus.core.compiler import arrayobj, inlined, intrinsic, ir, types
from periplus.core.layout.segments import ROW


def _array_of(name: str) -> Any:
    """A function of (address, length): an array of what lies there, which nobody owns."""

    @intrinsic
    def array_at(typing_context: Any, address: Any, length: Any) -> Any:
        element = getattr(types, name)
        kind = types.Array(element, 1, "C")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            item = context.get_data_type(element)
            size = context.get_constant(types.intp, context.get_abi_sizeof(item))
            array = arrayobj.make_array(kind)(context, builder)
            data = builder.inttoptr(arguments[0], item.as_pointer())
            arrayobj.populate_array(array, data=data, shape=[arguments[1]], strides=[size], itemsize=size, meminfo=None)
            return array._getvalue()  # noqa: SLF001

        return kind(types.int64, types.int64), generate

    return array_at


at_u8: Any = _array_of("uint8")
at_u16: Any = _array_of("uint16")
at_u32: Any = _array_of("uint32")
at_i32: Any = _array_of("int32")
at_i64: Any = _array_of("int64")
at_u64: Any = _array_of("uint64")
at_f64: Any = _array_of("float64")


@inlined
def u8(table: Any, row: Any, column: Any) -> Any:
    return at_u8(table[row * ROW + column], table[row * ROW + column + 1])


@inlined
def u32(table: Any, row: Any, column: Any) -> Any:
    return at_u32(table[row * ROW + column], table[row * ROW + column + 1])


@inlined
def i64(table: Any, row: Any, column: Any) -> Any:
    return at_i64(table[row * ROW + column], table[row * ROW + column + 1])


@intrinsic
def prefetch(typing_context: Any, address: Any) -> Any:
    """Ask for the cache line at an address, which need not be a valid one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = ir.IntType(32)
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate
