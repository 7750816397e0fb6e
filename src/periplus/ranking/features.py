"""What the order and nearness of the query's words say, as pure functions of where they stand.

Each takes the ``Sightings`` of one field of one document, (position, word) pairs by position, and answers a number
in 0..1 (or a count). Work is bounded by the number of sightings, which the gatherer caps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.core.layout.scores import PASSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.ranking.word_places import Sightings

FAR = 1 << 30
NEAR_WINDOW = 16  # words; pairs further apart than this do not count as near
SWAPPED = 0.7  # what a pair in the wrong order counts


def longest_run(sightings: Sightings, words: int) -> int:
    """Most consecutive words of the query that stand side by side in the query's order."""
    best = 0
    ends: dict[tuple[int, int], int] = {}
    for position, word in sightings:
        run = ends.get((position - 1, word - 1), 0) + 1
        ends[position, word] = run
        best = max(best, run)
    return min(best, words)


def phrase_share(sightings: Sightings, words: int) -> float:
    """How much of the query stands as one phrase: 0 for a single word only, 1 for all of it."""
    if words == 0:
        return 0.0
    run = longest_run(sightings, words)
    if words == 1:
        return float(run)
    return max(0, run - 1) / (words - 1)


def common_subsequence(sightings: Sightings, words: int) -> float:
    """Longest common subsequence of the query and the field, as a share of the query."""
    if words == 0:
        return 0.0
    best = [0] * (words + 1)  # best[i]: longest subsequence among the first i words of the query so far
    position = -1
    frozen = list(best)
    for place, word in sightings:
        if place != position:  # words at one position are alternatives and cannot follow each other
            position, frozen = place, list(best)
        longer = frozen[word] + 1
        for i in range(word + 1, words + 1):
            if best[i] >= longer:
                break
            best[i] = longer
    return best[words] / words


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


def first_position(sightings: Sightings) -> int:
    """Where the first of the query's words stands; ``FAR`` when none does."""
    return sightings[0][0] if sightings else FAR


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


def smallest_window(sightings: Sightings, words: int) -> int:
    """Length in words of the shortest stretch that holds every word that occurs; ``FAR`` for fewer than two."""
    wanted = len({word for _, word in sightings})
    if wanted < 2 or words < 2:
        return FAR
    counts = [0] * words
    held, start, best = 0, 0, FAR
    for position, word in sightings:
        held += counts[word] == 0
        counts[word] += 1
        while held == wanted:
            first, first_word = sightings[start]
            best = min(best, position - first + 1)
            counts[first_word] -= 1
            held -= counts[first_word] == 0
            start += 1
    return best


def mean_positions(sightings: Sightings, words: int, length: float) -> list[float]:
    """Mean of the normalised positions i/W of each word; zero for a word that does not occur."""
    sums, counts = [0.0] * words, [0] * words
    for position, word in sightings:
        sums[word] += min(1.0, (position + 1) / max(length, 1.0))
        counts[word] += 1
    return [value / count if count else 0.0 for value, count in zip(sums, counts, strict=True)]
