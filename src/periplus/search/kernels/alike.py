"""Many words compared with one at once: by the letters that they have, and by the places where these stand.

Both comparisons let every word through that is near enough, and some others. Numbers and letters are read by so many
at once as a vector has, so what they are read from goes on behind its last element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper, cgutils, intrinsic, ir, types
from periplus.index.kernels.bits import loaded, ones_of, spread

MASKS = 16  # that are compared at once
ROW = 32  # bytes of a word: its letters, then zeros
SHIFT = 2  # how far a letter may have moved, at most
_MASKS = ir.VectorType(ir.IntType(32), MASKS)
_ROW = ir.VectorType(ir.IntType(8), ROW)


def _ones(builder: Any, masks: Any) -> Any:
    """How many bits are set, lane by lane."""
    kind = ir.FunctionType(_MASKS, [_MASKS])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{MASKS}i32"), [masks])


@intrinsic
def _masks_near(typing_context: Any, address: Any, own: Any, every: Any, added: Any, gone: Any, least: Any) -> Any:
    """A bit for each of 16 numbers of 32 bits that is not smaller than ``least``, if at most so many of the bits that
    count (``every``) are set beside ``own``, and at most so many of these are not."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, *numbers = arguments
        narrow = [builder.trunc(number, _MASKS.element) for number in numbers]
        own, every, added, gone, least = [spread(builder, number, _MASKS) for number in narrow]
        whole = loaded(builder, address, _MASKS)
        others = builder.and_(whole, every)
        more = _ones(builder, builder.and_(others, builder.not_(own)))
        fewer = _ones(builder, builder.and_(own, builder.not_(others)))
        few = builder.and_(builder.icmp_unsigned("<=", more, added), builder.icmp_unsigned("<=", fewer, gone))
        found = builder.and_(few, builder.icmp_unsigned(">=", whole, least))
        return builder.zext(builder.bitcast(found, ir.IntType(MASKS)), ir.IntType(64))

    return types.uint64(types.int64, types.uint64, types.uint64, types.int64, types.int64, types.uint64), generate


@intrinsic
def _same_letters(typing_context: Any, one: Any, other: Any) -> Any:
    """A bit for each of 32 bytes that are the same at two addresses."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [loaded(builder, address, _ROW) for address in arguments]
        bits = builder.bitcast(builder.icmp_unsigned("==", *rows), ir.IntType(ROW))
        return builder.zext(bits, ir.IntType(64))

    return types.uint64(types.int64, types.int64), generate


masks_near: Any = _masks_near
same_letters: Any = _same_letters


@bare_helper
def letters_stand_near(row: Any, length: Any, typed: Any, size: Any, low: Any, high: Any, added: Any, gone: Any) -> Any:
    """Whether all letters of a word but ``added`` stand in the typed one, moved by ``low`` to ``high`` places, and all
    letters of this one but ``gone`` in the word. Both are addresses; around the typed letters is what no word has."""
    one = np.uint64(1)
    every, own = (one << np.uint64(length)) - one, (one << np.uint64(size)) - one
    here, there = np.uint64(0), np.uint64(0)
    for shift in range(low, high + 1):
        same = same_letters(row, typed + shift) & every
        here |= same
        there |= same << np.uint64(shift) if shift >= 0 else same >> np.uint64(-shift)
    return ones_of(every & ~here) <= added and ones_of(own & ~there) <= gone
