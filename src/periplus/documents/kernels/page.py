"""A page in one call: nodes, walk, main text, and everything written out for Python to take over.

``out`` holds the main text, the boilerplate, headings, links and further names of links, one after the other; of the
last three each piece ends with a zero byte. ``state`` says how long each part is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import I64, M_I64, M_I64_2, M_U8, R_U64, bare_helper, bare_kernel, signature
from periplus.documents.kernels.characters import NEWLINE, SPACE, cleaned, copied, is_blank, unescaped
from periplus.documents.kernels.choosing import choose
from periplus.documents.kernels.names import CONTENT, attribute
from periplus.documents.kernels.nodes import (
    FLAGS,
    HREF_NAME,
    IMAGE,
    NEXT,
    REL_NAME,
    SPECIAL,
    START,
    TAG,
    TITLE_NAME,
    tokenised,
    who,
)
from periplus.documents.kernels.places import NO_NAME, is_hinted
from periplus.documents.kernels.typed import NONE, ZERO
from periplus.documents.kernels.walking import (
    A_FRAME,
    B_CHOSEN,
    B_END,
    B_HEADING,
    B_LINKED,
    B_ROW,
    B_SIZE,
    B_START,
    BLOCKS,
    FAULT,
    HIDDEN_CHARS,
    L_BLOCK,
    L_END,
    L_KIND,
    L_NODE,
    L_START,
    L_ZONE,
    LINKS,
    OPEN,
    WITH_WORDS,
    Room,
    walked,
)

# Numbers of the state that say what was written
MAIN_SIZE, REST_SIZE, HEADINGS_SIZE, LINKS_SIZE, NAMES_SIZE, HEADINGS, NAMES, VISIBLE, LINKED, HIDDEN = range(16, 26)
FOOTER, HINTED_FOOTER = 2, 5  # zones
IN_CONTENT, IN_NAVIGATION, IN_FOOTER = 0, 1, 2  # places of links
RELATION, TITLE, IMAGE_TEXT, LABEL, FRAME_TEXT = 0, 1, 2, 3, 4  # what a further name is

ALT_NAME = np.uint64(int.from_bytes(b"alt", "little"))
SRC_NAME = np.uint64(int.from_bytes(b"src", "little"))
LABEL_NAME_1 = np.uint64(int.from_bytes(b"aria-lab", "little"))
LABEL_NAME_2 = np.uint64(int.from_bytes(b"el", "little"))

DONE, REFUSED, NO_ROOM = 0, 1, 2


@bare_helper
def _joined(room: Any, chosen: Any, out: Any, to: Any) -> Any:
    """Blocks as paragraphs; the cells of one table row become one line."""
    row = -1
    for one in range(room.state[BLOCKS]):
        block = room.blocks[one]
        if block[B_CHOSEN] != chosen:
            continue
        if row >= 0:
            out[to] = SPACE if row and row == block[B_ROW] else NEWLINE
            to += 1
        to = copied(room.texts, block[B_START], block[B_END], out, to)
        row = block[B_ROW]
    return to


@bare_helper
def _headings(room: Any, levels: Any, out: Any, to: Any) -> Any:
    count = 0
    for one in range(room.state[BLOCKS]):
        block = room.blocks[one]
        if block[B_CHOSEN] and block[B_HEADING] and count < levels.shape[0]:
            levels[count] = block[B_HEADING]
            to = copied(room.texts, block[B_START], block[B_END], out, to)
            out[to] = 0
            to += 1
            count += 1
    room.state[HEADINGS] = count
    return to


@bare_helper
def _place_of_link(room: Any, link: Any) -> Any:
    """``html.reader._place``."""
    zone, block = link[L_ZONE], link[L_BLOCK]
    if zone in (FOOTER, HINTED_FOOTER):
        return IN_FOOTER
    is_past = block >= room.state[BLOCKS]
    if zone == CONTENT:
        return IN_CONTENT if is_past or room.blocks[block, B_CHOSEN] else IN_NAVIGATION
    if not is_hinted(zone) or is_blank(room.words, link[L_START], link[L_END]):
        return IN_NAVIGATION
    return IN_CONTENT if not is_past and room.blocks[block, B_CHOSEN] else IN_NAVIGATION


@bare_helper
def _address(room: Any, link: Any) -> Any:
    """Where in the page the address of a link stands."""
    tag_end = room.nodes[link[L_NODE], START]
    if link[L_KIND] == A_FRAME:
        start, end = attribute(room.data, tag_end, SRC_NAME, NO_NAME)
        if start < end:
            return start, end
    return attribute(room.data, tag_end, HREF_NAME, NO_NAME)


@bare_helper
def _links(room: Any, places: Any, out: Any, to: Any) -> Any:
    for one in range(room.state[LINKS]):
        link = room.links[one]
        start, end = _address(room, link)
        if to + end - start + link[L_END] - link[L_START] + 2 > out.shape[0]:
            return NONE
        to = unescaped(room.data, start, end, out, to)
        out[to] = 0
        to = cleaned(room.words, link[L_START], link[L_END], out, to + 1)
        out[to] = 0
        to += 1
        places[one] = _place_of_link(room, link)
    return to


@bare_helper
def _name(room: Any, node: Any, first: Any, second: Any, out: Any, to: Any) -> Any:
    """Write an attribute's value; where it ends, -1 where there is no room, ``to`` where it is missing or empty."""
    start, end = attribute(room.data, room.nodes[node, START], first, second)
    if start >= end:
        return to
    if to + end - start + 1 > out.shape[0]:
        return NONE
    to = unescaped(room.data, start, end, out, to)
    out[to] = 0
    return to + 1


@bare_helper
def _named(room: Any, names: Any, one: Any, kind: Any, before: Any, after: Any) -> Any:
    """Note a further name of a link, where one was written."""
    if after > before:
        count = room.state[NAMES]
        if count >= names.shape[0]:
            return NONE
        names[count, 0] = one
        names[count, 1] = kind
        room.state[NAMES] = count + 1
    return after


@bare_helper
def _image_in(room: Any, anchor: Any) -> Any:
    """The first image below an element that has a text, even an empty one; -1 for none."""
    for node in range(anchor + 1, room.nodes[anchor, NEXT]):
        if room.nodes[node, TAG] > 0 and who(room.nodes[node, TAG]) == IMAGE:
            start, _ = attribute(room.data, room.nodes[node, START], ALT_NAME, NO_NAME)
            if start >= 0:
                return node
    return NONE


@bare_helper
def _names_of(room: Any, names: Any, one: Any, out: Any, to: Any) -> Any:
    link = room.links[one]
    node, kind = link[L_NODE], link[L_KIND]
    if kind == A_FRAME:
        after = _name(room, node, ALT_NAME, NO_NAME, out, to)
        if after == to:
            after = _name(room, node, TITLE_NAME, NO_NAME, out, to)
        return _named(room, names, one, ZERO + FRAME_TEXT, to, after)
    if room.nodes[node, FLAGS] & SPECIAL:
        to = _named(room, names, one, ZERO + RELATION, to, _name(room, node, REL_NAME, NO_NAME, out, to))
        if to >= 0:
            to = _named(room, names, one, ZERO + TITLE, to, _name(room, node, TITLE_NAME, NO_NAME, out, to))
    if kind != WITH_WORDS and to >= 0:
        image = _image_in(room, node)
        if image >= 0:
            to = _named(room, names, one, ZERO + IMAGE_TEXT, to, _name(room, image, ALT_NAME, NO_NAME, out, to))
        if to >= 0:
            to = _named(room, names, one, ZERO + LABEL, to, _name(room, node, LABEL_NAME_1, LABEL_NAME_2, out, to))
    return to


@bare_helper
def _measured(room: Any) -> Any:
    visible, linked = 0, 0
    for one in range(room.state[BLOCKS]):
        visible += room.blocks[one, B_SIZE]
        linked += room.blocks[one, B_LINKED]
    room.state[VISIBLE] = visible
    room.state[LINKED] = linked
    room.state[HIDDEN] = room.state[HIDDEN_CHARS]


@bare_helper
def _written(room: Any, out: Any, levels: Any, places: Any, names: Any) -> Any:
    state = room.state
    main = _joined(room, ZERO + 1, out, ZERO)
    rest = _joined(room, ZERO, out, main)
    headings = _headings(room, levels, out, rest)
    links = _links(room, places, out, headings)
    if links < 0:
        return NO_ROOM
    to = links
    for one in range(state[LINKS]):
        to = _names_of(room, names, one, out, to)
        if to < 0:
            return NO_ROOM
    state[MAIN_SIZE] = main
    state[REST_SIZE] = rest - main
    state[HEADINGS_SIZE] = headings - rest
    state[LINKS_SIZE] = links - headings
    state[NAMES_SIZE] = to - links
    _measured(room)
    return DONE


READ_PAGE = signature(
    "int64",
    *(
        M_U8,
        I64,
        R_U64,
        R_U64,
        R_U64,
        M_I64_2,
        M_I64_2,
        M_I64_2,
        M_I64_2,
        M_U8,
        M_U8,
        M_U8,
        M_U8,
        M_U8,
        M_U8,
        M_U8,
        M_U8,
    ),
    *(M_I64_2, M_I64),
)


@bare_kernel(READ_PAGE)
def read_page(
    data: Any,  # a serialised page, and its tail
    size: int,
    tags: Any,
    roles: Any,
    words_known: Any,
    nodes: Any,
    stack: Any,
    blocks: Any,
    links: Any,
    raw: Any,
    texts: Any,
    words: Any,
    open_text: Any,
    small: Any,
    out: Any,
    levels: Any,
    places: Any,
    names: Any,
    state: Any,
) -> Any:
    """Read a page; ``DONE``, or why it has to be read in another way."""
    state[:] = 0
    state[OPEN] = -1
    if tokenised(data, size, tags, nodes, stack, small) < 0:
        return REFUSED
    room = Room(data, nodes, blocks, links, raw, texts, words, open_text, state, small)
    walked(room, stack, roles, words_known)
    if state[FAULT]:
        return NO_ROOM
    choose(blocks, state[BLOCKS])
    return _written(room, out, levels, places, names)
