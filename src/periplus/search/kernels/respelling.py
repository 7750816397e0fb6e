"""Words of a usual query as they were probably meant: all that is asked about them, in one call.

``spelling.Speller`` says what is done here, for a query that lies on the desk (``wording.py``), of words of ASCII
letters and digits without signs, in the speller's own language; and does it for all other queries. Terms that are not
on the desk are looked up for this call alone: halves of words and words that were not meant are not worth keeping.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from periplus.index.kernels import phrases
from periplus.index.kernels.calls import FAILED, call_kernel
from periplus.index.kernels.compiler import bare_helper, bare_kernel
from periplus.index.kernels.plain import COUNT_SHIFT
from periplus.index.kernels.tables import at_f64, at_i64, at_u8, at_u32
from periplus.index.kernels.types import I64, signature
from periplus.search.kernels import wording as desks
from periplus.search.kernels.lookups import (
    ANOTHER,
    AS_TYPED,
    ASKED,
    CANDIDATES,
    COUNTS,
    DICTIONARY,
    KNOWN,
    LIVE,
    LONGEST_TERM,
    MEANT,
    MOST_CANDIDATES,
    MOST_TERMS,
    NEAR,
    NORMS,
    ONE_WITH_NEXT,
    PAIRS,
    PARTED,
    PHRASE_ROOM,
    PHRASES,
    REQUEST,
    SEGMENTS,
    TABLE,
    TEXT,
    WHICH,
    WHOLE,
    WORDS,
    WORK,
    WORTHS,
    add_term,
    looked_up,
    opened_in,
)
from periplus.search.kernels.together import (
    CLOSE,
    MOST_CLOSE,
    NONE,
    are_same,
    best_in_context,
    documents_of,
    forms_there,
    is_plain,
    why,
)
from periplus.search.kernels.usual import MEMORIES, ROOM, ROOM_SIZE, UNUSUAL
from periplus.search.kernels.words import MAX_LETTERS

# ``spelling``, ``dictionary``
MOST_CORRECTED, LEAST_LETTERS = 8, 3
NEAR_REACH, FAR_REACH, SHORT_REACH = 1, 2, 4  # edits of words up to so many letters, and of longer ones
CLOSE_ENOUGH, MARGIN, FAR = 1e-6, 3.0, 99.0
SHORT_WORD, OCCURS, FORM_OCCURS, MOST_COST = 7, (2.0, 3.0, 0.5), (0.0, 4.5, 1.5), 1.2
PARTED_COST = 1.0  # of the best candidate, up to which a word is not parted
EDIT_WORTH = 6.5


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
def _first(desk: Any, word: Any) -> Any:
    """The first word that is the same."""
    first = np.int64(0)
    while not are_same(desk, first, word):
        first += 1
    return first


@bare_helper
def _looked_at(desk: Any, is_small: Any) -> Any:
    """How many words are looked at: the first few different ones and what is before the next; -1 when some may be the
    same in other letters, or the query is unusual in other ways."""
    if desk[desks.SIGNED] != 0 or desk[desks.IS_SPELT] == 0:
        return np.int64(-1)
    different, words = np.int64(0), desk[desks.WORDS]
    for word in range(words):
        is_new = _first(desk, word) == word
        if not (is_new or is_small):
            return np.int64(-1)
        different += is_new
        if different > MOST_CORRECTED:
            words = min(words, np.int64(word))
    return words


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
def _side_by_side(known: Any, memories: Any, one: Any, other: Any) -> Any:
    """How many documents were found in which two terms stand side by side, at least; given are their lists."""
    query = at_i64(memories[ROOM], phrases.HEAD + 4)
    for i in range(phrases.HEAD + 4):
        query[i] = 0
    query[phrases.SEGMENTS], query[phrases.WORDS], query[phrases.NORMS] = known[SEGMENTS], 2, known[NORMS]
    query[phrases.FIELD], query[phrases.ORDERED], query[phrases.WEIGHT] = -1, 1, 1
    query[phrases.PRUNE], query[phrases.K] = 1, 1
    query[phrases.HEAD + 1], query[phrases.HEAD + 3] = np.int64(one), np.int64(other)
    found = call_kernel(known[PHRASES], (known[TABLE], memories[ROOM], memories[ROOM_SIZE]))
    return found if found == FAILED else found >> COUNT_SHIFT


@bare_helper
def _parted(known: Any, memories: Any, work: Any, letters: Any, begin: Any, end: Any) -> Any:
    """After how many letters a word is parted, when both parts occur side by side; 0 when it is one, or why that cannot
    be said."""
    halves = end - begin - 3
    if halves <= 0:
        return np.int64(0)
    text = at_u8(work.ctypes.data + 8 * TEXT, MOST_TERMS * (LONGEST_TERM + 1))
    count = np.int64(0)
    for half in range(halves):
        count = add_term(work, text, count, letters, begin, begin + half + 2)
    for half in range(halves):
        count = add_term(work, text, count, letters, begin + half + 2, end)
    begin_lists = looked_up(known, work, count)
    if begin_lists < 0:
        return why(begin_lists)
    live = work[LIVE : LIVE + count]
    while True:
        best, most = np.int64(-1), np.int64(0)
        for half in range(halves):
            documents = min(live[half], live[halves + half])
            if documents > most:
                best, most = np.int64(half), documents
        if best < 0:
            return np.int64(0)
        behind = opened_in(known, work, best, begin_lists)
        end_lists = opened_in(known, work, halves + best, behind) if behind > 0 else behind
        if end_lists < 0:
            return why(end_lists)
        found = _side_by_side(known, memories, work.ctypes.data + 8 * begin_lists, work.ctypes.data + 8 * behind)
        if found < 0:
            return why(found)
        if found > 0:
            return best + 2
        live[best] = 0


@bare_helper
def _meant(known: Any, memories: Any, desk: Any, work: Any, word: Any, judge: Any) -> Any:
    """What a word was meant as, and which or where; below 0: why that cannot be said."""
    letters, _ = _typed(desk)
    begin, end = _place_of(desk, word)
    if end - begin < LEAST_LETTERS or not is_plain(letters, begin, end):
        return np.int64(AS_TYPED), np.int64(0)
    if end - begin > MAX_LETTERS:
        return np.int64(UNUSUAL), np.int64(0)
    occurs = forms_there(desk, word) > 0
    limit, least, by_cost = np.int64(MOST_CLOSE), 0.0, 0.0
    if occurs:
        own = documents_of(desk, word)
        least, by_cost = _least(own, end - begin)
        limit = np.int64(MOST_CANDIDATES)
        most_cost = MOST_COST if own > 0 else FAR
        asked = (limit, most_cost, math.log((math.exp(least) - 1.0) + 1.0), MARGIN)
        found = _near(known, work, letters, begin, end, asked)
    else:
        found = _near(known, work, letters, begin, end, (limit, FAR, 0.0, CLOSE + CLOSE_ENOUGH))
    if found < 0:
        return why(found), np.int64(0)
    count = _candidates(known, work, found, limit, least, by_cost)
    costs = at_f64(work.ctypes.data + 8 * (REQUEST + ASKED + limit), limit)
    best = best_in_context(known, memories, desk, work, word, count, judge)
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
    text = at_u8(work.ctypes.data + 8 * TEXT, MOST_TERMS * (LONGEST_TERM + 1))
    count, whole = np.int64(0), at_u8(work.ctypes.data + 8 * WHOLE, 2 * desks.LONGEST)
    for word in range(words - 1):
        if documents_of(desk, word) > 0 and documents_of(desk, word + 1) > 0:
            continue
        size = np.int64(0)
        for half in range(word, word + 2):
            begin, end = _place_of(desk, half)
            for i in range(begin, end):
                whole[size] = letters[i]
                size += 1
        work[PAIRS + count] = word
        count = add_term(work, text, count, whole, np.int64(0), size)
    if count == 0:
        return np.int64(NONE)
    found = looked_up(known, work, count)
    if found < 0:
        return why(found)
    for pair in range(count):
        if work[LIVE + pair] > 0:
            return work[PAIRS + pair]
    return np.int64(NONE)


@bare_kernel(signature(I64, *[I64] * 8))
def respell(
    known_at: Any,
    memories_at: Any,
    desk_at: Any,
    work_at: Any,
    judge_at: Any,  # ``stemming`` says what it is
    judge_size: Any,
    every: Any,  # whether words that occur are looked at, too
    is_small: Any,  # whether all letters are small ones
) -> Any:
    """How many words were meant otherwise; ``UNUSUAL`` when that cannot be said here, ``BROKEN`` when a kernel failed.
    If there is no such word, two of them may be one."""
    known, memories = at_i64(known_at, KNOWN), at_i64(memories_at, MEMORIES)
    desk, work, judge = at_i64(desk_at, desks.DESK), at_i64(work_at, WORK), at_i64(judge_at, judge_size)
    looked_at = _looked_at(desk, is_small != 0)
    if looked_at < 0 or memories[ROOM_SIZE] < known[PHRASE_ROOM]:
        return np.int64(UNUSUAL)
    changes, doubtful = np.int64(0), np.int64(0)
    for word in range(desk[desks.WORDS]):
        work[MEANT + word] = AS_TYPED
        first = _first(desk, word)
        if word >= looked_at and first == word:
            continue
        if first < word:
            work[MEANT + word], work[WHICH + word] = work[MEANT + first], work[WHICH + first]
            continue
        if every == 0 and forms_there(desk, word) > 0:
            continue
        doubtful += 1
        meant, which = _meant(known, memories, desk, work, word, judge)
        if meant < 0:
            return meant
        work[MEANT + word], work[WHICH + word] = meant, which
        changes += np.int64(meant != AS_TYPED)
    joined = _joined(known, desk, work) if changes == 0 and doubtful > 0 else np.int64(NONE)
    work[ONE_WITH_NEXT] = joined
    return changes if joined >= 0 or joined == NONE else joined
