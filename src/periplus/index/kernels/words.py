"""Words: where they begin and end in UTF-8, by the rules of ``analysis.words``, many texts in one call.

``classes`` holds one byte of the bits below for every code point (``analysis.classes`` makes it). Texts come in NFKC.
The rules are those of the patterns in ``analysis.words``, which tests compare with this word for word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.spellings import TABLE, number_of
from periplus.index.kernels.types import I64, M_I64, M_U32, R_I64, R_U8, R_U32, signature

WORD = 1  # \w
PLAIN = 2  # \w, or a mark
DIGIT = 4  # \d
UNSPACED = 8  # a letter of a script without spaces
SPACED = 16  # what makes words beside letters of scripts without spaces
IN_RUN = 32  # goes on with a run that an unspaced letter began
WITH_LETTER = 64  # belongs to the unspaced letter before it
BREAK = 128  # an ASCII character that is in no word and joins none
LAST_ASCII = 127
APOSTROPHE = 0x2019


@helper
def decoded(data: Any, at: Any) -> Any:
    """(code point, offset of the next) of well-formed UTF-8."""
    byte = np.int64(data[at])
    if byte <= LAST_ASCII:
        return byte, at + 1
    if byte < 0xE0:
        return ((byte & 31) << 6) | (np.int64(data[at + 1]) & 63), at + 2
    if byte < 0xF0:
        return ((byte & 15) << 12) | ((np.int64(data[at + 1]) & 63) << 6) | (np.int64(data[at + 2]) & 63), at + 3
    high = ((byte & 7) << 18) | ((np.int64(data[at + 1]) & 63) << 12)
    return high | ((np.int64(data[at + 2]) & 63) << 6) | (np.int64(data[at + 3]) & 63), at + 4


@helper
def _run_end(data: Any, at: Any, end: Any, classes: Any, bit: Any) -> Any:
    """Where a run of characters of a class ends; ``at`` itself when it does not begin there."""
    while at < end:
        if data[at] <= LAST_ASCII:
            if not classes[data[at]] & bit:
                return at
            at += 1
        else:
            point, after = decoded(data, at)
            if not classes[point] & bit:
                return at
            at = after
    return at


@helper
def _has_class(data: Any, at: Any, end: Any, classes: Any, bit: Any) -> Any:
    if at >= end:
        return False
    point, _ = decoded(data, at)
    return classes[point] & bit != 0


@helper
def _is_letter(byte: Any) -> Any:
    return 97 <= (byte | 32) <= 122


@helper
def _signed_name_end(data: Any, at: Any, end: Any, classes: Any) -> Any:
    """``C++``, ``C#``, ``f#4``: one or two letters, their sign, up to two digits; ``at`` when there is none."""
    stop = at + 1
    if stop < end and _is_letter(data[stop]):
        stop += 1
    if stop < end and data[stop] == 35:  # the sharp
        stop += 1
    elif stop + 1 < end and data[stop] == 43 and data[stop + 1] == 43:
        stop += 2
    else:
        return at
    for _ in range(2):
        if _has_class(data, stop, end, classes, DIGIT):
            _, stop = decoded(data, stop)
    return at if _has_class(data, stop, end, classes, WORD) else stop


@helper
def _three_digits_end(data: Any, at: Any, end: Any, classes: Any) -> Any:
    """Behind three digits at ``at``; -1 when there are fewer."""
    for _ in range(3):
        if not _has_class(data, at, end, classes, DIGIT):
            return -1
        _, at = decoded(data, at)
    return at


@helper
def _grouped_digits_end(data: Any, at: Any, end: Any, classes: Any) -> Any:
    """``1,000,000``; ``at`` when there is none."""
    stop = at
    for _ in range(3):
        if _has_class(data, stop, end, classes, DIGIT):
            _, stop = decoded(data, stop)
    groups = 0
    while stop < end and data[stop] == 44:
        after = _three_digits_end(data, stop + 1, end, classes)
        if after < 0:
            break
        stop = after
        groups += 1
    if groups == 0 or (stop < end and data[stop] == 44) or _has_class(data, stop, end, classes, DIGIT):
        return at
    return stop


@helper
def _joint_end(data: Any, at: Any, end: Any) -> Any:
    """Behind one sign that joins words (``.``, ``&``, apostrophes); ``at`` when there is none."""
    if at >= end:
        return at
    if data[at] == 46 or data[at] == 38 or data[at] == 39:
        return at + 1
    if data[at] == 0xE2 and data[at + 1] == 0x80 and data[at + 2] == 0x99:
        return at + 3
    return at


@helper
def _mail_end(data: Any, at: Any, end: Any, classes: Any, bit: Any) -> Any:
    """``@example.org`` after a name; ``at`` when there is none."""
    stop = _run_end(data, at + 1, end, classes, bit)
    if stop == at + 1:
        return at
    found = at
    while stop < end and (data[stop] == 46 or data[stop] == 45):
        after = _run_end(data, stop + 1, end, classes, bit)
        if after == stop + 1:
            break
        stop = after
        found = stop
    return found


@helper
def _joined_end(data: Any, at: Any, end: Any, classes: Any, bit: Any, is_bound: Any) -> Any:
    """A word with an optional sign before it, joined words, and an optional mail host; ``at`` when there is none."""
    stop = at
    if data[at] == 35 or data[at] == 64 or data[at] == 46:
        if is_bound:
            return at
        stop = at + 1
    begin = stop
    stop = _run_end(data, begin, end, classes, bit)
    if stop == begin:
        return at
    while True:
        joint = _joint_end(data, stop, end)
        after = _run_end(data, joint, end, classes, bit) if joint > stop else joint
        if after == joint:
            break
        stop = after
    if stop < end and data[stop] == 64:
        stop = _mail_end(data, stop, end, classes, bit)
    return stop


@helper
def word_end(data: Any, at: Any, end: Any, classes: Any, bit: Any, is_bound: Any) -> Any:
    """Where the word that begins at ``at`` ends; ``at`` when none does. ``is_bound``: no sign may begin a word here."""
    if data[at] <= LAST_ASCII and _is_letter(data[at]):
        stop = _signed_name_end(data, at, end, classes)
        if stop > at:
            return stop
    elif _has_class(data, at, end, classes, DIGIT):
        stop = _grouped_digits_end(data, at, end, classes)
        if stop > at:
            return stop
    return _joined_end(data, at, end, classes, bit, is_bound)


@helper
def _binds(data: Any, at: Any, classes: Any) -> Any:
    """Whether the character at ``at`` keeps a sign behind it from beginning a word."""
    if data[at] == 46 or data[at] == 38:
        return True
    point, _ = decoded(data, at)
    return classes[point] & WORD != 0


@helper
def _last_character(data: Any, first: Any, last: Any) -> Any:
    last -= 1
    while last > first and data[last] & 0xC0 == 0x80:
        last -= 1
    return last


@helper
def _holds_unspaced(data: Any, at: Any, end: Any, classes: Any) -> Any:
    while at < end:
        if data[at] <= LAST_ASCII:
            at += 1
        else:
            point, at = decoded(data, at)
            if classes[point] & UNSPACED:
                return True
    return False


@helper
def letter_end(data: Any, at: Any, end: Any, classes: Any) -> Any:
    _, stop = decoded(data, at)
    return _run_end(data, stop, end, classes, WITH_LETTER)


@helper
def _emit_pairs(
    data: Any,
    first: Any,
    last: Any,
    who: Any,
    classes: Any,
    slots: Any,
    pool: Any,
    start: Any,
    owner: Any,
    count: Any,
    stream: Any,
    at: Any,
) -> Any:
    """Overlapping pairs of the letters of an unspaced run, then its last letter alone."""
    stop = letter_end(data, first, last, classes)
    while stop < last:
        pair_end = letter_end(data, stop, last, classes)
        stream[at] = number_of(data, first, pair_end, who, slots, pool, start, owner, count)
        at += 1
        first, stop = stop, pair_end
    stream[at] = number_of(data, first, last, who, slots, pool, start, owner, count)
    return at + 1


@helper
def _emit_mixed(
    data: Any,
    first: Any,
    last: Any,
    who: Any,
    classes: Any,
    slots: Any,
    pool: Any,
    start: Any,
    owner: Any,
    count: Any,
    stream: Any,
    at: Any,
) -> Any:
    """A word that holds letters of scripts without spaces: their runs are parted from what they touch."""
    is_bound = False
    while first < last:
        point, after = decoded(data, first)
        if classes[point] & UNSPACED:
            stop = _run_end(data, after, last, classes, IN_RUN)
            at = _emit_pairs(data, first, stop, who, classes, slots, pool, start, owner, count, stream, at)
        else:
            stop = word_end(data, first, last, classes, SPACED, is_bound)
            if stop > first:
                stream[at] = number_of(data, first, stop, who, slots, pool, start, owner, count)
                at += 1
        if stop == first:
            stop = after
        is_bound = _binds(data, _last_character(data, first, stop), classes)
        first = stop
    return at


@kernel(signature(I64, R_U8, R_I64, R_U32, I64, R_U8, *TABLE, M_U32, M_U32, M_I64))
def tokenize(
    data: Any,
    piece_start: Any,
    piece_owner: Any,
    first_piece: Any,
    classes: Any,
    slots: Any,
    pool: Any,
    start: Any,
    owner: Any,
    count: Any,
    stream: Any,
    words: Any,
    state: Any,
) -> Any:
    """Numbers of the words of many texts, into ``stream``; how many each has, into ``words``.

    When a table may overflow, the text reached so far is returned; called again with it, the kernel goes on where it
    stood. ``state``: words in ``stream``, offset in the text, whether a sign may not begin a word there, room wanted.
    """
    at = state[0]
    mask = np.uint64(len(slots) - 1)
    seed = np.uint64(0xCBF29CE484222325)
    for piece in range(first_piece, len(words)):
        end = piece_start[piece + 1]
        place = max(state[1], piece_start[piece])
        is_bound = state[2] != 0
        who = piece_owner[piece]
        before = at
        while place < end:
            byte = data[place]
            may_begin = not is_bound and (byte == 35 or byte == 46 or byte == 64)  # a sign before a word
            if byte <= LAST_ASCII and not classes[byte] & PLAIN and not may_begin:
                is_bound = byte == 46 or byte == 38
                place += 1
                continue
            # Nearly all words are ASCII: these are looked up here, without a call (numba counts references to every
            # array at every call).
            value = seed ^ np.uint64(who)
            stop = place
            is_whole = False
            while True:
                while stop < end and data[stop] <= LAST_ASCII and classes[data[stop]] & PLAIN:
                    value = (value ^ np.uint64(data[stop])) * np.uint64(0x100000001B3)
                    stop += 1
                if stop == end or (data[stop] <= LAST_ASCII and classes[data[stop]] & BREAK != 0):
                    is_whole = True
                    break
                if data[stop] == 44:
                    is_whole = byte > 57  # after digits a comma may go on with the number
                    break
                if data[stop] != 46 and data[stop] != 38 and data[stop] != 39:
                    break
                if stop + 1 == end or (data[stop + 1] <= LAST_ASCII and not classes[data[stop + 1]] & PLAIN):
                    is_whole = True
                    break
                if data[stop + 1] > LAST_ASCII:
                    break
                value = (value ^ np.uint64(data[stop])) * np.uint64(0x100000001B3)
                stop += 1
            if is_whole and stop > place and byte != 46:
                value ^= value >> np.uint64(29)
                value *= np.uint64(0x9E3779B97F4A7C15)
                size = stop - place
                probe = value & mask
                is_known = False
                while slots[probe] != np.uint64(0) and at < len(stream):
                    if slots[probe] >> np.uint64(32) == value >> np.uint64(32):
                        number = np.int64(slots[probe] & np.uint64(0xFFFFFFFF)) - 1
                        begin = start[number]
                        if start[number + 1] - begin == size and owner[number] == who:
                            is_known = True
                            for byte_at in range(size):
                                is_known &= pool[begin + byte_at] == data[place + byte_at]
                            if is_known:
                                break
                    probe = (probe + np.uint64(1)) & mask
                if is_known:
                    stream[at] = number
                    at += 1
                    is_bound = True
                    place = stop
                    continue
            stop = word_end(data, place, end, classes, PLAIN, is_bound)
            if stop == place:
                _, stop = decoded(data, place)
                is_bound = _binds(data, place, classes)
                place = stop
                continue
            size = stop - place
            room = min(len(owner) - count[0], len(slots) // 2 - count[0], len(stream) - at)
            if room < size or len(pool) - start[count[0]] < 2 * size:
                words[piece] += at - before
                state[0], state[1], state[2], state[3] = at, place, is_bound, size
                return piece
            if _holds_unspaced(data, place, stop, classes):
                at = _emit_mixed(data, place, stop, who, classes, slots, pool, start, owner, count, stream, at)
            else:
                stream[at] = number_of(data, place, stop, who, slots, pool, start, owner, count)
                at += 1
            is_bound = _binds(data, _last_character(data, place, stop), classes)
            place = stop
        words[piece] += at - before
        state[1], state[2] = 0, 0
    state[0] = at
    return len(words)
