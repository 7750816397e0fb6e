"""Steps that several kernels share: finding a posting, reading positions, folding frequencies into an impact."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper, helper
from periplus.core.format.heads import bits_of, list_of, window_at
from periplus.core.layout.documents import FIELD_COUNT, WINDOW, WINDOW_BITS


@bare_helper
def read_varint(data: Any, at: Any) -> Any:
    """(value, next offset) of a number in groups of seven bits, low ones first."""
    value = np.int64(data[at] & 127)
    shift = 7
    while data[at] > 127:
        at += 1
        value |= np.int64(data[at] & 127) << shift
        shift += 7
    return value, at + 1


@helper
def write_varint(data: Any, at: Any, value: Any) -> Any:
    while value > 127:
        data[at] = (value & 127) | 128
        value >>= 7
        at += 1
    data[at] = value
    return at + 1


@helper
def find_place(place: Any, low: Any, high: Any, wanted: Any) -> Any:
    """The ordinal of ``wanted`` in the sorted places [low, high), or -1."""
    while low < high:
        middle = (low + high) >> 1
        if place[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def find_posting(postings: Any, term: Any, document: Any) -> Any:
    """The ordinal of a document in a term's list, or -1."""
    place, windows = postings.place, postings.windows
    window = document >> WINDOW_BITS
    wanted = document & (WINDOW - 1)
    base, size, row, rare = list_of(postings.frequency, postings.blocks, postings.large, term)
    if row >= 0:
        row = row * (windows + 1) + window
        low = base + postings.window_start[row]
        high = base + postings.window_start[row + 1]
        found = find_place(place, low, high, wanted)
        return found if found < high and place[found] == wanted else -1
    low = base
    high = base + size
    shift = rare - base
    bits = bits_of(windows)
    while low < high:
        middle = (low + high) >> 1
        there = window_at(postings.rare_window, bits, middle + shift)
        if there < window or (there == window and place[middle] < wanted):
            low = middle + 1
        else:
            high = middle
    if low < base + size and window_at(postings.rare_window, bits, low + shift) == window and place[low] == wanted:
        return low
    return -1


@helper
def folded(counts: Any, factors: Any, document: Any, k1: Any, only: Any) -> Any:
    """The impact of one posting from its frequencies by field; of field ``only`` alone when that is not -1."""
    weight = 0.0
    for field in range(FIELD_COUNT):
        if only < 0 or field == only:
            weight += counts[field] * factors[document * FIELD_COUNT + field]
    scaled = np.floor(255.0 * weight / (k1 + weight) + 0.5)
    return max(1, min(255, np.int64(scaled)))
