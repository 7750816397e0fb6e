"""Serialised HTML to an array of nodes: texts and elements in the order of the page, each with where it ends.

The parser's serialisation is regular: every element is closed but for the void ones, attributes stand in double quotes,
and only five references occur. What is not so (a script that holds a script, endless depth) is refused, and the page
is walked through in Python instead. ``data`` ends with ``TAIL``, so that every search for a sign ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.documents.kernels.characters import AMPERSAND, ONE, sought
from periplus.documents.kernels.names import packed, style_hides, value_of
from periplus.documents.kernels.typed import NONE, ZERO

TAIL = b'<">-->' + bytes(26)  # also room to look ahead
TAG, START, END, NEXT, PARENT, FLAGS = 0, 1, 2, 3, 4, 5  # START: behind the tag's name, or where a text begins
NODE = 6  # numbers of a node
TEXT = -1  # NONE
REFUSED = -1
# FLAGS
MIXED = 1  # holds more than text, inline tags and links
HIDES = 2
HREF = 4
RAW = 8  # a text without references
SPECIAL = 16  # a link with a relation or a title

# A tag's value (``html.tables``): what the walk does with it (tags.KINDS), who it is, a heading's level, its zone.
KIND_BITS, WHO_SHIFT, LEVEL_SHIFT, ZONE_SHIFT = 7, 3, 8, 11
VOID_TAG, RAW_TAG, PARTING_TAG, KNOWN_TAG = 1 << 15, 1 << 16, 1 << 17, 1 << 18
INLINE_KIND = 4
OTHER, ANCHOR, BREAK, FRAME, ROW, HEADING, CODE, MAIN, ARTICLE, SECTION, HEADER, BODY, IMAGE, SCRIPT, PLAINTEXT = range(
    15
)

LT, GT, SLASH, BANG, QUESTION, QUOTE, EQUALS, DASH = 60, 62, 47, 33, 63, 34, 61, 45

HREF_NAME = np.uint64(int.from_bytes(b"href", "little"))
STYLE_NAME = np.uint64(int.from_bytes(b"style", "little"))
HIDDEN_NAME = np.uint64(int.from_bytes(b"hidden", "little"))
REL_NAME = np.uint64(int.from_bytes(b"rel", "little"))
TITLE_NAME = np.uint64(int.from_bytes(b"title", "little"))
UNTIL_FOUND_1 = np.uint64(int.from_bytes(b"until-fo", "little"))
UNTIL_FOUND_2 = np.uint64(int.from_bytes(b"und", "little"))


@bare_helper
def kind_of(tag: Any) -> Any:
    return tag & KIND_BITS if tag else INLINE_KIND


@bare_helper
def who(tag: Any) -> Any:
    return (tag >> WHO_SHIFT) & 31


@bare_helper
def _attributes(data: Any, at: Any, size: Any, room: Any) -> Any:
    """(flags of the attributes from ``at`` on, where the tag ends); the latter is -1 where they are not regular."""
    flags = ZERO
    while data[at] == 32:
        name = at + 1
        stop = name + 1
        while data[stop] != EQUALS and stop < size:
            stop += 1
        if stop >= size or data[stop + 1] != QUOTE:
            return ZERO, NONE
        value = stop + 2
        end = sought(data, value, QUOTE)
        if end >= size:
            return ZERO, NONE
        if stop - name <= 6:
            first, _ = packed(data, name, stop)
            if first == HREF_NAME:
                flags |= HREF
            elif first in (REL_NAME, TITLE_NAME):
                flags |= SPECIAL
            elif first == STYLE_NAME:
                hides = style_hides(data, value, end, room)
                if hides < 0:
                    return ZERO, NONE
                flags |= HIDES * hides
            elif first == HIDDEN_NAME:
                one, two = packed(data, value, min(end, value + 16))
                if end - value != 11 or one != UNTIL_FOUND_1 or two != UNTIL_FOUND_2:
                    flags |= HIDES
        at = end + 1
    return (flags, at) if data[at] == GT and at < size else (ZERO, NONE)


@bare_helper
def _is_same_name(data: Any, left: Any, right: Any, count: Any) -> Any:
    place = 0
    while place < count and data[left + place] | 32 == data[right + place] | 32:
        place += 1
    return place == count


@bare_helper
def _raw_end(data: Any, at: Any, size: Any, name: Any, count: Any) -> Any:
    """Where the text of a raw element ends, whose name stands at ``name``; -1 where that is in doubt."""
    commented = False
    while True:
        at = sought(data, at, LT)
        if at >= size:
            return NONE
        closes = data[at + 1] == SLASH and at + 2 + count < size and data[at + 2 + count] == GT
        if closes and _is_same_name(data, at + 2, name, count):
            return at
        if data[at + 1] == BANG:
            commented = True
        elif commented and at + 1 + count < size and _is_same_name(data, at + 1, name, count):
            return NONE
        at += 1


@bare_helper
def _comment_end(data: Any, at: Any, size: Any) -> Any:
    if data[at + 2] != DASH or data[at + 3] != DASH:
        return -1
    at += 4
    while data[at] != DASH or data[at + 1] != DASH or data[at + 2] != GT:
        at += 1
    return at + 3 if at < size else -1


@bare_helper
def _part(nodes: Any, parent: Any) -> Any:
    """All elements around one that parts blocks are mixed."""
    while parent >= 0 and not nodes[parent, FLAGS] & MIXED:
        nodes[parent, FLAGS] |= MIXED
        parent = nodes[parent, PARENT]


@bare_helper
def _text_end(data: Any, at: Any) -> Any:
    """Where a text ends, and ``RAW`` if there is no reference in it."""
    place = np.uint64(at)
    plain = True
    while data[place] != LT:
        plain &= data[place] != AMPERSAND
        place += ONE
    return np.int64(place), ZERO + RAW if plain else ZERO


@bare_helper
def _add(nodes: Any, count: Any, tag: Any, start: Any, end: Any, parent: Any, flags: Any) -> Any:
    nodes[count, TAG] = tag
    nodes[count, START] = start
    nodes[count, END] = end
    nodes[count, NEXT] = count + 1
    nodes[count, PARENT] = parent
    nodes[count, FLAGS] = flags


@bare_helper
def tokenised(data: Any, size: Any, tags: Any, nodes: Any, stack: Any, room: Any) -> Any:
    """Fill ``nodes``; how many there are, or ``REFUSED``."""
    count, depth, at = ZERO, ZERO, ZERO
    most = nodes.shape[0] - 2
    while at < size:
        if count >= most:
            return REFUSED
        if data[at] != LT:
            stop, flags = _text_end(data, at)
            if depth == 0:
                return REFUSED
            _add(nodes, count, NONE, at, stop, stack[depth - 1, 0], flags)
            count += 1
            at = stop
            continue
        sign = data[at + 1]
        if sign == SLASH:
            stop = sought(data, at + 2, GT)
            if depth == 0 or stop >= size:
                return REFUSED
            depth -= 1
            element = stack[depth, 0]
            if nodes[element, TAG] != value_of(tags, data, at + 2, stop):
                return REFUSED
            nodes[element, NEXT] = count
            at = stop + 1
            if depth == 0:
                return count if at == size else REFUSED
            continue
        if sign == BANG:
            at = _comment_end(data, at, size)
            if at < 0:
                return REFUSED
            continue
        if sign == QUESTION:
            at = sought(data, at, GT) + 1
            continue
        name = at + 1
        stop = name
        while data[stop] != 32 and data[stop] != GT:
            stop += 1
        tag = value_of(tags, data, name, stop)
        flags, end = _attributes(data, stop, size, room)
        if end < 0 or who(tag) == PLAINTEXT:
            return REFUSED
        parent = stack[depth - 1, 0] if depth else NONE
        element = count
        _add(nodes, count, tag, stop, end, parent, flags)
        count += 1
        at = end + 1
        if tag & PARTING_TAG or flags & HIDES:
            _part(nodes, parent)
        if tag & VOID_TAG:
            continue
        if tag & RAW_TAG:
            end = _raw_end(data, at, size, name, stop - name)
            if end < 0:
                return REFUSED
            if end > at:
                _add(nodes, count, NONE, at, end, element, ZERO + RAW)
                count += 1
            nodes[element, NEXT] = count
            at = end + 3 + stop - name
            continue
        if depth >= stack.shape[0]:
            return REFUSED
        stack[depth, 0] = element
        depth += 1
    return REFUSED
