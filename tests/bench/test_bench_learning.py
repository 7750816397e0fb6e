"""Learning finds the feature that orders the cases, keeps what says nothing, and repeats itself."""

from __future__ import annotations

import numpy as np
import pytest
from bench.relevance.learning import Case, Learner, LearningProblem, ideal_gains


def problem(noise: float = 0.0) -> LearningProblem:
    """Thirty queries of which the first feature knows the answer and the second nothing."""
    chance = np.random.default_rng(5)
    cases = []
    for number in range(30):
        gains = np.zeros(40)
        gains[chance.integers(0, 40, 4)] = 1.0
        useful = gains * 0.6 + chance.random(40) * (0.3 + noise)
        grades = {str(i): int(gain) for i, gain in enumerate(gains)}
        case = Case("a" if number % 2 else "b", np.stack([useful, chance.random(40)], 1), gains, ideal_gains(grades))
        cases.append(case)
    bases = chance.random((30, 40))
    return LearningProblem(
        tuple(cases),
        lambda number, shape: bases[number] * shape["base"],
        lambda number, shape: 1.0,
        ("useful", "useless"),
        {"base": (0.5, 1.0, 2.0)},
    )


START = {"base": 1.0, "useful": 0.1, "useless": 0.1}


def test_the_useful_feature_wins():
    learner = Learner(problem())
    learnt = learner.learn(range(30), START)
    assert learnt["useful"] > 2 * START["useful"]
    assert learnt["useful"] > learnt["useless"]
    before, after = (np.mean(learner.score(range(30), values)) for values in (START, learnt))
    assert after > before + 0.1


def test_held_out_queries_gain_too_and_learning_repeats_itself():
    found = Learner(problem()).cross_validated(START)
    assert np.mean(found) > np.mean(Learner(problem()).score(range(30), START, (10,))) + 0.1
    assert found == Learner(problem()).cross_validated(START)


def test_the_score_is_ndcg():
    case = Case("a", np.zeros((3, 0)), np.array([0.0, 1.0, 2.0]), ideal_gains({"x": 1, "y": 2}))
    learner = Learner(LearningProblem((case,), lambda n, s: np.array([3.0, 2.0, 1.0]), lambda n, s: 1.0, (), {}))
    expected = (1 / np.log2(3) + 2 / np.log2(4)) / (2 + 1 / np.log2(3))
    assert learner.score([0], {}, (10,)) == [pytest.approx(expected)]
