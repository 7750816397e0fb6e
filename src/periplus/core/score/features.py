"""What the places of the words say, for all candidates in one call.

The tests compare it with the slow and obvious form: ``ranking/features.py`` and ``tests/ranking/plain_features.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from periplus.core.compiler import F64, I64, M_F64, R_F64, R_I64, R_U32, bare_helper, kernel, signature
from periplus.core.layout.documents import FIELD_COUNT
from periplus.core.layout.scores import PASSAGE
from periplus.core.machine.arrays import at_f64, at_i64, at_u32

FAR = 1 << 30
TITLE, HEADINGS, BODY, ANCHORS, ADDRESS = 0, 1, 2, 3, 4
COLUMNS = ("nearness", "phrase", "passage", "heading_phrase", "title_phrase", "title_exact", "host", "path")
COLUMN_COUNT = len(COLUMNS)


class PlaceTables(NamedTuple):
    """Where words of the query stand in a candidate, by address, since an array is seven numbers to pass on."""

    ends_at: Any  # of the places in each field
    begin: Any  # of those in the first one
    positions_at: Any
    words_at: Any


class Weighing(NamedTuple):
    """The words of a query, and how nearness counts."""

    weights_at: Any
    count: Any
    window: Any  # positions, beyond which words are not near
    swapped: Any  # what nearness in the other order counts


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
def _subsequence(positions: Any, words: Any, begin: Any, end: Any, weights: Any, best: Any, frozen: Any) -> Any:
    """The weightiest common subsequence of the query and the field, as a share of the weight of the query."""
    count, whole = len(weights), 0.0
    for i in range(count + 1):
        best[i] = 0.0
        frozen[i] = 0.0
    for i in range(count):
        whole += weights[i]
    last = np.int64(-1)
    for i in range(begin, end):
        position, word = np.int64(positions[i]), np.int64(words[i])
        if position != last:
            last = position
            for j in range(count + 1):
                frozen[j] = best[j]
        weightier = frozen[word] + weights[word]
        for j in range(word + 1, count + 1):
            if best[j] >= weightier:
                break
            best[j] = weightier
    return best[count] / whole if whole > 0.0 else 0.0


@bare_helper
def _nearness(
    positions: Any,
    words: Any,
    begin: Any,
    end: Any,
    weights: Any,
    window: Any,
    swapped: Any,
    after: Any,  # scratch, as the next ones: least distance of a word to the next one of the query behind it
    before: Any,  # and before it
    last: Any,
) -> Any:
    count = len(weights)
    whole = 0.0
    for i in range(count - 1):
        whole += weights[i] * weights[i + 1]
    if whole <= 0.0:
        return 0.0
    for i in range(count):
        after[i] = before[i] = FAR
        last[i] = -FAR
    for i in range(begin, end):
        position, word = np.int64(positions[i]), np.int64(words[i])
        if word > 0:
            distance = position - last[word - 1]
            after[word - 1] = distance if 0 < distance < after[word - 1] else after[word - 1]
        if word < count - 1:
            distance = position - last[word + 1]
            before[word] = distance if 0 < distance < before[word] else before[word]
        last[word] = position
    total = 0.0
    for i in range(count - 1):
        best = 1.0 / after[i] if after[i] <= window else 0.0
        if before[i] <= window:
            best = max(best, swapped / before[i])
        total += best * weights[i] * weights[i + 1]
    return total / whole


@bare_helper
def _passage(
    positions: Any,
    words: Any,
    title: Any,  # where places in the title begin
    title_end: Any,
    begin: Any,  # those in the body
    end: Any,
    weights: Any,
    counts: Any,  # scratch
) -> Any:
    """Weight of the words in the best ``PASSAGE`` of the body, and of those in the title, as a share.

    It is nothing where fewer than two words stand in both together.
    """
    whole, titled, distinct = 0.0, 0.0, np.int64(0)
    for i in range(len(weights)):
        whole += weights[i]
        counts[i] = -1  # not seen yet
    for i in range(title, title_end):
        word = np.int64(words[i])
        titled += weights[word] if counts[word] < 0 else 0.0
        distinct += np.int64(counts[word] < 0)
        counts[word] = FAR  # never gone, however the stretch moves
    held, best, first = 0.0, 0.0, begin
    for i in range(begin, end):
        position, word = np.int64(positions[i]), np.int64(words[i])
        while np.int64(positions[first]) <= position - PASSAGE:
            gone = np.int64(words[first])
            counts[gone] -= 1
            held -= weights[gone] if counts[gone] == 0 else 0.0
            first += 1
        if counts[word] <= 0:
            distinct += np.int64(counts[word] < 0)
            counts[word] = 0
            held += weights[word]
            best = max(best, held)
        counts[word] += 1
    return (titled + best) / whole if whole > 0.0 and distinct > 1 else 0.0


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
def scratch_of(count: Any) -> Any:
    """Numbers that ``features_of`` works in, for so many words of a query."""
    return 7 * count + 2


@bare_helper
def features_of(places: Any, weighing: Any, title_length: Any, host_words: Any, scratch_at: Any, out_at: Any) -> Any:
    """The features of ``COLUMNS`` of one candidate."""
    count, begin = weighing.count, places.begin
    ends, out = at_i64(places.ends_at, FIELD_COUNT), at_f64(out_at, COLUMN_COUNT)
    weights = at_f64(weighing.weights_at, count)
    positions, words = at_u32(places.positions_at, ends[ADDRESS]), at_u32(places.words_at, ends[ADDRESS])
    memory, last = at_i64(scratch_at, 4 * count), at_i64(scratch_at + 32 * count, count)
    one, other = at_i64(scratch_at + 40 * count, count + 1), at_i64(scratch_at + 48 * count + 8, count + 1)
    title_end, heading_end, body_end = ends[TITLE], ends[HEADINGS], ends[BODY]
    address, address_end = ends[ADDRESS - 1], ends[ADDRESS]
    for column in range(COLUMN_COUNT):
        out[column] = 0.0
    if count > 1 and body_end > heading_end:
        window, swapped = weighing.window, weighing.swapped
        out[0] = _nearness(positions, words, heading_end, body_end, weights, window, swapped, one, other, last)
        out[1] = _share(_longest_run(positions, words, heading_end, body_end, memory), count)
    if count > 1:
        told = _passage(positions, words, begin, title_end, heading_end, body_end, weights, last)
        out[2] = told**2
    if heading_end > title_end:
        out[3] = _share(_longest_run(positions, words, title_end, heading_end, memory), count)
    if title_end > begin:
        best, frozen = at_f64(scratch_at + 40 * count, count + 1), at_f64(scratch_at + 48 * count + 8, count + 1)
        out[4] = _subsequence(positions, words, begin, title_end, weights, best, frozen)
        in_title = 0
        before = np.int64(-1)
        for i in range(begin, title_end):
            if positions[i] != before:
                in_title += 1
                before = np.int64(positions[i])
        share = in_title / max(title_length, 1.0, float(in_title))
        out[5] = share**2
    if address_end == address:
        return
    border = address
    while border < address_end and positions[border] < host_words:
        border += 1
    out[6] = _distinct(words, address, border, last) / count
    out[7] = _distinct(words, border, address_end, last) / count


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
    scratch = np.empty(scratch_of(count), np.int64)
    for row in range(len(title_lengths)):
        begin = ends[row * FIELD_COUNT - 1] if row > 0 else 0
        own = PlaceTables(ends.ctypes.data + 8 * row * FIELD_COUNT, begin, positions.ctypes.data, words.ctypes.data)
        weighing = Weighing(weights.ctypes.data, count, window, swapped)
        out_at = table.ctypes.data + 8 * row * COLUMN_COUNT
        features_of(own, weighing, title_lengths[row], host_words[row], scratch.ctypes.data, out_at)
