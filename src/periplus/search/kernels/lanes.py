"""Texts by 64 signs at once: a byte for each code point, copied, widened, and compared.

The byte is the sign itself in ASCII, ``FOREIGN`` for any other, ``FOREIGN_STOP`` for one that may end a sentence. So a
sign stands at the same place among bytes and among code points. Whoever calls sees to it that 64 bytes may be read or
written, and one before and behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from periplus.index.kernels.bits import (
    LANES,
    equal_bytes,
    first_lanes,
    larger_or_equal_bytes,
    loaded,
    lowest_of,
    ones_of,
    smaller_bytes,
)
from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.memory import load64, store64, width_of

FOREIGN, FOREIGN_STOP = 0x80, 0x81
ENDING = (10, FOREIGN_STOP)  # a sentence, whatever stands behind
STOPS = (46, 33, 63)  # . ! ?
CLOSING, DIGITS = (63, 93), 48  # what may belong to its end: ? ] and all signs before the digits
CASE = 32  # the bit that tells small letters from capitals
EIGHT = 8
FOREIGN_BITS = np.uint64(0x8080_8080_8080_8080)  # of eight bytes
_BYTES, _POINTS = ir.VectorType(ir.IntType(8), LANES), ir.VectorType(ir.IntType(32), LANES)


@intrinsic
def _spread(typing_context: Any, source: Any, bytes_at: Any, points_at: Any) -> Any:
    """Write 64 bytes as they are and as code points."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, bytes_at, points_at = arguments
        value = loaded(builder, source, _BYTES)
        builder.store(value, builder.inttoptr(bytes_at, _BYTES.as_pointer())).align = 1
        builder.store(builder.zext(value, _POINTS), builder.inttoptr(points_at, _POINTS.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _all(byte: int) -> Any:
    return ir.Constant(_BYTES, [byte] * LANES)


def _any_of(builder: Any, value: Any, bytes_: tuple[int, ...]) -> Any:
    found = builder.icmp_unsigned("==", value, _all(bytes_[0]))
    for byte in bytes_[1:]:
        found = builder.or_(found, builder.icmp_unsigned("==", value, _all(byte)))
    return found


@intrinsic
def _stops(typing_context: Any, at: Any) -> Any:
    """A bit for each of 64 signs where a sentence may end; a dot before a letter or a digit, say, ends none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = loaded(builder, arguments[0], _BYTES)
        behind = loaded(builder, builder.add(arguments[0], ir.Constant(ir.IntType(64), 1)), _BYTES)
        closes = builder.or_(_any_of(builder, behind, CLOSING), builder.icmp_unsigned("<", behind, _all(DIGITS)))
        closes = builder.or_(closes, builder.icmp_unsigned(">=", behind, _all(FOREIGN)))
        found = builder.or_(_any_of(builder, value, ENDING), builder.and_(_any_of(builder, value, STOPS), closes))
        return builder.bitcast(found, ir.IntType(64))

    return types.uint64(types.int64), generate


@intrinsic
def _folded(typing_context: Any, at: Any, byte: Any) -> Any:
    """A bit for each of 64 bytes that is one byte in all bits but that of case; which has to be set in that one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        index = ir.IntType(32)
        one = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), arguments[1], index(0))
        places = ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
        every = builder.shuffle_vector(one, ir.Constant(_BYTES, ir.Undefined), places)
        value = builder.or_(loaded(builder, arguments[0], _BYTES), _all(CASE))
        return builder.bitcast(builder.icmp_unsigned("==", value, every), ir.IntType(64))

    return types.uint64(types.int64, types.uint8), generate


spread: Any = _spread
stops: Any = _stops
folded: Any = _folded


@bare_helper
def foreign(at: Any) -> Any:
    """Those beyond ASCII."""
    return larger_or_equal_bytes(at, np.uint8(FOREIGN))


@bare_helper
def next_stop(signs_at: Any, at: Any, limit: Any) -> Any:
    """The first place from ``at`` on where a sentence may end; ``limit`` when there is none before that."""
    while at < limit:
        found = stops(signs_at + at)
        if found:
            return min(limit, at + lowest_of(found))
        at += LANES
    return limit


@bare_helper
def last_stop(signs_at: Any, at: Any, limit: Any) -> Any:
    """The last place from ``at`` on and before ``limit`` where a sentence may end; -1 when there is none.

    What stands up to 64 bytes before ``at`` may be read.
    """
    while limit > at:
        found = stops(signs_at + limit - LANES) & ~first_lanes(max(0, at - limit + LANES))
        if found:
            return limit - LANES + width_of(found) - 1
        limit -= LANES
    return np.int64(-1)


@bare_helper
def spaces(signs_at: Any, at: Any, end: Any) -> Any:
    """How many of a stretch are spaces of ASCII."""
    count = np.int64(0)
    while at < end:
        count += ones_of(equal_bytes(signs_at + at, np.uint8(32)) & first_lanes(end - at))
        at += LANES
    return count


@bare_helper
def unfit(signs_at: Any, at: Any, end: Any) -> Any:
    """Of a stretch, whether it has signs that cannot be seen or two spaces in a row; and whether it is not of ASCII."""
    others = np.uint64(0)
    while at < end:
        here, lanes = signs_at + at, first_lanes(end - at)
        unseen = (smaller_bytes(here, np.uint8(32)) | equal_bytes(here, np.uint8(127))) & lanes
        both = equal_bytes(here, np.uint8(32)) & equal_bytes(here + 1, np.uint8(32)) & first_lanes(end - 1 - at)
        if unseen | both:
            return True, False
        others |= foreign(here) & lanes
        at += LANES
    return False, others != 0


@bare_helper
def place_of(c: Any, address: Any, start: Any, end: Any) -> Any:
    """Where a byte first stands in a stretch of those at an address; its end when it does not."""
    at = start
    while at < end:
        found = equal_bytes(address + at, np.uint8(c))
        if found:
            return min(end, at + lowest_of(found))
        at += LANES
    return end


@bare_helper
def copied(out: Any, at: Any, source: Any, start: Any, size: Any) -> Any:
    """Copy bytes, of which up to seven more are written; where the next one goes."""
    done = np.int64(0)
    while done < size:
        store64(out, at + done, load64(source, start + done))
        done += EIGHT
    return at + size
