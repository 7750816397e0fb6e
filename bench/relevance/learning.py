"""Learning the weights of a linear ranking from judged queries, with cross-validation over the queries.

A model is a score of its own for each candidate (``base``, which depends on a few *shape* parameters) plus weighted
features. Weights are found by coordinate ascent on the measure itself (Metzler and Croft, "Linear feature-based models
for information retrieval", 2007): one parameter after another takes the best value of a short list of steps. Everything
is deterministic: folds follow from the order of the queries, ties keep the present value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

Values = np.ndarray[Any, np.dtype[np.float64]]
Parameters = dict[str, float]

FOLDS = 5
ROUNDS = 6
LEAST_GAIN = 5e-4  # in the objective; a smaller one is as likely chance, and changes nothing
STEPS = (0.0, 0.5, 0.8, 1.25, 2.0)  # times the present value
FIRST = (0.02, 0.05, 0.1, 0.2)  # tried where the present value is zero
BASES_KEPT = 250  # by shape; some megabytes each
SHAPE_ROUNDS = 1  # in which shape parameters move too: they cost a hundred times as much to try as a weight
NOWHERE = -1e9  # the score of a candidate that is not there
DEPTHS = (10, 30)  # the objective is the mean of nDCG at both: the deeper one is less jumpy


class Case(Struct, frozen=True):
    """One judged query: its candidates' features, gains and the discounted gain of the best possible order."""

    group: str  # the set that it belongs to
    features: Values  # D x K
    gains: Values  # D
    ideal: tuple[float, ...]  # by depth


class LearningProblem(Struct, frozen=True):
    """What is learnt: cases, the base score of a case under shape parameters, and which parameters may move."""

    cases: tuple[Case, ...]
    base: Callable[[int, Mapping[str, float]], Values]  # number of the case, shape parameters
    scale: Callable[[int, Mapping[str, float]], float]  # what the weighted features are multiplied with
    features: tuple[str, ...]
    shapes: Mapping[str, tuple[float, ...]]  # shape parameter -> values to try


def ideal_gains(grades: Mapping[str, int]) -> tuple[float, ...]:
    best = np.array(sorted((float(max(grade, 0)) for grade in grades.values()), reverse=True))
    return tuple(_discounted(best, depth) for depth in DEPTHS)


def _discounted(gains: Values, depth: int) -> float:
    top = gains[:depth]
    return float((top / np.log2(np.arange(2, len(top) + 2))).sum())


class Learner:
    """Holds all cases in arrays of one shape: a query with fewer candidates than another is filled up with nothing."""

    def __init__(self, problem: LearningProblem) -> None:
        self.problem = problem
        most = max((len(case.gains) for case in problem.cases), default=0)
        self._features = np.stack([_filled(case.features, most) for case in problem.cases])
        self._gains = np.stack([_filled(case.gains, most) for case in problem.cases])
        self._ideal = np.array([case.ideal for case in problem.cases])
        self._bases: dict[tuple[tuple[str, float], ...], tuple[Values, Values]] = {}

    def score(self, numbers: Sequence[int], parameters: Parameters, depths: Sequence[int] = DEPTHS) -> list[float]:
        """The mean nDCG over ``depths`` of each case."""
        weights = np.array([parameters[name] for name in self.problem.features])
        bases, scales = self._base(parameters)
        rows = np.asarray(numbers, np.int64)
        scores = bases[rows] + scales[rows, None] * (self._features[rows] @ weights)
        order = np.argsort(-scores, axis=1, kind="stable")[:, : max(depths)]
        gains = np.take_along_axis(self._gains[rows], order, axis=1)
        discounted = gains / np.log2(np.arange(2, gains.shape[1] + 2))
        found = [discounted[:, :depth].sum(axis=1) / self._ideal[rows, DEPTHS.index(depth)] for depth in depths]
        values: list[float] = np.mean(found, axis=0).tolist()
        return values

    def learn(self, numbers: Sequence[int], start: Parameters, rounds: int = ROUNDS) -> Parameters:
        """The parameters that are best on the given cases, from ``start`` on."""
        best = dict(start)
        worth = self._objective(numbers, best)
        for turn in range(rounds):
            before = worth
            shapes = tuple(self.problem.shapes) if turn < SHAPE_ROUNDS else ()
            for name in (*shapes, *self.problem.features):
                best, worth = self._improve(numbers, name, best, worth)
            if worth - before < LEAST_GAIN:
                break
        return best

    def cross_validated(self, start: Parameters, folds: int = FOLDS) -> list[float]:
        """nDCG@10 of every case under parameters learnt without the fold that it belongs to."""
        numbers = range(len(self.problem.cases))
        result = [0.0] * len(self.problem.cases)
        for fold in range(folds):
            held = [number for number in numbers if number % folds == fold]
            learnt = self.learn([number for number in numbers if number % folds != fold], start)
            for number, value in zip(held, self.score(held, learnt, DEPTHS[:1]), strict=True):
                result[number] = value
        return result

    def _improve(self, numbers: Sequence[int], name: str, best: Parameters, worth: float) -> tuple[Parameters, float]:
        for value in self._values(name, best[name]):
            tried = best | {name: value}
            reached = self._objective(numbers, tried)
            if reached > worth + LEAST_GAIN:
                best, worth = tried, reached
        return best, worth

    def _values(self, name: str, present: float) -> list[float]:
        if name in self.problem.shapes:
            return [value for value in self.problem.shapes[name] if value != present]
        return [round(present * step, 4) for step in STEPS] if present else list(FIRST)

    def _objective(self, numbers: Sequence[int], parameters: Parameters) -> float:
        """The mean of the sets' means, weighted by the root of their numbers of queries."""
        found: dict[str, list[float]] = {}
        for number, value in zip(numbers, self.score(numbers, parameters), strict=True):
            found.setdefault(self.problem.cases[number].group, []).append(value)
        weights = [len(values) ** 0.5 for values in found.values()]
        means = [sum(values) / len(values) for values in found.values()]
        return float(np.average(means, weights=weights))

    def _base(self, parameters: Parameters) -> tuple[Values, Values]:
        """Base scores by case and candidate, and what the features of a case are multiplied with."""
        shape = {name: parameters[name] for name in self.problem.shapes}
        key = tuple(sorted(shape.items()))
        if key not in self._bases:
            if len(self._bases) >= BASES_KEPT:
                self._bases.clear()
            numbers = range(len(self.problem.cases))
            most = self._gains.shape[1]
            bases = np.stack([_filled(self.problem.base(number, shape), most, NOWHERE) for number in numbers])
            scales = np.array([self.problem.scale(number, shape) for number in numbers])
            self._bases[key] = (bases, scales)
        return self._bases[key]


def _filled(values: Values, length: int, filler: float = 0.0) -> Values:
    """``values`` with rows of ``filler`` at the end."""
    missing = [(0, length - len(values)), *[(0, 0)] * (values.ndim - 1)]
    return np.pad(values, missing, constant_values=filler)
