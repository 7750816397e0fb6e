"""Features of the profile ``periplus`` as plainly as they can be said; its kernel is compared with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.core.layout.scores import PASSAGE
from periplus.ranking.features import FAR, NEAR_WINDOW, SWAPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.ranking import Sightings


def telling_subsequence(sightings: Sightings, weights: Sequence[float]) -> float:
    """The weightiest common subsequence of the query and the field, as a share of the weight of the query."""
    words, whole = len(weights), sum(weights)
    if whole <= 0:
        return 0.0
    best = [0.0] * (words + 1)  # best[i]: weightiest subsequence among the first i words of the query so far
    position = -1
    frozen = list(best)
    for place, word in sightings:
        if place != position:
            position, frozen = place, list(best)
        weightier = frozen[word] + weights[word]
        for i in range(word + 1, words + 1):
            best[i] = max(best[i], weightier)
    return best[words] / whole


def nearness(sightings: Sightings, weights: Sequence[float]) -> float:
    """How near the query's neighbouring words stand to each other, 0 (apart) to 1 (side by side, in order).

    For each pair of neighbours in the query, the smallest distance d in the field gives 1/d when in order and
    ``SWAPPED``/d when not, nothing beyond ``NEAR_WINDOW``; pairs are weighted by the product of the words' weights.
    """
    pairs = [weights[i] * weights[i + 1] for i in range(len(weights) - 1)]
    whole = sum(pairs)
    if whole <= 0:
        return 0.0
    best = [0.0] * len(pairs)
    last = [-FAR] * len(weights)
    for position, word in sightings:
        if word > 0:
            _improve(best, word - 1, position - last[word - 1], 1.0)
        if word < len(pairs):
            _improve(best, word, position - last[word + 1], SWAPPED)
        last[word] = position
    return sum(value * pair for value, pair in zip(best, pairs, strict=True)) / whole


def _improve(best: list[float], pair: int, distance: int, factor: float) -> None:
    if 0 < distance <= NEAR_WINDOW:
        best[pair] = max(best[pair], factor / distance)


def passage(title: Sightings, body: Sightings, weights: Sequence[float]) -> float:
    """How much of the query stands in one passage of the body, where words of the title count as if they stood in each.

    By weight, as a share; nothing where fewer than two words stand in both together.
    """
    titled = {word for _, word in title}
    if len(titled | {word for _, word in body}) < 2 or sum(weights) <= 0:
        return 0.0
    passages = [{word for other, word in body if position - PASSAGE < other <= position} for position, _ in body]
    best = max([sum(weights[word] for word in words | titled) for words in (*passages, set())])
    return best / sum(weights)
