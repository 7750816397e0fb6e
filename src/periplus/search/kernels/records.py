"""Stored documents, packed as MessagePack, cut into their fields without making anything of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper
from periplus.search.kernels.layout import SPAN

# Fields of a ``StoredDocument``, by their places.
FIELDS = 14
URL, ID, TITLE, DESCRIPTION, TEXT, LANGUAGE, TYPE, PUBLISHED, FETCHED, HOST, SITE = 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11
HEADINGS, AUTHOR, NOARCHIVE = 5, 12, 13
RECORD = 2 * FIELDS  # numbers of a document: start and end of each field; of a string without its head
MAX_LANGUAGE = 15  # bytes of a language's name that count
MAX_BYTE = 255
MAX_DEEP = 1 << 20  # values inside one field


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
def _string(packed: Any, at: Any) -> Any:
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
def _behind(packed: Any, at: Any) -> Any:
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
        _, end = _string(packed, at)
        if end >= 0:
            at = end
            continue
        count, at = _members(packed, at, kind)
        if count < 0:
            return np.int64(-1)
        left += count
    return at if at <= len(packed) else np.int64(-1)


@bare_helper
def _is_string(field: Any) -> Any:
    return field != HEADINGS and field != PUBLISHED and field != FETCHED and field != NOARCHIVE


@bare_helper
def _name(packed: Any, start: Any, end: Any) -> Any:
    """The name of a language as two numbers: its bytes, and how many in the last one."""
    one, other = np.uint64(0), np.uint64(min(end - start, MAX_BYTE)) << np.uint64(56)
    for k in range(min(end - start, MAX_LANGUAGE)):
        byte = np.uint64(packed[start + k])
        if k < 8:
            one |= byte << np.uint64(8 * k)
        else:
            other |= byte << np.uint64(8 * (k - 8))
    return np.int64(one), np.int64(other)


@bare_helper
def cut(
    packed: Any,  # documents, one behind the other
    fields: Any,  # ``RECORD`` numbers of each
    spans: Any,  # ``SPAN`` numbers of each text
    starts: Any,  # where each document begins, and where the last ends
) -> Any:
    """Find the fields of all documents; 0 when these are not what was expected."""
    at = np.int64(0)
    starts[len(starts) - 1] = len(packed)
    for document in range(len(starts) - 1):
        starts[document] = at
        if at >= len(packed) or packed[at] != 0x90 + FIELDS:
            return 0
        at += 1
        for field in range(FIELDS):
            place = RECORD * document + 2 * field
            if _is_string(field):
                fields[place], fields[place + 1] = _string(packed, at)
            else:
                fields[place], fields[place + 1] = at, _behind(packed, at)
            at = fields[place + 1]
            if at < 0:
                return 0
        record, span = RECORD * document, SPAN * document
        spans[span], spans[span + 1] = fields[record + 2 * TEXT], fields[record + 2 * TEXT + 1]
        name = record + 2 * LANGUAGE
        spans[span + 2], spans[span + 3] = _name(packed, fields[name], fields[name + 1])
    return 1 if at == len(packed) else 0
