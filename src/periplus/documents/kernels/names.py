"""Short names in tables: tags, roles and the words of class names, each a number by its first sixteen bytes.

A table is an array of slots of three numbers: two for the name, and its value, which is never 0. ``html.tables``
makes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.documents.kernels.characters import (
    AMPERSAND,
    ASCII,
    copied,
    is_space,
    point,
    put_reference,
    sought,
    width,
)
from periplus.documents.kernels.typed import NONE, ZERO

SLOTS_BITS = 9
SLOT = 3
LONGEST = 16
FACTOR_1 = np.uint64(0x9E3779B97F4A7C15)
FACTOR_2 = np.uint64(0xD6E8FEB86659FD93)
SHIFT = np.uint64(64 - SLOTS_BITS)
NOTHING = np.uint64(0)

NAME_CHARS = 400  # zones.NAME_CHARS
MOST_CHARS = np.int64(NAME_CHARS)
FIVE, SIX, TWELVE, THIRTEEN, SIXTEEN = np.int64(5), np.int64(6), np.int64(12), np.int64(13), np.int64(16)
# What a word of a class name says (``html.tables`` sets these bits).
CONTENT_WORD, NAVIGATION_WORD, SOFT_WORD, FOOTER_WORD, ASIDE_WORD, TEXT_WORD = 1, 2, 4, 8, 16, 32
NAVIGATION_END = 64
# zones.CONTENT and the zones that names hint at
CONTENT, HINTED_NAVIGATION, HINTED_FOOTER, HINTED_ASIDE = 0, 4, 5, 6


@bare_helper
def packed(data: Any, start: Any, end: Any) -> Any:
    """The two numbers of a name of at most sixteen bytes."""
    first, second = NOTHING, NOTHING
    for at in range(start, min(end, start + 8)):
        first |= np.uint64(data[at]) << np.uint64(8 * (at - start))
    for at in range(start + 8, end):
        second |= np.uint64(data[at]) << np.uint64(8 * (at - start - 8))
    return first, second


@bare_helper
def found(table: Any, first: Any, second: Any) -> Any:
    """The value of a name; 0 where it is not in the table."""
    slot = np.int64((first * FACTOR_1 ^ second * FACTOR_2) >> SHIFT)
    while True:
        at = SLOT * slot
        if table[at + 2] == NOTHING:
            return np.int64(0)
        if table[at] == first and table[at + 1] == second:
            return np.int64(table[at + 2])
        slot = (slot + 1) & ((1 << SLOTS_BITS) - 1)


@bare_helper
def value_of(table: Any, data: Any, start: Any, end: Any) -> Any:
    if end - start > LONGEST:
        return np.int64(0)
    first, second = packed(data, start, end)
    return found(table, first, second)


@bare_helper
def attribute(data: Any, at: Any, first: Any, second: Any) -> Any:
    """Where the value of the attribute with that name begins and ends in the tag whose name ends at ``at``."""
    while data[at] == 32:
        name = at + 1
        stop = sought(data, name + 1, 61)
        end = sought(data, stop + 2, 34)
        if stop - name <= LONGEST:
            one, two = packed(data, name, stop)
            if one == first and two == second:
                return stop + 2, end
        at = end + 1
    return NONE, NONE


@bare_helper
def shortened(data: Any, start: Any, end: Any, out: Any, to: Any, left: Any) -> Any:
    """Copy at most ``left`` characters of an attribute's value; (where the copy ends, how many more fit)."""
    at = start
    while at < end and left > 0:
        if data[at] == AMPERSAND:
            at, to = put_reference(data, at, out, to)
        else:
            step = width(data[at])
            to = copied(data, at, at + step, out, to)
            at += step
        left -= 1
    return to, left


# Styles


def _number(text: bytes) -> Any:
    return np.uint64(int.from_bytes(text, "little"))


NOT_DISPLAYED = _number(b"display:"), _number(b"none")
INVISIBLE = _number(b"visibili"), _number(b"ty:hidde")  # and an n
LEFT = _number(b"left:-")
TOP = _number(b"top:-")
INDENT = _number(b"text-ind"), _number(b"ent:-")
MARGIN = _number(b"margin-l"), _number(b"eft:-")


@bare_helper
def _has_at(data: Any, at: Any, end: Any, size: Any, first: Any, second: Any) -> Any:
    if at + size > end:
        return False
    one, two = packed(data, at, at + size)
    return one == first and two == second


@bare_helper
def _digits(data: Any, at: Any, end: Any) -> Any:
    """1 for three digits, 0 for none such, -1 where one is not of ASCII."""
    for place in range(3):
        if at + place >= end:
            return ZERO
        if data[at + place] >= ASCII:
            return NONE
        if not 48 <= data[at + place] <= 57:
            return ZERO
    return ZERO + 1


@bare_helper
def _far_away(data: Any, at: Any, end: Any) -> Any:
    if _has_at(data, at, end, SIX, LEFT, NOTHING):
        return _digits(data, at + SIX, end)
    if _has_at(data, at, end, FIVE, TOP, NOTHING):
        return _digits(data, at + FIVE, end)
    if _has_at(data, at, end, THIRTEEN, INDENT[0], INDENT[1]):
        return _digits(data, at + THIRTEEN, end)
    if _has_at(data, at, end, THIRTEEN, MARGIN[0], MARGIN[1]):
        return _digits(data, at + THIRTEEN, end)
    return ZERO


@bare_helper
def style_hides(data: Any, start: Any, end: Any, room: Any) -> Any:
    """``zones.hides``: 1 or 0; -1 where the kernel cannot say."""
    stop, _ = shortened(data, start, end, room, ZERO, MOST_CHARS)
    size = ZERO
    for at in range(stop):
        byte = room[at]
        if byte != 32:
            room[size] = byte | 32 if 65 <= byte <= 90 else byte
            size += 1
    for at in range(size):
        byte = room[at]
        if byte == 100 and _has_at(room, at, size, TWELVE, NOT_DISPLAYED[0], NOT_DISPLAYED[1]):
            return ZERO + 1
        if byte == 118 and _has_at(room, at, size - 1, SIXTEEN, INVISIBLE[0], INVISIBLE[1]) and room[at + 16] == 110:
            return ZERO + 1
    for at in range(size):
        if at == 0 or room[at - 1] == 59:
            far = _far_away(room, at, size)
            if far:
                return far
    return ZERO


# Class names


@bare_helper
def _is_lower(byte: Any) -> Any:
    return 97 <= byte <= 122


@bare_helper
def _is_upper(byte: Any) -> Any:
    return 65 <= byte <= 90


@bare_helper
def _word_end(data: Any, at: Any, end: Any) -> Any:
    """Where the word that begins at ``at`` ends; ``at`` itself where none does (``zones._WORD``)."""
    stop = at
    if _is_lower(data[at]) or (at + 1 < end and _is_upper(data[at]) and _is_lower(data[at + 1])):
        stop = at + 1
        while stop < end and _is_lower(data[stop]):
            stop += 1
        return stop
    while stop < end and _is_upper(data[stop]):
        stop += 1
    if stop < end and stop > at and _is_lower(data[stop]):
        stop -= 1
    return stop


@bare_helper
def _said(data: Any, start: Any, end: Any, words: Any) -> Any:
    """What one word says; it becomes lower case in place."""
    for at in range(start, end):
        data[at] |= 32
    value = value_of(words, data, start, end)
    if value & SOFT_WORD:
        return value
    if end - start >= 3 and data[end - 3] == 110 and data[end - 2] == 97 and data[end - 1] == 118:
        return value | NAVIGATION_END
    is_long = end - start >= 4
    if is_long and data[end - 4] == 109 and data[end - 3] == 101 and data[end - 2] == 110 and data[end - 1] == 117:
        return value | NAVIGATION_END
    return value


@bare_helper
def _hinted(said: Any, in_text: Any) -> Any:
    """The zone that one name hints at, by what its words say."""
    if said & CONTENT_WORD:
        return ZERO + CONTENT
    if said & (NAVIGATION_WORD | NAVIGATION_END) or (not in_text and said & SOFT_WORD):
        return ZERO + HINTED_NAVIGATION
    if said & FOOTER_WORD:
        return ZERO + HINTED_FOOTER
    return ZERO + (HINTED_ASIDE if said & ASIDE_WORD else CONTENT)


@bare_helper
def zone_named(data: Any, size: Any, in_text: Any, words: Any) -> Any:
    """``zones.named`` of the first ``size`` bytes: (zone, whether a part of the text begins)."""
    zone, opens, said, at = ZERO, False, ZERO, ZERO
    while at < size:
        stop = _word_end(data, at, size)
        if stop > at:
            word = _said(data, at, stop, words)
            opens |= word & TEXT_WORD != 0
            said |= word
            at = stop
            continue
        if data[at] <= 32 or data[at] >= ASCII:
            if is_space(point(data, at)):
                if zone == CONTENT:
                    zone = _hinted(said, in_text)
                said = ZERO
            at += width(data[at])
            continue
        at += 1
    if zone == CONTENT:
        zone = _hinted(said, in_text)
    return zone, opens
