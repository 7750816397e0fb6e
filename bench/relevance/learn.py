"""Learn the weights of the profile ``periplus`` from the judged sets: ``python -m bench.relevance.learn``."""

from __future__ import annotations

import argparse
import copy
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from bench.relevance import known, sets
from bench.relevance.learning import Case, Learner, LearningProblem, Parameters, ideal_gains
from msgspec import structs

from periplus.evaluation import randomisation_test
from periplus.ranking import Evidence, ours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from periplus.app import Collection
    from periplus.evaluation import Qrels, Queries

LINKS = "link prior"
START = Path(__file__).with_name("start.toml")

# Shape parameters and what is tried: the weight of a title, how long texts are discounted, saturation, forms, length.
SHAPES = {
    "bm25f.title": (2.0, 3.0, 4.0),
    "bm25f_length.body": (0.6, 0.75, 0.9),
    "bm25f.k1": (1.2, 1.6, 2.0),
    "shape.share_power": (0.3, 0.6, 1.0),
    "shape.longest": (4.0, 8.0, 64.0),
}


def with_shape(table: ours.Weights, shape: Mapping[str, float]) -> ours.Weights:
    parts: dict[str, dict[str, float]] = {}
    for name, value in shape.items():
        section, _, key = name.partition(".")
        parts.setdefault(section, dict(getattr(table, section)))[key] = value
    return structs.replace(table, **parts)


class Judged:
    """The candidates of all judged queries, with what is known of them."""

    def __init__(self, names: tuple[str, ...], web: Path | None = None) -> None:
        self.cases: list[Case] = []
        self.evidence: list[Evidence] = []
        self.features = (*ours.weights().features, LINKS)
        for name in names:
            judged = sets.judged(name)
            with sets.collection(name) as collection:
                self._add(name, collection, judged.queries, judged.qrels)
        if web is not None:
            self._add_known(web)

    def _add_known(self, web: Path) -> None:
        collection, items = known.build(web)
        with collection:
            learnt, _ = known.halves(items)
            for kind in known.KINDS:
                self._add(kind, collection, *known.judgements([item for item in learnt if item.kind == kind]))

    def _add(self, name: str, collection: Collection, queries: Queries, qrels: Qrels) -> None:
        for query, text in queries.items():
            grades = qrels.get(query, {})
            if not any(grade > 0 for grade in grades.values()):
                continue
            ids, evidence = collection.engine.evidence(text, "periplus")
            measured = ours.measure(evidence) | {LINKS: evidence.prior}
            self.evidence.append(evidence)
            self.cases.append(
                Case(
                    name,
                    np.stack([measured[feature] for feature in self.features], axis=1),
                    np.array([float(max(grades.get(identifier, 0), 0)) for identifier in ids]),
                    ideal_gains(grades),
                )
            )

    def problem(self) -> LearningProblem:
        idf = [ours.word_weights(evidence) for evidence in self.evidence]

        def base(number: int, shape: Mapping[str, float]) -> Any:
            table = with_shape(ours.weights(), shape)
            return ours.word_scores(self.evidence[number], table) @ idf[number]

        def scale(number: int, shape: Mapping[str, float]) -> float:
            return ours.feature_scale(idf[number], with_shape(ours.weights(), shape))

        return LearningProblem(tuple(self.cases), base, scale, self.features, SHAPES)


def present(table: ours.Weights) -> Parameters:
    shape = {name: float(getattr(table, name.partition(".")[0])[name.partition(".")[2]]) for name in SHAPES}
    return shape | table.features | {LINKS: table.prior["links"]}


def start() -> Parameters:
    """Where learning begins: the weights as they were set by judgement, before anything was learnt."""
    return present(msgspec.convert(tomllib.loads(START.read_text(encoding="utf-8")), ours.Weights))


def by_set(cases: list[Case], values: list[float]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for case, value in zip(cases, values, strict=True):
        found.setdefault(case.group, []).append(value)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sets", nargs="+", default=list(sets.NAMES))
    options.add_argument("--web", type=Path, help="a local web, for known items to learn from")
    chosen = options.parse_args()
    data = Judged(tuple(chosen.sets), chosen.web)
    learner = Learner(data.problem())
    first = start()
    everything = range(len(data.cases))
    now = learner.score(everything, first, (10,))
    for name, values in by_set(data.cases, now).items():
        print("start", name, round(float(np.mean(values)), 4), flush=True)
    final = learner.learn(everything, copy.copy(first))
    for name, value in final.items():
        print(f"{name} = {value}" + ("" if value == first[name] else f"   (was {first[name]})"), flush=True)
    fitted = learner.score(everything, final, (10,))
    held = learner.cross_validated(first)
    for name, values in by_set(data.cases, held).items():
        before = by_set(data.cases, now)[name]
        p = randomisation_test(values, before)
        fit = float(np.mean(by_set(data.cases, fitted)[name]))
        print("held out", name, round(float(np.mean(values)), 4), "p", round(p, 3), "fitted", round(fit, 4))


if __name__ == "__main__":
    main()
