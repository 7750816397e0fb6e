"""The best k documents met so far, and the score that a document has to reach to become one of them.

``state`` holds the number of documents kept, the floor (at least k documents reach it), how many matched, and for large
k how many kept ones lie in the bucket of the floor or above it.

A few documents are kept sorted. Many are appended to a buffer, and a histogram of their scores raises the floor as soon
as k of them lie in higher buckets; what has fallen below is dropped when the buffer is full. Keys are looked up only to
decide between equal scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.documents import WINDOW
from periplus.core.layout.segments import KEY, ROW
from periplus.core.machine.arrays import i64, prefetch
from periplus.core.retrieval.bundles import Collector

SIZE, FLOOR, MATCHING, ABOVE = 0, 1, 2, 3
STATE = 4
FEW = 64  # so many are kept sorted
BUCKETS = 2048
DIGIT = 11  # bits of a digit of the final sort: as many as there are buckets
SMALL_DIGIT, SMALL_DIGITS = 8, 1_000  # the same for so many documents: to go through buckets would take longest
LARGEST = (1 << 63) - 1
NUMBER_BITS = 32
LOCAL = (1 << NUMBER_BITS) - 1


@bare_helper
def capacity(k: Any) -> Any:
    """Room for the best k, and for a window more when half of it is free."""
    return k + 1 if k <= FEW else 2 * k + 2 * WINDOW


@bare_helper
def bucket_shift(largest: Any) -> Any:
    """How far to shift scores up to ``largest`` so that they number buckets."""
    shift = 0
    while largest >> shift >= BUCKETS:
        shift += 1
    return shift


@bare_helper
def _key(table: Any, number: Any) -> Any:
    return i64(table, number >> NUMBER_BITS, KEY)[number & LOCAL]


@bare_helper
def keep(best: Any, score: Any, number: Any) -> Any:
    """Offer a document whose score is at least the floor."""
    if best.k <= FEW:
        _keep_sorted(best, score, number)
    else:
        _keep_counted(best, score, number)


@bare_helper
def _keep_sorted(best: Any, score: Any, number: Any) -> Any:
    """The same for small k."""
    state, scores, numbers = best.state, best.scores, best.numbers
    at = state[SIZE]
    while at > 0 and (
        scores[at - 1] < score
        or (scores[at - 1] == score and _key(best.table, numbers[at - 1]) > _key(best.table, number))
    ):
        scores[at] = scores[at - 1]
        numbers[at] = numbers[at - 1]
        at -= 1
    scores[at] = score
    numbers[at] = number
    if state[SIZE] < best.k:
        state[SIZE] += 1
    if state[SIZE] == best.k and scores[best.k - 1] > state[FLOOR]:
        state[FLOOR] = scores[best.k - 1]


@bare_helper
def _keep_counted(best: Any, score: Any, number: Any) -> Any:
    """The same for large k."""
    state, histogram, shift = best.state, best.histogram, best.shift
    best.scores[state[SIZE]] = score
    best.numbers[state[SIZE]] = number
    state[SIZE] += 1
    histogram[score >> shift] += 1
    state[ABOVE] += 1
    level = state[FLOOR] >> shift
    if state[ABOVE] - histogram[level] >= best.k:
        while state[ABOVE] - histogram[level] >= best.k:
            state[ABOVE] -= histogram[level]
            level += 1
        state[FLOOR] = level << shift


@bare_helper
def make_room(best: Any) -> Any:
    """See to it that a window more can be kept: drop what has fallen below the floor, then all but the best k."""
    state, scores = best.state, best.scores
    if best.k <= FEW or state[SIZE] <= capacity(best.k) - WINDOW:
        return
    kept = 0
    for at in range(state[SIZE]):
        scores[kept] = scores[at]
        best.numbers[kept] = best.numbers[at]
        kept += scores[at] >= state[FLOOR]
    state[SIZE] = kept
    if kept > best.k + WINDOW:
        finish(best)
        best.histogram[:] = 0
        for at in range(state[SIZE]):
            best.histogram[scores[at] >> best.shift] += 1
        state[ABOVE] = state[SIZE]


@bare_helper
def _by_digit(
    scores: Any, numbers: Any, size: Any, shift: Any, bits: Any, others: Any, places: Any, counts: Any
) -> Any:
    """One pass of a stable sort by so many bits, larger digits first."""
    mask = (1 << bits) - 1
    for digit in range(1 << bits):
        counts[digit] = 0
    for at in range(size):
        counts[mask - ((scores[at] >> shift) & mask)] += 1
    total = 0
    for digit in range(1 << bits):
        count = counts[digit]
        counts[digit] = total
        total += count
    for at in range(size):
        digit = mask - ((scores[at] >> shift) & mask)
        others[counts[digit]] = scores[at]
        places[counts[digit]] = numbers[at]
        counts[digit] += 1


@bare_helper
def _fetch_keys(table: Any, scores: Any, numbers: Any, size: Any, k: Any) -> Any:
    """Ask for the keys that equal scores will need, all at once."""
    for at in range(1, size):
        if scores[at] == scores[at - 1]:
            if at > k and scores[at] != scores[k - 1]:
                break
            for number in (numbers[at - 1], numbers[at]):
                prefetch(table[(number >> NUMBER_BITS) * ROW + KEY] + 8 * (number & LOCAL))


@bare_helper
def _order_by_key(table: Any, numbers: Any, keys: Any, low: Any, high: Any) -> Any:
    """Sort documents of one score (Shell's way, as there may be many)."""
    for at in range(low, high):
        keys[at] = _key(table, numbers[at])
    gap = 1
    while gap < (high - low) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(low + gap, high):
            key, number = keys[at], numbers[at]
            to = at
            while to >= low + gap and keys[to - gap] > key:
                keys[to], numbers[to] = keys[to - gap], numbers[to - gap]
                to -= gap
            keys[to], numbers[to] = key, number
        gap //= 3


@bare_helper
def finish(best: Any) -> Any:
    """Sort what is kept, best first, equal scores by key, and cut it to k; the histogram is overwritten."""
    state, scores, numbers = best.state, best.scores, best.numbers
    if best.k <= FEW:
        return
    size = state[SIZE]
    least, largest = np.int64(LARGEST), np.int64(0)
    for at in range(size):
        least, largest = min(least, scores[at]), max(largest, scores[at])
    shift = 0
    bits = DIGIT if size > SMALL_DIGITS else SMALL_DIGIT
    for at in range(size):
        scores[at] -= least
    while size > 0 and (largest - least) >> shift > 0:
        _by_digit(scores, numbers, size, shift, bits, best.other_scores, best.other_numbers, best.histogram)
        for at in range(size):
            scores[at], numbers[at] = best.other_scores[at], best.other_numbers[at]
        shift += bits
    _fetch_keys(best.table, scores, numbers, size, best.k)
    low = 0
    while low < min(size, best.k):
        high = low + 1
        while high < size and scores[high] == scores[low]:
            high += 1
        if high > low + 1:
            _order_by_key(best.table, numbers, best.other_scores, low, high)
        low = high
    for at in range(size):
        scores[at] += least
    if size >= best.k:
        state[SIZE] = best.k
        state[FLOOR] = max(state[FLOOR], scores[best.k - 1])


@bare_helper
def collector_words(k: Any) -> Any:
    """Numbers that a collector takes."""
    return STATE + 4 * capacity(k) + BUCKETS


@bare_helper
def collector_in(table: Any, memory: Any, k: Any, largest: Any) -> Any:
    """A collector of scores up to ``largest`` in some memory."""
    room = capacity(k)
    first = STATE + 4 * room
    return Collector(
        table,
        memory[:STATE],
        memory[STATE : STATE + room],
        memory[STATE + room : STATE + 2 * room],
        memory[first : first + BUCKETS],
        memory[STATE + 2 * room : STATE + 3 * room],
        memory[STATE + 3 * room : STATE + 4 * room],
        bucket_shift(largest),
        k,
    )


@bare_helper
def clear_collector(best: Any) -> Any:
    for at in range(STATE):
        best.state[at] = 0
    if best.k > FEW:
        best.histogram[:] = 0
