"""Inversion: the stream of words of many documents becomes sorted lists with impacts and positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import FIELD_COUNT, WINDOW, WINDOW_BITS
from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.heads import RANKED
from periplus.index.kernels.memory import ask, item
from periplus.index.kernels.types import (
    F64,
    I64,
    M_I64,
    M_U8,
    M_U16,
    M_U32,
    R_F64,
    R_I64,
    R_U8,
    R_U32,
    signature,
)

WAITING = 512  # occurrences between which cursors arrive in the cache
AHEAD = 24  # occurrences between which their places do
MAX_FORMS = 64  # of one word
SHARE_BITS = 6  # of positions that share an entry of ``owners``


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
    words = np.zeros(len(form_start) - 1, np.int64)
    for piece in order:
        for at in range(piece_start[piece], piece_start[piece + 1]):
            words[item(stream, at)] += 1
    for word in range(len(words)):
        for form in range(form_start[word], form_start[word + 1]):
            counts[forms[form]] += words[word]


@helper
def _place_waiting(terms: Any, waiting: Any, count: Any, cursor: Any, occurrences: Any) -> Any:
    for place in range(min(AHEAD, count)):
        ask(occurrences, item(cursor, item(terms, np.int64(place))))
    for place in range(count):
        if place + AHEAD < count:
            ask(occurrences, item(cursor, item(terms, place + AHEAD)))
        term = item(terms, np.int64(place))
        target = item(cursor, term)
        occurrences[target] = waiting[place]
        cursor[term] = target + 1


@kernel(signature("void", R_U32, R_I64, R_I64, R_U32, R_I64, R_U32, I64, I64, M_I64, M_U32))
def scatter(
    stream: Any,
    order: Any,
    piece_start: Any,
    piece_position: Any,
    form_start: Any,
    forms: Any,
    low: Any,
    high: Any,
    cursor: Any,
    occurrences: Any,
) -> Any:
    """Put every occurrence of the terms [low, high) at its term's place: its position in the segment, ascending.

    Most terms are rare, and neither cursor nor place of theirs is in a cache: both are asked for before they are used.
    """
    waiting_terms = np.empty(WAITING + MAX_FORMS, np.int64)
    waiting = np.empty(WAITING + MAX_FORMS, np.uint32)
    count = np.int64(0)
    for piece in order:
        occurrence = np.int64(piece_position[piece])
        for at in range(piece_start[piece], piece_start[piece + 1]):
            word = np.int64(item(stream, at))
            for form in range(item(form_start, word), item(form_start, word + 1)):
                term = np.int64(item(forms, form)) - low
                if np.uint64(term) < np.uint64(high - low):
                    ask(cursor, term)
                    waiting_terms[count] = term
                    waiting[count] = occurrence
                    count += 1
            occurrence += 1
            if count >= WAITING:
                _place_waiting(waiting_terms, waiting, count, cursor, occurrences)
                count = np.int64(0)
    _place_waiting(waiting_terms, waiting, count, cursor, occurrences)


@kernel(
    signature(
        "void", R_I64, R_U32, R_U32, R_U32, R_U32, R_F64, F64, R_U8, M_U32, M_U32, M_U8, M_U32, M_U32, M_U32, M_I64
    )
)
def encode(
    occurrence_start: Any,
    occurrences: Any,
    bases: Any,
    owners: Any,
    starts: Any,
    factors: Any,
    k1: Any,
    counted: Any,
    frequency: Any,
    documents: Any,
    impacts: Any,
    counts: Any,
    steps: Any,
    largest: Any,
    totals: Any,
) -> Any:
    """Occurrences of sorted terms → postings (document, impact, how many positions) and the steps between positions.

    ``bases`` are the first positions of documents in the segment, and its end; ``owners`` has the document of every
    64th position. ``steps`` may be the memory of ``occurrences``: none is written before it was read. ``counted`` says
    which terms count for the largest frequency of a document; ``totals`` gets the number of postings.
    """
    posting = 0
    for term in range(len(frequency)):
        first = occurrence_start[term]
        end = occurrence_start[term + 1]
        before_term = posting
        while first < end:
            # Written out instead of called: numba counts references to every array at every call.
            here = np.int64(item(occurrences, first))
            document = np.int64(item(owners, here >> SHARE_BITS))
            while np.int64(item(bases, document + 1)) <= here:
                document += 1
            origin = np.int64(item(bases, document))
            document_end = np.int64(item(bases, document + 1))
            base = document * (FIELD_COUNT + 1)
            field = 0
            count = 0
            weight = 0.0
            before = np.int64(0)
            last = first
            field_end = np.int64(item(starts, base + 1))
            while True:
                position = here - origin
                while position >= field_end and field < FIELD_COUNT - 1:
                    weight += count * factors[document * FIELD_COUNT + field]
                    count = 0
                    field += 1
                    field_end = np.int64(item(starts, base + field + 1))
                count += 1
                steps[last] = position - before
                before = position
                last += 1
                if last == end:
                    break
                here = np.int64(item(occurrences, last))
                if here >= document_end:
                    break
            weight += count * factors[document * FIELD_COUNT + field]
            documents[posting] = document
            impacts[posting] = max(1, min(255, np.int64(np.floor(255.0 * weight / (k1 + weight) + 0.5))))
            counts[posting] = last - first
            if counted[term] and last - first > largest[document]:
                largest[document] = last - first
            posting += 1
            first = last
        frequency[term] = posting - before_term
    totals[0] = posting


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


@kernel(signature("void", R_U32, R_U32, R_U8, I64, I64, M_U8, M_U8, M_U16, M_U32, M_U8))
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
) -> Any:
    """Sorted postings of a run of terms → the arrays of the file."""
    histogram = np.zeros(WINDOW, np.int64)
    first = 0
    rare = 0
    ranked = 0
    row = 0
    row_max = 0
    for term in range(len(frequency)):
        last = first + frequency[term]
        is_ranked = frequency[term] >= RANKED
        is_frequent = frequency[term] >= frequent_from
        if is_ranked:
            histogram[:] = 0
        window = np.int64(0)
        for posting in range(first, last):
            document = np.int64(documents[posting])
            place[posting] = document & (WINDOW - 1)
            if is_ranked:
                histogram[impacts[posting]] += 1
            there = document >> WINDOW_BITS
            if is_frequent:
                while window <= there:
                    window_start[row + window] = posting - first
                    window += 1
                if impacts[posting] > window_max[row_max + there]:
                    window_max[row_max + there] = impacts[posting]
            else:
                rare_window[rare] = there
                rare += 1
        if is_frequent:
            while window <= windows:
                window_start[row + window] = last - first
                window += 1
            row += windows + 1
            row_max += windows
        if is_ranked:
            best_impacts(histogram, best, ranked * 4)
            ranked += 1
        first = last
