"""Terms that are looked up for one call alone, and the memory that this is done in: what corrections ask of the index.

Both kernels are called by their addresses, so that each is compiled once for all places that ask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.calls import call_kernel
from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.finding import find_terms, take_list
from periplus.index.kernels.lists_known import LIST_ROW
from periplus.index.kernels.opening import open_term, size_of
from periplus.index.kernels.tables import ROW, at_i64, at_u8
from periplus.index.kernels.types import I64, signature
from periplus.search.kernels import wording as desks
from periplus.search.kernels.stemming import SCRATCH

# What a speller is asked by, by place: kernels; segments and how many; what phrases take besides, and the memory that
# they need; the dictionary, letters and documents of its words, and how many these are; the place of its language.
NEAR, FIRST_PASS, PHRASES, LOOK_UP, OPEN, TABLE, SEGMENTS, NORMS, PHRASE_ROOM = range(9)
DICTIONARY, SHORT, COUNTS, WORDS, LANGUAGE = range(9, 14)
KNOWN = 14

# What is written: of each word what it was meant as, and which word of the dictionary or where it is parted; then
# which one is one with the next (below 0: none). Behind that is memory to work in: what ``near`` is asked and finds,
# candidates with what they are worth, terms to look up, where these are listed, and lists that were opened.
AS_TYPED, ANOTHER, PARTED = 0, 1, 2
MEANT, WHICH, ONE_WITH_NEXT = 0, desks.MOST_WORDS, 2 * desks.MOST_WORDS
MOST_CANDIDATES, ASKED = 8, 20  # numbers of a word that is asked for, before what is found
OWN_ROW = 4
REQUEST = ONE_WITH_NEXT + 1
CANDIDATES = REQUEST + ASKED + 3 * MOST_CANDIDATES
WORTHS = CANDIDATES + MOST_CANDIDATES
OWN = WORTHS + MOST_CANDIDATES  # of both forms of a candidate: address of the list (0: none), and documents
BESIDE, MOST_LISTS = OWN + OWN_ROW * MOST_CANDIDATES, 64  # the same of words that it stands among
STEMMING = BESIDE + 2 * MOST_LISTS
ENDS, MOST_TERMS = STEMMING + SCRATCH // 8 + 2, 64
LIVE, RARE = ENDS + MOST_TERMS, ENDS + 2 * MOST_TERMS
PAIRS, WHOLE = ENDS + 3 * MOST_TERMS, ENDS + 3 * MOST_TERMS + desks.MOST_WORDS
TEXT = WHOLE + 2 * desks.LONGEST // 8 + 2
LONGEST_TERM = 65  # bytes of a term that are looked at: nothing of this length occurs
OPENED = TEXT + MOST_TERMS * (LONGEST_TERM + 1) // 8 + 2
WORK = 1 << 15


@kernel(signature(I64, I64, I64, I64))
def look_up(known_at: Any, work_at: Any, count: Any) -> Any:
    """Find so many terms, of which work has the text and the ends: documents and rare postings of each, where it is
    listed. Behind that lists may be opened: where, or -1 when there is no room."""
    known, work = at_i64(known_at, KNOWN), at_i64(work_at, WORK)
    segments = known[SEGMENTS]
    behind = OPENED + count * segments * LIST_ROW
    if behind > len(work):
        return np.int64(-1)
    table, ends = at_i64(known[TABLE], segments * ROW), work[ENDS : ENDS + count]
    found = np.empty(count * segments, np.int64)
    find_terms(table, at_u8(work_at + 8 * TEXT, ends[count - 1]), ends, segments, segments, found)
    for term in range(count):
        live, rare = np.int64(0), np.int64(0)
        for segment in range(segments):
            row = OPENED + (term * segments + segment) * LIST_ROW
            here, opened = take_list(table, segment, found[term * segments + segment], work, row)
            live += here
            rare += opened
        work[LIVE + term], work[RARE + term] = live, rare
    return behind


@kernel(signature(I64, I64, I64, I64, I64))
def open_lists_of(known_at: Any, work_at: Any, term: Any, to: Any) -> Any:
    """Open the lists of a term that was looked up from a place of work on; where the next ones may begin, -1 when there
    is no room."""
    known, work = at_i64(known_at, KNOWN), at_i64(work_at, WORK)
    segments = known[SEGMENTS]
    if to + size_of(segments, work[RARE + term]) > len(work):
        return np.int64(-1)
    rows = OPENED + term * segments * LIST_ROW
    table = at_i64(known[TABLE], segments * ROW)
    return open_term(table, segments, work[rows : rows + segments * LIST_ROW], work, to)


@bare_helper
def looked_up(known: Any, work: Any, count: Any) -> Any:
    """``look_up``, called."""
    return call_kernel(known[LOOK_UP], (np.int64(known.ctypes.data), np.int64(work.ctypes.data), np.int64(count)))


@bare_helper
def opened_in(known: Any, work: Any, term: Any, to: Any) -> Any:
    """``open_lists_of``, called."""
    return call_kernel(
        known[OPEN], (np.int64(known.ctypes.data), np.int64(work.ctypes.data), np.int64(term), np.int64(to))
    )


@bare_helper
def add_term(work: Any, text: Any, count: Any, letters: Any, begin: Any, end: Any) -> Any:
    """One more term to look up; how many there are."""
    at = work[ENDS + count - 1] if count > 0 else np.int64(0)
    size = min(end - begin, np.int64(LONGEST_TERM))
    for i in range(size):
        text[at + i] = letters[begin + i]
    work[ENDS + count] = at + size
    return count + 1
