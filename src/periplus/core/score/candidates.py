"""From the numbers of candidates to their scores: counts and places of the words are read from the index,
weighed and forgotten, one candidate after the other.

``ours.periplus`` does the same from arrays of all candidates, which explanations need. What is read of the index lies
far apart, so it is asked for in turns: for all candidates their postings (``postings``), then where the blocks of
positions begin, then the heads of these, then the positions; each turn finds in the cache what the one before asked
for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.documents import FIELD_COUNT, HALF_BITS
from periplus.core.layout.segment_tables import BLOCK_BITS, GROUP_BITS
from periplus.core.layout.segments import (
    BLOCK_BASE,
    BLOCK_START,
    FIELD_LENGTHS,
    FIELD_STARTS,
    LANGUAGE,
    LANGUAGE_NUMBERS,
    LONGEST,
    OWN_TITLE,
    POSITION_DATA,
    PRIOR,
    PUBLISHED,
    ROW,
)
from periplus.core.machine.arrays import at_f64, at_i64, at_u32, i64, prefetch, u8, u32
from periplus.core.machine.bits import number_at, word_at
from periplus.core.score.features import BODY, COLUMN_COUNT
from periplus.core.score.formula import (
    CandidateTables,
    QueryForms,
    QueryWords,
    memory_of,
    norms_of,
    pseudo_of,
    score_of,
    word_weights,
)
from periplus.core.score.postings import LOCAL, NUMBER_BITS, find, room_of
from periplus.core.score.term_positions import LANES, gathered, laid_out, merged, read, seek

HEAD = 2  # numbers of a query: how many words it has, what it is as the print of a title
WORD = 2  # numbers of a word: how many forms it has, how often it was asked for (a fraction)
FORM = 4  # of a form: its lists' address, whether it is strong; its share, in how many documents it is (fractions)
DAY = 86_400.0
LINE = 64  # bytes
FIXED = 5 * FIELD_COUNT + 1  # words of memory whatever is asked
FOUND = 5  # numbers of a posting found: its term; where its block's numbers are, its first bit there, width, how many
MOST_WORDS = 62  # whose presence fits into the bits of a number
# Constants, by their place: of each field its average length, whether its places count, its weight, its b and how long
# it is at most; the
# weights of COLUMNS, coverage, title overlap, anchors and shallow; then what ``formula.py`` gives besides.
AVERAGES, KEPT, FIELDS = 0, FIELD_COUNT, 2 * FIELD_COUNT
WEIGHTS, WEIGHT_COUNT = 5 * FIELD_COUNT, COLUMN_COUNT + 4
GIVEN, GIVEN_COUNT = WEIGHTS + WEIGHT_COUNT, 17
NAVIGATIONAL, SAME_TITLE, SAME_START = 10, 11, 12  # among those
DOCUMENTS, HOST_WORDS, BEST_PRIOR, MOST = 13, 14, 15, 16


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
        asked[word] = values[HEAD + WORD * word + 1]
        for _ in range(query[HEAD + WORD * word]):
            at = HEAD + WORD * count + FORM * form
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
def _ask_for(table: Any, numbers: Any, languages: Any) -> Any:
    """What is read of the candidates themselves."""
    for row in range(len(numbers)):
        own, document = (numbers[row] >> NUMBER_BITS) * ROW, numbers[row] & LOCAL
        prefetch(table[own + FIELD_STARTS] + 4 * document * (FIELD_COUNT + 1))
        prefetch(table[own + FIELD_LENGTHS] + 4 * document * FIELD_COUNT)
        prefetch(table[own + PRIOR] + document)
        prefetch(table[own + OWN_TITLE] + 8 * document)
        if languages > 1:
            prefetch(table[own + LANGUAGE] + 4 * document)


@bare_helper
def _opened(table: Any, numbers: Any, terms: Any, postings: Any, begins: Any, found: Any) -> Any:
    """CandidateTables by candidate the postings found, and where their positions are."""
    candidates, size = len(numbers), np.int64(0)
    for row in range(candidates):
        begins[row], segment = size, numbers[row] >> NUMBER_BITS
        starts = table[segment * ROW + BLOCK_START]
        for term in range(terms):
            posting = postings[term * candidates + row]
            prefetch(starts + 4 * (posting >> BLOCK_BITS))
            found[FOUND * size], found[FOUND * size + 1], found[FOUND * size + 2] = term, segment, posting
            size += np.int64(posting >= 0)
    begins[candidates] = size
    for at in range(0, FOUND * size, FOUND):
        own, block = found[at + 1] * ROW, found[at + 2] >> BLOCK_BITS
        base = np.int64(word_at(table[own + BLOCK_BASE] + 8 * (block >> GROUP_BITS)))
        begin = table[own + POSITION_DATA] + base + np.int64(number_at(table[own + BLOCK_START] + 4 * block))
        prefetch(begin)
        prefetch(begin + LINE)
        found[at + 3] = begin
    for at in range(0, FOUND * size, FOUND):
        begin, width, first, count = seek(found[at + 3], found[at + 2])
        bit = first * width
        prefetch(begin + (bit >> 3))
        found[at + 1], found[at + 2], found[at + 3], found[at + 4] = begin, bit, width, count


@bare_helper
def _same_title(asked: Any, own: Any, given: Any) -> Any:
    """What a page gains whose title is the query: what ``index.sameness`` says, weighed."""
    low = (1 << HALF_BITS) - 1
    if asked == 0 or own == 0:
        return 0.0
    if own >> HALF_BITS == asked >> HALF_BITS:
        return given[SAME_TITLE]
    if own & low == asked >> HALF_BITS or own >> HALF_BITS == asked & low:
        return given[SAME_START]
    return 0.0


@bare_helper
def ranked(
    table: Any,  # segments, as ``layout.segments`` lays them out
    numbers: Any,  # of the candidates
    query: Any,  # its ``HEAD``; ``WORD`` numbers of each word, and behind them ``FORM`` numbers of each of their forms
    values: Any,  # the same memory, as fractions
    constants_at: Any,  # as ``formula.Formula`` lays them out
    languages: Any,  # what a candidate in each language gets; or one for all
    now: Any,  # in seconds; 0: age does not matter
    named: Any,  # documents that the query names by their address
    memory_at: Any,  # to work in
    words: Any,  # of memory, as numbers of 64 bits
    result: Any,
) -> Any:
    """One score a candidate; 0, or how many words of memory it takes when there are too few."""
    segments, candidates, query_size = len(table) // ROW, len(numbers), len(query)
    kept, given_at = at_f64(constants_at + 8 * KEPT, FIELD_COUNT), constants_at + 8 * GIVEN
    given = at_f64(given_at, GIVEN_COUNT)
    best_prior, most = given[BEST_PRIOR], np.int64(given[MOST])
    count = query[0]
    forms = (query_size - HEAD - WORD * count) // FORM
    longest = _longest(table, segments)
    room = forms * min(FIELD_COUNT * most, longest) + LANES  # since so many are written where one is wanted
    searching, scoring, most_found = room_of(segments, candidates), memory_of(count), candidates * forms + 1
    needed = FIXED + 10 * forms + 3 * count + scoring + candidates * forms + searching
    needed += candidates + 1 + FOUND * most_found + longest + LANES + 3 * room
    if needed > words:
        return needed
    ends, firsts = at_i64(memory_at, FIELD_COUNT), at_i64(memory_at + 8 * FIELD_COUNT, FIELD_COUNT + 1)
    lengths_at = memory_at + 8 * (2 * FIELD_COUNT + 1)
    lengths, norms = at_f64(lengths_at, FIELD_COUNT), at_f64(lengths_at + 8 * FIELD_COUNT, FIELD_COUNT)
    counts = at_i64(lengths_at + 16 * FIELD_COUNT, FIELD_COUNT)
    averages = at_f64(constants_at + 8 * AVERAGES, FIELD_COUNT)
    fields, weights_at = at_f64(constants_at + 8 * FIELDS, 3 * FIELD_COUNT), constants_at + 8 * WEIGHTS
    at = memory_at + 8 * FIXED
    lists, labels = at_i64(at, forms), at_i64(at + 8 * forms, forms)
    form_words, form_terms = at_i64(at + 16 * forms, forms), at_i64(at + 24 * forms, forms)
    shares, frequencies = at_f64(at + 32 * forms, forms), at_f64(at + 40 * forms, forms)
    form_worth, run_ends = at_f64(at + 48 * forms, forms), at_i64(at + 56 * forms, forms)
    seen_at, pseudo_at = at + 64 * forms, at + 72 * forms
    form_words_at, form_terms_at, form_worth_at = at + 16 * forms, at + 24 * forms, at + 48 * forms
    seen, pseudo = at_i64(seen_at, forms), at_f64(pseudo_at, forms)
    at += 80 * forms
    asked, widest, idf = at_f64(at, count), at_f64(at + 8 * count, count), at_f64(at + 16 * count, count)
    idf_at, scoring_at = at + 16 * count, at + 24 * count
    at = scoring_at + 8 * scoring
    postings, search_at = at_i64(at, candidates * forms), at + 8 * candidates * forms
    at = search_at + 8 * searching
    begins, found = at_i64(at, candidates + 1), at_i64(at + 8 * (candidates + 1), FOUND * most_found)
    at += 8 * (candidates + 1 + FOUND * most_found)
    steps, steps_at = at_i64(at, longest + LANES), at
    at += 8 * (longest + LANES)
    one, other, positions_at, there_at = at_i64(at, room), at_i64(at + 8 * room, room), at + 16 * room, at + 20 * room
    positions, words_there = at_u32(positions_at, room), at_u32(there_at, room)
    terms = _taken(query, values, count, lists, labels, form_words, form_terms, asked, shares, frequencies)
    whole = word_weights(asked, form_words, shares, frequencies, given[DOCUMENTS], given, widest, idf, form_worth)
    scale = whole * min(1.0, given[2] / max(count, 1))
    whole = max(whole, 1e-9)
    every = np.int64(0)  # fields whose places count, as bits
    for field in range(FIELD_COUNT):
        every |= np.int64(kept[field] > 0.0) << field
    candidate = CandidateTables(seen_at, pseudo_at, lengths_at, memory_at, positions_at, there_at)
    query_forms = QueryForms(form_words_at, form_terms_at, form_worth_at, forms)
    query_words = QueryWords(idf_at, count, whole, scale)
    _ask_for(table, numbers, len(languages))
    find(table, numbers, lists, terms, postings, search_at)
    _opened(table, numbers, terms, postings, begins, found)
    for row in range(candidates):
        segment, document = numbers[row] >> NUMBER_BITS, numbers[row] & LOCAL
        starts_at = table[segment * ROW + FIELD_STARTS] + 4 * document * (FIELD_COUNT + 1)
        first, last_found = FOUND * begins[row], FOUND * begins[row + 1]
        for term in range(terms):
            seen[term] = 0
        own_lengths = at_u32(table[segment * ROW + FIELD_LENGTHS] + 4 * document * FIELD_COUNT, FIELD_COUNT)
        for field in range(FIELD_COUNT):
            lengths[field] = own_lengths[field]
        norms_of(lengths, averages, fields, norms)
        there = np.int64(0)
        for at in range(first, last_found, FOUND):
            there |= (1 << (labels[found[at]] + 1)) >> 1
        # Places in the body say how near words are to each other, and nothing else.
        wanted = every if count > MOST_WORDS or there & (there - 1) != 0 else every & ~(1 << BODY)
        size, runs = np.int64(0), 0
        for at in range(first, last_found, FOUND):
            term, occurrences = found[at], found[at + 4]
            read(found[at + 1], found[at + 2], found[at + 3], occurrences, starts_at, steps_at, firsts)
            fields_there = np.int64(0)
            for field in range(FIELD_COUNT):
                here = firsts[field + 1] - firsts[field]
                counts[field] = here
                fields_there |= np.int64(here > 0) << field
            seen[term], pseudo[term] = fields_there, pseudo_of(counts, 0, fields_there, fields, norms)
            if labels[term] >= 0 and fields_there & wanted:
                size = gathered(steps, firsts, starts_at, fields_there & wanted, labels[term], most, one, size)
                run_ends[runs] = size
                runs += 1
        if merged(one, other, run_ends, runs):
            laid_out(other, run_ends[0], ends, positions, words_there)
        else:
            laid_out(one, size if runs < 2 else run_ends[0], ends, positions, words_there)
        prior = u8(table, segment, PRIOR)
        features = (prior[document] / best_prior if len(prior) > 0 else 0.0) * given[6]
        language = np.int64(0)
        if len(languages) > 1:
            language = i64(table, segment, LANGUAGE_NUMBERS)[u32(table, segment, LANGUAGE)[document]]
        features += given[7] * languages[language]
        features += _same_title(query[1], i64(table, segment, OWN_TITLE)[document], given)
        if now > 0.0:
            date = at_f64(table[segment * ROW + PUBLISHED], document + 1)[document]
            if date > 0.0:
                features += given[8] / (1.0 + max((now - date) / DAY, 0.0) / given[9])
        result[row] = score_of(
            candidate, query_forms, query_words, weights_at, given_at, features, given[HOST_WORDS], scoring_at
        )
        for place in range(len(named)):
            if numbers[row] == named[place]:
                result[row] += scale * given[NAVIGATIONAL]
    return np.int64(0)
