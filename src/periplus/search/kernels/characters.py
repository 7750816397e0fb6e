"""Characters told apart by their code points, for the kernels that look through texts."""

from __future__ import annotations

from typing import Any

from periplus.index.kernels.compiler import bare_helper

MAX_POINT = 4  # bytes of a code point
NEWLINE = 10


@bare_helper
def is_space(c: Any) -> Any:
    if c < 128:
        return c == 32 or 9 <= c <= 13 or 28 <= c <= 31
    return c == 0x85 or c == 0xA0 or 0x2000 <= c <= 0x200A or c == 0x2028 or c == 0x2029 or c == 0x202F or c == 0x3000


@bare_helper
def is_letter(c: Any) -> Any:
    """Letters and digits; among signs beyond ASCII only the usual ones are known."""
    if c < 128:
        return 97 <= c <= 122 or 65 <= c <= 90 or 48 <= c <= 57
    if c < 0xC0:
        return c == 0xAA or c == 0xB5 or c == 0xBA
    return not (c == 0xD7 or c == 0xF7 or 0x2000 <= c <= 0x2BFF or 0x3000 <= c <= 0x3020 or 0xFF00 <= c <= 0xFF0F)


@bare_helper
def is_wordly(c: Any) -> Any:
    """Letters, digits and underscores."""
    return c == 95 or is_letter(c)


@bare_helper
def is_stop(c: Any) -> Any:
    """What may end a sentence: . ! ? … and their East Asian kin, and a line's end."""
    if c < 128:
        return c == 46 or c == 33 or c == 63 or c == NEWLINE
    return c == 0x2026 or c == 0x3002 or c == 0xFF01 or c == 0xFF1F


@bare_helper
def put_point(out: Any, at: Any, c: Any) -> Any:
    """Write a code point in UTF-8; where the next one goes."""
    if c < 0x80:
        out[at] = c
        return at + 1
    if c < 0x800:
        out[at], out[at + 1] = 0xC0 | (c >> 6), 0x80 | (c & 0x3F)
        return at + 2
    if c < 0x1_0000:
        out[at], out[at + 1], out[at + 2] = 0xE0 | (c >> 12), 0x80 | ((c >> 6) & 0x3F), 0x80 | (c & 0x3F)
        return at + 3
    out[at], out[at + 1] = 0xF0 | (c >> 18), 0x80 | ((c >> 12) & 0x3F)
    out[at + 2], out[at + 3] = 0x80 | ((c >> 6) & 0x3F), 0x80 | (c & 0x3F)
    return at + 4
