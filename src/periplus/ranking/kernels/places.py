"""What the places of the words say, for all candidates in one call.

The same features as those of ``features.py``, which is the slow and obvious form that the tests compare this with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.types import F64, I64, R_F64, R_I64, R_U32, signature

M_F64 = "Array(float64, 1, 'C')"
FAR = 1 << 30
FIELD_COUNT = 6  # len(query.FIELDS)
TITLE, HEADINGS, BODY, ANCHORS, ADDRESS = 0, 1, 2, 3, 4
COLUMNS = ("nearness", "phrase", "heading_phrase", "title_phrase", "title_exact", "title_early", "host", "path")
COLUMN_COUNT = len(COLUMNS)


@bare_helper
def _begin(ends: Any, row: Any, field: Any) -> Any:
    place = row * FIELD_COUNT + field
    return ends[place - 1] if place > 0 else 0


@bare_helper
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


@bare_helper
def _share(run: Any, words: Any) -> Any:
    if words == 1:
        return float(run)
    return max(0, run - 1) / (words - 1)


@bare_helper
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


@bare_helper
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


@bare_helper
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


@bare_helper
def features_of(
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
    for column in range(COLUMN_COUNT):
        table[out + column] = 0.0
    if count > 1 and body_end > body:
        table[out] = _nearness(positions, words, body, body_end, weights, window, swapped, near, last)
        table[out + 1] = _share(_longest_run(positions, words, body, body_end, memory), count)
    if heading_end > heading:
        table[out + 2] = _share(_longest_run(positions, words, heading, heading_end, memory), count)
    table[out + 5] = 1.0 / (1.0 + FAR)
    if title_end > title:
        table[out + 3] = _subsequence(positions, words, title, title_end, count, best, frozen) / count
        in_title = 0
        before = np.int64(-1)
        for i in range(title, title_end):
            if positions[i] != before:
                in_title += 1
                before = np.int64(positions[i])
        table[out + 4] = (in_title / max(title_length, 1.0, float(in_title))) ** 2
        table[out + 5] = 1.0 / (1.0 + positions[title])
    if address_end == address:
        return
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
        features_of(
            ends, positions, words, row, weights, title_lengths[row], host_words[row], window, swapped,
            memory, best, frozen, near, last, table, row * COLUMN_COUNT,
        )  # fmt: skip
