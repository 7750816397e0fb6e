"""Words: where they begin and end in UTF-8, by the rules of ``text.words``.

``classes`` holds the bits of ``layout.letter_classes`` for every code point. Texts come in NFKC.
The rules are those of the patterns in ``text.words``, which tests compare with ``core.build.tokens`` word for word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.letter_classes import DIGIT, UNSPACED, WITH_LETTER, WORD

LAST_ASCII = 127
AMPERSAND, STAR, PLUS, LESS = 38, 42, 43, 60


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
def run_end(data: Any, at: Any, end: Any, classes: Any, bit: Any) -> Any:
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
    stop = run_end(data, at + 1, end, classes, bit)
    if stop == at + 1:
        return at
    found = at
    while stop < end and (data[stop] == 46 or data[stop] == 45):
        after = run_end(data, stop + 1, end, classes, bit)
        if after == stop + 1:
            break
        stop = after
        found = stop
    return found


@bare_helper
def _joined_end(data: Any, at: Any, end: Any, classes: Any, bit: Any, is_bound: Any) -> Any:
    """A word with an optional sign before it, joined words, and an optional mail host; ``at`` when there is none."""
    stop = at
    if data[at] == 35 or data[at] == 64 or data[at] == 46 or data[at] == AMPERSAND:
        if is_bound:
            return at
        stop = at + 1
    begin = stop
    stop = run_end(data, begin, end, classes, bit)
    if stop == begin:
        return at
    while True:
        joint = _joint_end(data, stop, end)
        after = run_end(data, joint, end, classes, bit) if joint > stop else joint
        if after == joint:
            break
        stop = after
    if stop < end and data[stop] == 64:
        return _mail_end(data, stop, end, classes, bit)
    return _signs_end(data, stop, end, classes)


@bare_helper
def _pair_end(data: Any, at: Any, end: Any) -> Any:
    """Behind ``()`` or ``[]``; ``at`` when there is none."""
    if at + 1 >= end:
        return at
    is_call = data[at] == 40 and data[at + 1] == 41
    return at + 2 if is_call or (data[at] == 91 and data[at + 1] == 93) else at


@bare_helper
def _signs_end(data: Any, at: Any, end: Any, classes: Any) -> Any:
    """Behind the signs of ``main()``, ``argv[]``, ``T&``, ``char**``, ``notepad++`` and ``2+2``; ``at`` without any."""
    stop = _pair_end(data, at, end)
    if stop > at or at >= end:
        return stop
    sign = data[at]
    if sign != STAR and sign != AMPERSAND and sign != PLUS:
        return at
    stop = at + 1
    if sign == PLUS and stop < end and is_digit(data[at - 1]) and is_digit(data[stop]):
        return stop
    if stop < end and data[stop] == sign:
        stop += 1
    goes_on = stop < end and (data[stop] == sign or _has_class(data, stop, end, classes, WORD))
    return at if goes_on else stop


@bare_helper
def is_digit(byte: Any) -> Any:
    return 48 <= byte <= 57


@bare_helper
def _is_operator_sign(byte: Any) -> Any:
    """One of ``-+*/%^&|~!=<>``."""
    if byte < 64:
        return 60 <= byte <= 62 or byte == 33 or byte == 37 or byte == 38 or byte == 42 or byte == 43 or _is_dash(byte)
    return byte == 94 or byte == 124 or byte == 126


@bare_helper
def _is_dash(byte: Any) -> Any:
    return byte == 45 or byte == 47


@bare_helper
def _operator_end(data: Any, at: Any, end: Any, classes: Any) -> Any:
    """Behind ``operator<<``, ``operator[]``; ``at`` when there is none."""
    stop = at + 8
    if stop >= end:
        return at
    # The letters of "operator".
    begins = data[at] == 111 and data[at + 1] == 112 and data[at + 2] == 101 and data[at + 3] == 114
    if not (begins and data[at + 4] == 97 and data[at + 5] == 116 and data[at + 6] == 111 and data[at + 7] == 114):
        return at
    pair = _pair_end(data, stop, end)
    if pair > stop:
        return pair
    while stop < end and stop - at < 12 and _is_operator_sign(data[stop]):
        stop += 1
    signs = stop - at - 8
    return stop if 1 <= signs <= 3 and not _has_class(data, stop, end, classes, WORD) else at


@bare_helper
def _bracketed_end(data: Any, at: Any, end: Any, classes: Any, bit: Any) -> Any:
    """Behind ``<vector>``, ``<stdio.h>``; ``at`` when there is none."""
    stop = run_end(data, at + 1, end, classes, bit)
    if stop == at + 1:
        return at
    while stop < end and data[stop] == 46:
        after = run_end(data, stop + 1, end, classes, bit)
        if after == stop + 1:
            return at
        stop = after
    return stop + 1 if stop < end and data[stop] == 62 else at


@bare_helper
def word_end(data: Any, at: Any, end: Any, classes: Any, bit: Any, is_bound: Any) -> Any:
    """Where the word that begins at ``at`` ends; ``at`` when none does. ``is_bound``: no sign may begin a word here."""
    if data[at] <= LAST_ASCII and _is_letter(data[at]):
        stop = _signed_name_end(data, at, end, classes)
        if stop == at:
            stop = _operator_end(data, at, end, classes)
        if stop > at:
            return stop
    elif data[at] == LESS:
        return at if is_bound else _bracketed_end(data, at, end, classes, bit)
    elif _has_class(data, at, end, classes, DIGIT):
        stop = _grouped_digits_end(data, at, end, classes)
        if stop > at:
            return stop
    return _joined_end(data, at, end, classes, bit, is_bound)


@bare_helper
def binds(data: Any, at: Any, classes: Any) -> Any:
    """Whether the character at ``at`` keeps a sign behind it from beginning a word."""
    if data[at] == 46 or data[at] == 38:
        return True
    point, _ = decoded(data, at)
    return classes[point] & WORD != 0


@bare_helper
def last_character(data: Any, first: Any, last: Any) -> Any:
    last -= 1
    while last > first and data[last] & 0xC0 == 0x80:
        last -= 1
    return last


@bare_helper
def holds_unspaced(data: Any, at: Any, end: Any, classes: Any) -> Any:
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
    return run_end(data, stop, end, classes, WITH_LETTER)
