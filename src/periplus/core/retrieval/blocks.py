"""Blocks of 256 documents: where the postings of lists lie in them, and what their documents can score at most."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.lists import BESTS, BITS, IMPACTS_AT, LENGTH, LIST_HEAD, LIST_ROW, MAXIMA, PLACES_AT, STARTS
from periplus.core.machine.arrays import at_i64, at_u8, at_u16, prefetch
from periplus.core.machine.bits import WORDS, byte_at, number_at
from periplus.core.retrieval.bounds import add_group, add_where, fill, raise_bound, require_group, set_bound, zero_bound

OPTIONAL, FORBIDDEN = -1, -2  # clauses
PLACES, IMPACTS, BEGINS, ENDS, LARGEST = range(5)  # addresses of a list in a segment; LARGEST is 0 where it is not
TABLE = 5
LINE = 64


@bare_helper
def clause_end(clauses: Any, first: Any) -> Any:
    """The group behind those of one clause."""
    last = first + 1
    while last < len(clauses) and clauses[last] == clauses[first]:
        last += 1
    return last


@bare_helper
def table_of(lists: Any, segment: Any, item: Any) -> Any:
    """Where the table of a list in a segment begins."""
    return TABLE * (segment * len(lists.weights) + item)


@bare_helper
def locate(lists: Any, segments: Any, segment: Any, item: Any, windows: Any, offsets: Any, maxima: Any) -> Any:
    """Find the table of a list; a rare one gets it in ``offsets`` and ``maxima``. Whether it did."""
    row, own, tables = segment * LIST_ROW, table_of(lists, segment, item), lists.tables
    rows = at_i64(lists.rows[item], segments * LIST_ROW + LIST_HEAD)
    lists.bits[item] = rows[segments * LIST_ROW + BITS]
    tables[own + PLACES], tables[own + IMPACTS] = rows[row + PLACES_AT], rows[row + IMPACTS_AT]
    tables[own + BEGINS], tables[own + ENDS] = rows[row + STARTS], rows[row + STARTS] + 4
    tables[own + LARGEST] = rows[row + MAXIMA]
    size = rows[row + LENGTH]
    if size == 0:
        tables[own + LARGEST] = 0
    if size == 0 or rows[row + STARTS] != 0:
        return False
    begins, ends = offsets[:windows], offsets[windows : 2 * windows]
    fill(at_u16(rows[row + MAXIMA], size), at_u8(rows[row + IMPACTS_AT], size), begins, ends, maxima)
    tables[own + BEGINS], tables[own + ENDS] = begins.ctypes.data, ends.ctypes.data
    tables[own + LARGEST] = maxima.ctypes.data
    return True


@bare_helper
def open_list(lists: Any, segment: Any, item: Any, window: Any) -> Any:
    """The address of a list's places, and which of them are of a window."""
    own, tables = table_of(lists, segment, item), lists.tables
    if tables[own + LARGEST] == 0 or byte_at(tables[own + LARGEST] + window) == 0:
        return tables[own + PLACES], np.int64(0), np.int64(0)
    low = np.int64(number_at(tables[own + BEGINS] + 4 * window))
    high = np.int64(number_at(tables[own + ENDS] + 4 * window))
    return tables[own + PLACES], low, high


@bare_helper
def value_of(lists: Any, segment: Any, group: Any, window: Any) -> Any:
    """The most that a group can add in a window."""
    value = np.int64(0)
    for item in range(lists.starts[group], lists.starts[group + 1]):
        maxima = lists.tables[table_of(lists, segment, item) + LARGEST]
        if maxima != 0:
            value = max(value, lists.weights[item] * np.int64(byte_at(maxima + window)))
    return value


@bare_helper
def _bound_clause(lists: Any, segment: Any, first: Any, last: Any, bound: Any, spare: Any) -> Any:
    """What the groups [first, last) add to the windows of a segment together; whether any list is there."""
    there = False
    for group in range(first, last):
        begun, target = False, spare if there else bound
        for item in range(lists.starts[group], lists.starts[group + 1]):
            largest = lists.tables[table_of(lists, segment, item) + LARGEST]
            if largest == 0:
                continue
            maxima, weight = at_u8(largest, len(bound)), np.int32(lists.weights[item])
            if begun:
                raise_bound(target, maxima, weight)
            else:
                set_bound(target, maxima, weight)
            begun = True
        if begun and there:
            add_group(bound, spare)
        there = there or begun
    return there


@bare_helper
def bound_segment(lists: Any, segment: Any, bound: Any, clause_bound: Any, spare: Any) -> Any:
    """What documents of each window can score without the prior; 0 where none matches. Whether any may match."""
    first, begun = np.int64(0), False
    while first < len(lists.clauses):
        clause, last = lists.clauses[first], clause_end(lists.clauses, first)
        if clause == FORBIDDEN:
            break
        there = _bound_clause(lists, segment, first, last, clause_bound if begun else bound, spare)
        if not there and (clause != OPTIONAL or lists.required == 0):
            begun = False
            break
        if begun and clause != OPTIONAL:
            require_group(bound, clause_bound)
        elif begun and there:
            add_where(bound, clause_bound)
        begun = True
        first = last
    if not begun:
        zero_bound(bound)
    return begun


@bare_helper
def first_threshold(lists: Any, segments: Any, rank: Any) -> Any:
    """A score that so many documents of one segment reach as the rank of stored impacts stands for."""
    threshold = np.int64(0)
    for item in range(len(lists.weights)):
        rows = at_i64(lists.rows[item], segments * LIST_ROW)
        for segment in range(segments):
            best = (rows[segment * LIST_ROW + BESTS] >> 8 * rank) & 255
            threshold = max(threshold, best * lists.weights[item])
    return threshold


@bare_helper
def largest_score(lists: Any) -> Any:
    """No document can score more."""
    total = lists.prior_weight
    for group in range(len(lists.clauses)):
        best = np.int64(0)
        for item in range(lists.starts[group], lists.starts[group + 1]):
            best = max(best, lists.weights[item])
        total += best
    return 255 * total


@bare_helper
def ask_for_lists(lists: Any, segments: Any) -> Any:
    """Ask for the memory that comes first, all at once."""
    for item in range(len(lists.rows)):
        for line in range(0, 8 * (segments * LIST_ROW + LIST_HEAD), LINE):
            prefetch(lists.rows[item] + line)
    for item in range(len(lists.rows)):
        rows = at_i64(lists.rows[item], segments * LIST_ROW)
        for segment in range(segments):
            maxima = rows[segment * LIST_ROW + MAXIMA]
            for line in range(4 if maxima != 0 else 0):
                prefetch(maxima + LINE * line)


@bare_helper
def ask_for_offsets(lists: Any, segment: Any, window: Any) -> Any:
    """Ask for where the postings of a window begin."""
    for item in range(len(lists.weights)):
        own = table_of(lists, segment, item)
        if lists.tables[own + LARGEST] != 0:
            prefetch(lists.tables[own + BEGINS] + 4 * window)


@bare_helper
def ask_for_bits(lists: Any, wide: Any) -> Any:
    """Ask for the bits of a window."""
    for item in range(len(lists.weights)):
        if lists.bits[item] != 0:
            prefetch(lists.bits[item] + 8 * WORDS * wide)


@bare_helper
def ask_for_postings(lists: Any, segment: Any, window: Any) -> Any:
    """Ask for the postings of a window."""
    for item in range(len(lists.weights)):
        places, low, high = open_list(lists, segment, item, window)
        impacts = lists.tables[table_of(lists, segment, item) + IMPACTS]
        for line in range(low, high, LINE):
            prefetch(places + line)
            prefetch(impacts + line)
