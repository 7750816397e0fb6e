"""The walk over a page's nodes: blocks of text and links, exactly as ``html.walk`` finds them.

Texts since the last block ended stand in ``raw``, those of the link that is open in ``open_text``; blocks in ``texts``
are clean, texts of links in ``words`` are as they stand in the page.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from periplus.core import bare_helper
from periplus.documents.kernels.characters import (
    NEWLINE,
    SPACE,
    cleaned,
    cleaned_lines,
    copied,
    is_blank,
    is_space,
    length,
    point,
    unescaped,
    width,
)
from periplus.documents.kernels.nodes import (
    ANCHOR,
    BREAK,
    FLAGS,
    FRAME,
    HIDES,
    HREF,
    INLINE_KIND,
    MIXED,
    NEXT,
    RAW,
    ROW,
    START,
    TAG,
    TEXT,
    kind_of,
    who,
)
from periplus.documents.kernels.nodes import END as TEXT_END
from periplus.documents.kernels.places import (
    CODE_BIT,
    HEADING_SHIFT,
    HIDDEN,
    IN_TEXT_BIT,
    ROW_SHIFT,
    main_of,
    place_in,
    zone_of,
)
from periplus.documents.kernels.typed import ZERO

APART_KIND = 3  # tags.APART
MOST_LINKS = 20_000  # anchors._LINKS
ENDS_LINE, ENDS_BLOCK, ENDS_ANCHOR = 0, 1, 2  # what ends with an element

# Numbers of the state
(PARTS, RAW_SIZE, LINK_CHARS, OPEN, OPEN_PARTS, OPEN_AT, OPEN_SIZE, BLOCKS, LINKS, ROWS, HIDDEN_CHARS, TEXTS_SIZE,
 WORDS_SIZE, FAULT) = range(14)  # fmt: skip
STATE = 32

# Numbers of a block
B_START, B_END, B_SIZE, B_LINKED, B_ZONE, B_MAIN, B_HEADING, B_ROW, B_IN_TEXT, B_CHOSEN = range(10)
BLOCK = 10
# Numbers of a link; its kind says which names stand in for missing words
L_NODE, L_START, L_END, L_BLOCK, L_ZONE, L_KIND = range(6)
LINK = 6
WITH_WORDS, WITHOUT_WORDS, A_FRAME = 0, 1, 2


class Room(NamedTuple):
    """The arrays of a walk."""

    data: Any
    nodes: Any
    blocks: Any
    links: Any
    raw: Any
    texts: Any
    words: Any
    open_text: Any
    state: Any
    small: Any


@bare_helper
def _grow_raw(room: Any, node: Any) -> Any:
    """Add all text of a node to what stands in ``raw``."""
    size = room.state[RAW_SIZE]
    last = room.nodes[node, NEXT]
    for one in range(node, last):
        if room.nodes[one, TAG] == TEXT:
            size = _text_of(room, one, room.raw, size)
    room.state[RAW_SIZE] = size


@bare_helper
def _text_of(room: Any, node: Any, out: Any, to: Any) -> Any:
    start, end = room.nodes[node, START], room.nodes[node, TEXT_END]
    if room.nodes[node, FLAGS] & RAW:
        return copied(room.data, start, end, out, to)
    return unescaped(room.data, start, end, out, to)


@bare_helper
def _is_sign(text: Any, start: Any, end: Any) -> Any:
    """Whether a link's text is only the sign by which a heading links to itself (``anchors.Anchors.is_sign``)."""
    if end - start > 8 or length(text, start, end) > 2:
        return False
    while start < end and is_space(point(text, start)):
        start += width(text[start])
    while start < end and text[end - 1] <= SPACE and is_space(np.int64(text[end - 1])):
        end -= 1
    if end - start >= 3 and is_space(point(text, end - 3)) and width(text[end - 3]) == 3:
        end -= 3
    elif end - start >= 2 and width(text[end - 2]) == 2 and is_space(point(text, end - 2)):
        end -= 2
    return _is_one_of_signs(text, start, end - start)


@bare_helper
def _is_one_of_signs(text: Any, at: Any, size: Any) -> Any:
    if size == 1:
        return text[at] == 35
    if size == 2:
        return text[at] == 0xC2 and (text[at + 1] == 0xB6 or text[at + 1] == 0xA7)
    if size == 3:
        return text[at] == 0xEF and text[at + 1] == 0x83 and text[at + 2] == 0x81
    if size not in (4, 7):
        return False
    if text[at] != 0xF0 or text[at + 1] != 0x9F or text[at + 2] != 0x94 or text[at + 3] != 0x97:
        return False
    return size == 4 or (text[at + 4] == 0xEF and text[at + 5] == 0xB8 and text[at + 6] == 0x8E)


@bare_helper
def _remove_last(raw: Any, start: Any, end: Any, sign: Any, sign_start: Any, sign_end: Any) -> Any:
    """Take the last occurrence of a sign out of the text; where the text ends then."""
    size = sign_end - sign_start
    at = end - size
    while at >= start:
        place = 0
        while place < size and raw[at + place] == sign[sign_start + place]:
            place += 1
        if place == size:
            return copied(raw, at + size, end, raw, at)
        at -= 1
    return end


# Links


@bare_helper
def _add_link(room: Any, node: Any, start: Any, end: Any, zone: Any, kind: Any) -> Any:
    state = room.state
    link = state[LINKS]
    if link >= MOST_LINKS:
        return False
    if link >= room.links.shape[0]:
        state[FAULT] = 1
        return False
    room.links[link, L_NODE] = node
    room.links[link, L_START] = start
    room.links[link, L_END] = end
    room.links[link, L_BLOCK] = state[BLOCKS]
    room.links[link, L_ZONE] = zone
    room.links[link, L_KIND] = kind
    state[LINKS] = link + 1
    return True


@bare_helper
def _take_link(room: Any, anchor: Any, text_start: Any, zone: Any) -> Any:
    """Note a plain link whose words end ``raw`` from ``text_start`` on, or are a sign to be taken out of it."""
    state = room.state
    start = state[WORDS_SIZE]
    if start + room.nodes[anchor, NEXT] - anchor + _source_size(room, anchor) > room.words.shape[0]:
        state[FAULT] = 1
        return
    end = start
    for one in range(anchor, room.nodes[anchor, NEXT]):
        if room.nodes[one, TAG] == TEXT:
            end = _text_of(room, one, room.words, end)
    if _is_sign(room.words, start, end):
        state[RAW_SIZE] = _remove_last(room.raw, text_start, state[RAW_SIZE], room.words, start, end)
        return
    if not room.nodes[anchor, FLAGS] & HREF:
        return
    kind = ZERO + (WITHOUT_WORDS if is_blank(room.words, start, end) else WITH_WORDS)
    if _add_link(room, anchor, start, end, zone, kind):
        state[WORDS_SIZE] = end
        state[LINK_CHARS] += length(room.words, start, end)


@bare_helper
def _source_size(room: Any, node: Any) -> Any:
    size = 0
    for one in range(node, room.nodes[node, NEXT]):
        if room.nodes[one, TAG] == TEXT:
            size += room.nodes[one, TEXT_END] - room.nodes[one, START]
    return size


@bare_helper
def _take_links_in(room: Any, node: Any, text_start: Any, zone: Any) -> Any:
    for one in range(node + 1, room.nodes[node, NEXT]):
        if room.nodes[one, FLAGS] & HREF and room.nodes[one, TAG] != TEXT and who(room.nodes[one, TAG]) == ANCHOR:
            _take_link(room, one, text_start, zone)


@bare_helper
def _has_links(room: Any, node: Any) -> Any:
    for one in range(node + 1, room.nodes[node, NEXT]):
        if room.nodes[one, FLAGS] & HREF and room.nodes[one, TAG] != TEXT and who(room.nodes[one, TAG]) == ANCHOR:
            return True
    return False


@bare_helper
def _begin_anchor(room: Any, anchor: Any, place: Any) -> Any:
    state = room.state
    _settle_open(room)
    added = room.nodes[anchor, FLAGS] & HREF != 0 and _add_link(
        room, anchor, ZERO, ZERO, zone_of(place), ZERO + WITHOUT_WORDS
    )
    state[OPEN] = state[LINKS] - 1 if added else -1
    state[OPEN_PARTS] = state[PARTS]
    state[OPEN_AT] = state[RAW_SIZE]
    state[OPEN_SIZE] = 0
    return added


@bare_helper
def _settle_open(room: Any) -> Any:
    """Keep the text of the link that is open."""
    state = room.state
    link = state[OPEN]
    if link < 0:
        return
    start = state[WORDS_SIZE]
    if start + state[OPEN_SIZE] > room.words.shape[0]:
        state[FAULT] = 1
        return
    end = copied(room.open_text, ZERO, state[OPEN_SIZE], room.words, start)
    room.links[link, L_START] = start
    room.links[link, L_END] = end
    state[WORDS_SIZE] = end


@bare_helper
def _grow_open(room: Any) -> Any:
    """The link that is open takes its text of this block."""
    state = room.state
    start, end = state[OPEN_AT], state[RAW_SIZE]
    if state[OPEN_SIZE] + end - start + 1 > room.open_text.shape[0]:
        state[FAULT] = 1
        return
    state[OPEN_SIZE] = copied(room.raw, start, end, room.open_text, state[OPEN_SIZE])
    state[LINK_CHARS] += length(room.raw, start, end)


@bare_helper
def _end_anchor(room: Any) -> Any:
    state = room.state
    if state[OPEN] < 0:
        return
    _grow_open(room)
    if _is_sign(room.open_text, ZERO, state[OPEN_SIZE]):
        state[PARTS] = state[OPEN_PARTS]
        state[RAW_SIZE] = state[OPEN_AT]
    _settle_open(room)
    state[OPEN] = -1


# Blocks


@bare_helper
def _end_block(room: Any, place: Any) -> Any:
    state = room.state
    if state[OPEN] >= 0:
        _grow_open(room)
        if state[FAULT]:
            return
        room.open_text[state[OPEN_SIZE]] = SPACE
        state[OPEN_SIZE] += 1
        state[OPEN_PARTS] = 0
        state[OPEN_AT] = 0
    _add_block(room, place)


@bare_helper
def _add_block(room: Any, place: Any) -> Any:
    """Make a block of what stands in ``raw``."""
    state = room.state
    size = state[RAW_SIZE]
    state[PARTS] = 0
    state[RAW_SIZE] = 0
    if is_blank(room.raw, ZERO, size):
        return
    linked = state[LINK_CHARS]
    state[LINK_CHARS] = 0
    start = state[TEXTS_SIZE]
    if start + 4 * size + 1 > room.texts.shape[0] or state[BLOCKS] >= room.blocks.shape[0]:
        state[FAULT] = 1
        return
    if place & CODE_BIT:
        end = cleaned_lines(room.raw, ZERO, size, room.texts, start)
    else:
        end = cleaned(room.raw, ZERO, size, room.texts, start)
    if end == start:
        return
    chars = length(room.texts, start, end)
    if zone_of(place) == HIDDEN:
        state[HIDDEN_CHARS] += chars
        return
    state[TEXTS_SIZE] = end
    block = room.blocks[state[BLOCKS]]
    block[B_START] = start
    block[B_END] = end
    block[B_SIZE] = chars
    block[B_LINKED] = min(linked, chars)
    block[B_ZONE] = zone_of(place)
    block[B_MAIN] = main_of(place)
    block[B_HEADING] = (place >> HEADING_SHIFT) & 7
    block[B_ROW] = place >> ROW_SHIFT
    block[B_IN_TEXT] = place & IN_TEXT_BIT != 0
    state[BLOCKS] += 1


@bare_helper
def _stripped_length(text: Any, start: Any, end: Any) -> Any:
    """Characters between the first and the last that are not white space."""
    first, last, at = ZERO - 1, ZERO - 1, start
    count = ZERO
    while at < end:
        if not is_space(point(text, at)):
            if first < 0:
                first = count
            last = count
        count += 1
        at += width(text[at])
    return last - first + 1 if first >= 0 else 0


# The walk


@bare_helper
def _place_of(room: Any, node: Any, place: Any, roles: Any, words: Any) -> Any:
    if who(room.nodes[node, TAG]) == ROW and not room.nodes[node, FLAGS] & HIDES:
        room.state[ROWS] += 1
    return place_in(room.data, room.nodes[node], place, room.state[ROWS], roles, words, room.small)


@bare_helper
def _take_plain_block(room: Any, node: Any, place: Any, roles: Any, words: Any) -> Any:
    state = room.state
    _grow_raw(room, node)
    size = state[RAW_SIZE]
    has_links = _has_links(room, node)
    if not has_links and is_blank(room.raw, ZERO, size):
        state[RAW_SIZE] = 0
        return
    place = _place_of(room, node, place, roles, words)
    if state[OPEN] >= 0:
        if size:
            _end_block(room, place)
        return
    if has_links:
        _take_links_in(room, node, ZERO, zone_of(place))
    _add_block(room, place)


@bare_helper
def _take_plain_inline(room: Any, node: Any, place: Any) -> Any:
    state = room.state
    start = state[RAW_SIZE]
    _grow_raw(room, node)
    if who(room.nodes[node, TAG]) == ANCHOR:
        _take_link(room, node, start, zone_of(place))
    elif state[OPEN] < 0:
        _take_links_in(room, node, start, zone_of(place))
    state[PARTS] += 1


@bare_helper
def _take_text(room: Any, node: Any, place: Any) -> Any:
    state = room.state
    size = _text_of(room, node, room.raw, state[RAW_SIZE])
    if state[PARTS] or place & CODE_BIT or not is_blank(room.raw, state[RAW_SIZE], size):
        state[PARTS] += 1
        state[RAW_SIZE] = size


@bare_helper
def _take_apart(room: Any, node: Any, place: Any) -> Any:
    state = room.state
    name = who(room.nodes[node, TAG])
    if name == FRAME:
        _add_link(room, node, ZERO, ZERO, zone_of(place), ZERO + A_FRAME)
    elif name == BREAK or state[PARTS]:
        room.raw[state[RAW_SIZE]] = NEWLINE if name == BREAK and place & CODE_BIT else SPACE
        state[RAW_SIZE] += 1
        state[PARTS] += 1


@bare_helper
def _hide(room: Any, node: Any) -> Any:
    state = room.state
    before = state[RAW_SIZE]
    _grow_raw(room, node)
    state[HIDDEN_CHARS] += _stripped_length(room.raw, before, state[RAW_SIZE])
    state[RAW_SIZE] = before


@bare_helper
def _leave(room: Any, place: Any, ends: Any) -> Any:
    if ends == ENDS_BLOCK:
        if room.state[PARTS]:
            _end_block(room, place)
    elif ends == ENDS_ANCHOR:
        _end_anchor(room)


@bare_helper
def walked(room: Any, stack: Any, roles: Any, words: Any) -> Any:
    """Walk over all nodes; ``stack`` has an end, a place and what ends with it for each element that is open."""
    nodes, state = room.nodes, room.state
    stack[0, 0] = nodes[0, NEXT]
    stack[0, 1] = 0
    stack[0, 2] = ENDS_BLOCK
    depth, node = ZERO, ZERO + 1
    while depth >= 0 and state[FAULT] == 0:
        place = stack[depth, 1]
        if node >= stack[depth, 0]:
            _leave(room, place, stack[depth, 2])
            depth -= 1
            continue
        tag, flags, after = nodes[node, TAG], nodes[node, FLAGS], nodes[node, NEXT]
        if tag == TEXT:
            _take_text(room, node, place)
            node = after
            continue
        kind = kind_of(tag)
        if kind == APART_KIND:
            _take_apart(room, node, place)
            node = after
            continue
        ends = ZERO + ENDS_BLOCK
        if kind == INLINE_KIND:
            if flags & HIDES:
                _hide(room, node)
                node = after
                continue
            if not flags & MIXED:
                _take_plain_inline(room, node, place)
                node = after
                continue
            ends = ZERO + ENDS_LINE
            if who(tag) == ANCHOR and _begin_anchor(room, node, place):
                ends = ZERO + ENDS_ANCHOR
        else:
            if state[PARTS]:
                _end_block(room, place)
            if not flags & MIXED:
                _take_plain_block(room, node, place, roles, words)
                node = after
                continue
            place = _place_of(room, node, place, roles, words)
        depth += 1
        stack[depth, 0] = after
        stack[depth, 1] = place
        stack[depth, 2] = ends
        node += 1
    _end_anchor(room)
    _end_block(room, ZERO)
