"""What the order and nearness of the query's words say, as pure functions of where they stand.

Each takes the ``Sightings`` of one field of one document, (position, word) pairs by position, and answers a number
in 0..1 (or a count). Work is bounded by the number of sightings, which the gatherer caps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def first_position(sightings: Sightings) -> int:
    """Where the first of the query's words stands; ``FAR`` when none does."""
    return sightings[0][0] if sightings else FAR


def mean_positions(sightings: Sightings, words: int, length: float) -> list[float]:
    """Mean of the normalised positions i/W of each word; zero for a word that does not occur."""
    sums, counts = [0.0] * words, [0] * words
    for position, word in sightings:
        sums[word] += min(1.0, (position + 1) / max(length, 1.0))
        counts[word] += 1
    return [value / count if count else 0.0 for value, count in zip(sums, counts, strict=True)]
