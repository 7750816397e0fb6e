"""UTF-8 in kernels: code points, white space, what a clean text leaves out, and the five references of serialised HTML.

``is_space`` and ``is_unwanted`` say what ``str.isspace`` and ``text._UNWANTED`` say; tests compare all code points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.documents.kernels.typed import ZERO

AMPERSAND, SPACE, NEWLINE = 38, 32, 10
TAB, RETURN = 9, 13
ASCII = 128
ONE = np.uint64(1)  # places without a sign: numba looks for negative ones otherwise


@bare_helper
def width(byte: Any) -> Any:
    """Bytes of the character that begins with ``byte``."""
    if byte < 0xC0:
        return 1
    if byte < 0xE0:
        return 2
    return 3 if byte < 0xF0 else 4


@bare_helper
def point(data: Any, at: Any) -> Any:
    """The code point at ``at`` of well-formed UTF-8."""
    byte = np.int64(data[at])
    if byte < 0x80:
        return byte
    if byte < 0xE0:
        return ((byte & 31) << 6) | (np.int64(data[at + 1]) & 63)
    if byte < 0xF0:
        return ((byte & 15) << 12) | ((np.int64(data[at + 1]) & 63) << 6) | (np.int64(data[at + 2]) & 63)
    high = ((byte & 7) << 18) | ((np.int64(data[at + 1]) & 63) << 12)
    return high | ((np.int64(data[at + 2]) & 63) << 6) | (np.int64(data[at + 3]) & 63)


@bare_helper
def is_space(code: Any) -> Any:
    if code < 0x85:
        return code == 32 or 9 <= code <= 13 or 28 <= code <= 31
    if code < 0x2000:
        return code in (0x85, 0xA0, 0x1680)
    return code <= 0x200A or code in (0x2028, 0x2029, 0x202F, 0x205F, 0x3000)


@bare_helper
def is_unwanted(code: Any) -> Any:
    if code < 0xAD:
        return code <= 8 or 0x0B <= code <= 0x1F or 0x7F <= code <= 0x9F
    if code < 0x200B:
        return code in (0xAD, 0x61C)
    if code <= 0x2069:
        return code in (0x200B, 0x200E, 0x200F) or 0x202A <= code <= 0x202E or code >= 0x2060
    return 0xD800 <= code <= 0xDFFF or code in (0xFEFF, 0xFFFE, 0xFFFF)


@bare_helper
def is_line_end(code: Any) -> Any:
    """What ``str.splitlines`` parts lines at."""
    return 10 <= code <= 13 or 28 <= code <= 30 or code in (0x85, 0x2028, 0x2029)


@bare_helper
def is_blank(data: Any, start: Any, end: Any) -> Any:
    """Whether there is nothing but white space."""
    at = start
    while at < end:
        if data[at] > SPACE and data[at] < ASCII:
            return False
        if not is_space(point(data, at)):
            return False
        at += width(data[at])
    return True


@bare_helper
def length(data: Any, start: Any, end: Any) -> Any:
    """Characters."""
    first = np.uint64(start)
    count = ZERO
    for place in range(np.uint64(max(end - start, 0))):
        count += (data[first + place] & 0xC0) != 0x80
    return count


@bare_helper
def sought(data: Any, at: Any, sign: Any) -> Any:
    """Where a sign stands that is known to come."""
    place = np.uint64(at)
    while data[place] != sign:
        place += ONE
    return np.int64(place)


@bare_helper
def reference(data: Any, at: Any) -> Any:
    """(code point, offset behind it) of the reference whose ampersand is at ``at``; -1 where it is none of the five."""
    one, two, three = data[at + 1], data[at + 2], data[at + 3]
    if two == 116 and three == 59:  # t;
        if one == 108:
            return 60, at + 4
        if one == 103:
            return 62, at + 4
    four = data[at + 4]
    if one == 97 and two == 109 and three == 112 and four == 59:
        return 38, at + 5
    if data[at + 5] == 59:
        if one == 110 and two == 98 and three == 115 and four == 112:
            return 0xA0, at + 6
        if one == 113 and two == 117 and three == 111 and four == 116:
            return 34, at + 6
    return -1, at + 1


@bare_helper
def put_reference(data: Any, at: Any, out: Any, to: Any) -> Any:
    """Write in UTF-8 what a reference stands for; (offset behind it, where the copy ends in ``out``)."""
    code, at = reference(data, at)
    if code == 0xA0:
        out[to] = 0xC2
        to += 1
    out[to] = AMPERSAND if code < 0 else code
    return at, to + 1


@bare_helper
def unescaped(data: Any, start: Any, end: Any, out: Any, to: Any) -> Any:
    """Copy text, its references replaced; where the copy ends in ``out``. A copy is never longer."""
    at = start
    while at < end:
        byte = data[at]
        if byte != AMPERSAND:
            out[to] = byte
            to += 1
            at += 1
            continue
        at, to = put_reference(data, at, out, to)
    return to


@bare_helper
def copied(data: Any, start: Any, end: Any, out: Any, to: Any) -> Any:
    count = max(end - start, 0)
    first, target = np.uint64(start), np.uint64(to)
    for place in range(np.uint64(count)):
        out[target + place] = data[first + place]
    return to + count


@bare_helper
def cleaned(data: Any, start: Any, end: Any, out: Any, to: Any) -> Any:
    """One clean line (``text.clean``); where it ends in ``out``."""
    begin = to
    pending = False
    at = start
    while at < end:
        byte = data[at]
        if pending and byte > SPACE and byte < 0x7F:
            out[to] = SPACE
            to += 1
            pending = False
        stop, target = np.uint64(at), np.uint64(to)
        last = np.uint64(end)
        while stop < last and data[stop] > SPACE and data[stop] < 0x7F:
            out[target] = data[stop]
            stop += ONE
            target += ONE
        at, to = np.int64(stop), np.int64(target)
        if at >= end:
            break
        byte = data[at]
        if byte == SPACE:
            pending = to > begin
            at += 1
            continue
        code, step = point(data, at), width(byte)
        if is_space(code):
            pending = to > begin
        elif not is_unwanted(code):
            if pending:
                out[to] = SPACE
                to += 1
                pending = False
            to = copied(data, at, at + step, out, to)
        at += step
    return to


@bare_helper
def cleaned_lines(data: Any, start: Any, end: Any, out: Any, to: Any) -> Any:
    """Clean lines with their spacing (``text.clean_lines``); four times the room of the text is enough."""
    begin = line = kept = to  # where all begins, this line, and what follows its last mark
    column = 0
    at = start
    while at < end:
        code = point(data, at)
        step = width(data[at])
        column += 1
        if code in (NEWLINE, RETURN):
            column = 0
        if code == TAB:
            spaces = 4 - (column - 1) % 4
            column += spaces - 1
            for place in range(spaces):
                out[to + place] = SPACE
            to += spaces
        elif is_line_end(code):
            to = kept
            if kept > line:
                out[to] = NEWLINE
                to += 1
            line = kept = to
        elif not is_unwanted(code):
            if is_space(code):
                out[to] = SPACE
                to += 1
            else:
                to = copied(data, at, at + step, out, to)
                kept = to
        at += step
    if kept == line and line > begin:
        return line - 1  # the mark that ended the line before
    return kept
