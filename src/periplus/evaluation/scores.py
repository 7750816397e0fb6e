"""Scoring a search function on judged queries, and comparing profiles on the same queries.

The room knows of the engine only a function from a query and a count to document ids. Averages are over the queries
that have at least one relevant document; a query that finds nothing counts 0 everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field, to_builtins

from periplus.errors import UnfitFile, UsageError
from periplus.evaluation import metrics
from periplus.evaluation.significance import randomisation_test

Search = Callable[[str, int], Sequence[str]]

DEPTH = 1_000  # documents asked for a query: the depth at which TREC computes MAP
MEASURES = ("ndcg@10", "map", "mrr@10", "p@10", "recall@100")
SIGNIFICANT = 0.05


class QueryScores(Struct, frozen=True):
    query: str
    ndcg: float = field(name="ndcg@10")
    ap: float = field(name="map")
    rr: float = field(name="mrr@10")
    precision: float = field(name="p@10")
    recall: float = field(name="recall@100")


class Scores(Struct, frozen=True):
    """A profile's averages, and the scores and lists of each query behind them."""

    profile: str
    by_query: tuple[QueryScores, ...]
    run: dict[str, list[str]]
    seconds: float

    def mean(self, measure: str) -> float:
        values = self.values(measure)
        return sum(values) / len(values) if values else 0.0

    def values(self, measure: str) -> list[float]:
        """One value a query, in the order of the queries; ``measure`` is one of ``MEASURES``."""
        return [float(to_builtins(scores)[measure]) for scores in self.by_query]

    def summary(self) -> dict[str, Any]:
        """The object of ``evaluate --json`` for this profile."""
        averages = {measure: self.mean(measure) for measure in MEASURES}
        return {"profile": self.profile, **averages, "queries": len(self.by_query), "seconds": self.seconds}


class QueryDifference(Struct, frozen=True):
    query: str
    baseline: float
    value: float

    @property
    def difference(self) -> float:
        return self.value - self.baseline


class Comparison(Struct, frozen=True):
    """How a profile differs from a baseline in one measure."""

    baseline: str
    profile: str
    measure: str
    difference: float  # of the averages; positive when the profile is better
    p: float  # paired randomisation test, two-sided
    better: int  # queries
    worse: int
    equal: int

    @property
    def significant(self) -> bool:
        return self.p < SIGNIFICANT


def evaluate(
    search: Search,
    queries: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    profile: str = "",
    depth: int = DEPTH,
    clock: Callable[[], float] = time.perf_counter,
) -> Scores:
    """Ask every judged query and score the answers; ``seconds`` is the time spent in ``search``."""
    run: dict[str, list[str]] = {}
    seconds = 0.0
    for query in judged_queries(queries, qrels):
        began = clock()
        found = search(queries[query], depth)
        seconds += clock() - began
        run[query] = list(dict.fromkeys(found))[:depth]  # a repeat must not count twice
    return _scores(profile, run, qrels, seconds)


def evaluate_run(
    run: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]], profile: str = "", depth: int = DEPTH
) -> Scores:
    """Score a run that was made elsewhere; a judged query that it lacks counts as one that found nothing."""
    judged = [query for query, grades in qrels.items() if metrics.relevant_documents(grades)]
    if judged and not any(query in run for query in judged):
        raise UnfitFile("the run and the judgements have no query in common; check that they belong together")
    lists = {query: list(dict.fromkeys(run.get(query, ())))[:depth] for query in judged}
    return _scores(profile, lists, qrels, 0.0)


def judged_queries(queries: Mapping[str, str], qrels: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Ids of the queries with a relevant document, in the order of ``queries``."""
    judged = [query for query in queries if metrics.relevant_documents(qrels.get(query, {}))]
    if not judged:
        raise UnfitFile("no query has a relevant document; check that queries and judgements belong together")
    return judged


def score_query(query: str, ranking: Sequence[str], grades: Mapping[str, int]) -> QueryScores:
    return QueryScores(
        query,
        ndcg=metrics.ndcg(ranking, grades),
        ap=metrics.average_precision(ranking, grades),
        rr=metrics.reciprocal_rank(ranking, grades),
        precision=metrics.precision(ranking, grades),
        recall=metrics.recall(ranking, grades),
    )


def compare(baseline: Scores, other: Scores, measure: str = "ndcg@10") -> Comparison:
    pairs = differences(baseline, other, measure)
    return Comparison(
        baseline.profile,
        other.profile,
        measure,
        other.mean(measure) - baseline.mean(measure),
        randomisation_test([pair.value for pair in pairs], [pair.baseline for pair in pairs]),
        sum(pair.difference > 0 for pair in pairs),
        sum(pair.difference < 0 for pair in pairs),
        sum(pair.difference == 0 for pair in pairs),
    )


def differences(baseline: Scores, other: Scores, measure: str = "ndcg@10") -> list[QueryDifference]:
    """Query by query, the largest gain first and the largest loss last."""
    ours, theirs = ({s.query: v for s, v in zip(x.by_query, x.values(measure), strict=True)} for x in (other, baseline))
    if ours.keys() != theirs.keys():
        raise UsageError(f"{baseline.profile} and {other.profile} were not scored on the same queries")
    found = [QueryDifference(query, theirs[query], ours[query]) for query in theirs]
    return sorted(found, key=lambda pair: -pair.difference)


def report(profiles: Sequence[Scores], measure: str = "ndcg@10") -> dict[str, Any]:
    """What ``evaluate --json`` prints; each profile after the first is compared with the first."""
    comparisons = [compare(profiles[0], other, measure) for other in profiles[1:]]
    return {
        "profiles": [scores.summary() for scores in profiles],
        "comparisons": [to_builtins(comparison) for comparison in comparisons],
    }


def _scores(profile: str, run: dict[str, list[str]], qrels: Mapping[str, Mapping[str, int]], seconds: float) -> Scores:
    return Scores(profile, tuple(score_query(query, run[query], qrels[query]) for query in run), run, seconds)
