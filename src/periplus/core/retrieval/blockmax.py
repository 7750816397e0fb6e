"""Exact top-k for groups of lists with clauses; over all segments, with one threshold.

A group's value is the best of its lists, a document's score the sum of its groups plus the prior. A group is optional,
forbidden, or belongs to a required clause, of which at least one group has to match; without required clauses, one of
the optional groups. All values are positive whole numbers.

The largest impacts of the lists by window add up to bounds. The most promising windows of all segments are visited
first, then those that still may hold one of the best, by falling bound. A window or a document is left out only when
its bound is *strictly* below the threshold, the score of the k-th best: what remains equals exhaustive scoring. Where
matches are counted, all windows are visited, but impacts are read only of those that may hold one of the best.

``memory`` begins with the query: the numbers of ``HEAD``; of each list its weight and the address of what is known of
it (``layout.lists``); the first list of each group and their end; the clause of each group. Groups of one clause stand
side by side: required ones, those that seldom match first, then optional, then forbidden ones. Behind the query come k
numbers and k scores, best first; the rest of ``memory`` is for work.

The result is how many documents were found, minus the numbers needed when ``words`` of memory are too few, or
``UNFINISHED`` after so many visits as the query allows: call again to go on, with ``COUNTED`` taken back to go on
without counting. The number of matches met is written to ``MATCHES``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, bare_helper, bare_kernel, signature
from periplus.core.layout.documents import WINDOW
from periplus.core.layout.scores import UNIT
from periplus.core.layout.segments import PRIOR, PRIOR_MAX, ROW, WINDOWS
from periplus.core.machine.arrays import at_f64, at_i32, at_i64, at_u8, at_u64, u8
from periplus.core.machine.bits import WORDS
from periplus.core.retrieval.blocks import (
    FORBIDDEN,
    TABLE,
    ask_for_bits,
    ask_for_lists,
    ask_for_offsets,
    ask_for_postings,
    bound_segment,
    first_threshold,
    largest_score,
    locate,
)
from periplus.core.retrieval.bounds import LEVELS, add_prior, by_bound, most_promising
from periplus.core.retrieval.bundles import Blocks, Desk, Lists, Visit
from periplus.core.retrieval.collector import (
    FLOOR,
    MATCHING,
    SIZE,
    clear_collector,
    collector_in,
    collector_words,
    finish,
)
from periplus.core.retrieval.visiting import visit_window

HEAD = 15
SEGMENTS, LISTS, GROUPS, REQUIRED, PRIOR_WEIGHT, K, COUNTED, BY_DATE, RANK, VISITS = range(10)
BEGUN, PHASE, AT, TODO, MATCHES = range(10, HEAD)
FIRST_WINDOWS = 16  # visited before all others, to raise the threshold early
AHEAD = 8  # windows whose postings are fetched into the cache before they are needed
UNFINISHED = -1
LARGEST_DATE = (1 << 63) - 1


@bare_helper
def _query_words(query: Any) -> Any:
    return HEAD + 2 * query[LISTS] + 2 * query[GROUPS] + 1


@bare_helper
def _windows(table: Any, segments: Any) -> Any:
    """Those of all segments, and of the largest one."""
    windows, widest = np.int64(0), np.int64(0)
    for segment in range(segments):
        windows += table[segment * ROW + WINDOWS]
        widest = max(widest, table[segment * ROW + WINDOWS])
    return windows, widest


@bare_helper
def _wide_words(query: Any) -> Any:
    """Numbers of 64 bits for work, but for the collector."""
    lists, groups = query[LISTS], query[GROUPS]
    return query[SEGMENTS] * (TABLE * lists + 1) + 5 * lists + 2 * groups + 2 * WORDS


@bare_helper
def _words_needed(query: Any, windows: Any, widest: Any) -> Any:
    hits = 2 * query[K] + collector_words(query[K])
    narrow = 3 * WINDOW + 4 * windows + 2 * widest + LEVELS + 1 + 2 * query[LISTS] * windows
    return _query_words(query) + hits + _wide_words(query) + narrow // 2 + WINDOW + query[LISTS] * windows // 8 + 8


@bare_helper
def _lists_in(query: Any, memory: Any) -> Any:
    """The lists of a query; what is not given is in ``memory``."""
    lists, groups = query[LISTS], query[GROUPS]
    given, starts = query[HEAD : HEAD + 2 * lists], HEAD + 2 * lists
    tables = TABLE * query[SEGMENTS] * lists
    weights, rows = memory[tables : tables + lists], memory[tables + lists : tables + 2 * lists]
    for item in range(lists):
        weights[item], rows[item] = given[2 * item], given[2 * item + 1]
    return Lists(
        weights,
        rows,
        query[starts : starts + groups + 1],
        query[starts + groups + 1 : starts + 2 * groups + 1],
        memory[:tables],
        memory[tables + 2 * lists : tables + 3 * lists],
        query[REQUIRED],
        query[PRIOR_WEIGHT],
    )


@bare_helper
def _blocks_in(query: Any, first: Any, narrow: Any, windows: Any) -> Any:
    return Blocks(
        first[: query[SEGMENTS]],
        narrow[:windows],
        narrow[windows : 2 * windows],
        narrow[2 * windows : 3 * windows],
        narrow[3 * windows : 4 * windows + LEVELS + 1],
    )


@bare_helper
def _desk_in(query: Any, wide: Any, narrow: Any, small: Any) -> Any:
    lists, groups = query[LISTS], query[GROUPS]
    bits = at_u64(wide.ctypes.data + 8 * (2 * lists + 2 * groups), 2 * WORDS)
    return Desk(
        narrow[:WINDOW],
        narrow[WINDOW : 2 * WINDOW],
        small[:WINDOW],
        narrow[2 * WINDOW : 3 * WINDOW],
        wide[:lists],
        wide[lists : 2 * lists],
        wide[2 * lists : 2 * lists + groups],
        wide[2 * lists + groups : 2 * lists + 2 * groups],
        bits[:WORDS],
        bits[WORDS:],
    )


@bare_helper
def _bound_all(table: Any, lists: Any, blocks: Any, offsets: Any, maxima: Any, spare: Any, widest: Any) -> Any:
    """Tables of all lists, and bounds of all windows."""
    begin, made = np.int64(0), np.int64(0)
    segments = len(blocks.first)
    for segment in range(segments):
        windows = table[segment * ROW + WINDOWS]
        blocks.first[segment] = begin
        for item in range(len(lists.weights)):
            own = maxima[made : made + windows]
            if locate(lists, segments, segment, item, windows, offsets[2 * made :], own):
                made += windows
        bound = blocks.bounds[begin : begin + windows]
        there = bound_segment(lists, segment, bound, spare[:windows], spare[widest : widest + windows])
        if there and lists.prior_weight > 0 and table[segment * ROW + PRIOR + 1] > 0:
            add_prior(bound, u8(table, segment, PRIOR_MAX), np.int32(lists.prior_weight))
        blocks.segment[begin : begin + windows] = segment
        begin += windows


@bare_helper
def _by_bits(query: Any, lists: Any) -> Any:
    """Whether matches are compared by bits: for all but any of some words that are not counted."""
    last = lists.clauses[query[GROUPS] - 1]
    return query[REQUIRED] > 0 or query[COUNTED] != 0 or last == FORBIDDEN


@bare_helper
def _look_ahead(lists: Any, blocks: Any, at: Any, end: Any, threshold: Any, by_bits: Any) -> Any:
    """Ask for what the next windows need, so that the waits for memory overlap."""
    for step in range(at, end):
        wide = np.int64(blocks.todo[step])
        if by_bits:
            ask_for_bits(lists, wide)
        if blocks.bounds[wide] >= threshold:
            segment = np.int64(blocks.segment[wide])
            ask_for_offsets(lists, segment, wide - blocks.first[segment])
    for step in range(at, end if not by_bits else at):
        wide = np.int64(blocks.todo[step])
        if blocks.bounds[wide] >= threshold:
            segment = np.int64(blocks.segment[wide])
            ask_for_postings(lists, segment, wide - blocks.first[segment])
            ask_for_bits(lists, wide)


@bare_helper
def _next_phase(query: Any, blocks: Any, best: Any) -> Any:
    """What to visit: the most promising windows, then all others; whether there is anything left to do."""
    query[PHASE] += 1
    query[AT] = 0
    if query[PHASE] == 1:
        query[TODO] = most_promising(blocks.bounds, blocks.todo[: min(FIRST_WINDOWS, len(blocks.todo))])
    elif query[PHASE] == 2:
        least = max(np.int64(1), best.state[FLOOR] if query[COUNTED] == 0 else np.int64(0))
        query[TODO] = by_bound(blocks.bounds, least, chosen=blocks.todo, spare=blocks.spare)
    return query[PHASE] < 3


@bare_helper
def _visit_all(table: Any, query: Any, lists: Any, blocks: Any, desk: Any, best: Any) -> Any:
    """Visit windows; whether that is all."""
    by_bits, visits = _by_bits(query, lists), np.int64(0)
    while query[AT] < query[TODO] or _next_phase(query, blocks, best):
        while query[AT] < query[TODO]:
            at, threshold = query[AT], best.state[FLOOR] if query[BY_DATE] == 0 else np.int64(0)
            if at % AHEAD == 0:
                _look_ahead(lists, blocks, at, min(at + AHEAD, query[TODO]), threshold, by_bits)
            query[AT] += 1
            wide = np.int64(blocks.todo[at])
            bound = np.int64(blocks.bounds[wide])
            if bound < threshold and query[COUNTED] == 0:
                continue
            blocks.bounds[wide] = 0  # visited
            segment = np.int64(blocks.segment[wide])
            window, prior_bound = wide - blocks.first[segment], np.int64(0)
            if lists.prior_weight > 0 and table[segment * ROW + PRIOR + 1] > 0:
                prior_bound = lists.prior_weight * np.int64(u8(table, segment, PRIOR_MAX)[window])
            visit = Visit(wide, segment, window, bound, prior_bound, threshold)
            visit_window(table, lists, desk, best, visit, by_bits, query[BY_DATE] != 0)
            visits += 1
            if visits >= query[VISITS]:
                return False
    return True


@bare_kernel(signature(I64, I64, I64, I64))
def block_max(table_at: Any, memory_at: Any, words: Any) -> Any:
    query = at_i64(memory_at, words)
    table, k = at_i64(table_at, query[SEGMENTS] * ROW), query[K]
    windows, widest = _windows(table, query[SEGMENTS])
    needed = _words_needed(query, windows, widest)
    if words < needed:
        return -needed
    out_at = _query_words(query)
    at = out_at + 2 * k
    lists_at = at + collector_words(k)
    lists = _lists_in(query, query[lists_at:])
    largest = largest_score(lists) if query[BY_DATE] == 0 else np.int64(LARGEST_DATE)
    best = collector_in(table, query[at:], k, largest)
    desk_at = lists_at + (TABLE * query[SEGMENTS] + 3) * query[LISTS]
    first_at = desk_at + 2 * query[LISTS] + 2 * query[GROUPS] + 2 * WORDS
    narrow_at = memory_at + 8 * (first_at + query[SEGMENTS])
    narrow = at_i32(narrow_at, 3 * WINDOW + 4 * windows + LEVELS + 1 + 2 * widest + 2 * query[LISTS] * windows)
    small = at_u8(narrow_at + 4 * len(narrow), WINDOW + query[LISTS] * windows)
    blocks = _blocks_in(query, query[first_at:], narrow[3 * WINDOW :], windows)
    desk = _desk_in(query, query[desk_at:], narrow, small)
    if query[BEGUN] == 0:
        query[BEGUN] = 1
        clear_collector(best)
        ask_for_lists(lists, query[SEGMENTS])
        if query[RANK] >= 0:
            best.state[FLOOR] = first_threshold(lists, query[SEGMENTS], query[RANK])
        spare = narrow[3 * WINDOW + 4 * windows + LEVELS + 1 :]
        _bound_all(table, lists, blocks, spare[2 * widest :], small[WINDOW:], spare, widest)
    if not _visit_all(table, query, lists, blocks, desk, best):
        query[MATCHES] = best.state[MATCHING]
        return np.int64(UNFINISHED)
    finish(best)
    query[MATCHES] = best.state[MATCHING]
    scores = at_f64(memory_at + 8 * (out_at + k), k)
    for at in range(best.state[SIZE]):
        query[out_at + at] = best.numbers[at]
        scores[at] = best.scores[at] / UNIT
    return best.state[SIZE]
