"""Where the words of a query may stand in texts: each place where the letters that their forms begin with stand.

Texts are code points, one behind the other with a line's end behind each. Places with the same letters, in texts of one
language, have one *spelling*: ``search/shards/highlighter.py`` says which words of the query each spelling has, and
``place_matches`` puts them at all its places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, R_I64, R_U32, helper, kernel, signature
from periplus.core.layout.shown_texts import MATCH, PLACE
from periplus.core.machine.bits import first_lanes, lowest_of
from periplus.core.snippets.characters import equal_points, foreign_points, is_space, is_wordly, wordly_points

MAX_STRETCH = 64  # code points analysed behind the beginning of a word
ASCII = 128
FIRST_WIDE, LAST_WIDE, WIDER = 0xFF10, 0xFF5A, 0xFEE0  # digits and letters of full width, behind the usual ones
LANES = 64  # code points that are looked at at once; as many stand behind the last text
FNV_BASIS, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


@helper
def _trails(c: Any) -> Any:
    """A sign behind a word that is no part of it: . , ' & @ - and closing quotes and dots beyond ASCII."""
    if c >= 128:
        return c == 0xBB or c == 0x2019 or c == 0x201D or c == 0x2026
    return c == 46 or c == 44 or c == 39 or c == 38 or c == 64 or c == 45


@helper
def _parts(c: Any, mail: Any) -> Any:
    """What always parts words; a hyphen does so unless it may belong to a mail address."""
    if c >= 128 or is_wordly(c):
        return is_space(c)
    if c == 45:
        return not mail
    return not (c == 46 or c == 44 or c == 39 or c == 38 or c == 64 or c == 43 or c == 35)


@helper
def _stretch_end(text: Any, start: Any, size: Any, end: Any) -> Any:
    """Where that ends which is to be analysed behind a beginning."""
    stop, mail = start + size, False
    while stop < end and stop - start < MAX_STRETCH and not _parts(text[stop], mail):
        mail = mail or text[stop] == 64
        stop += 1
    while stop > start + size and _trails(text[stop - 1]):  # the fewer spellings, the fewer to analyse
        stop -= 1
    return stop


@helper
def _bare(text: Any, i: Any, bare: Any) -> Any:
    """A code point in lower case, of usual width and without accent."""
    c = text[i]
    if FIRST_WIDE <= c <= LAST_WIDE:
        c -= WIDER
    return bare[c] if c < len(bare) else c


@helper
def _is_accent(c: Any) -> Any:
    """A combining mark that stands behind its letter."""
    return 0x300 <= c <= 0x36F


@helper
def _stands(text: Any, i: Any, end: Any, bare: Any, letters: Any, first: Any, behind: Any) -> Any:
    """How many code points letters take at a place of the text, in any case and with any accents; 0 where they do not
    stand there."""
    at, k = i, first
    while k < behind and at < end:
        if _bare(text, at, bare) == letters[k]:
            k += 1
        elif k == first or not _is_accent(text[at]):
            return np.int64(0)
        at += 1
    return at - i if k == behind else np.int64(0)


@helper
def _slots(places: Any) -> Any:
    """A power of two, at least twice as many as places."""
    slots = 16
    while slots < 2 * places:
        slots *= 2
    return slots


@helper
def _hash(text: Any, start: Any, end: Any, tongue: Any) -> Any:
    value = (np.uint64(FNV_BASIS) ^ np.uint64(tongue)) * np.uint64(FNV_PRIME)
    for i in range(start, end):
        value = (value ^ np.uint64(text[i])) * np.uint64(FNV_PRIME)
    return value ^ (value >> np.uint64(32))


@helper
def _is_spelled_so(text: Any, tongues: Any, places: Any, one: Any, other: Any) -> Any:
    """Whether two places have the same letters, in texts of one language."""
    size = places[one + 2] - places[one + 1]
    if size != places[other + 2] - places[other + 1] or tongues[places[one]] != tongues[places[other]]:
        return False
    i = 0
    while i < size and text[places[one + 1] + i] == text[places[other + 1] + i]:
        i += 1
    return i == size


@helper
def _spelling(text: Any, tongues: Any, places: Any, place: Any, table: Any, spellings: Any) -> Any:
    """The spelling of a place; a new one is kept in the table of hashes."""
    row = PLACE * place
    last = np.uint64(len(table) - 1)
    slot = _hash(text, places[row + 1], places[row + 2], tongues[places[row]]) & last
    while table[slot] > 0:
        if _is_spelled_so(text, tongues, places, row, PLACE * spellings[table[slot]]):
            return table[slot] - 1
        slot = (slot + np.uint64(1)) & last
    spellings[0] += 1
    spellings[spellings[0]] = place
    table[slot] = spellings[0]
    return spellings[0] - 1


@helper
def _first_letters(bare: Any, letters: Any, beginnings: Any, firsts: Any) -> Any:
    """The code points of ASCII that a beginning may begin with; how many these are."""
    count = 0
    for c in range(ASCII):
        some = False
        for p in range(0, len(beginnings), 2):
            some |= bare[c] == letters[beginnings[p - 2] if p else 0]
        if some:
            firsts[count] = c
            count += 1
    return count


@helper
def _may_begin(text: Any, at: Any, end: Any, firsts: Any) -> Any:
    """A bit for each of the next 64 code points where a beginning may stand; of letters beyond ASCII it is not told."""
    address = text.ctypes.data + 4 * at
    found = foreign_points(address)
    for place in range(len(firsts)):
        found |= equal_points(address, firsts[place])
    return found & first_lanes(end - at)


@kernel(signature(I64, R_U32, R_I64, R_I64, R_U32, R_U32, R_I64, I64, M_I64, M_I64))
def find_beginnings(
    text: Any,  # of all texts, and some code points more
    ends: Any,  # of each text
    tongues: Any,  # a number for the language of each text
    bare: Any,  # code point -> the same in lower case and without accent
    letters: Any,  # of all beginnings
    beginnings: Any,  # of each, where its letters end, and 1 if it stands only at the start of a word
    most: Any,  # places of one beginning in one text
    places: Any,  # ``PLACE`` numbers of each place that is found
    spellings: Any,  # how many there are, then the first place of each
) -> Any:
    """How many places there are. One beginning a place is enough: another one there has the same stretch behind it."""
    count, begin, found = len(beginnings) // 2, np.int64(0), np.int64(0)
    counts, table = np.empty(count, np.int64), np.zeros(_slots(len(places) // PLACE), np.int64)
    firsts = np.empty(ASCII, np.uint32)
    firsts = firsts[: _first_letters(bare, letters, beginnings, firsts)]
    all_open, spellings[0] = True, 0
    for p in range(count):
        all_open = all_open and beginnings[2 * p + 1] > 0
    for document in range(len(ends)):
        end, before = ends[document], np.uint64(0)  # whether a word goes on from the code points before
        counts[:] = 0
        for at in range(begin, end, LANES):
            chosen = _may_begin(text, at, end, firsts)
            if all_open:
                wordly = wordly_points(text.ctypes.data + 4 * at)
                chosen &= ~((wordly << np.uint64(1)) | before)
                before = wordly >> np.uint64(LANES - 1)
            while chosen != 0:
                i = at + lowest_of(chosen)
                chosen &= chosen - np.uint64(1)
                inside = i > begin and is_wordly(text[i - 1])
                for p in range(count - 1, -1, -1):
                    first, behind = beginnings[2 * p - 2] if p else np.int64(0), beginnings[2 * p]
                    if (inside and beginnings[2 * p + 1]) or counts[p] >= most:
                        continue
                    size = _stands(text, i, end, bare, letters, first, behind)
                    if size > 0:
                        counts[p] += 1
                        row = PLACE * found
                        places[row], places[row + 1] = document, i
                        places[row + 2] = _stretch_end(text, i, size, end)
                        places[row + 3] = _spelling(text, tongues, places, found, table, spellings)
                        found += 1
                        break
        begin = end + 1
    return found


@kernel(signature(I64, R_I64, I64, R_I64, R_I64, M_I64, M_I64))
def place_matches(
    places: Any,  # as they were found
    count: Any,  # of them
    spelled: Any,  # matches of all spellings, counted from where their place begins: ``MATCH`` numbers each
    ends: Any,  # where those of each spelling end
    matches: Any,  # of all texts, by place: ``MATCH`` numbers each
    sizes: Any,  # how many of them each text has
) -> Any:
    """How many matches there are. No two begin at one place: of those that would, the first to come stays."""
    document, first, total = np.int64(-1), np.int64(0), np.int64(0)
    sizes[:] = 0
    for place in range(count):
        row, spelling = PLACE * place, places[PLACE * place + 3]
        if places[row] != document:
            document, first = places[row], total
        for own in range(ends[spelling - 1] if spelling else 0, ends[spelling]):
            start = places[row + 1] + spelled[MATCH * own]
            at = total
            while at > first and matches[MATCH * (at - 1)] > start:
                at -= 1
            if at > first and matches[MATCH * (at - 1)] == start:
                continue
            for moved in range(MATCH * total - 1, MATCH * at - 1, -1):
                matches[moved + MATCH] = matches[moved]
            matches[MATCH * at], matches[MATCH * at + 1] = start, places[row + 1] + spelled[MATCH * own + 1]
            matches[MATCH * at + 2], matches[MATCH * at + 3] = spelled[MATCH * own + 2], spelled[MATCH * own + 3]
            total += 1
            sizes[document] += 1
    return total
