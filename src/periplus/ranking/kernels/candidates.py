"""From the numbers of candidates to their scores in one call: counts and places of the words are read from the index,
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
from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.lists_known import FIRST, LENGTH, LIST_ROW, MAXIMA, STARTS
from periplus.index.kernels.positions import BLOCK_BITS, GROUP_BITS, number, seek
from periplus.index.kernels.tables import (
    BLOCK_BASE,
    BLOCK_START,
    FETCHED,
    FIELD_LENGTHS,
    FIELD_STARTS,
    LANGUAGE,
    LANGUAGE_NUMBERS,
    PLACE,
    POSITION_DATA,
    PRIOR,
    PUBLISHED,
    ROW,
    at_f64,
    at_i64,
    at_u8,
    at_u16,
    i64,
    prefetch,
    u8,
    u32,
)
from periplus.index.kernels.types import F64, I64, R_F64, R_I64, signature
from periplus.ranking.kernels.places import COLUMN_COUNT, FIELD_COUNT, M_F64
from periplus.ranking.kernels.scores import score_of, word_weights

LABEL_BITS = 16
NUMBER_BITS = 32  # a document's number is that of its segment and, below these bits, its own
WORD = 2  # numbers of a word: how many forms it has, how often it was asked for (a fraction)
FORM = 4  # of a form: its lists' address, whether it is strong; its share, in how many documents it is (fractions)
LANES = 64
DAY = 86_400.0


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
    """The same in a rare list, of which the window of each posting is known."""
    low, high = np.int64(0), size
    while low < high:
        middle = (low + high) >> 1
        there = np.int64(windows[middle])
        if there < window or (there == window and places[first + middle] < wanted):
            low = middle + 1
        else:
            high = middle
    if low < size and windows[low] == window and places[first + low] == wanted:
        return first + low
    return np.int64(-1)


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


@kernel(
    signature(
        "void", R_I64, R_I64, R_I64, R_F64, R_I64, R_F64, R_F64, R_F64, R_F64, R_F64, F64, F64, F64, F64, I64, M_F64
    )
)
def ranked(
    table: Any,  # segments, as ``index.tables`` lays them out
    numbers: Any,  # of the candidates
    query: Any,  # how many words; ``WORD`` numbers of each, and behind them ``FORM`` numbers of each of their forms
    values: Any,  # the same memory, for the numbers that are fractions
    kept: Any,  # 1 for each field whose places count
    averages: Any,  # lengths of fields
    fields: Any,  # weight of each field, then its b
    weights: Any,  # of COLUMNS; then coverage, title overlap, anchors, shallow
    given: Any,  # constants and weights, as ``quick.py`` lays them out
    languages: Any,  # what a candidate in each language gets; or one for all
    now: Any,  # in seconds; 0: age does not matter
    documents: Any,
    host_words: Any,  # how many words of the address field belong to the host name
    best_prior: Any,  # the number that stands for a prior of 1
    most: Any,  # places kept of one term in one field
    result: Any,
) -> Any:
    """One score a candidate: that of ``scores``."""
    count = query[0]
    forms = (len(query) - 1 - WORD * count) // FORM
    lists, labels = np.empty(forms, np.int64), np.empty(forms, np.int64)
    form_words, form_terms = np.empty(forms, np.int64), np.empty(forms, np.int64)
    asked, shares, frequencies = np.empty(count), np.empty(forms), np.empty(forms)
    terms = _taken(query, values, count, lists, labels, form_words, form_terms, asked, shares, frequencies)
    idf, form_worth, widest = np.empty(count, np.float64), np.empty(forms, np.float64), np.empty(count, np.float64)
    whole = word_weights(asked, form_words, shares, frequencies, documents, given, widest, idf, form_worth)
    scale = whole * min(1.0, given[2] / max(count, 1))
    whole = max(whole, 1e-9)
    memory = np.empty(4 * count, np.int64)
    best, frozen = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    near, last = np.empty(count, np.float64), np.empty(count, np.int64)
    worth, seen = np.empty(count, np.float64), np.empty(count, np.int64)
    columns, norms = np.empty(COLUMN_COUNT, np.float64), np.empty(FIELD_COUNT, np.float64)
    counts = np.empty(terms * FIELD_COUNT, np.uint32)
    ends = np.empty(FIELD_COUNT, np.int64)
    run_ends = np.empty(terms + 1, np.int64)
    room = terms * FIELD_COUNT * most
    one, other = np.empty(room, np.int64), np.empty(room, np.int64)
    positions, words = np.empty(room, np.uint32), np.empty(room, np.uint32)
    segments = len(table) // ROW
    postings = np.empty(len(numbers) * terms, np.int64)
    # First turn: where the windows of frequent lists begin.
    for row in range(len(numbers)):
        segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & ((1 << NUMBER_BITS) - 1)
        prefetch(table[segment * ROW + FIELD_STARTS] + 4 * document * (FIELD_COUNT + 1))
        prefetch(table[segment * ROW + FIELD_LENGTHS] + 4 * document * FIELD_COUNT)
        for term in range(terms):
            starts = at_i64(lists[term], segments * LIST_ROW)[segment * LIST_ROW + STARTS]
            prefetch(starts + 4 * (document >> WINDOW_BITS))
    # Second turn: places of the window.
    for row in range(len(numbers)):
        segment, window = numbers[row] >> NUMBER_BITS, (numbers[row] & ((1 << NUMBER_BITS) - 1)) >> WINDOW_BITS
        for term in range(terms):
            known = at_i64(lists[term], segments * LIST_ROW)
            starts = known[segment * LIST_ROW + STARTS]
            if starts != 0:
                low = known[segment * LIST_ROW + FIRST] + np.int64(number_at(starts + 4 * window))
                prefetch(table[segment * ROW + PLACE] + low)
    # Third turn: the posting of each term, and where its block of positions begins.
    for row in range(len(numbers)):
        segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & ((1 << NUMBER_BITS) - 1)
        window, wanted = document >> WINDOW_BITS, np.uint8(document & (WINDOW - 1))
        places = table[segment * ROW + PLACE]
        for term in range(terms):
            known = at_i64(lists[term], segments * LIST_ROW)
            item = segment * LIST_ROW
            first, size, starts = known[item + FIRST], known[item + LENGTH], known[item + STARTS]
            posting = np.int64(-1)
            if starts != 0:
                low = first + np.int64(number_at(starts + 4 * window))
                posting = _in_window(places, low, first + np.int64(number_at(starts + 4 * window + 4)), wanted)
            elif size > 0:
                windows = at_u16(known[item + MAXIMA], size)
                posting = _in_rare(at_u8(places, first + size), windows, first, size, window, wanted)
            postings[row * terms + term] = posting
            if posting >= 0:
                prefetch(table[segment * ROW + BLOCK_START] + 4 * (posting >> BLOCK_BITS))
    # Fourth turn: the blocks themselves.
    for row in range(len(numbers)):
        segment = numbers[row] >> NUMBER_BITS
        block_base, block_start = i64(table, segment, BLOCK_BASE), u32(table, segment, BLOCK_START)
        for term in range(terms):
            posting = postings[row * terms + term]
            if posting >= 0:
                block = posting >> BLOCK_BITS
                at = block_base[block >> GROUP_BITS] + np.int64(block_start[block])
                prefetch(table[segment * ROW + POSITION_DATA] + at)
    for row in range(len(numbers)):
        segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & ((1 << NUMBER_BITS) - 1)
        block_base, block_start = i64(table, segment, BLOCK_BASE), u32(table, segment, BLOCK_START)
        data, field_starts = u8(table, segment, POSITION_DATA), u32(table, segment, FIELD_STARTS)
        base = document * (FIELD_COUNT + 1)
        size, runs = np.int64(0), 0
        for term in range(terms):
            for field in range(FIELD_COUNT):
                counts[term * FIELD_COUNT + field] = 0
            posting = postings[row * terms + term]
            if posting < 0:
                continue
            origin, width, first, occurrences = seek(block_base, block_start, data, posting)
            field = 0
            position = np.int64(0)
            for at in range(first, first + occurrences):
                position += number(data, origin, width, at)
                while field < FIELD_COUNT - 1 and position >= field_starts[base + field + 1]:
                    field += 1
                counts[term * FIELD_COUNT + field] += 1
                if labels[term] >= 0 and kept[field] and counts[term * FIELD_COUNT + field] <= most:
                    one[size] = (position << LABEL_BITS) | labels[term]
                    size += 1
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
            words[total] = value & ((1 << LABEL_BITS) - 1)
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
            counts, 0, ends, positions, words, 0, u32(table, segment, FIELD_LENGTHS), document * FIELD_COUNT, averages,
            form_words, form_terms, form_worth, fields, weights, given, features, host_words, idf, whole, scale,
            memory, best, frozen, near, last, worth, seen, norms, columns,
        )  # fmt: skip
