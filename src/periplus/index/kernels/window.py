"""Work inside one window of 256 documents: adding up lists, looking up candidates, keeping the best k."""

from __future__ import annotations

from typing import Any

from periplus.core import helper
from periplus.index.kernels.access import find_place


@helper
def generate(place: Any, impact: Any, low: Any, high: Any, weight: Any, score: Any, touched: Any, count: Any) -> Any:
    """Add a list to the scores; documents met for the first time are appended to ``touched``."""
    for posting in range(low, high):
        document = place[posting]
        if score[document] == 0:
            touched[count] = document
            count += 1
        score[document] += weight * impact[posting]
    return count


@helper
def generate_best(
    place: Any, impact: Any, low: Any, high: Any, weight: Any, score: Any, best: Any, touched: Any, count: Any
) -> Any:
    """The same for one of several forms of a word, of which the best counts."""
    for posting in range(low, high):
        document = place[posting]
        value = weight * impact[posting]
        if value > best[document]:
            if score[document] == 0:
                touched[count] = document
                count += 1
            score[document] += value - best[document]
            best[document] = value
    return count


@helper
def clear(place: Any, low: Any, high: Any, best: Any) -> Any:
    for posting in range(low, high):
        best[place[posting]] = 0


@helper
def scan(place: Any, impact: Any, low: Any, high: Any, weight: Any, is_candidate: Any, best: Any) -> Any:
    """The value of a list for the candidates, by walking all of it."""
    for posting in range(low, high):
        document = place[posting]
        if is_candidate[document]:
            value = weight * impact[posting]
            best[document] = max(best[document], value)


@helper
def probe(place: Any, impact: Any, low: Any, high: Any, weight: Any, candidates: Any, count: Any, best: Any) -> Any:
    """The value of a list for the candidates, by looking each of them up."""
    for at in range(count):
        document = candidates[at]
        found = find_place(place, low, high, document)
        if found < high and place[found] == document:
            value = weight * impact[found]
            best[document] = max(best[document], value)


@helper
def is_worse(score: Any, key: Any, other_score: Any, other_key: Any) -> Any:
    """Lower scores are worse; of equal ones the larger key."""
    return score < other_score or (score == other_score and key > other_key)


@helper
def sift_down(heap_score: Any, heap_key: Any, heap_number: Any, size: Any, at: Any) -> Any:
    score, key, number = heap_score[at], heap_key[at], heap_number[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and is_worse(
            heap_score[child + 1], heap_key[child + 1], heap_score[child], heap_key[child]
        ):
            child += 1
        if not is_worse(heap_score[child], heap_key[child], score, key):
            break
        heap_score[at] = heap_score[child]
        heap_key[at] = heap_key[child]
        heap_number[at] = heap_number[child]
        at = child
    heap_score[at], heap_key[at], heap_number[at] = score, key, number


@helper
def push(heap_score: Any, heap_key: Any, heap_number: Any, size: Any, score: Any, key: Any, number: Any) -> Any:
    """Offer a document to the heap of the best (its root is the worst of them); the new size."""
    if size < len(heap_score):
        at = size
        while at > 0:
            parent = (at - 1) >> 1
            if not is_worse(score, key, heap_score[parent], heap_key[parent]):
                break
            heap_score[at] = heap_score[parent]
            heap_key[at] = heap_key[parent]
            heap_number[at] = heap_number[parent]
            at = parent
        heap_score[at], heap_key[at], heap_number[at] = score, key, number
        return size + 1
    if size > 0 and is_worse(heap_score[0], heap_key[0], score, key):
        heap_score[0], heap_key[0], heap_number[0] = score, key, number
        sift_down(heap_score, heap_key, heap_number, size, 0)
    return size
