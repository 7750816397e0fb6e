"""Forms of words, by the rules of ``text.forms``, many words in one call.

Those of ASCII words and of unspaced letters, and of words of letters that a table tells about (``text.letters``).
All other words, and all stems, are left to Python: they are analysed once a spelling and language.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.build.spellings import number_of
from periplus.core.build.word_breaks import decoded, is_digit, letter_end
from periplus.core.compiler import I64, M_I64, M_U32, R_I64, R_U32, bare_helper, kernel, signature
from periplus.core.layout.letter_classes import CASELESS, LETTERS, LOWER, UNSPACED, UPPER
from periplus.core.layout.word_tables import (
    FOREIGN,
    MAX_TERM_BYTES,
    NO_STEM,
    STEM,
    FormsFound,
    SpellingTable,
    WordsAdded,
)

MAX_PARTS = 8


@bare_helper
def _is_upper(byte: Any) -> Any:
    return 65 <= byte <= 90


@bare_helper
def _is_lower(byte: Any) -> Any:
    return 97 <= byte <= 122


@bare_helper
def _is_plain(byte: Any) -> Any:
    return _is_upper(byte) or _is_lower(byte) or is_digit(byte)


@bare_helper
def _is_foreign(pool: Any, first: Any, last: Any) -> Any:
    bits = 0
    for at in range(first, last):
        bits |= pool[at]
    return bits > 127


@bare_helper
def _is_sign(byte: Any) -> Any:
    """One that may stand behind a word and belong to it: ``()[]*&+-/%^|~!=<>``."""
    if byte < 48:  # digits stand between these and those that follow
        return 40 <= byte <= 43 or byte == 33 or byte == 37 or byte == 38 or byte == 45 or byte == 47
    return 60 <= byte <= 62 or byte == 91 or byte == 93 or byte == 94 or byte == 124 or byte == 126


@bare_helper
def _short_name_end(pool: Any, first: Any, last: Any) -> Any:
    """Behind the signs of ``C++`` or ``C++17``; ``first`` for another word."""
    at = first
    while at < last and at < first + 2 and (_is_upper(pool[at]) or _is_lower(pool[at])):
        at += 1
    if at == first or at + 2 > last or pool[at] != 43 or pool[at + 1] != 43:
        return first
    stop = at + 2
    for digit in range(stop, last):
        if not is_digit(pool[digit]):
            return first
    return stop


@bare_helper
def _signless(pool: Any, first: Any, last: Any) -> Any:
    """Where the word begins and ends that stands in the signs of another; the whole of one without any."""
    if pool[first] == 60:
        return first + 1, last - 1
    if _is_plain(pool[last - 1]) and not is_digit(pool[last - 1]) and pool[first] != 38:
        return first, last  # so are most
    stop = _short_name_end(pool, first, last)
    if stop > first:
        return first, stop
    begin = first + 1 if pool[first] == 38 else first
    end = last
    while _is_sign(pool[end - 1]):
        end -= 1
    return begin, end


@bare_helper
def _write_exact(pool: Any, first: Any, last: Any, spelled: Any) -> Any:
    """The exact term of a word, into ``spelled``; its length."""
    size = 0
    for at in range(first, last):
        byte = pool[at]
        if byte != 44 and size < MAX_TERM_BYTES:
            spelled[size] = byte + 32 if _is_upper(byte) else byte
            size += 1
    return size


@bare_helper
def _has_stem(spelled: Any, size: Any) -> Any:
    letters = 0
    for at in range(size):
        if _is_lower(spelled[at]):
            letters += 1
        elif spelled[at] != 39:
            return False
    return letters > 0


@bare_helper
def _is_simple(pool: Any, first: Any, last: Any) -> Any:
    """Letters alone, all small, all capital, or small after a capital."""
    upper = 0
    for at in range(first, last):
        if _is_upper(pool[at]):
            upper += 1
        elif not _is_lower(pool[at]):
            return False
    return upper == 0 or upper == last - first or (upper == 1 and _is_upper(pool[first]))


@bare_helper
def _is_initials(pool: Any, first: Any, last: Any) -> Any:
    """``u.s.a``: single letters, digits or underscores joined by dots."""
    if (last - first) % 2 == 0 or last - first < 3:
        return False
    for at in range(first, last):
        if (at - first) % 2:
            if pool[at] != 46:
                return False
        elif not _is_plain(pool[at]) and pool[at] != 95:
            return False
    return True


@bare_helper
def _is_hump(pool: Any, at: Any, first: Any, last: Any) -> Any:
    """Whether a part of a camel-case name begins at ``at``."""
    if at <= first or not _is_upper(pool[at]):
        return False
    if _is_lower(pool[at - 1]) or is_digit(pool[at - 1]):
        return True
    return _is_upper(pool[at - 1]) and at + 1 < last and _is_lower(pool[at + 1])


@bare_helper
def _add_part(
    pool: Any,
    first: Any,
    last: Any,
    spelled: Any,
    table: Any,
    parts: Any,
    begin: Any,
    end: Any,
) -> Any:
    """Add the term of [first, last) to the parts [begin, end) unless it is too short, a number, or there."""
    if last - first < 2 or end - begin >= MAX_PARTS:
        return end
    digits = 0
    for at in range(first, last):
        digits += is_digit(pool[at])
    if digits == last - first:
        return end
    size = _write_exact(pool, first, last, spelled)
    term = number_of(spelled, 0, size, 0, table)
    for at in range(begin, end):
        if parts[at] == term:
            return end
    parts[end] = term
    return end + 1


@bare_helper
def _add_parts(
    pool: Any,
    first: Any,
    last: Any,
    spelled: Any,
    table: Any,
    parts: Any,
    begin: Any,
) -> Any:
    end = begin
    place = first
    while place < last:
        stop = place
        while stop < last and _is_plain(pool[stop]):
            stop += 1
        if stop - place < last - first:  # a piece between signs counts whole, too
            end = _add_part(pool, place, stop, spelled, table, parts, begin, end)
        hump = place
        for at in range(place, stop + 1):
            if at == stop or _is_hump(pool, at, place, stop):
                end = _add_part(pool, hump, at, spelled, table, parts, begin, end)
                hump = at
        place = stop + 1
    return end


@bare_helper
def _unspaced_letter_end(pool: Any, first: Any, last: Any, classes: Any) -> Any:
    """Where the first letter of one or two unspaced letters ends; -1 for what Python must look at."""
    at = first
    while at < last:
        point, at = decoded(pool, at)
        if not classes[point] & UNSPACED:
            return np.int64(-1)
    return letter_end(pool, first, last, classes)


@bare_helper
def _put(letter: Any, spelled: Any, size: Any) -> Any:
    """Write up to four bytes; how many there are then."""
    while letter:
        spelled[size] = letter & np.uint32(255)
        letter >>= np.uint32(8)
        size += 1
    return size


@bare_helper
def _write_letters(pool: Any, first: Any, last: Any, letters: Any, spelled: Any, folded: Any) -> Any:
    """The exact term and the folded one of a word of letters without parts; their lengths, or -1 for another word."""
    none = np.int64(-1)
    size, folded_size = np.int64(0), np.int64(0)
    lower, upper, caseless = 0, 0, 0
    starts_upper = False
    at = first
    while at < last:
        point, after = decoded(pool, at)
        if point >= LETTERS or max(size, folded_size) + 4 > MAX_TERM_BYTES:
            return none, none
        kind = letters[3 * point + 2]
        if kind == 0:
            return none, none
        lower += kind == LOWER
        upper += kind == UPPER
        caseless += kind == CASELESS
        starts_upper = starts_upper or (at == first and kind == UPPER)
        size = _put(letters[3 * point], spelled, size)
        folded_size = _put(letters[3 * point + 1], folded, folded_size)
        at = after
    if upper == 0 or lower == 0 or (starts_upper and upper == 1 and caseless == 0):
        return size, folded_size
    return none, none


@kernel(signature(I64, WordsAdded, I64, I64, SpellingTable, FormsFound))
def plain_forms(words: Any, low: Any, high: Any, table: Any, found: Any) -> Any:
    """Exact terms and parts of the words [low, high), as far as this knows them; how many parts there are.

    A word with signs around it is one of the parts of the word without them.
    """
    pool, exact, kind, parts, part_start = words.pool, found.exact, found.kind, found.parts, found.part_start
    spelled = np.empty(MAX_TERM_BYTES + 8, np.uint8)  # read in words of eight
    folded = np.empty(MAX_TERM_BYTES + 8, np.uint8)
    end = np.int64(0)
    for word in range(low, high):
        first, last = words.start[word], words.start[word + 1]
        row = word - low
        part_start[row] = end
        if _is_foreign(pool, first, last):
            size, folded_size = _write_letters(pool, first, last, words.letters, spelled, folded)
            if size >= 0:
                exact[row] = number_of(spelled, 0, size, 0, table)
                kind[row] = STEM
                parts[end] = number_of(folded, 0, folded_size, 0, table)
                end += 1
                continue
            letter = _unspaced_letter_end(pool, first, last, words.classes) if last - first <= MAX_TERM_BYTES else -1
            kind[row] = FOREIGN if letter < 0 else NO_STEM
            if letter >= 0:  # these letters have no case, and their terms are as they are written
                exact[row] = number_of(pool, first, last, 0, table)
                if letter < last:
                    parts[end] = number_of(pool, first, letter, 0, table)
                    end += 1
            continue
        begin, stop = _signless(pool, first, last)
        if stop - begin < last - first:
            size = _write_exact(pool, first, last, spelled)
            parts[end] = number_of(spelled, 0, size, 0, table)
            end += 1
        size = _write_exact(pool, begin, stop, spelled)
        exact[row] = number_of(spelled, 0, size, 0, table)
        kind[row] = STEM if _has_stem(spelled, size) else NO_STEM
        if not _is_simple(pool, begin, stop) and not _is_initials(pool, begin, stop):
            end = _add_parts(pool, begin, stop, spelled, table, parts, end)
    part_start[high - low] = end
    return end


@bare_helper
def _add_form(forms: Any, begin: Any, end: Any, term: Any) -> Any:
    for at in range(begin, end):
        if forms[at] == term:
            return end
    forms[end] = term
    return end + 1


@kernel(signature(I64, FormsFound, R_I64, R_I64, R_I64, R_U32, M_U32, I64, M_I64))
def join_forms(
    found: Any,
    stem: Any,
    foreign_begin: Any,
    foreign_end: Any,
    foreign: Any,
    forms: Any,
    end: Any,
    form_start: Any,
) -> Any:
    """All forms of every word one after the other: exact, stem and parts, or those that Python found; none twice."""
    exact, kind, parts, part_start = found.exact, found.kind, found.parts, found.part_start
    strange = 0
    for row in range(len(kind)):
        begin = end
        if kind[row] == FOREIGN:
            for at in range(foreign_begin[strange], foreign_end[strange]):
                end = _add_form(forms, begin, end, foreign[at])
            strange += 1
        else:
            end = _add_form(forms, begin, end, exact[row])
            if stem[row] >= 0:
                end = _add_form(forms, begin, end, np.uint32(stem[row]))
            for at in range(part_start[row], part_start[row + 1]):
                end = _add_form(forms, begin, end, parts[at])
        form_start[row] = end
    return end
