"""Words: where they begin and end in UTF-8, by the rules of ``analysis.words``, many texts in one call.

``classes`` holds one byte of the bits below for every code point (``analysis.classes`` makes it). Texts come in NFKC.
The rules are those of the patterns in ``analysis.words``, which tests compare with this word for word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import lowest_of
from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.memory import item, load64
from periplus.index.kernels.spellings import FACTOR, MIXER, SEED, TABLE, are_equal, masked, number_of, tag_of
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


# Every byte of a word of eight at once: the sum of two numbers below 128 does not reach into the next byte.
EACH = np.uint64(0x0101010101010101)
HIGH = np.uint64(0x8080808080808080)
CASE = np.uint64(0x2020202020202020)


@bare_helper
def _between(word: Any, low: Any, high: Any) -> Any:
    """The high bit of every byte (below 128) from ``low`` to ``high``."""
    return (word + EACH * np.uint64(128 - low)) & ~(word + EACH * np.uint64(127 - high))


@bare_helper
def plain_bytes(word: Any) -> Any:
    """How many bytes, from the first on, are ASCII letters, digits or underscores."""
    low = word & ~HIGH
    letters = _between(low | CASE, 97, 122)
    plain = (letters | _between(low, 48, 57) | _between(low, 95, 95)) & ~word & HIGH
    return lowest_of(plain ^ HIGH) >> 3


@bare_helper
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


@bare_helper
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


@bare_helper
def _has_class(data: Any, at: Any, end: Any, classes: Any, bit: Any) -> Any:
    if at >= end:
        return False
    point, _ = decoded(data, at)
    return classes[point] & bit != 0


@bare_helper
def _is_letter(byte: Any) -> Any:
    return 97 <= (byte | 32) <= 122


@bare_helper
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


@bare_helper
def _three_digits_end(data: Any, at: Any, end: Any, classes: Any) -> Any:
    """Behind three digits at ``at``; -1 when there are fewer."""
    for _ in range(3):
        if not _has_class(data, at, end, classes, DIGIT):
            return -1
        _, at = decoded(data, at)
    return at


@bare_helper
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


@bare_helper
def _joint_end(data: Any, at: Any, end: Any) -> Any:
    """Behind one sign that joins words (``.``, ``&``, apostrophes); ``at`` when there is none."""
    if at >= end:
        return at
    if data[at] == 46 or data[at] == 38 or data[at] == 39:
        return at + 1
    if data[at] == 0xE2 and data[at + 1] == 0x80 and data[at + 2] == 0x99:
        return at + 3
    return at


@bare_helper
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


@bare_helper
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


@bare_helper
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


@bare_helper
def _binds(data: Any, at: Any, classes: Any) -> Any:
    """Whether the character at ``at`` keeps a sign behind it from beginning a word."""
    if data[at] == 46 or data[at] == 38:
        return True
    point, _ = decoded(data, at)
    return classes[point] & WORD != 0


@bare_helper
def _last_character(data: Any, first: Any, last: Any) -> Any:
    last -= 1
    while last > first and data[last] & 0xC0 == 0x80:
        last -= 1
    return last


@bare_helper
def _holds_unspaced(data: Any, at: Any, end: Any, classes: Any) -> Any:
    while at < end:
        if data[at] <= LAST_ASCII:
            at += 1
        else:
            point, at = decoded(data, at)
            if classes[point] & UNSPACED:
                return True
    return False


@bare_helper
def letter_end(data: Any, at: Any, end: Any, classes: Any) -> Any:
    _, stop = decoded(data, at)
    return _run_end(data, stop, end, classes, WITH_LETTER)


@bare_helper
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


@bare_helper
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

    Behind each text stands one byte that breaks words, which is not of the text; behind the last one there are eight.
    When a table may overflow, the text reached so far is returned; called again with it, the kernel goes on where it
    stood. ``state``: words in ``stream``, offset in the text, whether a sign may not begin a word there, room wanted.
    """
    at = state[0]
    mask = np.uint64((len(slots) >> 1) - 1)
    kinds = np.zeros(256, np.uint8)  # of single bytes
    kinds[: LAST_ASCII + 1] = classes[: LAST_ASCII + 1] & (PLAIN | BREAK)
    for piece in range(first_piece, len(words)):
        end = piece_start[piece + 1] - 1
        place = max(state[1], piece_start[piece])
        is_bound: Any = state[2] != 0
        who = piece_owner[piece]
        seed = SEED ^ (np.uint64(who) << np.uint64(56))
        before = at
        while place < end:
            byte = np.int64(item(data, place))
            may_begin = not is_bound and (byte == 35 or byte == 46 or byte == 64)  # a sign before a word
            if byte <= LAST_ASCII and not item(kinds, byte) & PLAIN and not may_begin:
                is_bound = byte == 46 or byte == 38
                place += 1
                continue
            if byte > LAST_ASCII:
                point, stop = decoded(data, place)
                if not classes[point] & PLAIN:  # dashes, quotes, bullets
                    is_bound = False
                    place = stop
                    continue
            # Nearly all words are ASCII: these are looked up here, without a call (numba counts references to every
            # array at every call).
            word = load64(data, place)
            stop = place + plain_bytes(word)
            is_whole: Any = False
            while True:
                if stop - place >= 8:
                    while item(kinds, np.int64(item(data, stop))) & PLAIN:
                        stop += 1
                after = np.int64(item(data, stop))
                if item(kinds, after) & BREAK:
                    is_whole = True
                    break
                if after == 44:
                    is_whole = byte > 57  # after digits a comma may go on with the number
                    break
                if after != 46 and after != 38 and after != 39:
                    break
                after = np.int64(item(data, stop + 1))
                if after > LAST_ASCII:
                    break
                if not item(kinds, after) & PLAIN:
                    is_whole = True
                    break
                stop += 1 + plain_bytes(load64(data, stop + 1))
                while item(kinds, np.int64(item(data, stop))) & PLAIN:
                    stop += 1
            if is_whole and stop > place and byte != 46 and at < len(stream):
                size = stop - place
                # number_of, written out, without adding what is new
                value = seed
                left = place
                while stop - left > 8:
                    value = (value ^ load64(data, left)) * FACTOR
                    value ^= value >> np.uint64(32)
                    left += 8
                value = (value ^ (load64(data, left) & masked(stop - left))) * FACTOR
                value ^= value >> np.uint64(32)
                value *= MIXER
                key = word & masked(size) if size <= 8 else value
                tag = tag_of(size, who)
                probe = np.int64((value >> np.uint64(32)) & mask) << 1
                number = np.int64(-1)
                while True:
                    entry = item(slots, probe + 1)
                    if entry == np.uint64(0):
                        break
                    if item(slots, probe) == key and (entry ^ tag) >> np.uint64(32) == np.uint64(0):
                        found = np.int64(entry & np.uint64(0xFFFFFFFF)) - 1
                        if size <= 8:
                            number = found
                            break
                        begin = item(start, found)
                        if item(start, found + 1) - begin == size and are_equal(pool, begin, data, place, size):
                            number = found
                            break
                    probe = np.int64(np.uint64((probe >> 1) + 1) & mask) << 1
                if number >= 0:
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
            room = min(len(owner) - count[0], len(slots) // 4 - count[0], len(stream) - at)
            if room < size or len(pool) - start[count[0]] < 2 * size + 8:
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
