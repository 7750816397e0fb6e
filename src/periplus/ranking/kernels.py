"""What the places of the words say, for all candidates in one call.

The same features as those of ``features.py``, which is the slow and obvious form that the tests compare this with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.types import F64, I64, R_F64, R_I64, R_U32, signature

M_F64 = "Array(float64, 1, 'C')"
FAR = 1 << 30
FIELD_COUNT = 6  # len(query.FIELDS)
TITLE, HEADINGS, BODY, ANCHORS, ADDRESS = 0, 1, 2, 3, 4
COLUMNS = ("nearness", "phrase", "heading_phrase", "title_phrase", "title_exact", "title_early", "host", "path")
COLUMN_COUNT = len(COLUMNS)


@helper
def _begin(ends: Any, row: Any, field: Any) -> Any:
    place = row * FIELD_COUNT + field
    return ends[place - 1] if place > 0 else 0


@helper
def _longest_run(positions: Any, words: Any, begin: Any, end: Any, memory: Any) -> Any:
    """Most words of the query side by side in its order; ``memory`` has four entries a word."""
    for i in range(len(memory)):
        memory[i] = -FAR
    best = 0
    for i in range(begin, end):
        position, word = np.int64(positions[i]), np.int64(words[i])
        run = 1
        if word > 0:
            last = 4 * (word - 1)
            if memory[last] == position:  # that word stands here too; what counts is where it stood before
                last += 2
            if memory[last] == position - 1:
                run = memory[last + 1] + 1
        own = 4 * word
        memory[own + 2], memory[own + 3] = memory[own], memory[own + 1]
        memory[own], memory[own + 1] = position, run
        best = max(best, run)
    return best


@helper
def _share(run: Any, words: Any) -> Any:
    if words == 1:
        return float(run)
    return max(0, run - 1) / (words - 1)


@helper
def _subsequence(positions: Any, words: Any, begin: Any, end: Any, count: Any, best: Any, frozen: Any) -> Any:
    """Longest common subsequence of the query and the field."""
    for i in range(count + 1):
        best[i] = 0
        frozen[i] = 0
    last = np.int64(-1)
    for i in range(begin, end):
        position, word = np.int64(positions[i]), np.int64(words[i])
        if position != last:
            last = position
            for j in range(count + 1):
                frozen[j] = best[j]
        longer = frozen[word] + 1
        for j in range(word + 1, count + 1):
            if best[j] >= longer:
                break
            best[j] = longer
    return best[count]


@helper
def _nearness(
    positions: Any, words: Any, begin: Any, end: Any, weights: Any, window: Any, swapped: Any, best: Any, last: Any
) -> Any:
    count = len(weights)
    whole = 0.0
    for i in range(count - 1):
        whole += weights[i] * weights[i + 1]
        best[i] = 0.0
    if whole <= 0.0:
        return 0.0
    for i in range(count):
        last[i] = -FAR
    for i in range(begin, end):
        position, word = np.int64(positions[i]), np.int64(words[i])
        if word > 0:
            distance = position - last[word - 1]
            if 0 < distance <= window:
                best[word - 1] = max(best[word - 1], 1.0 / distance)
        if word < count - 1:
            distance = position - last[word + 1]
            if 0 < distance <= window:
                best[word] = max(best[word], swapped / distance)
        last[word] = position
    total = 0.0
    for i in range(count - 1):
        total += best[i] * weights[i] * weights[i + 1]
    return total / whole


@helper
def _distinct(values: Any, begin: Any, end: Any, seen: Any) -> Any:
    """How many different words stand in a stretch of places."""
    for i in range(len(seen)):
        seen[i] = 0
    count = 0
    for i in range(begin, end):
        word = np.int64(values[i])
        if seen[word] == 0:
            seen[word] = 1
            count += 1
    return count


@helper
def _features(
    ends: Any,
    positions: Any,
    words: Any,
    row: Any,
    weights: Any,  # of the query's words
    title_length: Any,
    host_words: Any,
    window: Any,
    swapped: Any,
    memory: Any,  # scratch: four entries a word
    best: Any,
    frozen: Any,
    near: Any,
    last: Any,
    table: Any,
    out: Any,
) -> Any:
    """The features of ``COLUMNS`` of one candidate into ``table`` from ``out`` on."""
    count = len(weights)
    title, title_end = _begin(ends, row, TITLE), ends[row * FIELD_COUNT + TITLE]
    heading, heading_end = _begin(ends, row, HEADINGS), ends[row * FIELD_COUNT + HEADINGS]
    body, body_end = _begin(ends, row, BODY), ends[row * FIELD_COUNT + BODY]
    address, address_end = _begin(ends, row, ADDRESS), ends[row * FIELD_COUNT + ADDRESS]
    table[out] = _nearness(positions, words, body, body_end, weights, window, swapped, near, last)
    table[out + 1] = _share(_longest_run(positions, words, body, body_end, memory), count) if count > 1 else 0.0
    table[out + 2] = _share(_longest_run(positions, words, heading, heading_end, memory), count)
    table[out + 3] = _subsequence(positions, words, title, title_end, count, best, frozen) / count
    in_title = 0
    before = np.int64(-1)
    for i in range(title, title_end):
        if positions[i] != before:
            in_title += 1
            before = np.int64(positions[i])
    table[out + 4] = (in_title / max(title_length, 1.0, float(in_title))) ** 2
    table[out + 5] = 1.0 / (1.0 + positions[title]) if title_end > title else 1.0 / (1.0 + FAR)
    border = address
    while border < address_end and positions[border] < host_words:
        border += 1
    table[out + 6] = _distinct(words, address, border, last) / count
    table[out + 7] = _distinct(words, border, address_end, last) / count


@kernel(signature("void", R_I64, R_U32, R_U32, R_F64, R_F64, R_F64, I64, F64, M_F64))
def places(
    ends: Any,
    positions: Any,
    words: Any,
    weights: Any,  # of the query's words
    title_lengths: Any,
    host_words: Any,
    window: Any,
    swapped: Any,
    table: Any,  # candidates x COLUMNS
) -> Any:
    """The features of ``COLUMNS`` of every candidate."""
    count = len(weights)
    memory = np.empty(4 * count, np.int64)
    best, frozen = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    near, last = np.empty(count, np.float64), np.empty(count, np.int64)
    for row in range(len(title_lengths)):
        _features(
            ends, positions, words, row, weights, title_lengths[row], host_words[row], window, swapped,
            memory, best, frozen, near, last, table, row * COLUMN_COUNT,
        )  # fmt: skip


@helper
def _idf(documents: Any, frequency: Any) -> Any:
    return np.log1p((max(documents, frequency) - frequency + 0.5) / (frequency + 0.5))


@helper
def _word_weights(
    asked: Any,
    form_words: Any,
    form_shares: Any,
    form_frequencies: Any,
    documents: Any,
    given: Any,
    idf: Any,
    worth: Any,
) -> Any:
    """What each word and each form is worth; that of a weak form is negative. The sum over all words."""
    power, least = given[1], given[3]
    widest = np.zeros(len(asked), np.float64)  # in how many documents the widest strong form of each word occurs
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
    """The scores of the profile ``periplus``, as ``ours.periplus`` explains them."""
    k1, window, swapped = given[0], np.int64(given[4]), given[5]
    idf, form_worth = np.empty(len(asked), np.float64), np.empty(len(form_words), np.float64)
    whole = _word_weights(asked, form_words, form_shares, form_frequencies, documents, given, idf, form_worth)
    scale = whole * min(1.0, given[2] / max(len(asked), 1))
    whole = max(whole, 1e-9)
    count = len(idf)
    terms = len(counts) // max(1, len(result) * FIELD_COUNT)
    memory = np.empty(4 * count, np.int64)
    best, frozen = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    near, last = np.empty(count, np.float64), np.empty(count, np.int64)
    worth, seen = np.empty(count, np.float64), np.empty(count, np.int64)
    table = np.empty(COLUMN_COUNT, np.float64)
    norms = np.empty(FIELD_COUNT, np.float64)
    for row in range(len(result)):
        for field in range(FIELD_COUNT):
            norms[field] = 1.0
            if averages[field] > 0.0:
                b = fields[FIELD_COUNT + field]
                norms[field] = max(1.0 - b + b * lengths[row * FIELD_COUNT + field] / averages[field], 1e-9)
        for word in range(count):
            worth[word] = 0.0
            seen[word] = 0
        for form in range(len(form_words)):
            base = (row * terms + form_terms[form]) * FIELD_COUNT
            pseudo = 0.0
            fields_seen = np.int64(0)
            for field in range(FIELD_COUNT):
                frequency = counts[base + field]
                if frequency > 0:
                    pseudo += fields[field] * frequency / norms[field]
                    fields_seen |= np.int64(1) << field
            if fields_seen == 0:
                continue
            word = form_words[form]
            share = form_worth[form]
            if share >= 0.0:  # a strong form
                seen[word] |= fields_seen
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
        features = prior[row] * given[6] + given[7] * language[row if len(language) > 1 else 0]
        if len(age) > 0:
            features += given[8] * 0.5 ** (max(age[row], 0.0) / given[9])
        if count > 0:
            _features(
                ends, positions, words, row, idf, float(lengths[row * FIELD_COUNT + TITLE]), host_words, window,
                swapped, memory, best, frozen, near, last, table, 0,
            )  # fmt: skip
            for column in range(COLUMN_COUNT):
                features += weights[column] * table[column]
        features += weights[COLUMN_COUNT] * (found / whole) ** 2
        features += weights[COLUMN_COUNT + 1] * titled / whole
        features += weights[COLUMN_COUNT + 2] * called / whole
        depth = max(float(lengths[row * FIELD_COUNT + ADDRESS]) - 1.0, 0.0)
        features += weights[COLUMN_COUNT + 3] / (1.0 + depth)
        result[row] = text + scale * features
    for i in range(len(named)):
        result[named[i]] += scale * given[10]
