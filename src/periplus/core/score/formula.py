"""The formula of the profile ``periplus`` for one candidate, as ``ours.periplus`` explains it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.documents import FIELD_COUNT
from periplus.core.machine.arrays import at_f64, at_i64
from periplus.core.machine.bits import lowest_of
from periplus.core.score.features import (
    ADDRESS,
    ANCHORS,
    COLUMN_COUNT,
    TITLE,
    PlaceTables,
    Weighing,
    features_of,
    scratch_of,
)


class CandidateTables(NamedTuple):
    """What is known of one candidate, by address."""

    seen_at: Any  # of each term the fields that it is in, as bits
    pseudo_at: Any  # and how often it occurs
    lengths_at: Any  # of its fields, as fractions
    ends_at: Any  # of its places in each field
    positions_at: Any  # of these places
    words_at: Any  # that stand there


class QueryForms(NamedTuple):
    """The forms of a query's words, by address."""

    words_at: Any
    terms_at: Any
    worth_at: Any
    count: Any


class QueryWords(NamedTuple):
    idf_at: Any
    count: Any
    whole: Any  # the sum of idf
    scale: Any  # of the features


@bare_helper
def _idf(documents: Any, frequency: Any) -> Any:
    return np.log1p((max(documents, frequency) - frequency + 0.5) / (frequency + 0.5))


@bare_helper
def word_weights(tables: Any, documents: Any, given: Any) -> Any:
    """What each word and each form is worth; that of a weak form is negative. The sum over all words."""
    power, least = given[1], given[3]
    form_words, shares, frequencies, widest = tables.form_words, tables.shares, tables.frequencies, tables.widest
    for word in range(len(tables.asked)):  # in how many documents the widest strong form of each word occurs
        widest[word] = 0.0
    for form in range(len(form_words)):
        if shares[form] >= least:
            widest[form_words[form]] = max(widest[form_words[form]], frequencies[form])
    for form in range(len(form_words)):
        word, share = form_words[form], shares[form]
        strong = share >= least
        if strong and power != 1.0:
            share = share**power
        own = _idf(documents, max(widest[word], frequencies[form]))
        value = share * own / max(_idf(documents, widest[word]), 1e-9)
        tables.worth[form] = value if strong else -value
    whole = 0.0
    for word in range(len(tables.asked)):
        tables.idf[word] = _idf(documents, widest[word]) * tables.asked[word]
        whole += tables.idf[word]
    return whole


@bare_helper
def _norm(length: Any, average: Any, b: Any) -> Any:
    return max(1.0 - b + b * length / average, 1e-9) if average > 0.0 else 1.0


@bare_helper
def norms_of(lengths: Any, averages: Any, fields: Any, norms: Any) -> Any:
    """What counts in each field are divided by."""
    for field in range(FIELD_COUNT):
        length = min(lengths[field], fields[2 * FIELD_COUNT + field])
        norms[field] = _norm(length, averages[field], fields[FIELD_COUNT + field])


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
def memory_of(count: Any) -> Any:
    """Numbers that ``score_of`` works in, for so many words of a query."""
    return scratch_of(count) + 2 * count + COLUMN_COUNT


@bare_helper
def score_of(
    candidate: Any,
    forms: Any,
    words: Any,
    weights_at: Any,
    given_at: Any,
    features: Any,  # what is known already, in units of the idf sum
    host_words: Any,
    memory_at: Any,  # to work in
) -> Any:
    """The score of one candidate; addresses as for ``features_of``."""
    fields_seen, pseudo = at_i64(candidate.seen_at, forms.count), at_f64(candidate.pseudo_at, forms.count)
    lengths, count = at_f64(candidate.lengths_at, FIELD_COUNT), words.count
    form_words, form_terms = at_i64(forms.words_at, forms.count), at_i64(forms.terms_at, forms.count)
    form_worth, idf = at_f64(forms.worth_at, forms.count), at_f64(words.idf_at, count)
    weights, given = at_f64(weights_at, COLUMN_COUNT + 4), at_f64(given_at, 6)
    worth, seen = at_f64(memory_at, count), at_i64(memory_at + 8 * count, count)
    table_at = memory_at + 16 * count
    table = at_f64(table_at, COLUMN_COUNT)
    k1 = given[0]
    for word in range(count):
        worth[word] = 0.0
        seen[word] = 0
    for form in range(forms.count):
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
        places = PlaceTables(candidate.ends_at, np.int64(0), candidate.positions_at, candidate.words_at)
        weighing = Weighing(words.idf_at, count, np.int64(given[4]), given[5])
        features_of(places, weighing, lengths[TITLE], host_words, table_at + 8 * COLUMN_COUNT, table_at)
        for column in range(COLUMN_COUNT):
            features += weights[column] * table[column]
    features += weights[COLUMN_COUNT] * (found / words.whole) ** 2
    features += weights[COLUMN_COUNT + 1] * titled / words.whole
    features += weights[COLUMN_COUNT + 2] * called / words.whole
    depth = max(lengths[ADDRESS] - 1.0, 0.0)
    features += weights[COLUMN_COUNT + 3] / (1.0 + depth)
    return text + words.scale * features
