"""How titles and texts begin, where that can be shown as it stands: cut after a word, as ``search/text.py`` does it."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import LANES, first_lanes, larger_or_equal_bytes, lowest_of, ones_of
from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.memory import load64
from periplus.search.kernels.lanes import EIGHT, FOREIGN_BITS, foreign, unfit

MAX_TITLE = 90  # code points
MAX_SNIPPET = 260
OPENING = 3 * MAX_SNIPPET  # code points in which a line's end says that the text has to be put together otherwise
DESCRIBED = 90  # code points of a description that are compared with the text
ELLIPSIS, ELLIPSIS_BYTES = 0x2026, 3
SPACE, NEWLINE = 32, 10
FIRST_OF_SEVERAL = 0xC0  # the least byte that a code point beyond ASCII begins with


@bare_helper
def is_seen(c: Any) -> Any:
    """Whether a sign is surely fit to be seen and no space; there are others that are, too."""
    if c < 0x7F:
        return c > SPACE
    if c < 0x530:
        return (0xA1 <= c <= 0x377 and c != 0xAD) or c >= 0x3A3 or 0x38E <= c <= 0x3A1 or 0x388 <= c <= 0x38A
    if c < 0x2010:
        return 0x621 <= c <= 0x64A or 0x5D0 <= c <= 0x5EA or 0x1E00 <= c <= 0x1EFF
    if c < 0x3041:
        signs = c <= 0x2027 or 0x2030 <= c <= 0x205E or 0x20A0 <= c <= 0x20BF or 0x2100 <= c <= 0x218B
        return signs or 0x2190 <= c <= 0x2426 or 0x2460 <= c <= 0x2B73 or 0x3001 <= c <= 0x303E
    if c < 0xAC00:
        return c <= 0x3096 or 0x30A1 <= c <= 0x30FE or 0x4E00 <= c <= 0x9FEF
    return c <= 0xD7A3 or 0xFF01 <= c <= 0xFF9F or c == 0xFFFD


@bare_helper
def _point(packed: Any, at: Any) -> Any:
    """The code point at a place of UTF-8, and where the next one stands."""
    first = np.int64(packed[at])
    if first < 0x80:
        return first, at + 1
    if first < 0xE0:
        return ((first & 0x1F) << 6) | (packed[at + 1] & 0x3F), at + 2
    if first < 0xF0:
        return ((first & 0x0F) << 12) | ((packed[at + 1] & 0x3F) << 6) | (packed[at + 2] & 0x3F), at + 3
    return np.int64(0), at + 4  # none of these is in ``is_seen``


@bare_helper
def _joins(c: Any) -> Any:
    """An ASCII sign that is left out before an ellipsis: a space, , ; : - |"""
    return c == SPACE or c == 44 or c == 59 or c == 58 or c == 45 or c == 124


@bare_helper
def _may_join(c: Any) -> Any:
    """The same beyond ASCII, a middle dot or a dash; or how their last bytes look."""
    return c == 0xB7 or c == 0x2013 or c == 0x2014 or c == 0x93 or c == 0x94


@bare_helper
def _without_joint(text: Any, start: Any, end: Any) -> Any:
    """Where that ends which stands before an ellipsis; -1 when that has to be looked at more closely."""
    while end > start and _joins(text[end - 1]):
        end -= 1
    return np.int64(-1) if end == start or _may_join(text[end - 1]) else end


@bare_helper
def _is_short(packed: Any, packed_at: Any, start: Any, end: Any) -> Any:
    """Whether a title is surely shown as it stands, by 64 bytes at once."""
    if end == start or end - start > 2 * LANES or packed[start] == SPACE or packed[end - 1] == SPACE:
        return False
    is_odd, is_foreign = unfit(packed_at, start, end)
    if is_odd or not is_foreign:
        return not is_odd and end - start <= MAX_TITLE
    count = np.int64(0)
    for at in range(start, end, LANES):
        here, lanes = packed_at + at, first_lanes(end - at)
        firsts = larger_or_equal_bytes(here, np.uint8(FIRST_OF_SEVERAL)) & lanes
        count += ones_of((~foreign(here) & lanes) | firsts)
        while firsts:
            c, _ = _point(packed, at + lowest_of(firsts))
            if not is_seen(c):
                return False
            firsts &= firsts - np.uint64(1)
    return count <= MAX_TITLE


@bare_helper
def title_end(packed: Any, packed_at: Any, start: Any, end: Any) -> Any:
    """Where a title in UTF-8 is cut, if it is; -1 when it is not shown as it stands."""
    if _is_short(packed, packed_at, start, end):
        return end
    count, before, at, space = 0, np.int64(SPACE), start, np.int64(-1)
    while at < end:
        c, behind = _point(packed, at)
        if not is_seen(c) and not (c == SPACE and before != SPACE):
            return np.int64(-1)
        if c == SPACE and MAX_TITLE // 2 <= count < MAX_TITLE - 1:
            space = at
        before, at = c, behind
        count += 1
    if before == SPACE:
        return np.int64(-1)
    if count <= MAX_TITLE or space < 0:
        return end if count <= MAX_TITLE else space
    return _without_joint(packed, start, space)


@bare_helper
def _closes(c: Any) -> Any:
    """What is left out at the end of a description before it is compared with a text."""
    return c in (ELLIPSIS, SPACE, 46)


@bare_helper
def only_begins(packed: Any, at: Any, end: Any, text: Any, signs: Any, begin: Any, text_end: Any) -> Any:
    """Whether a description in UTF-8 says nothing that its text does not begin with, as far as it is compared."""
    count, same = 0, True
    while count + EIGHT <= DESCRIBED and at + EIGHT <= end and begin + count + EIGHT <= text_end:  # the same in ASCII
        letters = load64(packed, at)
        if letters & FOREIGN_BITS or letters != load64(signs, begin + count):
            break
        at += EIGHT
        count += EIGHT
    while at < end and count < DESCRIBED:
        c, at = _point(packed, at)
        same = same and begin + count < text_end and np.int64(text[begin + count]) == c
        if not same and not _closes(c):
            return False
        count += 1
    return True


@bare_helper
def opening_end(text: Any, start: Any, end: Any) -> Any:
    """The same of a text in code points that is shown from its beginning on."""
    before, space, size = np.int64(SPACE), np.int64(-1), end - start
    for i in range(start, min(end, start + MAX_SNIPPET + 2)):
        c = np.int64(text[i])
        if not is_seen(c) and not (c == SPACE and before != SPACE):
            return np.int64(-1)
        if c == SPACE and MAX_SNIPPET // 2 <= i - start < MAX_SNIPPET - 1:
            space = np.int64(i)
        before = c
    for i in range(start + MAX_SNIPPET, min(end, start + OPENING)):
        if text[i] == NEWLINE:
            return np.int64(-1)
    if before == SPACE and size <= MAX_SNIPPET + 2:
        return np.int64(-1)
    if size <= MAX_SNIPPET or space < 0:
        return end if size <= MAX_SNIPPET else space
    return _without_joint(text, start, space)
