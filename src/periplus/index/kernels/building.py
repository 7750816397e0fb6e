"""Inversion: the stream of words of many documents becomes sorted lists with impacts and positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import FIELD_COUNT, WINDOW, WINDOW_BITS, varint_size, write_varint
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

FEW = 10  # postings; the second of the best impacts is the tenth


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
def _lengthened(data: Any, head: Any, end: Any) -> Any:
    """Make room at ``head`` for a length of more than one byte; the new end."""
    size = end - head - 1
    more = varint_size(size) - 1
    for at in range(end - 1, head, -1):
        data[at + more] = data[at]
    write_varint(data, head, size)
    return end + more


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
    posting = 0
    at = 0
    for term in range(len(frequency)):
        first = occurrence_start[term]
        end = occurrence_start[term + 1]
        before_term = posting
        while first < end:
            # Written out instead of called: numba counts references to every array at every call.
            owner = occurrences[first] >> np.uint64(32)
            document = np.int64(owner)
            base = document * (FIELD_COUNT + 1)
            head = at
            at += 1
            field = 0
            count = 0
            weight = 0.0
            before = np.int64(0)
            last = first
            while last < end and occurrences[last] >> np.uint64(32) == owner:
                position = np.int64(occurrences[last] & np.uint64(0xFFFFFFFF))
                while field < FIELD_COUNT - 1 and position >= starts[base + field + 1]:
                    weight += count * factors[document * FIELD_COUNT + field]
                    count = 0
                    field += 1
                count += 1
                step = position - before
                before = position
                while step > 127:
                    data[at] = (step & 127) | 128
                    step >>= 7
                    at += 1
                data[at] = step
                at += 1
                last += 1
            weight += count * factors[document * FIELD_COUNT + field]
            if at - head - 1 <= 127:
                data[head] = at - head - 1
            else:
                at = _lengthened(data, head, at)
            documents[posting] = document
            impacts[posting] = max(1, min(255, np.int64(np.floor(255.0 * weight / (k1 + weight) + 0.5))))
            sizes[posting] = at - head
            if counted[term] and last - first > largest[document]:
                largest[document] = last - first
            posting += 1
            first = last
        frequency[term] = posting - before_term
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
        is_counted = frequency[term] >= FEW  # fewer have only a largest impact
        if is_counted:
            histogram[:] = 0
        largest = np.uint8(0)
        is_frequent = frequency[term] >= frequent_from
        row = (totals[1] - frequent_base) * (windows + 1)
        row_max = (totals[1] - frequent_base) * windows
        slot[term] = ~totals[1] if is_frequent else totals[0]
        window = np.int64(0)
        for posting in range(first, last):
            document = np.int64(documents[posting])
            place[posting] = document & (WINDOW - 1)
            if is_counted:
                histogram[impacts[posting]] += 1
            elif impacts[posting] > largest:
                largest = impacts[posting]
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
        if is_counted:
            best_impacts(histogram, best, term * 4)
        else:
            best[4 * term] = largest
            best[4 * term + 1 : 4 * term + 4] = 0
        first = last
