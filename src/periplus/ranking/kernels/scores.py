"""Scores of the profile ``periplus`` from counts and places, as ``ours.periplus`` explains them."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import F64, R_F64, R_I64, R_U32, bare_helper, kernel, signature
from periplus.index.kernels.bits import lowest_of
from periplus.index.kernels.tables import at_f64, at_i64
from periplus.ranking.kernels.places import (
    ADDRESS,
    ANCHORS,
    COLUMN_COUNT,
    FIELD_COUNT,
    M_F64,
    TITLE,
    features_of,
    scratch_of,
)


@bare_helper
def _idf(documents: Any, frequency: Any) -> Any:
    return np.log1p((max(documents, frequency) - frequency + 0.5) / (frequency + 0.5))


@bare_helper
def word_weights(
    asked: Any,
    form_words: Any,
    form_shares: Any,
    form_frequencies: Any,
    documents: Any,
    given: Any,
    widest: Any,  # scratch, a number a word
    idf: Any,
    worth: Any,
) -> Any:
    """What each word and each form is worth; that of a weak form is negative. The sum over all words."""
    power, least = given[1], given[3]
    for word in range(len(asked)):  # in how many documents the widest strong form of each word occurs
        widest[word] = 0.0
    for form in range(len(form_words)):
        if form_shares[form] >= least:
            widest[form_words[form]] = max(widest[form_words[form]], form_frequencies[form])
    for form in range(len(form_words)):
        word, share = form_words[form], form_shares[form]
        strong = share >= least
        if strong and power != 1.0:
            share = share**power
        own = _idf(documents, max(widest[word], form_frequencies[form]))
        value = share * own / max(_idf(documents, widest[word]), 1e-9)
        worth[form] = value if strong else -value
    whole = 0.0
    for word in range(len(asked)):
        idf[word] = _idf(documents, widest[word]) * asked[word]
        whole += idf[word]
    return whole


@bare_helper
def _norm(length: Any, average: Any, b: Any) -> Any:
    return max(1.0 - b + b * length / average, 1e-9) if average > 0.0 else 1.0


@bare_helper
def norms_of(lengths: Any, averages: Any, fields: Any, norms: Any) -> Any:
    """What counts in each field are divided by."""
    for field in range(FIELD_COUNT):
        norms[field] = _norm(lengths[field], averages[field], fields[FIELD_COUNT + field])


@bare_helper
def pseudo_of(counts: Any, first: Any, seen: Any, fields: Any, norms: Any) -> Any:
    """How often a term occurs, by the fields that it is in: these are given as bits."""
    pseudo, rest = 0.0, np.uint64(seen)
    while rest:
        field = lowest_of(rest)
        rest &= rest - np.uint64(1)
        pseudo += fields[field] * counts[first + field] / norms[field]
    return pseudo


@bare_helper
def fields_of(counts: Any, first: Any) -> Any:
    """The fields in which a term occurs, as bits."""
    seen = np.int64(0)
    for field in range(FIELD_COUNT):
        seen |= np.int64(counts[first + field] > 0) << field
    return seen


@bare_helper
def memory_of(count: Any) -> Any:
    """Numbers that ``score_of`` works in, for so many words of a query."""
    return scratch_of(count) + 2 * count + COLUMN_COUNT


@bare_helper
def score_of(
    seen_at: Any,  # of each term the fields that it is in, as bits
    pseudo_at: Any,  # and how often it occurs
    lengths_at: Any,  # of the candidate's fields, as fractions
    ends_at: Any,  # of its places in each field
    begin: Any,  # of those in the first field
    positions_at: Any,
    words_at: Any,
    form_words_at: Any,
    form_terms_at: Any,
    form_worth_at: Any,
    forms: Any,
    weights_at: Any,
    given_at: Any,
    features: Any,  # what is known already, in units of the idf sum
    host_words: Any,
    idf_at: Any,
    count: Any,  # of the query's words
    whole: Any,
    scale: Any,
    memory_at: Any,  # to work in
) -> Any:
    """The score of one candidate; addresses as for ``features_of``."""
    fields_seen, pseudo, lengths = at_i64(seen_at, forms), at_f64(pseudo_at, forms), at_f64(lengths_at, FIELD_COUNT)
    form_words, form_terms = at_i64(form_words_at, forms), at_i64(form_terms_at, forms)
    form_worth, idf = at_f64(form_worth_at, forms), at_f64(idf_at, count)
    weights, given = at_f64(weights_at, COLUMN_COUNT + 4), at_f64(given_at, 6)
    worth, seen = at_f64(memory_at, count), at_i64(memory_at + 8 * count, count)
    table_at = memory_at + 16 * count
    table = at_f64(table_at, COLUMN_COUNT)
    k1 = given[0]
    for word in range(count):
        worth[word] = 0.0
        seen[word] = 0
    for form in range(forms):
        word, term, share = form_words[form], form_terms[form], form_worth[form]
        there, often = fields_seen[term], pseudo[term]
        seen[word] |= there if share >= 0.0 else 0  # a strong form
        value = abs(share) * often * (k1 + 1.0) / (often + k1)
        worth[word] = max(worth[word], value if there else 0.0)
    text, found, titled, called = 0.0, 0.0, 0.0, 0.0
    for word in range(count):
        text += idf[word] * worth[word]
        found += idf[word] if seen[word] else 0.0
        titled += idf[word] if seen[word] & (1 << TITLE) else 0.0
        called += idf[word] if seen[word] & (1 << ANCHORS) else 0.0
    if count > 0:
        features_of(
            ends_at, begin, positions_at, words_at, idf_at, count, lengths[TITLE], host_words, np.int64(given[4]),
            given[5], table_at + 8 * COLUMN_COUNT, table_at,
        )  # fmt: skip
        for column in range(COLUMN_COUNT):
            features += weights[column] * table[column]
    features += weights[COLUMN_COUNT] * (found / whole) ** 2
    features += weights[COLUMN_COUNT + 1] * titled / whole
    features += weights[COLUMN_COUNT + 2] * called / whole
    depth = max(lengths[ADDRESS] - 1.0, 0.0)
    features += weights[COLUMN_COUNT + 3] / (1.0 + depth)
    return text + scale * features


@kernel(
    signature(
        "void", R_U32, R_I64, R_U32, R_U32, R_I64, R_F64, R_F64, R_I64, R_I64, R_F64, R_F64, R_F64, R_F64, R_F64, R_F64,
        R_F64, R_F64, R_I64, F64, F64, M_F64,
    )
)  # fmt: skip
def scores(
    counts: Any,  # candidates x terms x fields
    ends: Any,
    positions: Any,
    words: Any,
    lengths: Any,  # candidates x fields
    averages: Any,
    asked: Any,  # how often each word was asked for
    form_words: Any,  # of each form: its word
    form_terms: Any,  # its place among the terms
    form_shares: Any,
    form_frequencies: Any,  # in how many documents
    fields: Any,  # weight of each field, then its b
    weights: Any,  # of COLUMNS; then coverage, title overlap, anchors, shallow
    given: Any,  # constants and weights, as ``quick.py`` lays them out
    prior: Any,
    language: Any,  # of each candidate, or one for all
    age: Any,  # of each candidate, in days; empty: it does not matter
    named: Any,  # candidates that the query names
    documents: Any,
    host_words: Any,  # how many words of the address field belong to the host name
    result: Any,
) -> Any:
    """One score a candidate."""
    count = len(asked)
    idf, form_worth = np.empty(count, np.float64), np.empty(len(form_words), np.float64)
    widest = np.empty(count, np.float64)
    whole = word_weights(asked, form_words, form_shares, form_frequencies, documents, given, widest, idf, form_worth)
    scale = whole * min(1.0, given[2] / max(count, 1))
    whole = max(whole, 1e-9)
    terms = len(counts) // max(1, len(result) * FIELD_COUNT)
    memory, own = np.empty(memory_of(count), np.int64), np.empty(FIELD_COUNT, np.float64)
    seen, pseudo, norms = np.empty(terms, np.int64), np.empty(terms, np.float64), np.empty(FIELD_COUNT, np.float64)
    for row in range(len(result)):
        features = prior[row] * given[6] + given[7] * language[row if len(language) > 1 else 0]
        if len(age) > 0:
            features += given[8] * 0.5 ** (max(age[row], 0.0) / given[9])
        for field in range(FIELD_COUNT):
            own[field] = lengths[row * FIELD_COUNT + field]
        norms_of(own, averages, fields, norms)
        for term in range(terms):
            first = (row * terms + term) * FIELD_COUNT
            seen[term] = fields_of(counts, first)
            pseudo[term] = pseudo_of(counts, first, seen[term], fields, norms)
        result[row] = score_of(
            seen.ctypes.data, pseudo.ctypes.data, own.ctypes.data, ends.ctypes.data + 8 * row * FIELD_COUNT,
            ends[row * FIELD_COUNT - 1] if row > 0 else 0, positions.ctypes.data, words.ctypes.data,
            form_words.ctypes.data, form_terms.ctypes.data, form_worth.ctypes.data, len(form_words),
            weights.ctypes.data, given.ctypes.data, features, host_words, idf.ctypes.data, count, whole, scale,
            memory.ctypes.data,
        )  # fmt: skip
    for i in range(len(named)):
        result[named[i]] += scale * given[10]
