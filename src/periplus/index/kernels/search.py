"""Searching all segments in one call, with one heap and one threshold; and looking up a term in all of them.

``query`` holds segments, lists, groups, clauses, prior weight, the rank of stored best impacts that makes a floor (-1
for none) and whether to prune; then weights by list, first lists of groups, clauses of groups, and for each list its
number in every segment: a term, -1 where it does not occur, -2 - n for the n-th list made for this query.

``heap`` holds the state (see ``topk``), then scores, keys and numbers; the best document comes first in the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import I64, M_I64, M_U32, R_I64, R_U8, helper, kernel, signature
from periplus.index.kernels.finding import take_list
from periplus.index.kernels.heads import ranked_of
from periplus.index.kernels.lists_known import LIST_ROW
from periplus.index.kernels.lookup import find_term
from periplus.index.kernels.tables import (
    ADMITTED,
    BEST,
    BLOCKS,
    FIRST_NUMBER,
    FREQUENCY,
    IMPACT,
    KEY,
    LARGE,
    MADE_IMPACT,
    MADE_PLACE,
    MADE_START,
    MADE_WINDOW,
    PLACE,
    PRIOR,
    PRIOR_MAX,
    RARE_WINDOW,
    ROW,
    TERM_OFFSETS,
    TERM_TEXT,
    WINDOW_MAX,
    WINDOW_START,
    WINDOWS,
    i64,
    u8,
    u16,
    u32,
)
from periplus.index.kernels.topk import search_segment
from periplus.index.kernels.window import sift_down

HEAD = 7
STATE = 4
OPTIONAL = -1


@helper
def _floor(table: Any, segments: Any, lists: Any, weights: Any, terms: Any, rank: Any) -> Any:
    """A score that so many documents of one segment reach as the rank stands for."""
    floor = np.int64(0)
    for segment in range(segments):
        best, frequency = u8(table, segment, BEST), u8(table, segment, FREQUENCY)
        blocks = u32(table, segment, BLOCKS)
        for item in range(lists):
            term = terms[item * segments + segment]
            ranked = ranked_of(frequency, blocks, term) if term >= 0 else np.int64(-1)
            if ranked >= 0:
                floor = max(floor, np.int64(best[4 * ranked + rank]) * weights[item])
    return floor


@helper
def _chosen(
    segment: Any,
    segments: Any,
    groups: Any,
    weights: Any,
    starts: Any,
    terms: Any,
    own_terms: Any,
    own_weights: Any,
    own_starts: Any,
) -> Any:
    """The lists that this segment has; how many."""
    count = 0
    for group in range(groups):
        own_starts[group] = count
        for item in range(starts[group], starts[group + 1]):
            term = terms[item * segments + segment]
            if term != -1:
                own_terms[count] = term if term >= 0 else term + 1  # a made list is ~n from here on
                own_weights[count] = weights[item]
                count += 1
    own_starts[groups] = count
    return count


@helper
def _can_match(groups: Any, clauses: Any, own_starts: Any, group_clause: Any) -> Any:
    """Whether every required clause has a list here, or an optional group when nothing is required."""
    for clause in range(max(1, clauses)):
        wanted = clause if clauses > 0 else OPTIONAL
        found = False
        for group in range(groups):
            if group_clause[group] == wanted and own_starts[group + 1] > own_starts[group]:
                found = True
        if not found:
            return False
    return True


@helper
def _sort(size: Any, scores: Any, keys: Any, numbers: Any) -> Any:
    """The root of the heap is its worst: moved behind the others one after the other, the best are first."""
    for end in range(size - 1, 0, -1):
        score, key, number = scores[0], keys[0], numbers[0]
        scores[0], keys[0], numbers[0] = scores[end], keys[end], numbers[end]
        scores[end], keys[end], numbers[end] = score, key, number
        sift_down(scores, keys, numbers, end, 0)


@kernel(signature("void", R_I64, R_I64, M_I64, M_U32, M_I64))
def top(table: Any, query: Any, heap: Any, all_documents: Any, all_scores: Any) -> Any:
    segments, lists, groups, clauses, prior_weight = query[0], query[1], query[2], query[3], query[4]
    weights = query[HEAD : HEAD + lists]
    at = HEAD + lists
    starts = query[at : at + groups + 1]
    at += groups + 1
    group_clause = query[at : at + groups]
    terms = query[at + groups :]
    k = (len(heap) - STATE) // 3
    state = heap[:STATE]
    scores = heap[STATE : STATE + k]
    keys = heap[STATE + k : STATE + 2 * k]
    numbers = heap[STATE + 2 * k :]
    if query[5] >= 0:
        state[3] = _floor(table, segments, lists, weights, terms, query[5])
    own_terms, own_weights = np.empty(lists, np.int64), np.empty(lists, np.int32)
    own_starts = np.empty(groups + 1, np.int64)
    for segment in range(segments):
        count = _chosen(segment, segments, groups, weights, starts, terms, own_terms, own_weights, own_starts)
        if not _can_match(groups, clauses, own_starts, group_clause):
            continue
        search_segment(
            u8(table, segment, FREQUENCY),
            u32(table, segment, BLOCKS),
            u32(table, segment, LARGE),
            u8(table, segment, PLACE),
            u8(table, segment, IMPACT),
            u8(table, segment, RARE_WINDOW),
            u32(table, segment, WINDOW_START),
            u8(table, segment, WINDOW_MAX),
            table[segment * ROW + WINDOWS],
            i64(table, segment, MADE_START),
            u8(table, segment, MADE_PLACE),
            u8(table, segment, MADE_IMPACT),
            u16(table, segment, MADE_WINDOW),
            own_terms[:count],
            own_weights[:count],
            own_starts,
            group_clause,
            clauses,
            u8(table, segment, PRIOR),
            u8(table, segment, PRIOR_MAX),
            prior_weight,
            u8(table, segment, ADMITTED),
            i64(table, segment, KEY),
            table[segment * ROW + FIRST_NUMBER],
            query[6],
            scores,
            keys,
            numbers,
            state,
            all_documents,
            all_scores,
        )
    _sort(state[0], scores, keys, numbers)


@kernel(signature(I64, R_I64, R_U8, M_I64, M_I64))
def find(table: Any, text: Any, found: Any, lists: Any) -> Any:
    """The number of a term in every segment, -1 where it does not occur; how many live documents have it.

    ``lists`` gets what searching needs to know of each list (``lists_known``), but for the windows of rare postings:
    ``found`` ends with their number, and ``opening`` brings them.
    """
    live = np.int64(0)
    segments = len(found) - 1
    found[segments] = 0
    for segment in range(segments):
        term = find_term(u8(table, segment, TERM_TEXT), u32(table, segment, TERM_OFFSETS), text, 0, len(text))
        found[segment] = term
        here, opened = take_list(table, segment, term, lists, segment * LIST_ROW)
        live += here
        found[segments] += opened
    return live
