"""Packed values: finding one's way in MessagePack without making anything of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper

MAX_DEEP = 1 << 20  # values inside one


@bare_helper
def _big(packed: Any, at: Any, size: Any) -> Any:
    """A number as MessagePack has it; -1 when it is not all there."""
    if at + size > len(packed):
        return np.int64(-1)
    value = np.int64(0)
    for k in range(size):
        value = (value << 8) | np.int64(packed[at + k])
    return value


@bare_helper
def string_at(packed: Any, at: Any) -> Any:
    """Start and end of the string at a place; both -1 for what is none."""
    if at >= len(packed):
        return np.int64(-1), np.int64(-1)
    kind = np.int64(packed[at])
    if 0xA0 <= kind <= 0xBF:
        start, size = at + 1, kind - 0xA0
    elif 0xD9 <= kind <= 0xDB:
        width = 1 << (kind - 0xD9)
        start, size = at + 1 + width, _big(packed, at + 1, width)
    else:
        return np.int64(-1), np.int64(-1)
    if size < 0 or start + size > len(packed):
        return np.int64(-1), np.int64(-1)
    return start, start + size


@bare_helper
def _fixed(kind: Any) -> Any:
    """Bytes of a number, a boolean or nothing, with its kind; -1 for what is none of these."""
    if kind <= 0x7F or kind >= 0xE0 or kind == 0xC0 or kind == 0xC2 or kind == 0xC3:
        return 1
    if kind == 0xCA or kind == 0xCB:
        return 5 if kind == 0xCA else 9
    if 0xCC <= kind <= 0xD3:
        return 1 + (1 << ((kind - 0xCC) & 3))
    return -1


@bare_helper
def _members(packed: Any, at: Any, kind: Any) -> Any:
    """How many values a list or a map holds, and where the first stands; -1 for what is neither."""
    if 0x80 <= kind <= 0x8F:
        return 2 * (kind - 0x80), at + 1
    if 0x90 <= kind <= 0x9F:
        return kind - 0x90, at + 1
    if 0xDC <= kind <= 0xDF:
        width = 2 << (kind & 1)
        count = _big(packed, at + 1, width)
        return (count * 2 if kind >= 0xDE else count), at + 1 + width
    return np.int64(-1), at


@bare_helper
def behind(packed: Any, at: Any) -> Any:
    """Where the value at a place ends; -1 when it is of no kind that is stored."""
    left = np.int64(1)
    while left > 0:
        if at >= len(packed) or left > MAX_DEEP:
            return np.int64(-1)
        kind = np.int64(packed[at])
        size = _fixed(kind)
        left -= 1
        if size > 0:
            at += size
            continue
        _, end = string_at(packed, at)
        if end >= 0:
            at = end
            continue
        count, at = _members(packed, at, kind)
        if count < 0:
            return np.int64(-1)
        left += count
    return at if at <= len(packed) else np.int64(-1)
