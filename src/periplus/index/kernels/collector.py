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

from periplus.core import bare_helper
from periplus.index.kernels.access import WINDOW
from periplus.index.kernels.tables import KEY, ROW, i64, prefetch

SIZE, FLOOR, MATCHING, ABOVE = 0, 1, 2, 3
STATE = 4
FEW = 64  # so many are kept sorted
BUCKETS = 2048
DIGIT = 11  # bits of a digit of the final sort: as many as there are buckets
SMALL_DIGIT, SMALL_DIGITS = 8, 1_000  # the same for so many documents: to go through buckets would take longest
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
def keep_sorted(table: Any, state: Any, scores: Any, numbers: Any, k: Any, score: Any, number: Any) -> Any:
    """Offer a document whose score is at least the floor, for small k."""
    at = state[SIZE]
    while at > 0 and (
        scores[at - 1] < score or (scores[at - 1] == score and _key(table, numbers[at - 1]) > _key(table, number))
    ):
        scores[at] = scores[at - 1]
        numbers[at] = numbers[at - 1]
        at -= 1
    scores[at] = score
    numbers[at] = number
    if state[SIZE] < k:
        state[SIZE] += 1
    if state[SIZE] == k and scores[k - 1] > state[FLOOR]:
        state[FLOOR] = scores[k - 1]


@bare_helper
def keep_counted(
    state: Any, scores: Any, numbers: Any, histogram: Any, shift: Any, k: Any, score: Any, number: Any
) -> Any:
    """The same for large k."""
    scores[state[SIZE]] = score
    numbers[state[SIZE]] = number
    state[SIZE] += 1
    histogram[score >> shift] += 1
    state[ABOVE] += 1
    level = state[FLOOR] >> shift
    if state[ABOVE] - histogram[level] >= k:
        while state[ABOVE] - histogram[level] >= k:
            state[ABOVE] -= histogram[level]
            level += 1
        state[FLOOR] = level << shift


@bare_helper
def make_room(
    table: Any,
    state: Any,
    scores: Any,
    numbers: Any,
    histogram: Any,
    shift: Any,
    k: Any,
    others: Any,
    places: Any,
) -> Any:
    """Drop what has fallen below the floor; when that is not enough, all but the best k."""
    kept = 0
    for at in range(state[SIZE]):
        scores[kept] = scores[at]
        numbers[kept] = numbers[at]
        kept += scores[at] >= state[FLOOR]
    state[SIZE] = kept
    if kept > k + WINDOW:
        finish(table, state, scores, numbers, histogram, k, others, places)
        histogram[:] = 0
        for at in range(state[SIZE]):
            histogram[scores[at] >> shift] += 1
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
def finish(table: Any, state: Any, scores: Any, numbers: Any, counts: Any, k: Any, others: Any, places: Any) -> Any:
    """Sort a buffer, best first, equal scores by key, and cut it to k; ``counts`` is overwritten."""
    size = state[SIZE]
    least, largest = np.int64(1 << 40), np.int64(0)
    for at in range(size):
        least, largest = min(least, scores[at]), max(largest, scores[at])
    shift = 0
    bits = DIGIT if size > SMALL_DIGITS else SMALL_DIGIT
    for at in range(size):
        scores[at] -= least
    while size > 0 and (largest - least) >> shift > 0:
        _by_digit(scores, numbers, size, shift, bits, others, places, counts)
        for at in range(size):
            scores[at], numbers[at] = others[at], places[at]
        shift += bits
    _fetch_keys(table, scores, numbers, size, k)
    low = 0
    while low < min(size, k):
        high = low + 1
        while high < size and scores[high] == scores[low]:
            high += 1
        if high > low + 1:
            _order_by_key(table, numbers, others, low, high)
        low = high
    for at in range(size):
        scores[at] += least
    if size >= k:
        state[SIZE] = k
        state[FLOOR] = max(state[FLOOR], scores[k - 1])
