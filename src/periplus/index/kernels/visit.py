"""Work inside one window of 256 documents: who may be among the best, and what each list adds to their scores.

Candidates are two small arrays side by side: place in the window, score so far. Every step drops those that can no
longer reach the floor, without branching on each of them. Postings are reached by unsigned numbers, which spares the
compiler a check for negative ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import WINDOW
from periplus.index.kernels.compiler import helper

BLOCK = 32  # documents that are looked at together
PROBE = 12  # a look-up costs as much as so many postings of a walk
unsigned = np.uint64


@helper
def from_list(place: Any, impact: Any, low: Any, high: Any, weight: Any, least: Any, places: Any, scores: Any) -> Any:
    """Candidates out of one list: those with at least an impact."""
    count = 0
    for posting in range(low, high):
        value = impact[unsigned(posting)]
        places[unsigned(count)] = place[unsigned(posting)]
        scores[unsigned(count)] = weight * np.int32(value)
        count += value >= least
    return count


@helper
def add_list(place: Any, impact: Any, low: Any, high: Any, weight: Any, score: Any) -> Any:
    for posting in range(low, high):
        score[place[unsigned(posting)]] += weight * np.int32(impact[unsigned(posting)])


@helper
def raise_list(place: Any, impact: Any, low: Any, high: Any, weight: Any, best: Any) -> Any:
    for posting in range(low, high):
        document = place[unsigned(posting)]
        best[document] = max(best[document], np.int32(weight * np.int32(impact[unsigned(posting)])))


@helper
def clear(values: Any) -> Any:
    for at in range(WINDOW):
        values[at] = 0


@helper
def add_best(score: Any, best: Any) -> Any:
    for at in range(WINDOW):
        score[at] += best[at]
        best[at] = 0


@helper
def from_scores(score: Any, least: Any, places: Any, scores: Any) -> Any:
    """Candidates out of added-up scores: those with at least ``least`` (which is positive)."""
    count = 0
    for block in range(0, WINDOW, BLOCK):
        largest = np.int32(0)
        for at in range(BLOCK):
            largest = max(largest, score[block + at])
        if largest < least:
            continue
        for at in range(BLOCK):
            value = score[block + at]
            places[unsigned(count)] = block + at
            scores[unsigned(count)] = value
            count += value >= least
    return count


@helper
def lookup(place: Any, impact: Any, low: Any, high: Any, wanted: Any) -> Any:
    """The impact of a document in the postings [low, high) of a window; 0 when it is not among them.

    Counting all smaller places is quicker than halving: it takes vectors of bytes and guesses nothing.
    """
    smaller = np.uint8(0)
    for posting in range(low, high):
        smaller = np.uint8(smaller + np.uint8(place[unsigned(posting)] < wanted))
    found = low + np.int64(smaller)
    return np.int32(impact[unsigned(found)]) if found < high and place[unsigned(found)] == wanted else np.int32(0)


@helper
def probe(
    place: Any,
    impact: Any,
    low: Any,
    high: Any,
    weight: Any,
    required: Any,
    least: Any,
    places: Any,
    scores: Any,
    count: Any,
) -> Any:
    """Add a list to the candidates by looking each of them up; how many remain."""
    kept = 0
    for at in range(count):
        document = places[at]
        value = weight * lookup(place, impact, low, high, document)
        score = np.int32(scores[at] + value)
        places[unsigned(kept)] = document
        scores[unsigned(kept)] = score
        kept += (score >= least) & (value >= required)
    return kept


@helper
def probe_best(place: Any, impact: Any, low: Any, high: Any, weight: Any, places: Any, count: Any, best: Any) -> Any:
    """What a form of a word is worth in the candidates, if it is more than another form."""
    for at in range(count):
        document = places[at]
        value = weight * lookup(place, impact, low, high, document)
        best[document] = max(best[document], np.int32(value))


@helper
def take_best(best: Any, required: Any, least: Any, places: Any, scores: Any, count: Any) -> Any:
    """Add the values of a group to the candidates; how many remain."""
    kept = 0
    for at in range(count):
        document = places[at]
        value = best[document]
        score = np.int32(scores[at] + value)
        places[unsigned(kept)] = document
        scores[unsigned(kept)] = score
        kept += (score >= least) & (value >= required)
    return kept
