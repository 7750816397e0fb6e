"""Phrases: words that stand side by side, as a list of documents made for one query."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import (
    FIELD_COUNT,
    SKIP,
    WINDOW_BITS,
    find_posting,
    folded,
    read_varint,
    seek_positions,
)
from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.occurrences import decode
from periplus.index.kernels.types import FIELD_TABLES, I64, M_U8, M_U32, POSITIONS, POSTINGS, R_I64, signature


@helper
def _keep_following(data: Any, at: Any, end: Any, distance: Any, matches: Any, count: Any) -> Any:
    """Keep the starts whose term at ``distance`` follows; both sides ascend."""
    kept = 0
    place = 0
    position = np.int64(0)
    while at < end and place < count:
        step, at = read_varint(data, at)
        position += step
        while place < count and matches[place] + distance < position:
            place += 1
        if place < count and matches[place] + distance == position:
            matches[kept] = matches[place]
            kept += 1
            place += 1
    return kept


@helper
def _count_starts(matches: Any, count: Any, starts: Any, document: Any, counts: Any) -> Any:
    for field in range(FIELD_COUNT):
        counts[field] = 0
    base = document * (FIELD_COUNT + 1)
    field = 0
    for match in range(count):
        while field < FIELD_COUNT - 1 and matches[match] >= starts[base + field + 1]:
            field += 1
        counts[field] += 1


@helper
def _resume(
    start: Any,
    position_start: Any,
    skip_start: Any,
    skip: Any,
    data: Any,
    term: Any,
    ordinal: Any,
    cursor_ordinal: Any,
    cursor_at: Any,
) -> Any:
    """Position bytes of a posting, going on from an earlier one of the same block where that is nearer."""
    if (
        cursor_ordinal < 0
        or ordinal < cursor_ordinal
        or (ordinal - start[term]) // SKIP != (cursor_ordinal - start[term]) // SKIP
    ):
        return seek_positions(start, position_start, skip_start, skip, data, term, ordinal)
    at = cursor_at
    for _ in range(ordinal - cursor_ordinal):
        length, at = read_varint(data, at)
        at += length
    length, at = read_varint(data, at)
    return at, at + length


@kernel(signature(I64, *POSTINGS, *POSITIONS, *FIELD_TABLES, R_I64, R_I64, I64, I64, M_U32, M_U8))
def phrase(
    start: Any,
    slot: Any,
    place: Any,
    impact: Any,
    rare_window: Any,
    window_start: Any,
    window_max: Any,
    windows: Any,
    position_start: Any,
    skip_start: Any,
    skip: Any,
    data: Any,
    starts: Any,
    factors: Any,
    k1: Any,
    terms: Any,
    distances: Any,
    field: Any,
    longest: Any,
    documents: Any,
    impacts: Any,
) -> Any:
    """The documents that hold ``terms`` at the given distances from a start, with the folded impact of the phrase.

    ``terms`` are ordered from rare to frequent: the first one's list is walked, the others are looked up.
    ``longest`` is the largest number of position bytes of one posting.
    """
    counts = np.zeros(FIELD_COUNT, np.int64)
    matches = np.empty(longest + 1, np.int64)
    ordinals = np.empty(len(terms), np.int64)
    cursor_ordinal = np.full(len(terms), -1, np.int64)
    cursor_at = np.zeros(len(terms), np.int64)
    leader = terms[0]
    base = start[leader]
    row = ~slot[leader] * (windows + 1)
    window: Any = 0
    found = 0
    for posting in range(base, start[leader + 1]):
        if slot[leader] < 0:
            while window_start[row + window + 1] <= posting - base:
                window += 1
        else:
            window = np.int64(rare_window[slot[leader] + posting - base])
        document = (window << WINDOW_BITS) | place[posting]
        ordinals[0] = posting
        is_there = True
        for word in range(1, len(terms)):
            ordinals[word] = find_posting(start, slot, place, rare_window, window_start, windows, terms[word], document)
            if ordinals[word] < 0:
                is_there = False
                break
        if not is_there:
            continue
        count = 0
        for word in range(len(terms)):
            at, end = _resume(
                start,
                position_start,
                skip_start,
                skip,
                data,
                terms[word],
                ordinals[word],
                cursor_ordinal[word],
                cursor_at[word],
            )
            cursor_ordinal[word] = ordinals[word] + 1
            cursor_at[word] = end
            if word == 0:
                count = decode(data, at, end, matches)
                for match in range(count):
                    matches[match] -= distances[0]
            else:
                count = _keep_following(data, at, end, distances[word], matches, count)
            if count == 0:
                break
        if count == 0:
            continue
        _count_starts(matches, count, starts, document, counts)
        if field < 0 or counts[field] > 0:
            documents[found] = document
            impacts[found] = folded(counts, factors, document, k1, field)
            found += 1
    return found
