from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import UsageError
from periplus.evaluation import randomisation_test

PAIRS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8)


def slow_test(first, second):
    observed = abs(sum(first) - sum(second))
    extreme = total = 0
    for swaps in product([False, True], repeat=len(first)):
        a = sum(y if swap else x for x, y, swap in zip(first, second, swaps, strict=True))
        b = sum(x if swap else y for x, y, swap in zip(first, second, swaps, strict=True))
        extreme += abs(a - b) >= observed
        total += 1
    return extreme / total


@given(PAIRS)
def test_few_queries_are_enumerated(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    assert randomisation_test(first, second) == pytest.approx(slow_test(first, second))
    assert randomisation_test(first, second) == randomisation_test(second, first)


def test_sampling_comes_near_to_the_exact_value(monkeypatch):
    first = [0.1 * (i % 7) for i in range(16)]
    second = [0.1 * (i * 5 % 8) for i in range(16)]
    exact = randomisation_test(first, second)
    monkeypatch.setattr("periplus.evaluation.significance.EXACT_QUERIES", 0)
    assert randomisation_test(first, second) == pytest.approx(exact, abs=0.01)


def test_a_report_can_be_repeated():
    first, second = [i % 5 / 5 for i in range(200)], [i % 3 / 3 for i in range(200)]
    assert randomisation_test(first, second) == randomisation_test(first, second)
    assert randomisation_test(first, second, samples=1000, seed=1) != randomisation_test(
        first, second, samples=1000, seed=2
    )


def test_clear_cases():
    assert randomisation_test([], []) == 1.0
    assert randomisation_test([0.5] * 50, [0.5] * 50) == 1.0
    assert 0 < randomisation_test([0.9] * 50, [0.1] * 50) < 1e-4
    assert randomisation_test([0.1, 0.2] * 50, [0.2, 0.1] * 50) == 1.0


def test_scores_must_be_paired():
    with pytest.raises(UsageError, match="not paired"):
        randomisation_test([1.0], [])
