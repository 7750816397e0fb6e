"""Words of a usual query as they were probably meant: all that is asked about them, in one call.

``spelling.Speller`` says what is done here, for a query that lies on the desk (``wording.py``), of different words of
small ASCII letters and digits in the speller's own language; and does it for all other queries. Terms that are not on
the desk are looked up for this call alone: halves of words and words that were not meant are not worth keeping.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from periplus.index.kernels.calls import FAILED, call_kernel
from periplus.index.kernels.compiler import bare_helper, bare_kernel, kernel
from periplus.index.kernels.finding import find_terms, take_list
from periplus.index.kernels.lists_known import LIST_ROW
from periplus.index.kernels.opening import open_term, size_of
from periplus.index.kernels.phrases import HEAD as PHRASE_HEAD
from periplus.index.kernels.plain import COUNT_SHIFT
from periplus.index.kernels.plain_steps import ALL_ADMITTED, ALL_REQUIRED, GIVEN
from periplus.index.kernels.tables import ROW, at_f64, at_i64, at_u8, at_u32
from periplus.index.kernels.types import I64, signature
from periplus.search.kernels import wording as desks
from periplus.search.kernels.alike import ROW as SHORT_ROW
from periplus.search.kernels.learning import FACTS, LISTED
from periplus.search.kernels.stemming import SCRATCH, STEMMED, stem_of
from periplus.search.kernels.usual import BROKEN, MEMORIES, ROOM, ROOM_SIZE, UNUSUAL
from periplus.search.kernels.words import MAX_LETTERS

# What a speller is asked by, by place: kernels; segments and how many; what phrases take besides, and the memory that
# they need; the dictionary, letters and documents of its words, and how many these are; the place of its language.
NEAR, FIRST_PASS, PHRASES, LOOK_UP, OPEN, TABLE, SEGMENTS, NORMS, PHRASE_ROOM = range(9)
DICTIONARY, SHORT, COUNTS, WORDS, LANGUAGE = range(9, 14)
KNOWN = 14

# What is written: of each word what it was meant as, and which word of the dictionary or where it is parted; then
# which one is one with the next (below 0: none). Behind that is memory to work in: what ``near`` is asked and finds,
# candidates with what they are worth, terms to look up, where these are listed, and lists that were opened.
AS_TYPED, ANOTHER, PARTED = 0, 1, 2
MEANT, WHICH, JOINED = 0, desks.MOST_WORDS, 2 * desks.MOST_WORDS
MOST_CANDIDATES, ASKED = 8, 20  # numbers of a word that is asked for, before what is found
OWN_ROW = 4
REQUEST = JOINED + 1
CANDIDATES = REQUEST + ASKED + 3 * MOST_CANDIDATES
WORTHS = CANDIDATES + MOST_CANDIDATES
OWN = WORTHS + MOST_CANDIDATES  # of both forms of a candidate: address of the list (0: none), and documents
BESIDE, MOST_LISTS = OWN + OWN_ROW * MOST_CANDIDATES, 64  # the same of words that it stands among
STEMMING = BESIDE + 2 * MOST_LISTS
ENDS, MOST_TERMS = STEMMING + SCRATCH // 8 + 2, 64
LIVE, RARE = ENDS + MOST_TERMS, ENDS + 2 * MOST_TERMS
PAIRS, WHOLE = ENDS + 3 * MOST_TERMS, ENDS + 3 * MOST_TERMS + desks.MOST_WORDS
TEXT = WHOLE + 2 * desks.LONGEST // 8 + 2
LONGEST = 65  # bytes of a term that are looked at: nothing of this length occurs
OPENED = TEXT + MOST_TERMS * (LONGEST + 1) // 8 + 2
WORK = 1 << 15

# ``spelling``, ``dictionary``
MOST_CORRECTED, LEAST_LETTERS = 8, 3
NEAR_REACH, FAR_REACH, SHORT_REACH = 1, 2, 4  # edits of words up to so many letters, and of longer ones
CLOSE, MOST_CLOSE, CLOSE_ENOUGH, MOST_BESIDE, MARGIN, FAR = 2.0, 4, 1e-6, 3, 3.0, 99.0
SHORT_WORD, OCCURS, FORM_OCCURS, MOST_COST = 7, (2.0, 3.0, 0.5), (0.0, 4.5, 1.5), 1.2
PARTED_COST = 1.0  # of the best candidate, up to which a word is not parted
EDIT_WORTH = 6.5
EVERY_MATCH, ENOUGH = 1 << 40, 1_000

NONE = -3


@bare_helper
def _why(result: Any) -> Any:
    """What a kernel's result below 0 means here."""
    return np.int64(BROKEN if result == FAILED else UNUSUAL)


@bare_helper
def _is_plain(letters: Any, begin: Any, end: Any) -> Any:
    """Whether all of some bytes are small letters."""
    plain = True
    for i in range(begin, end):
        plain &= 97 <= letters[i] <= 122
    return plain


@bare_helper
def _typed(desk: Any) -> Any:
    """The text of all forms on the desk, and where each ends in it."""
    forms, words = desk[desks.FORMS], desk[desks.WORDS]
    ends = at_i64(desk.ctypes.data + 8 * (desks.REQUEST + forms), forms)
    return at_u8(desk.ctypes.data + 8 * (desks.REQUEST + 3 * forms + words), ends[forms - 1]), ends


@bare_helper
def _place_of(desk: Any, word: Any) -> Any:
    """Where a word as it was typed begins and ends in the text."""
    _, ends = _typed(desk)
    form = desk[desks.ROWS + desks.WORD_ROW * word + desks.BEGIN]
    return ends[form - 1] if form > 0 else np.int64(0), ends[form]


@bare_helper
def _documents(desk: Any, word: Any) -> Any:
    """Those with a word as it was typed."""
    return desk[desk[desks.OUTPUT] + 1 + desk[desks.ROWS + desks.WORD_ROW * word + desks.BEGIN]]


@bare_helper
def _forms_there(desk: Any, word: Any) -> Any:
    """How many forms of a word occur."""
    return desk[desk[desks.OUTPUT] + 1 + desk[desks.FORMS] + FACTS * word]


@bare_helper
def _is_usual(desk: Any) -> Any:
    words = desk[desks.WORDS]
    if words > MOST_CORRECTED or desk[desks.SIGNED] != 0 or desk[desks.IS_SPELT] == 0:
        return False
    for word in range(words):
        for other in range(word):
            row, earlier = desks.ROWS + desks.WORD_ROW * word, desks.ROWS + desks.WORD_ROW * other
            if desk[row + desks.HASH] == desk[earlier + desks.HASH]:
                return False
    return True


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
def _looked_up(known: Any, work: Any, count: Any) -> Any:
    return call_kernel(known[LOOK_UP], (np.int64(known.ctypes.data), np.int64(work.ctypes.data), np.int64(count)))


@bare_helper
def _opened(known: Any, work: Any, term: Any, to: Any) -> Any:
    return call_kernel(
        known[OPEN], (np.int64(known.ctypes.data), np.int64(work.ctypes.data), np.int64(term), np.int64(to))
    )


@bare_helper
def _add_term(work: Any, text: Any, count: Any, letters: Any, begin: Any, end: Any) -> Any:
    """One more term to look up; how many there are."""
    at = work[ENDS + count - 1] if count > 0 else np.int64(0)
    size = min(end - begin, np.int64(LONGEST))
    for i in range(size):
        text[at + i] = letters[begin + i]
    work[ENDS + count] = at + size
    return count + 1


@bare_helper
def _near(known: Any, work: Any, letters: Any, begin: Any, end: Any, asked: Any) -> Any:
    """Words near one, as ``Dictionary.near`` gives them: how many; ``asked`` has the most of them, the most cost, the
    least documents and the margin."""
    if known[WORDS] == 0:
        return np.int64(0)
    limit, most_cost, least_count, margin = asked
    request = work.ctypes.data + 8 * REQUEST
    word = at_u32(request, MAX_LETTERS)
    for i in range(end - begin):
        word[i] = letters[begin + i]
    reach = np.int64(NEAR_REACH if end - begin <= SHORT_REACH else FAR_REACH)
    return call_kernel(
        known[NEAR], (known[DICTIONARY], request, end - begin, reach, limit, most_cost, least_count, margin)
    )


@bare_helper
def _least(documents: Any, size: Any) -> Any:
    """What a word must have at least, as ln(documents + 1), to be taken for one that occurs, or (no documents) of which
    another form does; and how much more for every unit of cost."""
    base, by_cost, by_letter = OCCURS if documents > 0 else FORM_OCCURS
    return math.log(float(documents) + 1.0) + base + by_letter * float(max(0, SHORT_WORD - size)), by_cost


@bare_helper
def _candidates(known: Any, work: Any, count: Any, limit: Any, least: Any, by_cost: Any) -> Any:
    """Keep those of the words found that are frequent enough, with what they are worth; how many."""
    rows = work[REQUEST + ASKED : REQUEST + ASKED + limit]
    costs = at_f64(work.ctypes.data + 8 * (REQUEST + ASKED + limit), limit)
    worths, documents = at_f64(work.ctypes.data + 8 * WORTHS, MOST_CANDIDATES), at_i64(known[COUNTS], known[WORDS])
    kept = np.int64(0)
    for one in range(count):
        frequent = math.log(float(documents[rows[one]]) + 1.0)
        if frequent >= least + by_cost * costs[one]:
            rows[kept], costs[kept] = rows[one], costs[one]
            work[CANDIDATES + kept], worths[kept] = rows[one], frequent - EDIT_WORTH * costs[one]
            kept += 1
    return kept


@bare_helper
def _beside(desk: Any, work: Any, word: Any) -> Any:
    """Lists of the words that one stands among, of those that occur as they were typed; how many, and documents."""
    listed = desk[desks.OUTPUT] + 1 + desk[desks.FORMS] + FACTS * desk[desks.WORDS]
    count, documents, looked_at = np.int64(0), np.int64(0), 0
    for other in range(desk[desks.WORDS]):
        there = _forms_there(desk, other)
        if other != word and looked_at < MOST_BESIDE:
            looked_at += 1
            for form in range(there if _documents(desk, other) > 0 else np.int64(0)):
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
    if not _is_plain(letters, 0, size):
        return np.int64(-1)
    scratch_at = work.ctypes.data + 8 * STEMMING
    scratch = at_u8(scratch_at, SCRATCH)
    for i in range(size):
        scratch[i] = letters[i]
    stemmed = stem_of(scratch, scratch_at, size, judge, known[LANGUAGE])
    if stemmed == 0:
        return np.int64(-1)
    count = _add_term(work, text, count, letters, np.int64(0), size)
    return _add_term(work, text, count, scratch, np.int64(STEMMED), STEMMED + stemmed)


@bare_helper
def _list_candidates(known: Any, work: Any, close: Any, judge: Any) -> Any:
    """Look up all forms of the candidates; -1 when they are not plain or there is no memory for their lists, ``FAILED``
    when a kernel failed."""
    text = at_u8(work.ctypes.data + 8 * TEXT, MOST_TERMS * (LONGEST + 1))
    count = np.int64(0)
    for one in range(close):
        count = _add_forms(known, work, text, count, work[CANDIDATES + one], judge)
        if count < 0:
            return count
    to = _looked_up(known, work, count)
    for form in range(count):
        if to < 0:
            return to
        own = OWN + 2 * form
        work[own], work[own + 1] = 0, work[LIVE + form]
        if work[LIVE + form] > 0:
            work[own] = work.ctypes.data + 8 * to
            to = _opened(known, work, form, to)
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
        return _why(listed)
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
                return _why(together)
            gained = worths[one] + math.log1p(float(together))
            if gained > value or (one == 0 and gained == value):
                best, value = one, gained
    return best


@bare_helper
def _in_context(known: Any, memories: Any, desk: Any, work: Any, word: Any, count: Any, judge: Any) -> Any:
    """The best of so many candidates: among close ones, that which occurs together with the query's other words."""
    if count == 0:
        return np.int64(NONE)
    if count == 1 or desk[desks.WORDS] == 1:
        return np.int64(0)
    worths = at_f64(work.ctypes.data + 8 * WORTHS, MOST_CANDIDATES)
    least, close = worths[0] - CLOSE, np.int64(0)
    for one in range(count):
        if worths[one] >= least and close < MOST_CLOSE:
            work[CANDIDATES + close], worths[close] = work[CANDIDATES + one], worths[one]
            close += 1
    return _most_together(known, memories, desk, work, word, close, judge) if close > 1 else np.int64(0)


@bare_helper
def _side_by_side(known: Any, memories: Any, one: Any, other: Any) -> Any:
    """How many documents were found in which two terms stand side by side, at least; given are their lists."""
    query = at_i64(memories[ROOM], PHRASE_HEAD + 4)
    for i in range(PHRASE_HEAD + 4):
        query[i] = 0
    query[0], query[1], query[2], query[4], query[5], query[7], query[8] = known[SEGMENTS], 2, -1, 1, 1, 1, 1
    query[9] = known[NORMS]
    query[PHRASE_HEAD + 1], query[PHRASE_HEAD + 3] = np.int64(one), np.int64(other)
    found = call_kernel(known[PHRASES], (known[TABLE], memories[ROOM], memories[ROOM_SIZE]))
    return found if found == FAILED else found >> COUNT_SHIFT


@bare_helper
def _parted(known: Any, memories: Any, work: Any, letters: Any, begin: Any, end: Any) -> Any:
    """After how many letters a word is parted, when both parts occur side by side; 0 when it is one, or why that cannot
    be said."""
    halves = end - begin - 3
    if halves <= 0:
        return np.int64(0)
    text = at_u8(work.ctypes.data + 8 * TEXT, MOST_TERMS * (LONGEST + 1))
    count = np.int64(0)
    for half in range(halves):
        count = _add_term(work, text, count, letters, begin, begin + half + 2)
    for half in range(halves):
        count = _add_term(work, text, count, letters, begin + half + 2, end)
    begin_lists = _looked_up(known, work, count)
    if begin_lists < 0:
        return _why(begin_lists)
    live = work[LIVE : LIVE + count]
    while True:
        best, most = np.int64(-1), np.int64(0)
        for half in range(halves):
            documents = min(live[half], live[halves + half])
            if documents > most:
                best, most = np.int64(half), documents
        if best < 0:
            return np.int64(0)
        behind = _opened(known, work, best, begin_lists)
        end_lists = _opened(known, work, halves + best, behind) if behind > 0 else behind
        if end_lists < 0:
            return _why(end_lists)
        found = _side_by_side(known, memories, work.ctypes.data + 8 * begin_lists, work.ctypes.data + 8 * behind)
        if found < 0:
            return _why(found)
        if found > 0:
            return best + 2
        live[best] = 0


@bare_helper
def _meant(known: Any, memories: Any, desk: Any, work: Any, word: Any, judge: Any) -> Any:
    """What a word was meant as, and which or where; below 0: why that cannot be said."""
    letters, _ = _typed(desk)
    begin, end = _place_of(desk, word)
    if end - begin < LEAST_LETTERS or not _is_plain(letters, begin, end):
        return np.int64(AS_TYPED), np.int64(0)
    if end - begin > MAX_LETTERS:
        return np.int64(UNUSUAL), np.int64(0)
    occurs = _forms_there(desk, word) > 0
    limit, least, by_cost = np.int64(MOST_CLOSE), 0.0, 0.0
    if occurs:
        own = _documents(desk, word)
        least, by_cost = _least(own, end - begin)
        limit = np.int64(MOST_CANDIDATES)
        most_cost = MOST_COST if own > 0 else FAR
        asked = (limit, most_cost, math.log((math.exp(least) - 1.0) + 1.0), MARGIN)
        found = _near(known, work, letters, begin, end, asked)
    else:
        found = _near(known, work, letters, begin, end, (limit, FAR, 0.0, CLOSE + CLOSE_ENOUGH))
    if found < 0:
        return _why(found), np.int64(0)
    count = _candidates(known, work, found, limit, least, by_cost)
    costs = at_f64(work.ctypes.data + 8 * (REQUEST + ASKED + limit), limit)
    best = _in_context(known, memories, desk, work, word, count, judge)
    if best != NONE and best < 0:
        return best, np.int64(0)
    row = work[CANDIDATES + best] if best >= 0 else np.int64(-1)
    cost = FAR
    for one in range(count):
        if work[REQUEST + ASKED + one] == row:
            cost = costs[one]
    if not occurs and (best == NONE or cost > PARTED_COST):
        parted = _parted(known, memories, work, letters, begin, end)
        if parted < 0:
            return parted, np.int64(0)
        if parted > 0:
            return np.int64(PARTED), parted
    if best == NONE:
        return np.int64(AS_TYPED), np.int64(0)
    return np.int64(ANOTHER), row


@bare_helper
def _joined(known: Any, desk: Any, work: Any) -> Any:
    """The first word that is one with the next, when one of the halves is no word and the whole is; ``NONE``, or why
    that cannot be said."""
    letters, _ = _typed(desk)
    words = desk[desks.WORDS]
    text = at_u8(work.ctypes.data + 8 * TEXT, MOST_TERMS * (LONGEST + 1))
    count, whole = np.int64(0), at_u8(work.ctypes.data + 8 * WHOLE, 2 * desks.LONGEST)
    for word in range(words - 1):
        if _documents(desk, word) > 0 and _documents(desk, word + 1) > 0:
            continue
        size = np.int64(0)
        for half in range(word, word + 2):
            begin, end = _place_of(desk, half)
            for i in range(begin, end):
                whole[size] = letters[i]
                size += 1
        work[PAIRS + count] = word
        count = _add_term(work, text, count, whole, np.int64(0), size)
    if count == 0:
        return np.int64(NONE)
    looked_up = _looked_up(known, work, count)
    if looked_up < 0:
        return _why(looked_up)
    for pair in range(count):
        if work[LIVE + pair] > 0:
            return work[PAIRS + pair]
    return np.int64(NONE)


@bare_kernel(signature(I64, *[I64] * 7))
def respell(
    known_at: Any,
    memories_at: Any,
    desk_at: Any,
    work_at: Any,
    judge_at: Any,  # ``stemming`` says what it is
    judge_size: Any,
    every: Any,  # whether words that occur are looked at, too
) -> Any:
    """How many words were meant otherwise; ``UNUSUAL`` when that cannot be said here, ``BROKEN`` when a kernel failed.
    If there is no such word, two of them may be one."""
    known, memories = at_i64(known_at, KNOWN), at_i64(memories_at, MEMORIES)
    desk, work, judge = at_i64(desk_at, desks.DESK), at_i64(work_at, WORK), at_i64(judge_at, judge_size)
    if not _is_usual(desk) or memories[ROOM_SIZE] < known[PHRASE_ROOM]:
        return np.int64(UNUSUAL)
    changes = np.int64(0)
    for word in range(desk[desks.WORDS]):
        work[MEANT + word] = AS_TYPED
        if every == 0 and _forms_there(desk, word) > 0:
            continue
        meant, which = _meant(known, memories, desk, work, word, judge)
        if meant < 0:
            return meant
        work[MEANT + word], work[WHICH + word] = meant, which
        changes += np.int64(meant != AS_TYPED)
    work[JOINED] = _joined(known, desk, work) if changes == 0 else np.int64(NONE)
    return changes if work[JOINED] >= 0 or work[JOINED] == NONE else work[JOINED]
