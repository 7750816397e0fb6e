"""Order and nearness of words, against tables and slow obvious versions."""

from __future__ import annotations

from itertools import combinations

import plain_features
import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.ranking import features

WORDS = 3
sightings = st.lists(st.tuples(st.integers(0, 30), st.integers(0, WORDS - 1)), max_size=12).map(
    lambda pairs: tuple(sorted(dict(pairs).items()))  # one word a position
)


@pytest.mark.parametrize(
    ("seen", "words", "run"),
    [
        ((), 2, 0),
        (((4, 0),), 2, 1),
        (((4, 0), (5, 1)), 2, 2),
        (((4, 1), (5, 0)), 2, 1),
        (((4, 0), (6, 1)), 2, 1),
        (((1, 0), (2, 1), (3, 2), (9, 0)), 3, 3),
        (((1, 1), (2, 2)), 3, 2),
    ],
)
def test_longest_run(seen, words, run):
    assert features.longest_run(seen, words) == run


@pytest.mark.parametrize(
    ("seen", "words", "share"),
    [((), 1, 0.0), (((3, 0),), 1, 1.0), (((3, 0),), 3, 0.0), (((3, 0), (4, 1)), 3, 0.5), ((), 0, 0.0)],
)
def test_phrase_share(seen, words, share):
    assert features.phrase_share(seen, words) == share


@given(sightings)
def test_common_subsequence_is_the_longest(seen):
    query = list(range(WORDS))
    found = [word for _, word in seen]
    best = max(
        (
            size
            for size in range(WORDS + 1)
            for part in combinations(query, size)
            if any(list(chosen) == list(part) for chosen in combinations(found, size))
        ),
        default=0,
    )
    assert features.common_subsequence(seen, WORDS) == pytest.approx(best / WORDS)


@given(sightings, st.lists(st.floats(0.0, 9.0), min_size=WORDS, max_size=WORDS))
def test_telling_subsequence_is_the_weightiest(seen, weights):
    found = [word for _, word in seen]
    parts = [part for size in range(WORDS + 1) for part in combinations(range(WORDS), size)]
    common = [part for part in parts if any(chosen == part for chosen in combinations(found, len(part)))]
    best = max(sum(weights[word] for word in part) for part in common)
    whole = sum(weights)
    assert plain_features.telling_subsequence(seen, weights) == pytest.approx(best / whole if whole > 0 else 0.0)


def test_a_common_word_of_a_title_tells_little():
    """What two words of a query in a title are worth goes by what each tells."""
    assert plain_features.telling_subsequence(((0, 0),), (1.0, 9.0)) == pytest.approx(0.1)
    assert plain_features.telling_subsequence(((0, 1),), (1.0, 9.0)) == pytest.approx(0.9)
    assert plain_features.telling_subsequence(((0, 1), (1, 0)), (1.0, 9.0)) == pytest.approx(0.9)


@given(sightings)
def test_nearness_equals_the_obvious_version(seen):
    weights = [1.0, 2.0, 0.5]
    expected = 0.0
    for i in range(WORDS - 1):
        best = 0.0
        for at, word in seen:
            for other_at, other in seen:
                if word == i and other == i + 1 and 0 < abs(at - other_at) <= features.NEAR_WINDOW:
                    best = max(best, (1.0 if other_at > at else 0.7) / abs(at - other_at))
        expected += best * weights[i] * weights[i + 1]
    assert plain_features.nearness(seen, weights) == pytest.approx(expected / (2.0 + 1.0))


def test_nearness_of_one_word_is_zero():
    assert plain_features.nearness(((1, 0),), [2.0]) == 0
    assert plain_features.nearness((), []) == 0


def test_mean_positions_by_hand():
    # word 0 at the first and the last of ten places: (1/10 + 10/10) / 2
    assert features.mean_positions(((0, 0), (9, 0)), 2, 10) == pytest.approx([0.55, 0.0])


def test_first_position():
    assert features.first_position(((3, 1), (8, 0))) == 3
    assert features.first_position(()) == features.FAR
