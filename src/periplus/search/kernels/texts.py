"""Where words of a query may stand in texts: all pages of a list in one call, every spelling told apart only once.

Texts come as code points, one after the other with a line's end between them. ``search/hits.py`` says what these loops
do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import lowest_of
from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.memory import item, load64
from periplus.index.kernels.types import I64, M_I64, R_I64, R_U32, signature
from periplus.search.kernels.characters import is_space, is_wordly

MAX_STRETCH = 64  # code points analysed behind the beginning of a word
PLACE, SPELLING = 4, 4  # numbers of a place and of a spelling
ASCII_END, CASE = 127, 32
EIGHT = 8


@bare_helper
def _trails(c: Any) -> Any:
    """A sign behind a word that is no part of it: . , ' & @ - and closing quotes and dots beyond ASCII."""
    if c >= 128:
        return c == 0xBB or c == 0x2019 or c == 0x201D or c == 0x2026
    return c == 46 or c == 44 or c == 39 or c == 38 or c == 64 or c == 45


@bare_helper
def _parts(c: Any, mail: Any) -> Any:
    """What always parts words; a hyphen does so unless it may belong to a mail address."""
    if c >= 128 or is_wordly(c):
        return is_space(c)
    if c == 45:
        return not mail
    return not (c == 46 or c == 44 or c == 39 or c == 38 or c == 64 or c == 43 or c == 35)


@bare_helper
def _is_simple(text: Any, start: Any, end: Any) -> Any:
    """ASCII letters alone, small but for the first, or all of them capitals: case says nothing about such a word."""
    capitals = 0
    for i in range(start, end):
        c = text[i]
        if 65 <= c <= 90:
            capitals += 1
        elif not 97 <= c <= 122:
            return False
    return capitals == 0 or capitals == end - start or (capitals == 1 and text[start] <= 90)


@bare_helper
def _hash(text: Any, start: Any, end: Any, simple: Any, language: Any) -> Any:
    value = np.uint64(14695981039346656037) ^ np.uint64(language)
    for i in range(start, end):
        c = np.uint64(text[i])
        if simple:
            c |= np.uint64(32)
        value = (value ^ c) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@bare_helper
def _same(text: Any, one: Any, other: Any, size: Any, simple: Any) -> Any:
    for k in range(size):
        a, b = text[one + k], text[other + k]
        if a != b and not (simple and (a | 32) == (b | 32)):
            return False
    return True


@bare_helper
def _flag(text: Any, start: Any, size: Any, letters: Any, letter_ends: Any, flags: Any) -> Any:
    """1 for every place whose two letters a beginning may begin with, and for all beyond ASCII, by loops over vectors.

    A letter beyond ASCII may stand for any other; behind the last letter of a text stands the line's end.
    """
    for i in range(size):
        flags[i] = item(text, start + i) > ASCII_END
    case, last = np.uint32(CASE), np.uint32(ASCII_END)
    for p in range(len(letter_ends)):
        begin = letter_ends[p - 1] if p > 0 else 0
        if letters[begin] > last:
            continue
        one = letters[begin] | case
        if letter_ends[p] - begin > 1 and letters[begin + 1] <= last:
            two = letters[begin + 1] | case
            for i in range(size - 1):
                behind = item(text, start + i + 1)
                flags[i] |= ((item(text, start + i) | case) == one) & (((behind | case) == two) | (behind > last))
        else:
            for i in range(size):
                flags[i] |= (item(text, start + i) | case) == one
    for i in range(size, size + EIGHT):
        flags[i] = 0


@bare_helper
def _begins(text: Any, i: Any, end: Any, bare: Any, letters: Any, begin: Any, size: Any) -> Any:
    """Whether the letters stand at a place of the text, in any case and with any accents."""
    if i + size > end:
        return False
    for k in range(size):
        other = text[i + k]
        if other < len(bare):
            other = bare[other]
        if other != letters[begin + k]:
            return False
    return True


@kernel(signature(I64, R_U32, R_I64, R_I64, R_U32, R_U32, R_I64, R_I64, I64, M_I64, M_I64))
def beginnings(
    text: Any,
    ends: Any,  # of each text
    languages: Any,  # of each text: any number that stands for its language
    bare: Any,  # code point -> the same in lower case and without accent
    letters: Any,  # of all beginnings, in that form
    letter_ends: Any,
    opens_word: Any,  # 1: only at the start of a word
    most: Any,  # places of one beginning in one text
    out: Any,  # of each place: text, place, end of the stretch to analyse, its spelling
    spellings: Any,  # of each spelling: text, place, end, whether case says nothing about it
) -> Any:
    """Where the beginnings stand, by place; how many such places and how many spellings (in the upper half)."""
    count = len(letter_ends)
    places = np.zeros(count, np.int64)
    room = 256
    while room < len(spellings) // 2:
        room *= 2
    table = np.full(room, -1, np.int64)
    longest, start = np.int64(0), np.int64(0)
    for document in range(len(ends)):
        longest = max(longest, ends[document] - start)
        start = ends[document] + 1
    flags = np.empty(longest + 2 * EIGHT, np.uint8)
    found, spelled = 0, 0
    start = np.int64(0)
    for document in range(len(ends)):
        end = ends[document]
        places[:] = 0
        _flag(text, start, end - start, letters, letter_ends, flags)
        for eight in range(0, end - start, EIGHT):
            left = load64(flags, eight)
            while left:
                i = start + eight + (lowest_of(left) >> 3)
                left &= left - np.uint64(1)
                inside = i > start and is_wordly(text[i - 1])
                for p in range(count - 1, -1, -1):
                    begin = letter_ends[p - 1] if p > 0 else 0
                    size = letter_ends[p] - begin
                    if (inside and opens_word[p]) or places[p] >= most:
                        continue
                    if not _begins(text, i, end, bare, letters, begin, size):
                        continue
                    if PLACE * (found + 1) > len(out):
                        return found | (spelled << 32)
                    stop = i + size
                    mail = False
                    while stop < end and stop - i < MAX_STRETCH and not _parts(text[stop], mail):
                        mail = mail or text[stop] == 64
                        stop += 1
                    while stop > i + size and _trails(text[stop - 1]):  # the fewer spellings, the fewer to analyse
                        stop -= 1
                    simple = _is_simple(text, i, stop)
                    slot = np.int64(_hash(text, i, stop, simple, languages[document]) & np.uint64(room - 1))
                    while table[slot] >= 0:
                        known = SPELLING * table[slot]
                        if (
                            spellings[known + 2] - spellings[known + 1] == stop - i
                            and spellings[known + 3] == simple
                            and languages[spellings[known]] == languages[document]
                            and _same(text, spellings[known + 1], i, stop - i, simple)
                        ):
                            break
                        slot = (slot + 1) & (room - 1)
                    if table[slot] < 0:
                        table[slot] = spelled
                        known = SPELLING * spelled
                        spellings[known], spellings[known + 1] = document, i
                        spellings[known + 2], spellings[known + 3] = stop, simple
                        spelled += 1
                    place = PLACE * found
                    out[place], out[place + 1], out[place + 2], out[place + 3] = document, i, stop, table[slot]
                    found += 1
                    places[p] += 1
                    break  # another beginning at this place has the same stretch
        start = end + 1
    return found | (spelled << 32)
