"""Each measure against an obvious oracle that follows its definition word by word."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.evaluation import metrics

DOCUMENTS = [f"d{i}" for i in range(30)]
RANKINGS = st.lists(st.sampled_from(DOCUMENTS), unique=True)
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 4))
DEPTHS = st.integers(1, 35)
ALL = (metrics.ndcg, metrics.average_precision, metrics.reciprocal_rank, metrics.precision, metrics.recall)


def is_relevant(document, grades):
    return document in grades and grades[document] >= 1


def slow_dcg(documents, grades, gain):
    total = 0.0
    for position in range(len(documents)):
        grade = grades.get(documents[position], 0)
        total += gain(grade) / math.log2(position + 2)
    return total


@given(RANKINGS, GRADES, DEPTHS, st.sampled_from([metrics.linear_gain, metrics.exponential_gain]))
def test_ndcg_is_dcg_over_the_best_dcg(ranking, grades, k, gain):
    best = sorted(grades, key=lambda document: -grades[document])
    ideal = slow_dcg(best[:k], grades, gain)
    expected = slow_dcg(ranking[:k], grades, gain) / ideal if ideal else 0.0
    assert metrics.ndcg(ranking, grades, k, gain) == pytest.approx(expected)
    assert metrics.ndcg(best, grades, k, gain) == pytest.approx(1.0 if ideal else 0.0)


@given(RANKINGS, GRADES)
def test_average_precision_is_the_mean_over_relevant_documents(ranking, grades):
    relevant = [document for document in grades if is_relevant(document, grades)]
    precisions = []
    for document in relevant:
        if document in ranking:
            upto = ranking[: ranking.index(document) + 1]
            precisions.append(len([d for d in upto if is_relevant(d, grades)]) / len(upto))
        else:
            precisions.append(0.0)
    expected = sum(precisions) / len(precisions) if precisions else 0.0
    assert metrics.average_precision(ranking, grades) == pytest.approx(expected)


@given(RANKINGS, GRADES, DEPTHS)
def test_reciprocal_rank_is_of_the_first_relevant(ranking, grades, k):
    places = [i + 1 for i in range(min(k, len(ranking))) if is_relevant(ranking[i], grades)]
    assert metrics.reciprocal_rank(ranking, grades, k) == (1 / min(places) if places else 0.0)


@given(RANKINGS, GRADES, DEPTHS)
def test_precision_and_recall_count(ranking, grades, k):
    found = len([document for document in ranking[:k] if is_relevant(document, grades)])
    relevant = len([document for document in grades if is_relevant(document, grades)])
    assert metrics.precision(ranking, grades, k) == found / k
    assert metrics.recall(ranking, grades, k) == (found / relevant if relevant else 0.0)


@given(RANKINGS, GRADES)
def test_all_lie_between_0_and_1(ranking, grades):
    assert all(0.0 <= measure(ranking, grades) <= 1.0 + 1e-12 for measure in ALL)


@given(RANKINGS.filter(lambda ranking: len(ranking) >= 2), GRADES, st.data())
def test_a_better_document_further_up_never_harms(ranking, grades, data):
    place = data.draw(st.integers(1, len(ranking) - 1))
    above, below = ranking[place - 1], ranking[place]
    if grades.get(below, 0) < grades.get(above, 0):
        return
    swapped = [*ranking[: place - 1], below, above, *ranking[place + 1 :]]
    for measure in (
        metrics.ndcg,
        metrics.average_precision,
        metrics.reciprocal_rank,
        metrics.precision,
        metrics.recall,
    ):
        assert measure(swapped, grades) >= measure(ranking, grades) - 1e-12


def test_a_worked_example():
    """Three relevant documents, two found at ranks 1 and 3; by hand."""
    ranking, grades = ["a", "x", "b", "y"], {"a": 1, "b": 3, "c": 2, "x": 0}
    assert metrics.average_precision(ranking, grades) == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert metrics.precision(ranking, grades) == 0.2
    assert metrics.recall(ranking, grades) == pytest.approx(2 / 3)
    assert metrics.reciprocal_rank(["x", "b"], grades) == 0.5
    assert metrics.ndcg(ranking, grades) == pytest.approx((1 + 3 / 2) / (3 + 2 / math.log2(3) + 1 / 2))
    assert metrics.ndcg(ranking, grades, gain=metrics.exponential_gain) == pytest.approx(
        (1 + 7 / 2) / (7 + 3 / math.log2(3) + 1 / 2)
    )
