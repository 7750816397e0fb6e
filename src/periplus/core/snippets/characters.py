"""Characters told apart by their code points, for the kernels that look through texts; also 64 of them at once."""

from __future__ import annotations

from typing import Any

from periplus.core.compiler import helper, intrinsic, ir, types
from periplus.core.machine.bits import LANES, loaded, spread

NEWLINE = 10
_POINTS = ir.VectorType(ir.IntType(32), LANES)


def _each(number: int) -> Any:
    return ir.Constant(_POINTS, [number] * LANES)


@intrinsic
def equal_points(typing_context: Any, address: Any, point: Any) -> Any:
    """One bit for each of 64 code points, set where it is the one asked for."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        points = loaded(builder, arguments[0], _POINTS)
        same = builder.icmp_unsigned("==", points, spread(builder, arguments[1], _POINTS))
        return builder.bitcast(same, ir.IntType(LANES))

    return types.uint64(types.int64, types.uint32), generate


@intrinsic
def foreign_points(typing_context: Any, address: Any) -> Any:
    """One bit for each of 64 code points, set where it is none of ASCII."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        beyond = builder.icmp_unsigned(">=", loaded(builder, arguments[0], _POINTS), _each(128))
        return builder.bitcast(beyond, ir.IntType(LANES))

    return types.uint64(types.int64), generate


@intrinsic
def wordly_points(typing_context: Any, address: Any) -> Any:
    """One bit for each of 64 code points, set where it is a letter or a digit of ASCII, or an underscore."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        points = loaded(builder, arguments[0], _POINTS)
        small = builder.or_(points, _each(32))
        letter = builder.icmp_unsigned("<", builder.sub(small, _each(97)), _each(26))
        digit = builder.icmp_unsigned("<", builder.sub(points, _each(48)), _each(10))
        joins = builder.icmp_unsigned("==", points, _each(95))
        return builder.bitcast(builder.or_(builder.or_(letter, digit), joins), ir.IntType(LANES))

    return types.uint64(types.int64), generate


@helper
def is_space(c: Any) -> Any:
    if c < 128:
        return c == 32 or 9 <= c <= 13 or 28 <= c <= 31
    return c == 0x85 or c == 0xA0 or 0x2000 <= c <= 0x200A or c == 0x2028 or c == 0x2029 or c == 0x202F or c == 0x3000


@helper
def is_letter(c: Any) -> Any:
    """Letters and digits; among signs beyond ASCII only the usual ones are known."""
    if c < 128:
        return 97 <= c <= 122 or 65 <= c <= 90 or 48 <= c <= 57
    if c < 0xC0:
        return c == 0xAA or c == 0xB5 or c == 0xBA
    return not (c == 0xD7 or c == 0xF7 or 0x2000 <= c <= 0x2BFF or 0x3000 <= c <= 0x3020 or 0xFF00 <= c <= 0xFF0F)


@helper
def is_wordly(c: Any) -> Any:
    """Letters, digits and underscores."""
    return c == 95 or is_letter(c)


@helper
def is_stop(c: Any) -> Any:
    """What may end a sentence: . ! ? … and their East Asian kin, and a line's end."""
    if c < 128:
        return c == 46 or c == 33 or c == 63 or c == NEWLINE
    return c == 0x2026 or c == 0x3002 or c == 0xFF01 or c == 0xFF1F
