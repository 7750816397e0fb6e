"""Where in a page a text stands (``html.pieces.Place``), in one number; and how elements change it.

Zones, marks of main parts and their order of precedence are those of ``html.zones`` and ``html.walk``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.documents.kernels.names import CONTENT, MOST_CHARS, attribute, shortened, value_of, zone_named
from periplus.documents.kernels.nodes import (
    ARTICLE,
    BODY,
    CODE,
    FLAGS,
    HEADER,
    HEADING,
    HIDES,
    LEVEL_SHIFT,
    MAIN,
    ROW,
    SECTION,
    START,
    TAG,
    ZONE_SHIFT,
    kind_of,
    who,
)
from periplus.documents.kernels.typed import ZERO

# Bits of a place
ZONE_BITS = 15
MAIN_SHIFT, HEADING_SHIFT, CODE_BIT, IN_TEXT_BIT, ROW_SHIFT = 4, 6, 1 << 9, 1 << 10, 16
# zones.ASIDE, zones.HIDDEN; hinted zones stand between
ASIDE, HIDDEN, FIRST_HINTED, LAST_HINTED = 3, 8, 4, 6
CONTAINER = 1  # tags.CONTAINER
# A role's value: its zone and one, or that it marks a main part
MAIN_ROLE, ARTICLE_ROLE = 32, 64

CLASS_NAME = np.uint64(int.from_bytes(b"class", "little"))
ID_NAME = np.uint64(int.from_bytes(b"id", "little"))
ROLE_NAME = np.uint64(int.from_bytes(b"role", "little"))
NO_NAME = np.uint64(0)


@bare_helper
def zone_of(place: Any) -> Any:
    return place & ZONE_BITS


@bare_helper
def main_of(place: Any) -> Any:
    return (place >> MAIN_SHIFT) & 3


@bare_helper
def is_hinted(zone: Any) -> Any:
    return FIRST_HINTED <= zone <= LAST_HINTED


@bare_helper
def _in_zone(place: Any, zone: Any) -> Any:
    return (place & ~ZONE_BITS) | zone


@bare_helper
def _in_main(place: Any, is_main: Any) -> Any:
    mark = 2 if is_main else max(main_of(place), 1)
    return (place & ~(3 << MAIN_SHIFT)) | (mark << MAIN_SHIFT)


@bare_helper
def _is_name(data: Any, start: Any, end: Any) -> Any:
    joints = 0
    for at in range(start, end):
        joints += data[at] == 45 or data[at] == 95
    return joints < 2


@bare_helper
def _names(data: Any, at: Any, is_section: Any, room: Any) -> Any:
    """The class names and the id of a tag in ``room``; how many bytes."""
    start, end = attribute(data, at, CLASS_NAME, NO_NAME)
    size, left = shortened(data, start, end, room, ZERO, MOST_CHARS) if start < end else (ZERO, MOST_CHARS)
    start, end = attribute(data, at, ID_NAME, NO_NAME)
    if start < end and not is_section and left > 0 and _is_name(data, start, end):
        if size:
            room[size] = 32
            size += 1
            left -= 1
        size, left = shortened(data, start, end, room, size, left)
    return size


@bare_helper
def _in_container(data: Any, node: Any, tag: Any, place: Any, roles: Any, words: Any, room: Any) -> Any:
    zone = (tag >> ZONE_SHIFT) & ZONE_BITS
    name = who(tag)
    if name == HEADER and main_of(place) == 0:
        zone = ASIDE
    start, end = attribute(data, node[START], ROLE_NAME, NO_NAME)
    if start < end:
        role = value_of(roles, data, start, end)
        if role >= MAIN_ROLE:
            return _in_main(place, role == MAIN_ROLE)
        if role:
            zone = role - 1
    opens = False
    in_text = place & IN_TEXT_BIT != 0
    if zone == CONTENT:
        size = _names(data, node[START], name == SECTION, room)
        if size:
            zone, opens = zone_named(room, size, in_text, words)
    current = zone_of(place)
    if zone != CONTENT and (current == CONTENT or (is_hinted(current) and not is_hinted(zone))):
        return _in_zone(place, zone)
    if not in_text and (opens or name == SECTION):
        return place | IN_TEXT_BIT
    return place


@bare_helper
def place_in(data: Any, node: Any, place: Any, rows: Any, roles: Any, words: Any, room: Any) -> Any:
    """Where the text of a block-level element stands; ``rows`` is the number of table rows with this one."""
    tag = node[TAG]
    name = who(tag)
    if node[FLAGS] & HIDES and name != BODY:
        return _in_zone(place, HIDDEN)
    if kind_of(tag) == CONTAINER:
        return _in_container(data, node, tag, place, roles, words, room)
    if name == ROW:
        return (place & ((1 << ROW_SHIFT) - 1)) | (rows << ROW_SHIFT)
    if name == HEADING:
        return (place & ~(7 << HEADING_SHIFT)) | (((tag >> LEVEL_SHIFT) & 7) << HEADING_SHIFT)
    if name == CODE:
        return place | CODE_BIT
    if name in (MAIN, ARTICLE):
        return _in_main(place, name == MAIN)
    return place
