"""Exact top-k of the documents that hold all of some words, one list a word; over all segments, with one floor.

Query, memory and result are those of ``plain``. Candidates are found by their places alone (``sieves``), from the
shortest list on, many at once, so that waits for memory overlap; impacts are read of those that all lists have.

When the shortest list is rare in all segments, its documents are the first candidates, and the segments are one to it.
Else all lists are frequent somewhere, and ``meeting`` compares their bits.

The result is ``NOT_HERE`` where that is for ``plain``: a single frequent word, a frequent one without bits, and an
index with more documents than 32 bits can number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.bits import number_at
from periplus.index.kernels.collector import (
    BUCKETS,
    FEW,
    MATCHING,
    SIZE,
    STATE,
    bucket_shift,
    capacity,
    finish,
    make_room,
)
from periplus.index.kernels.keeping import keep
from periplus.index.kernels.lists_known import (
    BITS,
    COUNT,
    DOCUMENTS,
    IMPACTS,
    LIST_HEAD,
    LIST_ROW,
    TABLES,
)
from periplus.index.kernels.meeting import meet, meeting_words
from periplus.index.kernels.plain_steps import ADDRESS, FREQUENCY, GIVEN, QUERY, heaviest, without_empty
from periplus.index.kernels.sieves import ROOM
from periplus.index.kernels.tables import (
    ROW,
    WINDOWS,
    at_f64,
    at_i32,
    at_i64,
    prefetch,
)
from periplus.index.weights import LARGEST_WEIGHTS, UNIT

TOO_HEAVY, NOT_HERE = -1, -2
EXACT = 1 << 31
COUNT_SHIFT = 32
MOST_WINDOWS = 1 << 24
LINES = 8  # of memory, asked for of each list at the beginning


@bare_helper
def order_by_frequency(query: Any, order: Any) -> Any:
    for item in range(len(order)):
        size = query[GIVEN * item + FREQUENCY]
        to = item
        while to > 0 and query[GIVEN * order[to - 1] + FREQUENCY] > size:
            order[to] = order[to - 1]
            to -= 1
        order[to] = item


@bare_helper
def bits_of(query: Any, segments: Any, sets: Any) -> Any:
    """Where the bits of lists are (0: none); whether all have them."""
    every = True
    for item in range(len(sets)):
        head = at_i64(query[GIVEN * item + ADDRESS], segments * LIST_ROW + LIST_HEAD)[segments * LIST_ROW :]
        bits = head[BITS]  # once: another thread may give them meanwhile
        sets[item] = bits
        every = every and bits != 0
    return every


@bare_helper
def from_rare(head: Any, at: Any, end: Any, documents: Any, slots: Any, found: Any) -> Any:
    """Candidates out of the rare postings [at, end) of a list; how many."""
    count = min(end - at, ROOM)
    documents_at, impacts_at = head[DOCUMENTS] + 4 * at, head[IMPACTS] + at
    for place in range(count):
        documents[place] = number_at(documents_at + 4 * place)
        slots[place] = place
        found[place] = impacts_at + place
    return count


@bare_helper
def all_top(
    table_at: Any,
    memory_at: Any,
    words: Any,
    segments: Any,
    lists: Any,
    prior_weight: Any,
    k: Any,
    limit: Any,
) -> Any:
    at: Any
    count: Any
    segment: Any
    memory = at_i64(memory_at, words)
    query = memory[:QUERY]
    if without_empty(query, lists, every=True) == 0:
        return np.int64(EXACT)
    for item in range(lists):
        for line in range(0, min(LINES * 64, 8 * (segments * LIST_ROW + LIST_HEAD) + 64), 64):
            prefetch(query[GIVEN * item + ADDRESS] + line)
    table = at_i64(table_at, segments * ROW)
    windows = np.int64(0)
    for segment in range(segments):
        windows += table[segment * ROW + WINDOWS]
    room = capacity(k)
    needed = QUERY + 2 * k + STATE + 4 * room + BUCKETS + 3 * lists + segments + 1
    needed += ROOM * (lists + 2) + windows + 16 + meeting_words(windows)
    if words < needed:
        return -needed
    weight = heaviest(query, lists)
    if weight + prior_weight > LARGEST_WEIGHTS:
        return np.int64(TOO_HEAVY)

    # Everything that is needed on the way.
    out, out_scores = memory[QUERY : QUERY + k], at_f64(memory_at + 8 * (QUERY + k), k)
    scratch = memory[QUERY + 2 * k :]
    state, at = scratch[:STATE], np.int64(STATE)
    order, at = scratch[at : at + lists], at + lists
    cursors, at = scratch[at : at + lists], at + lists
    windows_before, at = scratch[at : at + segments + 1], at + segments + 1
    scores, at = scratch[at : at + room], at + room
    numbers, at = scratch[at : at + room], at + room
    documents, at = scratch[at : at + ROOM], at + ROOM
    slots, at = scratch[at : at + ROOM], at + ROOM
    found, at = scratch[at : at + lists * ROOM], at + lists * ROOM
    spare_scores, at = scratch[at : at + room], at + room
    spare_numbers, at = scratch[at : at + room], at + room
    histogram, at = scratch[at : at + BUCKETS], at + BUCKETS
    sets, at = scratch[at : at + lists], at + lists
    meeting, at = scratch[at : at + meeting_words(windows)], at + meeting_words(windows)
    narrow = at_i32(memory_at + 8 * (QUERY + 2 * k + at), 2 * (windows + 8))
    bounds, todo = narrow[:windows], narrow[windows : 2 * windows + 16]
    state[:] = 0
    for item in range(lists):
        cursors[item] = 0
    windows_before[0] = 0
    for segment in range(segments):
        windows_before[segment + 1] = windows_before[segment] + table[segment * ROW + WINDOWS]
    shift = 0
    if k > FEW:
        histogram[:] = 0
        shift = bucket_shift(255 * (weight + prior_weight))

    order_by_frequency(query, order)
    leader = order[0]
    rows = at_i64(query[GIVEN * leader + ADDRESS], segments * LIST_ROW + LIST_HEAD)
    head = rows[segments * LIST_ROW :]
    least = query[GIVEN * leader + FREQUENCY]
    prune = least > limit
    by_bits = bits_of(query, segments, sets)
    if windows >= MOST_WINDOWS or (head[TABLES] > 0 and (lists == 1 or not by_bits)):
        return np.int64(NOT_HERE)
    exact = True
    if head[TABLES] == 0:
        for at in range(0, head[COUNT], ROOM):
            count = from_rare(head, at, head[COUNT], documents, slots, found[leader * ROOM :])
            keep(
                table,
                segments,
                windows_before,
                query,
                order,
                sets,
                1,
                documents,
                slots,
                found,
                count,
                cursors,
                prior_weight,
                state,
                scores,
                numbers,
                histogram,
                shift,
                k,
                spare_scores,
                spare_numbers,
            )

    else:
        exact = meet(
            table,
            segments,
            windows_before,
            query,
            order,
            sets,
            documents,
            slots,
            found,
            cursors,
            meeting,
            bounds,
            todo,
            prune,
            prior_weight,
            state,
            scores,
            numbers,
            histogram,
            shift,
            k,
            spare_scores,
            spare_numbers,
        )

    if k > FEW:
        make_room(table, state, scores, numbers, histogram, shift, k, spare_scores, spare_numbers)
        finish(table, state, scores, numbers, histogram, k, spare_scores, spare_numbers)
    for at in range(state[SIZE]):
        out[at] = numbers[at]
        out_scores[at] = scores[at] / UNIT
    return state[SIZE] | (np.int64(EXACT) if exact else np.int64(0)) | state[MATCHING] << COUNT_SHIFT
