"""Work inside one window of 256 documents: who may be among the best, and what each list adds to their scores.

Candidates are two small arrays side by side: place in the window, score so far. Every step drops those that can no
longer reach the floor, without branching on each of them. Postings are reached by unsigned numbers, which spares the
compiler a check for negative ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.documents import WINDOW
from periplus.core.machine.bits import (
    LANES,
    byte_at,
    equal_bytes,
    first_lanes,
    larger_or_equal_bytes,
    larger_or_equal_numbers,
    lowest_of,
    ones_before,
    word_at,
)

PROBE = 3  # a look-up costs as much as so many postings of a walk
LARGEST_IMPACT = 255
unsigned = np.uint64


@bare_helper
def from_list(place: Any, impact: Any, low: Any, high: Any, weight: Any, least: Any, places: Any, scores: Any) -> Any:
    """Candidates out of one list: those with at least an impact."""
    count = 0
    if least > LARGEST_IMPACT:
        return count
    for first in range(low, high, LANES):
        chosen = larger_or_equal_bytes(impact.ctypes.data + first, np.uint8(least)) & first_lanes(high - first)
        while chosen != 0:
            posting = first + lowest_of(chosen)
            chosen &= chosen - np.uint64(1)
            places[unsigned(count)] = place[unsigned(posting)]
            scores[unsigned(count)] = weight * np.int32(impact[unsigned(posting)])
            count += 1
    return count


@bare_helper
def raise_from_list(place: Any, impact: Any, low: Any, high: Any, weight: Any, least: Any, best: Any) -> Any:
    """As ``raise_list``, but for postings with at least an impact alone."""
    if least > LARGEST_IMPACT:
        return
    for first in range(low, high, LANES):
        chosen = larger_or_equal_bytes(impact.ctypes.data + first, np.uint8(least)) & first_lanes(high - first)
        while chosen != 0:
            posting = first + lowest_of(chosen)
            chosen &= chosen - np.uint64(1)
            document = place[unsigned(posting)]
            best[document] = max(best[document], np.int32(weight * np.int32(impact[unsigned(posting)])))


@bare_helper
def add_list(place: Any, impact: Any, low: Any, high: Any, weight: Any, score: Any) -> Any:
    for posting in range(low, high):
        score[place[unsigned(posting)]] += weight * np.int32(impact[unsigned(posting)])


@bare_helper
def raise_list(place: Any, impact: Any, low: Any, high: Any, weight: Any, best: Any) -> Any:
    for posting in range(low, high):
        document = place[unsigned(posting)]
        best[document] = max(best[document], np.int32(weight * np.int32(impact[unsigned(posting)])))


@bare_helper
def clear(values: Any) -> Any:
    for at in range(WINDOW):
        values[at] = 0


@bare_helper
def add_best(score: Any, best: Any) -> Any:
    for at in range(WINDOW):
        score[at] += best[at]
        best[at] = 0


@bare_helper
def from_scores(score: Any, least: Any, places: Any, scores: Any) -> Any:
    """Candidates out of added-up scores: those with at least ``least`` (which is positive)."""
    count = 0
    for first in range(0, WINDOW, LANES):
        chosen = larger_or_equal_numbers(score.ctypes.data + 4 * first, least)
        while chosen != 0:
            document = first + lowest_of(chosen)
            chosen &= chosen - np.uint64(1)
            places[unsigned(count)] = document
            scores[unsigned(count)] = score[unsigned(document)]
            count += 1
    return count


@bare_helper
def keep_admitted(admitted: Any, first: Any, places: Any, scores: Any, count: Any) -> Any:
    """Drop candidates that are deleted or that a filter leaves out; how many remain."""
    kept = 0
    for at in range(count):
        places[kept], scores[kept] = places[at], scores[at]
        kept += admitted[first + places[at]] != 0
    return kept


@bare_helper
def add_priors(prior: Any, first: Any, weight: Any, least: Any, places: Any, scores: Any, count: Any) -> Any:
    """Add the prior to the candidates; how many remain."""
    kept = 0
    for at in range(count):
        value = np.int64(scores[at]) + weight * np.int64(prior[first + places[at]])
        places[kept], scores[kept] = places[at], value
        kept += value >= least
    return kept


@bare_helper
def chunk_of(place: Any, low: Any, high: Any, wanted: Any) -> Any:
    """Where the 64 postings of [low, high) begin that may have a document; places ascend."""
    while high - low > LANES and place[unsigned(low + (LANES - 1))] < wanted:
        low += LANES
    return low


@bare_helper
def impact_in(place: Any, impact: Any, low: Any, high: Any, wanted: Any) -> Any:
    """The impact of a document in the first 64 of some postings; 0 when it is not among them."""
    there = equal_bytes(place.ctypes.data + low, wanted) & first_lanes(high - low)
    value = np.int32(impact[unsigned(low + (lowest_of(there) & (LANES - 1)))])  # of some posting, if not of this one
    return value if there != 0 else np.int32(0)


@bare_helper
def probe(
    place: Any,
    impact: Any,
    low: Any,
    high: Any,
    weight: Any,
    least: Any,
    places: Any,
    scores: Any,
    count: Any,
) -> Any:
    """Add a list to the candidates, which ascend, by looking each of them up; how many remain."""
    kept = 0
    for at in range(count):
        document = places[unsigned(at)]
        low = chunk_of(place, low, high, document)
        value = weight * impact_in(place, impact, low, high, document)
        score = np.int32(scores[unsigned(at)] + value)
        places[unsigned(kept)] = document
        scores[unsigned(kept)] = score
        kept += score >= least
    return kept


@bare_helper
def probe_bits(
    bits_at: Any,
    impacts_at: Any,
    weight: Any,
    least: Any,
    places: Any,
    scores: Any,
    count: Any,
) -> Any:
    """The same for a list that has bits; those of the window, and its impacts, begin at these addresses."""
    kept = 0
    for at in range(count):
        document = np.int64(places[unsigned(at)])
        before = ones_before(bits_at, document)
        there = np.int32((word_at(bits_at + 8 * (document >> 6)) >> np.uint64(document & 63)) & np.uint64(1))
        value = there * weight * np.int32(byte_at(impacts_at + before))  # of the next posting, if not of this one
        score = np.int32(scores[unsigned(at)] + value)
        places[unsigned(kept)] = document
        scores[unsigned(kept)] = score
        kept += score >= least
    return kept


@bare_helper
def probe_best(place: Any, impact: Any, low: Any, high: Any, weight: Any, places: Any, count: Any, best: Any) -> Any:
    """What a form of a word is worth in the candidates, if it is more than another form."""
    for at in range(count):
        document = places[unsigned(at)]
        low = chunk_of(place, low, high, document)
        value = weight * impact_in(place, impact, low, high, document)
        best[document] = max(best[document], np.int32(value))


@bare_helper
def take_best(best: Any, least: Any, places: Any, scores: Any, count: Any) -> Any:
    """Add the values of a group to the candidates; how many remain."""
    kept = 0
    for at in range(count):
        document = places[at]
        value = best[document]
        score = np.int32(scores[at] + value)
        places[unsigned(kept)] = document
        scores[unsigned(kept)] = score
        kept += score >= least
    return kept
