"""Scores of the profile ``periplus`` from counts and places, as ``ours.periplus`` explains them."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import lowest_of
from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.types import F64, R_F64, R_I64, R_U32, signature
from periplus.ranking.kernels.places import ADDRESS, ANCHORS, COLUMN_COUNT, FIELD_COUNT, M_F64, TITLE, features_of


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
def fields_of(counts: Any, first: Any) -> Any:
    """The fields in which a term occurs, as bits."""
    seen = np.int64(0)
    for field in range(FIELD_COUNT):
        seen |= np.int64(counts[first + field] > 0) << field
    return seen


@bare_helper
def score_of(
    counts: Any,  # terms x fields of this candidate from ``first`` on
    first: Any,
    fields_seen: Any,  # of each term the fields that it is in, as bits
    ends: Any,
    positions: Any,
    words: Any,
    row: Any,  # of ``ends``
    lengths: Any,  # by field from ``length`` on
    length: Any,
    averages: Any,
    form_words: Any,
    form_terms: Any,
    form_worth: Any,
    fields: Any,
    weights: Any,
    given: Any,
    features: Any,  # what is known already, in units of the idf sum
    host_words: Any,
    idf: Any,
    whole: Any,
    scale: Any,
    memory: Any,  # scratch, as the next ones
    best: Any,
    frozen: Any,
    near: Any,
    last: Any,
    worth: Any,
    seen: Any,
    norms: Any,
    table: Any,
) -> Any:
    k1, window, swapped = given[0], np.int64(given[4]), given[5]
    count = len(idf)
    for field in range(FIELD_COUNT):
        norms[field] = 0.0  # not known yet
    for word in range(count):
        worth[word] = 0.0
        seen[word] = 0
    for form in range(len(form_words)):
        rest = np.uint64(fields_seen[form_terms[form]])
        if rest == 0:
            continue
        word = form_words[form]
        share = form_worth[form]
        if share >= 0.0:  # a strong form
            seen[word] |= np.int64(rest)
        base = first + form_terms[form] * FIELD_COUNT
        pseudo = 0.0
        while rest:
            field = lowest_of(rest)
            rest &= rest - np.uint64(1)
            if norms[field] == 0.0:
                norms[field] = _norm(lengths[length + field], averages[field], fields[FIELD_COUNT + field])
            pseudo += fields[field] * counts[base + field] / norms[field]
        worth[word] = max(worth[word], abs(share) * pseudo * (k1 + 1.0) / (pseudo + k1))
    text, found, titled, called = 0.0, 0.0, 0.0, 0.0
    for word in range(count):
        text += idf[word] * worth[word]
        if seen[word]:
            found += idf[word]
        if seen[word] & (1 << TITLE):
            titled += idf[word]
        if seen[word] & (1 << ANCHORS):
            called += idf[word]
    if count > 0:
        features_of(
            ends, positions, words, row, idf, float(lengths[length + TITLE]), host_words, window,
            swapped, memory, best, frozen, near, last, table, 0,
        )  # fmt: skip
        for column in range(COLUMN_COUNT):
            features += weights[column] * table[column]
    features += weights[COLUMN_COUNT] * (found / whole) ** 2
    features += weights[COLUMN_COUNT + 1] * titled / whole
    features += weights[COLUMN_COUNT + 2] * called / whole
    depth = max(float(lengths[length + ADDRESS]) - 1.0, 0.0)
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
    fields_seen, memory = np.empty(terms, np.int64), np.empty(4 * count, np.int64)
    best, frozen = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    near, last = np.empty(count, np.float64), np.empty(count, np.int64)
    worth, seen = np.empty(count, np.float64), np.empty(count, np.int64)
    table = np.empty(COLUMN_COUNT, np.float64)
    norms = np.empty(FIELD_COUNT, np.float64)
    for row in range(len(result)):
        features = prior[row] * given[6] + given[7] * language[row if len(language) > 1 else 0]
        if len(age) > 0:
            features += given[8] * 0.5 ** (max(age[row], 0.0) / given[9])
        for term in range(terms):
            fields_seen[term] = fields_of(counts, (row * terms + term) * FIELD_COUNT)
        result[row] = score_of(
            counts, row * terms * FIELD_COUNT, fields_seen, ends, positions, words, row, lengths, row * FIELD_COUNT,
            averages, form_words, form_terms, form_worth, fields, weights, given, features, host_words, idf, whole,
            scale, memory, best, frozen, near, last, worth, seen, norms, table,
        )  # fmt: skip
    for i in range(len(named)):
        result[named[i]] += scale * given[10]
