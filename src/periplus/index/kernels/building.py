"""Inversion: the stream of words of many documents becomes sorted lists with impacts and positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import FIELD_COUNT, WINDOW, WINDOW_BITS, folded, write_varint
from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.types import (
    F64,
    I64,
    M_I64,
    M_U8,
    M_U16,
    M_U32,
    M_U64,
    R_F64,
    R_I64,
    R_U8,
    R_U32,
    R_U64,
    signature,
)


@kernel(signature("void", R_U32, R_U32, I64, M_U32, M_U32, M_U32))
def place_pieces(pieces: Any, counts: Any, gap: Any, lengths: Any, starts: Any, positions: Any) -> Any:
    """Lay the fields of every document into disjoint ranges of positions.

    ``pieces`` are rows (document, field) in ascending order, ``counts`` their words.
    """
    piece = 0
    for document in range(len(starts) // (FIELD_COUNT + 1)):
        position = 0
        for field in range(FIELD_COUNT):
            starts[document * (FIELD_COUNT + 1) + field] = position
            while piece < len(counts) and pieces[2 * piece] == document and pieces[2 * piece + 1] == field:
                positions[piece] = position
                position += counts[piece] + gap
                lengths[document * FIELD_COUNT + field] += counts[piece]
                piece += 1
            position += 1  # an empty field is a range of its own, too
        starts[document * (FIELD_COUNT + 1) + FIELD_COUNT] = position


@kernel(signature("void", R_U32, R_I64, R_I64, R_I64, R_U32, M_I64))
def count_terms(stream: Any, order: Any, piece_start: Any, form_start: Any, forms: Any, counts: Any) -> Any:
    """How often each term occurs in the pieces that count of a stream of word numbers."""
    for piece in order:
        for at in range(piece_start[piece], piece_start[piece + 1]):
            word = stream[at]
            for form in range(form_start[word], form_start[word + 1]):
                counts[forms[form]] += 1


@kernel(signature("void", R_U32, R_I64, R_I64, R_U32, R_U32, R_I64, R_U32, I64, I64, M_I64, M_U64))
def scatter(
    stream: Any,
    order: Any,
    piece_start: Any,
    piece_document: Any,
    piece_position: Any,
    form_start: Any,
    forms: Any,
    low: Any,
    high: Any,
    cursor: Any,
    occurrences: Any,
) -> Any:
    """Put every occurrence of the terms [low, high) at its term's place: document << 32 | position, ascending."""
    for piece in order:
        occurrence = (np.uint64(piece_document[piece]) << np.uint64(32)) | np.uint64(piece_position[piece])
        for at in range(piece_start[piece], piece_start[piece + 1]):
            word = stream[at]
            for form in range(form_start[word], form_start[word + 1]):
                term = np.int64(forms[form])
                if low <= term < high:
                    target = cursor[term - low]
                    occurrences[target] = occurrence
                    cursor[term - low] = target + 1
            occurrence += np.uint64(1)


@helper
def _position(occurrence: Any) -> Any:
    return np.int64(occurrence & np.uint64(0xFFFFFFFF))


@helper
def _write_positions(data: Any, at: Any, occurrences: Any, first: Any, last: Any) -> Any:
    before = np.int64(0)
    for place in range(first, last):
        position = _position(occurrences[place])
        at = write_varint(data, at, position - before)
        before = position
    return at


@helper
def _write_posting(data: Any, at: Any, occurrences: Any, first: Any, last: Any) -> Any:
    """The length of the position bytes, then these; moved up in the rare case that the length takes two bytes."""
    end = _write_positions(data, at + 1, occurrences, first, last)
    size = end - at - 1
    if size <= 127:
        data[at] = size
        return end
    return _write_positions(data, write_varint(data, at, size), occurrences, first, last)


@helper
def _count_positions(occurrences: Any, first: Any, last: Any, starts: Any, document: Any, counts: Any) -> Any:
    for field in range(FIELD_COUNT):
        counts[field] = 0
    base = document * (FIELD_COUNT + 1)
    field = 0
    for at in range(first, last):
        position = _position(occurrences[at])
        while field < FIELD_COUNT - 1 and position >= starts[base + field + 1]:
            field += 1
        counts[field] += 1


@kernel(signature("void", R_I64, R_U64, R_U32, R_F64, F64, R_U8, M_U32, M_U32, M_U8, M_U32, M_U8, M_U32, M_I64))
def encode(
    occurrence_start: Any,
    occurrences: Any,
    starts: Any,
    factors: Any,
    k1: Any,
    counted: Any,
    frequency: Any,
    documents: Any,
    impacts: Any,
    sizes: Any,
    data: Any,
    largest: Any,
    totals: Any,
) -> Any:
    """Occurrences of sorted terms → postings (document, impact) with their position bytes.

    ``counted`` says which terms count for the largest frequency of a document; ``totals`` gets postings and bytes.
    """
    counts = np.zeros(FIELD_COUNT, np.int64)
    posting = 0
    at = 0
    for term in range(len(frequency)):
        first = occurrence_start[term]
        end = occurrence_start[term + 1]
        found = 0
        while first < end:
            document = np.int64(occurrences[first] >> np.uint64(32))
            last = first + 1
            while last < end and np.int64(occurrences[last] >> np.uint64(32)) == document:
                last += 1
            _count_positions(occurrences, first, last, starts, document, counts)
            before = at
            at = _write_posting(data, at, occurrences, first, last)
            documents[posting] = document
            impacts[posting] = folded(counts, factors, document, k1, -1)
            sizes[posting] = at - before
            if counted[term] and last - first > largest[document]:
                largest[document] = last - first
            posting += 1
            found += 1
            first = last
        frequency[term] = found
    totals[0] = posting
    totals[1] = at


@helper
def best_impacts(histogram: Any, best: Any, row: Any) -> Any:
    """The largest, 10th, 100th and 1000th largest impact of a histogram; zero where there are fewer."""
    seen = 0
    for rank in range(4):
        best[row + rank] = 0
    for impact in range(255, 0, -1):
        seen += histogram[impact]
        if best[row] == 0 and seen >= 1:
            best[row] = impact
        if best[row + 1] == 0 and seen >= 10:
            best[row + 1] = impact
        if best[row + 2] == 0 and seen >= 100:
            best[row + 2] = impact
        if best[row + 3] == 0 and seen >= 1000:
            best[row + 3] = impact


@kernel(signature("void", R_U32, R_U32, R_U8, I64, I64, M_U8, M_U8, M_U16, M_U32, M_U8, M_I64, M_I64))
def layout(
    frequency: Any,
    documents: Any,
    impacts: Any,
    windows: Any,
    frequent_from: Any,
    place: Any,
    best: Any,
    rare_window: Any,
    window_start: Any,
    window_max: Any,
    slot: Any,
    totals: Any,
) -> Any:
    """Sorted postings of a run of terms → the arrays of the file.

    ``totals`` carries on from run to run: rare postings and frequent terms so far.
    """
    histogram = np.zeros(WINDOW, np.int64)
    first = 0
    rare_base = totals[0]
    frequent_base = totals[1]
    for term in range(len(frequency)):
        last = first + frequency[term]
        histogram[:] = 0
        is_frequent = frequency[term] >= frequent_from
        row = (totals[1] - frequent_base) * (windows + 1)
        row_max = (totals[1] - frequent_base) * windows
        slot[term] = ~totals[1] if is_frequent else totals[0]
        window = np.int64(0)
        for posting in range(first, last):
            document = np.int64(documents[posting])
            place[posting] = document & (WINDOW - 1)
            histogram[impacts[posting]] += 1
            there = document >> WINDOW_BITS
            if is_frequent:
                while window <= there:
                    window_start[row + window] = posting - first
                    window += 1
                if impacts[posting] > window_max[row_max + there]:
                    window_max[row_max + there] = impacts[posting]
            else:
                rare_window[totals[0] - rare_base] = there
                totals[0] += 1
        if is_frequent:
            while window <= windows:
                window_start[row + window] = last - first
                window += 1
            totals[1] += 1
        best_impacts(histogram, best, term * 4)
        first = last
