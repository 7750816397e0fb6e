"""Candidates for a misspelt word of a usual query: of close ones that which stands beside the query's other words.

``Speller._in_context`` says what is done here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from periplus.index.kernels.calls import FAILED, call_kernel
from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.plain import COUNT_SHIFT
from periplus.index.kernels.plain_steps import ALL_ADMITTED, ALL_REQUIRED, GIVEN
from periplus.index.kernels.tables import at_f64, at_i64, at_u8
from periplus.search.kernels import wording as desks
from periplus.search.kernels.alike import ROW as SHORT_ROW
from periplus.search.kernels.learning import FACTS, LISTED
from periplus.search.kernels.lookups import (
    BESIDE,
    CANDIDATES,
    FIRST_PASS,
    LANGUAGE,
    LIVE,
    LONGEST_TERM,
    MOST_CANDIDATES,
    MOST_TERMS,
    OWN,
    OWN_ROW,
    SEGMENTS,
    SHORT,
    STEMMING,
    TABLE,
    TEXT,
    WORTHS,
    add_term,
    looked_up,
    opened_in,
)
from periplus.search.kernels.stemming import SCRATCH, STEMMED, stem_of
from periplus.search.kernels.usual import BROKEN, ROOM, ROOM_SIZE, UNUSUAL
from periplus.search.kernels.words import MAX_LETTERS

# ``spelling``
CLOSE, MOST_CLOSE, MOST_BESIDE = 2.0, 4, 3
EVERY_MATCH, ENOUGH = 1 << 40, 1_000

NONE = -3  # beside ``UNUSUAL`` and ``BROKEN``


@bare_helper
def why(result: Any) -> Any:
    """What a kernel's result below 0 means here."""
    return np.int64(BROKEN if result == FAILED else UNUSUAL)


@bare_helper
def is_plain(letters: Any, begin: Any, end: Any) -> Any:
    """Whether all of some bytes are small letters."""
    plain = True
    for i in range(begin, end):
        plain &= 97 <= letters[i] <= 122
    return plain


@bare_helper
def documents_of(desk: Any, word: Any) -> Any:
    """Those with a word as it was typed."""
    return desk[desk[desks.OUTPUT] + 1 + desk[desks.ROWS + desks.WORD_ROW * word + desks.BEGIN]]


@bare_helper
def forms_there(desk: Any, word: Any) -> Any:
    """How many forms of a word occur."""
    return desk[desk[desks.OUTPUT] + 1 + desk[desks.FORMS] + FACTS * word]


@bare_helper
def are_same(desk: Any, word: Any, other: Any) -> Any:
    """Whether two words are one word."""
    row, earlier = desks.ROWS + desks.WORD_ROW * word, desks.ROWS + desks.WORD_ROW * other
    return desk[row + desks.HASH] == desk[earlier + desks.HASH]


@bare_helper
def _beside(desk: Any, work: Any, word: Any) -> Any:
    """Lists of the words that one stands among, of those that occur as they were typed; how many, and documents."""
    listed = desk[desks.OUTPUT] + 1 + desk[desks.FORMS] + FACTS * desk[desks.WORDS]
    count, documents, looked_at = np.int64(0), np.int64(0), 0
    for other in range(desk[desks.WORDS]):
        there = forms_there(desk, other)
        if looked_at < MOST_BESIDE and not are_same(desk, other, word):
            looked_at += 1
            for form in range(there if documents_of(desk, other) > 0 else np.int64(0)):
                address, live = desk[listed + LISTED * form + 1], desk[listed + LISTED * form + 2]
                again = False
                for earlier in range(count):
                    again |= work[BESIDE + 2 * earlier] == address
                if not again:
                    work[BESIDE + 2 * count], work[BESIDE + 2 * count + 1] = address, live
                    documents += live
                    count += 1
        listed += LISTED * there
    return count, documents


@bare_helper
def _add_forms(known: Any, work: Any, text: Any, count: Any, row: Any, judge: Any) -> Any:
    """The forms of a word of the dictionary to those to look up; how many there are, -1 when it is not plain."""
    letters = at_u8(known[SHORT] + SHORT_ROW * row, SHORT_ROW)
    size = np.int64(0)
    while size < MAX_LETTERS and letters[size] != 0:
        size += 1
    if not is_plain(letters, 0, size):
        return np.int64(-1)
    scratch_at = work.ctypes.data + 8 * STEMMING
    scratch = at_u8(scratch_at, SCRATCH)
    for i in range(size):
        scratch[i] = letters[i]
    stemmed = stem_of(scratch, scratch_at, size, judge, known[LANGUAGE])
    if stemmed == 0:
        return np.int64(-1)
    count = add_term(work, text, count, letters, np.int64(0), size)
    return add_term(work, text, count, scratch, np.int64(STEMMED), STEMMED + stemmed)


@bare_helper
def _list_candidates(known: Any, work: Any, close: Any, judge: Any) -> Any:
    """Look up all forms of the candidates; -1 when they are not plain or there is no memory for their lists, ``FAILED``
    when a kernel failed."""
    text = at_u8(work.ctypes.data + 8 * TEXT, MOST_TERMS * (LONGEST_TERM + 1))
    count = np.int64(0)
    for one in range(close):
        count = _add_forms(known, work, text, count, work[CANDIDATES + one], judge)
        if count < 0:
            return count
    to = looked_up(known, work, count)
    for form in range(count):
        if to < 0:
            return to
        own = OWN + 2 * form
        work[own], work[own + 1] = 0, work[LIVE + form]
        if work[LIVE + form] > 0:
            work[own] = work.ctypes.data + 8 * to
            to = opened_in(known, work, form, to)
    return to


@bare_helper
def _together(known: Any, memories: Any, work: Any, one: Any, beside: Any) -> Any:
    """Documents with a candidate and a word that it stands among, up to so many that more say nothing; -1 when that
    cannot be said, ``FAILED`` when a kernel failed."""
    query = at_i64(memories[ROOM], GIVEN * (beside + 2) + 3)
    own = np.int64(0)
    for form in range(OWN + OWN_ROW * one, OWN + OWN_ROW * (one + 1), 2):
        if work[form] != 0:
            query[GIVEN * own], query[GIVEN * own + 1], query[GIVEN * own + 2] = 1, work[form], work[form + 1]
            own += 1
    if own == 0 or beside == 0:
        return np.int64(0)
    lists = own + beside
    for other in range(beside):
        at = GIVEN * (own + other)
        query[at], query[at + 1], query[at + 2] = 1, work[BESIDE + 2 * other], work[BESIDE + 2 * other + 1]
    if lists != 2:
        query[GIVEN * lists], query[GIVEN * lists + 1], query[GIVEN * lists + 2] = 0, own, lists
    found = call_kernel(
        known[FIRST_PASS],
        (
            known[TABLE], memories[ROOM], memories[ROOM_SIZE], known[SEGMENTS], lists, np.int64(2),
            np.int64(ALL_ADMITTED | ALL_REQUIRED), np.int64(0), np.int64(1), np.int64(EVERY_MATCH),
        ),
    )  # fmt: skip
    if found < 0:
        return found if found == FAILED else np.int64(-1)
    return min(found >> COUNT_SHIFT, np.int64(ENOUGH))


@bare_helper
def _most_together(known: Any, memories: Any, desk: Any, work: Any, word: Any, close: Any, judge: Any) -> Any:
    """The first of the candidates that are worth most with what they gain by the words they stand among; or why that
    cannot be said."""
    beside, documents = _beside(desk, work, word)
    listed = _list_candidates(known, work, close, judge)
    if listed < 0:
        return why(listed)
    worths = at_f64(work.ctypes.data + 8 * WORTHS, MOST_CANDIDATES)
    best, value = np.int64(0), worths[0]
    for turn in range(1, close + 1):
        one = np.int64(turn if turn < close else 0)  # the first one last, and only when another might be better
        if one == 0 and best == 0:
            break
        own = work[OWN + OWN_ROW * one + 1] + work[OWN + OWN_ROW * one + 3]
        most = worths[one] + math.log1p(float(min(documents, own, np.int64(ENOUGH))))
        if most > value or (one == 0 and most == value):
            together = _together(known, memories, work, one, beside)
            if together < 0:
                return why(together)
            gained = worths[one] + math.log1p(float(together))
            if gained > value or (one == 0 and gained == value):
                best, value = one, gained
    return best


@bare_helper
def best_in_context(known: Any, memories: Any, desk: Any, work: Any, word: Any, count: Any, judge: Any) -> Any:
    """The best of so many candidates: among close ones, that which occurs together with the query's other words; or
    ``NONE``, or why that cannot be said."""
    if count == 0:
        return np.int64(NONE)
    alone = True
    for other in range(desk[desks.WORDS]):
        alone &= are_same(desk, other, word)
    if count == 1 or alone:
        return np.int64(0)
    worths = at_f64(work.ctypes.data + 8 * WORTHS, MOST_CANDIDATES)
    least, close = worths[0] - CLOSE, np.int64(0)
    for one in range(count):
        if worths[one] >= least and close < MOST_CLOSE:
            work[CANDIDATES + close], worths[close] = work[CANDIDATES + one], worths[one]
            close += 1
    return _most_together(known, memories, desk, work, word, close, judge) if close > 1 else np.int64(0)
