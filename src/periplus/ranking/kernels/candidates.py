"""From the numbers of candidates to their scores: counts and places of the words are read from the index,
weighed and forgotten, one candidate after the other.

``scores.py`` does the same from arrays of all candidates, which explanations need. What is read of the index lies far
apart, so it is asked for in turns: for all candidates where their windows begin, then the places in these, then the
blocks of positions; each turn finds in the cache what the one before asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.bits import equal_bytes, first_lanes, lowest_of, number_at
from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.lists_known import FIRST, LENGTH, LIST_ROW, MAXIMA, STARTS
from periplus.index.kernels.memory import item
from periplus.index.kernels.positions import BLOCK_BITS, GROUP_BITS, number, seek
from periplus.index.kernels.tables import (
    BLOCK_BASE,
    BLOCK_START,
    FETCHED,
    FIELD_LENGTHS,
    FIELD_STARTS,
    LANGUAGE,
    LANGUAGE_NUMBERS,
    LONGEST,
    PLACE,
    POSITION_DATA,
    PRIOR,
    PUBLISHED,
    ROW,
    at_f64,
    at_i64,
    at_u8,
    at_u16,
    at_u32,
    i64,
    prefetch,
    u8,
    u32,
)
from periplus.ranking.kernels.places import COLUMN_COUNT, FIELD_COUNT
from periplus.ranking.kernels.scores import score_of, word_weights

LABEL_BITS = 16
NUMBER_BITS = 32  # a document's number is that of its segment and, below these bits, its own
WORD = 2  # numbers of a word: how many forms it has, how often it was asked for (a fraction)
FORM = 4  # of a form: its lists' address, whether it is strong; its share, in how many documents it is (fractions)
LANES = 64
DAY = 86_400.0
FIXED = 24  # words of memory whatever is asked: eight features, and two numbers of each field
FAR_AWAY = 1 << 62  # no place is so far in a document
# Constants, by their place: of each field its average length, whether its places count, its weight and its b; the
# weights of COLUMNS, coverage, title overlap, anchors and shallow; then what ``quick.py`` gives besides.
AVERAGES, KEPT, FIELDS = 0, FIELD_COUNT, 2 * FIELD_COUNT
WEIGHTS, WEIGHT_COUNT = 4 * FIELD_COUNT, COLUMN_COUNT + 4
GIVEN, GIVEN_COUNT = WEIGHTS + WEIGHT_COUNT, 15
DOCUMENTS, HOST_WORDS, BEST_PRIOR, MOST = 11, 12, 13, 14  # among those


@bare_helper
def _in_window(places: Any, low: Any, high: Any, wanted: Any) -> Any:
    """The posting of [low, high) at the wanted place of its window; -1 when there is none."""
    while low < high:
        here = equal_bytes(places + low, wanted) & first_lanes(high - low)
        if here:
            return low + lowest_of(here)
        low += LANES
    return np.int64(-1)


@bare_helper
def _in_rare(places: Any, windows: Any, first: Any, size: Any, window: Any, wanted: Any) -> Any:
    """The same in a rare list, of which the window of each posting is known; the search has no branches to guess."""
    at, left = np.int64(0), size
    while left > 1:
        half = left >> 1
        at += half * np.int64(item(windows, at + half - 1) < window)
        left -= half
    while at < size and item(windows, at) <= window:
        if item(windows, at) == window and item(places, first + at) >= wanted:
            return first + at if item(places, first + at) == wanted else np.int64(-1)
        at += 1
    return np.int64(-1)


@bare_helper
def _decoded(
    block_base: Any,
    block_start: Any,
    data: Any,
    posting: Any,
    starts: Any,  # of the document's fields, from ``base`` on
    base: Any,
    kept: Any,
    label: Any,
    most: Any,
    counts: Any,  # by field, from ``own`` on
    own: Any,
    places: Any,
    size: Any,  # of ``places`` so far
) -> Any:
    """Counts the occurrences of a posting in each field, and appends the places of those that matter; their number, and
    the fields as bits."""
    origin, width, first, occurrences = seek(block_base, block_start, data, posting)
    field, here, seen = 0, 0, np.int64(0)
    border: Any = np.int64(item(starts, base + 1))
    takes = label >= 0 and kept[0] > 0.0
    position = np.int64(0)
    for at in range(first, first + occurrences):
        position += number(data, origin, width, at)
        if position >= border:
            while field < FIELD_COUNT - 1 and position >= item(starts, base + field + 1):
                field += 1
            here = 0
            border = np.int64(item(starts, base + field + 1)) if field < FIELD_COUNT - 1 else FAR_AWAY
            takes = label >= 0 and kept[field] > 0.0
        here += 1
        counts[own + field] = here
        seen |= 1 << field
        if takes and here <= most:
            places[size] = (position << LABEL_BITS) | label
            size += 1
    return size, seen


@bare_helper
def _merged(source: Any, target: Any, ends: Any, runs: Any) -> Any:
    """Sorted runs of ``source`` as one; whether it is in ``target`` in the end."""
    swapped = False
    while runs > 1:
        begin, made = np.int64(0), 0
        for run in range(0, runs, 2):
            middle = ends[run]
            end = ends[run + 1] if run + 1 < runs else middle
            left, right = begin, middle
            for at in range(begin, end):
                if right >= end or (left < middle and source[left] <= source[right]):
                    target[at] = source[left]
                    left += 1
                else:
                    target[at] = source[right]
                    right += 1
            ends[made] = end
            made += 1
            begin = end
        runs = made
        source, target = target, source
        swapped = not swapped
    return swapped


@bare_helper
def _taken(
    query: Any,
    values: Any,
    count: Any,
    lists: Any,
    labels: Any,
    form_words: Any,
    form_terms: Any,
    asked: Any,
    shares: Any,
    frequencies: Any,
) -> Any:
    """The query in arrays; how many terms there are: a form of two words is one term, of the first it is strong for."""
    terms, form = 0, 0
    for word in range(count):
        asked[word] = values[1 + WORD * word + 1]
        for _ in range(query[1 + WORD * word]):
            at = 1 + WORD * count + FORM * form
            term = 0
            while term < terms and lists[term] != query[at]:
                term += 1
            if term == terms:
                lists[term], labels[term] = query[at], -1
                terms += 1
            if query[at + 1] and labels[term] < 0:
                labels[term] = word
            form_words[form], form_terms[form] = word, term
            shares[form], frequencies[form] = values[at + 2], values[at + 3]
            form += 1
    return terms


@bare_helper
def _longest(table: Any, segments: Any) -> Any:
    """Places of one term in one document, at most."""
    longest = np.int64(0)
    for segment in range(segments):
        longest = max(longest, table[segment * ROW + LONGEST])
    return longest


@bare_helper
def ranked(
    table: Any,  # segments, as ``index.tables`` lays them out
    numbers: Any,  # of the candidates
    query: Any,  # how many words; ``WORD`` numbers of each, and behind them ``FORM`` numbers of each of their forms
    values: Any,  # the same memory, as fractions
    constants_at: Any,  # as ``quick.Fused`` lays them out
    languages: Any,  # what a candidate in each language gets; or one for all
    now: Any,  # in seconds; 0: age does not matter
    memory_at: Any,  # to work in
    words: Any,  # of memory, as numbers of 64 bits
    result: Any,
) -> Any:
    """One score a candidate: that of ``scores``; 0, or how many words of memory it takes when there are too few."""
    segments, candidates, query_size = len(table) // ROW, len(numbers), len(query)
    averages, kept = at_f64(constants_at + 8 * AVERAGES, FIELD_COUNT), at_f64(constants_at + 8 * KEPT, FIELD_COUNT)
    fields, weights = (
        at_f64(constants_at + 8 * FIELDS, 2 * FIELD_COUNT),
        at_f64(constants_at + 8 * WEIGHTS, WEIGHT_COUNT),
    )
    given = at_f64(constants_at + 8 * GIVEN, GIVEN_COUNT)
    documents, host_words, best_prior, limit = given[DOCUMENTS], given[HOST_WORDS], given[BEST_PRIOR], given[MOST]
    most = np.int64(limit)
    count = query[0]
    forms = (query_size - 1 - WORD * count) // FORM
    room = forms * min(FIELD_COUNT * most, _longest(table, segments))
    needed = 12 * forms + 16 * count + FIXED + candidates * forms + 3 * room
    if needed > words:
        return needed
    at = memory_at
    lists, labels = at_i64(at, forms), at_i64(at + 8 * forms, forms)
    form_words, form_terms = at_i64(at + 16 * forms, forms), at_i64(at + 24 * forms, forms)
    shares, frequencies = at_f64(at + 32 * forms, forms), at_f64(at + 40 * forms, forms)
    form_worth, run_ends = at_f64(at + 48 * forms, forms), at_i64(at + 56 * forms, forms)
    counts, fields_seen = at_u32(at + 64 * forms, forms * FIELD_COUNT), at_i64(at + 88 * forms, forms)
    at += 96 * forms
    asked, idf, widest = at_f64(at, count), at_f64(at + 8 * count, count), at_f64(at + 16 * count, count)
    near, worth = at_f64(at + 24 * count, count), at_f64(at + 32 * count, count)
    last, seen = at_i64(at + 40 * count, count), at_i64(at + 48 * count, count)
    memory = at_i64(at + 56 * count, 4 * count)
    best, frozen = at_i64(at + 88 * count, count + 1), at_i64(at + 96 * count + 8, count + 1)
    at += 128 * count
    columns, norms, ends = at_f64(at, COLUMN_COUNT), at_f64(at + 64, FIELD_COUNT), at_i64(at + 128, FIELD_COUNT)
    at += 8 * FIXED
    postings = at_i64(at, candidates * forms)
    at += 8 * candidates * forms
    one, other = at_i64(at, room), at_i64(at + 8 * room, room)
    positions, words_there = at_u32(at + 16 * room, room), at_u32(at + 20 * room, room)
    terms = _taken(query, values, count, lists, labels, form_words, form_terms, asked, shares, frequencies)
    whole = word_weights(asked, form_words, shares, frequencies, documents, given, widest, idf, form_worth)
    scale = whole * min(1.0, given[2] / max(count, 1))
    whole = max(whole, 1e-9)
    # First turn: where the windows of frequent lists begin.
    for row in range(candidates):
        segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & ((1 << NUMBER_BITS) - 1)
        prefetch(table[segment * ROW + FIELD_STARTS] + 4 * document * (FIELD_COUNT + 1))
        prefetch(table[segment * ROW + FIELD_LENGTHS] + 4 * document * FIELD_COUNT)
        for term in range(terms):
            starts = at_i64(lists[term], segments * LIST_ROW)[segment * LIST_ROW + STARTS]
            prefetch(starts + 4 * (document >> WINDOW_BITS))
    # Second turn: places of the window.
    for row in range(candidates):
        segment, window = numbers[row] >> NUMBER_BITS, (numbers[row] & ((1 << NUMBER_BITS) - 1)) >> WINDOW_BITS
        for term in range(terms):
            known = at_i64(lists[term], segments * LIST_ROW)
            starts = known[segment * LIST_ROW + STARTS]
            if starts != 0:
                low = known[segment * LIST_ROW + FIRST] + np.int64(number_at(starts + 4 * window))
                prefetch(table[segment * ROW + PLACE] + low)
    # Third turn: the posting of each term, and where its block of positions begins.
    for row in range(candidates):
        segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & ((1 << NUMBER_BITS) - 1)
        window, wanted = document >> WINDOW_BITS, np.uint8(document & (WINDOW - 1))
        places = table[segment * ROW + PLACE]
        for term in range(terms):
            known = at_i64(lists[term], segments * LIST_ROW)
            own = segment * LIST_ROW
            first, size, starts = known[own + FIRST], known[own + LENGTH], known[own + STARTS]
            posting = np.int64(-1)
            if starts != 0:
                low = first + np.int64(number_at(starts + 4 * window))
                posting = _in_window(places, low, first + np.int64(number_at(starts + 4 * window + 4)), wanted)
            elif size > 0:
                windows = at_u16(known[own + MAXIMA], size)
                posting = _in_rare(at_u8(places, first + size), windows, first, size, window, wanted)
            postings[row * terms + term] = posting
            if posting >= 0:
                prefetch(table[segment * ROW + BLOCK_START] + 4 * (posting >> BLOCK_BITS))
    # Fourth turn: the blocks themselves.
    for row in range(candidates):
        segment = numbers[row] >> NUMBER_BITS
        block_base, block_start = i64(table, segment, BLOCK_BASE), u32(table, segment, BLOCK_START)
        for term in range(terms):
            posting = postings[row * terms + term]
            if posting >= 0:
                block = posting >> BLOCK_BITS
                at = block_base[block >> GROUP_BITS] + np.int64(block_start[block])
                prefetch(table[segment * ROW + POSITION_DATA] + at)
    for row in range(candidates):
        segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & ((1 << NUMBER_BITS) - 1)
        block_base, block_start = i64(table, segment, BLOCK_BASE), u32(table, segment, BLOCK_START)
        data, field_starts = u8(table, segment, POSITION_DATA), u32(table, segment, FIELD_STARTS)
        base = document * (FIELD_COUNT + 1)
        size, runs = np.int64(0), 0
        for term in range(terms):
            posting = postings[row * terms + term]
            fields_seen[term] = 0
            if posting < 0:
                continue
            size, fields_seen[term] = _decoded(
                block_base, block_start, data, posting, field_starts, base, kept, labels[term], most, counts,
                term * FIELD_COUNT, one, size,
            )  # fmt: skip
            if size > (run_ends[runs - 1] if runs > 0 else 0):
                run_ends[runs] = size
                runs += 1
        sorted_places = other if _merged(one, other, run_ends, runs) else one
        total, field = np.int64(0), 0
        before = np.int64(-1)
        for i in range(size):
            value = sorted_places[i]
            if value == before:
                continue
            before = value
            position = value >> LABEL_BITS
            while field < FIELD_COUNT - 1 and position >= field_starts[base + field + 1]:
                ends[field] = total
                field += 1
            positions[total] = position - field_starts[base + field]
            words_there[total] = value & ((1 << LABEL_BITS) - 1)
            total += 1
        while field < FIELD_COUNT:
            ends[field] = total
            field += 1
        prior = u8(table, segment, PRIOR)
        features = (prior[document] / best_prior if len(prior) > 0 else 0.0) * given[6]
        language = np.int64(0)
        if len(languages) > 1:
            language = i64(table, segment, LANGUAGE_NUMBERS)[u32(table, segment, LANGUAGE)[document]]
        features += given[7] * languages[language]
        if now > 0.0:
            date = at_f64(table[segment * ROW + PUBLISHED], document + 1)[document]
            if not date > 0.0:
                date = at_f64(table[segment * ROW + FETCHED], document + 1)[document]
            features += given[8] * 0.5 ** (max((now - date) / DAY, 0.0) / given[9])
        result[row] = score_of(
            counts, 0, fields_seen, ends, positions, words_there, 0, u32(table, segment, FIELD_LENGTHS),
            document * FIELD_COUNT, averages, form_words, form_terms, form_worth, fields, weights, given, features,
            host_words, idf, whole, scale, memory, best, frozen, near, last, worth, seen, norms, columns,
        )  # fmt: skip
    return np.int64(0)
