"""From the numbers of candidates to their scores: counts and places of the words are read from the index,
weighed and forgotten, one candidate after the other.

``ours.periplus`` does the same from arrays of all candidates, which explanations need. What is read of the index lies
far apart, so it is asked for in turns: for all candidates their postings (``postings``), then where the blocks of
positions begin, then the heads of these, then the positions; each turn finds in the cache what the one before asked
for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
    OWN_TITLE,
    POSITION_DATA,
    PRIOR,
    PUBLISHED,
    ROW,
)
from periplus.core.machine.arrays import at_f64, at_u32, i64, prefetch, u8, u32
from periplus.core.machine.bits import number_at, word_at
from periplus.core.score.features import BODY, COLUMN_COUNT
from periplus.core.score.formula import (
    CandidateTables,
    QueryForms,
    QueryWords,
    norms_of,
    pseudo_of,
    score_of,
    word_weights,
)
from periplus.core.score.postings import LOCAL, NUMBER_BITS, find
from periplus.core.score.term_positions import gathered, laid_out, merged, read, seek
from periplus.core.score.workspace import (
    FORM,
    FOUND,
    HEAD,
    WORD,
    candidate_arrays,
    found_postings,
    query_tables,
    sizes_of,
    words_needed,
)

DAY = 86_400.0
LINE = 64  # bytes
MOST_WORDS = 62  # whose presence fits into the bits of a number
# Constants, by their place: of each field its average length, whether its places count, its weight, its b and how long
# it is at most; the weights of COLUMNS, coverage, title overlap, anchors and shallow; then what ``formula.py`` gives
# besides.
AVERAGES, KEPT, FIELDS = 0, FIELD_COUNT, 2 * FIELD_COUNT
WEIGHTS, WEIGHT_COUNT = 5 * FIELD_COUNT, COLUMN_COUNT + 4
GIVEN, GIVEN_COUNT = WEIGHTS + WEIGHT_COUNT, 18
SHARED, PRIOR_WORTH, LANGUAGE_WORTH, FRESH, HALF_AGE = 2, 6, 7, 8, 9  # among those
NAVIGATIONAL, SAME_TITLE, SAME_START, ALONE = 10, 11, 12, 13
DOCUMENTS, HOST_WORDS, BEST_PRIOR, MOST = 14, 15, 16, 17


class Wishes(NamedTuple):
    """What decides about a page besides its words."""

    title: Any  # the query as the print of a title
    languages: Any  # what a candidate in each language gets; or one for all
    now: Any  # in seconds; 0: age does not matter


@bare_helper
def _taken(query: Any, values: Any, tables: Any) -> Any:
    """The query in arrays; how many terms there are: a form of two words is one term, of the first it is strong for."""
    lists, labels = tables.lists, tables.labels
    count, terms, form = len(tables.asked), 0, 0
    for word in range(count):
        tables.asked[word] = values[HEAD + WORD * word + 1]
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
            tables.form_words[form], tables.form_terms[form] = word, term
            tables.shares[form], tables.frequencies[form] = values[at + 2], values[at + 3]
            form += 1
    return terms


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
def _opened(table: Any, numbers: Any, terms: Any, there: Any) -> Any:
    """Lists by candidate the postings found, and where their positions are."""
    postings, begins, found = there.postings, there.begins, there.found
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
def _read_terms(there: Any, row: Any, starts_at: Any, tables: Any, fields: Any, kept: Any, most: Any, own: Any) -> Any:
    """Reads the postings of a candidate: how often its terms occur in which fields, and places of those that count.

    Returns how many places there are, in how many sorted runs.
    """
    first, end = FOUND * there.begins[row], FOUND * there.begins[row + 1]
    found, labels, present = there.found, tables.labels, np.int64(0)
    for at in range(first, end, FOUND):
        present |= (1 << (labels[found[at]] + 1)) >> 1
    # Places in the body say how near words are to each other, and nothing else.
    several = len(tables.asked) > MOST_WORDS or present & (present - 1) != 0
    wanted = kept if several else kept & ~(1 << BODY)
    size, runs = np.int64(0), 0
    for at in range(first, end, FOUND):
        term, occurrences = found[at], found[at + 4]
        read(found[at + 1], found[at + 2], found[at + 3], occurrences, starts_at, own.steps.ctypes.data, own.firsts)
        here = np.int64(0)
        for field in range(FIELD_COUNT):
            own.counts[field] = own.firsts[field + 1] - own.firsts[field]
            here |= np.int64(own.counts[field] > 0) << field
        own.seen[term], own.pseudo[term] = here, pseudo_of(own.counts, 0, here, fields, own.norms)
        if labels[term] >= 0 and here & wanted:
            size = gathered(own.steps, own.firsts, starts_at, here & wanted, labels[term], most, own.one, size)
            own.run_ends[runs] = size
            runs += 1
    return size, runs


@bare_helper
def _read_candidate(
    table: Any, number: Any, there: Any, row: Any, terms: Any, tables: Any, constants_at: Any, kept: Any, own: Any
) -> Any:
    """Brings what is said of one candidate by its lengths and by the places of the query's terms."""
    segment, document = number >> NUMBER_BITS, number & LOCAL
    averages = at_f64(constants_at + 8 * AVERAGES, FIELD_COUNT)
    fields = at_f64(constants_at + 8 * FIELDS, 3 * FIELD_COUNT)
    most = np.int64(at_f64(constants_at + 8 * GIVEN, GIVEN_COUNT)[MOST])
    for term in range(terms):
        own.seen[term] = 0
    lengths = at_u32(table[segment * ROW + FIELD_LENGTHS] + 4 * document * FIELD_COUNT, FIELD_COUNT)
    for field in range(FIELD_COUNT):
        own.lengths[field] = lengths[field]
    norms_of(own.lengths, averages, fields, own.norms)
    starts_at = table[segment * ROW + FIELD_STARTS] + 4 * document * (FIELD_COUNT + 1)
    size, runs = _read_terms(there, row, starts_at, tables, fields, kept, most, own)
    if merged(own.one, own.other, own.run_ends, runs):
        laid_out(own.other, own.run_ends[0], own.ends, own.positions, own.words)
    else:
        laid_out(own.one, size if runs < 2 else own.run_ends[0], own.ends, own.positions, own.words)


@bare_helper
def _beside_words(table: Any, number: Any, wishes: Any, given: Any) -> Any:
    """What a page gains by its rank, its language, its title as a whole and its age."""
    segment, document = number >> NUMBER_BITS, number & LOCAL
    prior = u8(table, segment, PRIOR)
    features = (prior[document] / given[BEST_PRIOR] if len(prior) > 0 else 0.0) * given[PRIOR_WORTH]
    language = np.int64(0)
    if len(wishes.languages) > 1:
        language = i64(table, segment, LANGUAGE_NUMBERS)[u32(table, segment, LANGUAGE)[document]]
    features += given[LANGUAGE_WORTH] * wishes.languages[language]
    features += _same_title(wishes.title, i64(table, segment, OWN_TITLE)[document], given)
    if wishes.now > 0.0:
        date = at_f64(table[segment * ROW + PUBLISHED], document + 1)[document]
        if date > 0.0:
            features += given[FRESH] / (1.0 + max((wishes.now - date) / DAY, 0.0) / given[HALF_AGE])
    return features


@bare_helper
def _kept_fields(constants_at: Any) -> Any:
    """The fields whose places count, as bits."""
    kept, every = at_f64(constants_at + 8 * KEPT, FIELD_COUNT), np.int64(0)
    for field in range(FIELD_COUNT):
        every |= np.int64(kept[field] > 0.0) << field
    return every


@bare_helper
def ranked(
    table: Any,  # segments, as ``layout.segments`` lays them out
    numbers: Any,  # of the candidates
    query: Any,  # its ``HEAD``; ``WORD`` numbers of each word, and behind them ``FORM`` numbers of each of their forms
    values: Any,  # the same memory, as fractions
    constants_at: Any,  # as ``formula.Formula`` lays them out
    languages: Any,
    now: Any,
    named: Any,  # documents that the query names by their address
    memory_at: Any,  # to work in
    words: Any,  # of memory, as numbers of 64 bits
    result: Any,
) -> Any:
    """One score a candidate; 0, or how many words of memory it takes when there are too few."""
    given_at, weights_at = constants_at + 8 * GIVEN, constants_at + 8 * WEIGHTS
    given = at_f64(given_at, GIVEN_COUNT)
    sizes = sizes_of(table, numbers, query, np.int64(given[MOST]))
    needed, count = words_needed(sizes), sizes.words
    if needed > words:
        return needed
    tables, there = query_tables(memory_at, sizes), found_postings(memory_at, sizes)
    own = candidate_arrays(memory_at, sizes)
    terms = _taken(query, values, tables)
    whole = word_weights(tables, given[DOCUMENTS], given)
    scale = whole * (given[ALONE] if count == 1 else min(1.0, given[SHARED] / max(count, 1)))
    candidate = CandidateTables(
        own.seen.ctypes.data, own.pseudo.ctypes.data, own.lengths.ctypes.data,
        own.ends.ctypes.data, own.positions.ctypes.data, own.words.ctypes.data,
    )  # fmt: skip
    forms = QueryForms(
        tables.form_words.ctypes.data, tables.form_terms.ctypes.data, tables.worth.ctypes.data, sizes.forms
    )
    query_words = QueryWords(tables.idf.ctypes.data, count, max(whole, 1e-9), scale)
    wishes, kept = Wishes(query[1], languages, now), _kept_fields(constants_at)
    _ask_for(table, numbers, len(languages))
    find(table, numbers, tables.lists, terms, there.postings, there.search_at)
    _opened(table, numbers, terms, there)
    for row in range(sizes.candidates):
        _read_candidate(table, numbers[row], there, row, terms, tables, constants_at, kept, own)
        features = _beside_words(table, numbers[row], wishes, given)
        result[row] = score_of(
            candidate, forms, query_words, weights_at, given_at, features, given[HOST_WORDS], own.scoring_at
        )
        for place in range(len(named)):
            if numbers[row] == named[place]:
                result[row] += scale * given[NAVIGATIONAL]
    return np.int64(0)
