"""Inversion: the stream of words of many documents becomes sorted lists with impacts and positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import (
    I64,
    M_I64,
    M_U32,
    M_U64,
    R_I64,
    R_U8,
    R_U32,
    bare_helper,
    helper,
    kernel,
    signature,
)
from periplus.core.layout.documents import FIELD_COUNT, WINDOW, WINDOW_BITS
from periplus.core.layout.segment_tables import RANKED
from periplus.core.layout.streams import (
    ALONE,
    MAX_POSITIONS,
    MORE,
    POSITION_BITS,
    SHARE_BITS,
    DocumentRanges,
    EncodedPostings,
    ListTables,
    Pieces,
)
from periplus.core.machine.bits import number_at
from periplus.core.machine.memory import ask, item

WAITING = 512  # occurrences between which cursors arrive in the cache
AHEAD = 24  # occurrences between which their places do
WORD_BYTES = 4
WORDS_AHEAD = 16  # words between which their forms do
MAX_FORMS = 64  # of one word
LOW = np.uint64(0xFFFFFFFF)
HAS_MORE = np.uint64(MORE)
FIELDS_MASK = 7
FIRST = 1 << 31


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


@kernel(signature("void", Pieces, M_I64))
def count_terms(pieces: Any, counts: Any) -> Any:
    """How often each term occurs in the pieces that count; the words of a piece are numbers at its address."""
    form_start, forms = pieces.form_start, pieces.forms
    words = np.zeros(len(form_start) - 1, np.int64)
    for piece in pieces.order:
        address = pieces.address[piece]
        for at in range(np.int64(pieces.size[piece])):
            words[number_at(address + WORD_BYTES * at)] += 1
    for word in range(len(words)):
        for form in range(form_start[word], form_start[word + 1]):
            counts[forms[form]] += words[word]


@bare_helper
def _place_waiting(terms: Any, waiting: Any, count: Any, cursor: Any, occurrences: Any) -> Any:
    for place in range(min(AHEAD, count)):
        ask(occurrences, np.int64(item(cursor, np.int64(item(terms, np.int64(place)) & LOW)) & LOW))
    for place in range(count):
        if place + AHEAD < count:
            ask(occurrences, np.int64(item(cursor, np.int64(item(terms, place + AHEAD) & LOW)) & LOW))
        told = item(terms, np.int64(place))
        term = np.int64(told & LOW)
        entry = item(cursor, term)
        is_first = (entry ^ told) >> np.uint64(32) != np.uint64(0)
        occurrences[np.int64(entry & LOW)] = waiting[place] | np.uint32(FIRST * is_first)
        cursor[term] = (told & ~LOW) | ((entry & LOW) + np.uint64(1))


@kernel(signature("void", Pieces, I64, I64, M_U64, M_U32))
def scatter(pieces: Any, low: Any, high: Any, cursor: Any, occurrences: Any) -> Any:
    """Put every occurrence of the terms [low, high) at its term's place, ascending by position.

    An occurrence is its position in the segment, its field, and whether it is the term's first in its document;
    ``pieces.first`` has the first two for the first word of each piece. ``cursor`` holds the place of each term's next
    occurrence and, in the upper half, the last document (plus one). Most terms are rare, and neither cursor nor place
    of theirs is in a cache: both are asked for before they are used.
    """
    waiting_terms = np.empty(WAITING + MAX_FORMS, np.uint64)
    waiting = np.empty(WAITING + MAX_FORMS, np.uint32)
    count = np.int64(0)
    span = np.uint64(high - low)
    pairs, form_start, forms = pieces.pairs, pieces.form_start, pieces.forms
    for piece in pieces.order:
        occurrence = np.uint32(pieces.first[piece])
        owner = np.uint64(pieces.document[piece] + 1) << np.uint64(32)
        address = pieces.address[piece]
        size = np.int64(pieces.size[piece])
        for at in range(size):
            if at + WORDS_AHEAD < size:
                ask(pairs, np.int64(number_at(address + WORD_BYTES * (at + WORDS_AHEAD))))
            word = np.int64(number_at(address + WORD_BYTES * at))
            pair = item(pairs, word)
            # Both are written, and count when they are among the terms of this run: nothing to be guessed wrongly.
            term = (pair & ~HAS_MORE & LOW) - np.uint64(low)
            ask(cursor, np.int64(term))
            waiting_terms[count] = term | owner
            waiting[count] = occurrence
            count += np.int64(term < span)
            term = (pair >> np.uint64(32)) - np.uint64(low)
            ask(cursor, np.int64(term))
            waiting_terms[count] = term | owner
            waiting[count] = occurrence
            count += np.int64(term < span)
            if pair & HAS_MORE:
                for form in range(item(form_start, word) + 2, item(form_start, word + 1)):
                    term = np.uint64(item(forms, form)) - np.uint64(low)
                    ask(cursor, np.int64(term))
                    waiting_terms[count] = term | owner
                    waiting[count] = occurrence
                    count += np.int64(term < span)
            occurrence = np.uint32(occurrence + 1)
            if count >= WAITING:
                _place_waiting(waiting_terms, waiting, count, cursor, occurrences)
                count = np.int64(0)
    _place_waiting(waiting_terms, waiting, count, cursor, occurrences)


@bare_helper
def impact_of(weight: Any, k1: Any) -> Any:
    return max(1, min(255, np.int64(np.floor(255.0 * weight / (k1 + weight) + 0.5))))


@kernel(signature("void", R_I64, R_U32, DocumentRanges, R_U8, EncodedPostings))
def encode(occurrence_start: Any, occurrences: Any, ranges: Any, counted: Any, found: Any) -> Any:
    """Occurrences of sorted terms → postings (document, impact, how many positions) and the steps between positions.

    ``found.steps`` may be the memory of ``occurrences``: none is written before it was read. ``counted`` says which
    terms count for the largest frequency of a document. Where a posting ends is told by the occurrences themselves, so
    that no guess waits for what is known of the document.
    """
    bases, owners, alone, factors, k1 = ranges
    frequency, documents, impacts, counts, steps, largest, total = found
    posting = np.int64(0)
    for term in range(len(frequency)):
        first = np.int64(occurrence_start[term])
        end = np.int64(occurrence_start[term + 1])
        before_term = posting
        while first < end:
            told = np.int64(item(occurrences, first))
            before = told & MAX_POSITIONS
            field = (told >> POSITION_BITS) & FIELDS_MASK
            document = np.int64(item(owners, before >> SHARE_BITS))
            document += np.int64(np.int64(item(bases, document + 1)) <= before)
            while np.int64(item(bases, document + 1)) <= before:
                document += 1
            row = document * FIELD_COUNT
            steps[first] = before - np.int64(item(bases, document))
            last = first + 1
            count = np.int64(1)
            weight = 0.0
            while last < end:
                told = np.int64(item(occurrences, last))
                if told >= FIRST:
                    break
                position = told & MAX_POSITIONS
                steps[last] = position - before
                before = position
                there = (told >> POSITION_BITS) & FIELDS_MASK
                if there != field:
                    weight += count * item(factors, row + field)
                    count = np.int64(0)
                    field = there
                count += 1
                last += 1
            if weight == 0.0 and count <= ALONE:
                impacts[posting] = item(alone, (row + field) * ALONE + count - 1)
            else:
                impacts[posting] = impact_of(weight + count * item(factors, row + field), k1)
            documents[posting] = document
            counts[posting] = last - first
            if counted[term] and last - first > item(largest, document):
                largest[document] = last - first
            posting += 1
            first = last
        frequency[term] = posting - before_term
    total[0] = posting


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


@kernel(signature("void", R_U32, R_U32, R_U8, I64, I64, ListTables))
def layout(frequency: Any, documents: Any, impacts: Any, windows: Any, frequent_from: Any, tables: Any) -> Any:
    """Sorted postings of a run of terms → the arrays of the file."""
    place, best, rare_window, window_start, window_max = tables
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
                window_max[row_max + there] = max(window_max[row_max + there], impacts[posting])
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
