"""``python -m bench.relevance.ablations --web FOLDER``: what each feature of ``periplus`` is worth, by leaving it out.

The candidates of every query are scored with one weight set to nothing, on the judged sets (nDCG@10) and on known items
of the sites that nothing was learnt from (MRR@10). Two further rows put other normalisations in the place of BM25F: the
cosine over the words of the query, and a Euclidean one, the square root of a text's length. Marks: significantly better
or worse than the whole (paired randomisation test, p < 0.05).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.relevance import known, sets
from bench.relevance.learn import LINKS
from bench.relevance.report import SIGNIFICANT, table
from msgspec import Struct

from periplus.evaluation import randomisation_test
from periplus.ranking import Evidence, ours

if TYPE_CHECKING:
    from periplus.app import Collection
    from periplus.evaluation import Qrels, Queries

FIRST = 10
UNSEEN = ("fresh", "language", "navigational")  # nothing that these sets could tell
TIMES = {"cosine": 1.0, "euclidean": 0.25}  # chosen on the items to learn from, among 1/4 to 8
DISCOUNTS = 1.0 / np.log2(np.arange(2, FIRST + 2))
Weights = dict[str, float]


class Scored(Struct, frozen=True):
    """One query: what is known of its candidates, and which of them are wanted."""

    group: str
    features: Any  # candidates x features
    texts: dict[str, Any]  # scores of the text part, by its normalisation
    scale: float
    gains: Any
    ideal: list[float]

    def value(self, weights: Any, text: str) -> float:
        scores = self.texts[text] + self.scale * (self.features @ weights)
        gains = self.gains[np.argsort(-scores, kind="stable")[:FIRST]]
        if self.group in known.KINDS:
            found = np.flatnonzero(gains > 0)
            return 1.0 / float(found[0] + 1) if len(found) else 0.0
        best = np.array(self.ideal[:FIRST])
        return float((gains * DISCOUNTS[: len(gains)]).sum() / (best * DISCOUNTS[: len(best)]).sum())


def features() -> tuple[str, ...]:
    return (*ours.weights().features, LINKS)


def shipped() -> Weights:
    return {**ours.weights().features, LINKS: ours.weights().prior["links"]}


def gathered(web: Path | None, names: list[str]) -> list[Scored]:
    found: list[Scored] = []
    for name in names:
        judged = sets.judged(name)
        with sets.collection(name) as collection:
            found += _scored(name, collection, judged.queries, judged.qrels)
    if web is None:
        return found
    collection, items = known.build(web)
    _, reported = known.halves(items)
    with collection:
        for kind in known.KINDS:
            found += _scored(kind, collection, *known.judgements([item for item in reported if item.kind == kind]))
    return found


def _scored(group: str, collection: Collection, queries: Queries, qrels: Qrels) -> list[Scored]:
    found = []
    for query, text in queries.items():
        grades = {document: float(grade) for document, grade in qrels.get(query, {}).items() if grade > 0}
        if grades:
            ids, evidence = collection.engine.evidence(text, "periplus")
            measured = ours.measure(evidence) | {LINKS: evidence.prior}
            scale = ours.feature_scale(ours.word_weights(evidence), ours.weights())
            gains = np.array([grades.get(identifier, 0.0) for identifier in ids])
            columns = np.stack([measured[name] for name in features()], axis=1)
            found.append(Scored(group, columns, _texts(evidence), scale, gains, sorted(grades.values(), reverse=True)))
    return found


def _texts(evidence: Evidence) -> dict[str, Any]:
    idf, counts = ours.word_weights(evidence), evidence.text_frequencies()
    weights = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1.0)), 0.0) * idf
    length = np.linalg.norm(weights, axis=1) * np.linalg.norm(idf)
    return {
        "bm25f": ours.word_scores(evidence, ours.weights()) @ idf,
        "cosine": TIMES["cosine"] * idf.sum() * (weights @ idf) / np.maximum(length, 1e-9),
        "euclidean": TIMES["euclidean"] * weights.sum(axis=1) / np.sqrt(np.maximum(evidence.text_lengths(), 1.0)),
    }


def scores(cases: list[Scored], weights: Weights, text: str = "bm25f") -> dict[str, list[float]]:
    vector = np.array([weights[name] for name in features()])
    found: dict[str, list[float]] = {}
    for case in cases:
        found.setdefault(case.group, []).append(case.value(vector, text))
    return found


def report(cases: list[Scored]) -> str:
    whole = shipped()
    base = scores(cases, whole)
    used = [name for name in features() if whole[name] > 0 and name not in UNSEEN]
    rows = {"`periplus`": base}
    rows |= {f"without `{name}`": scores(cases, {**whole, name: 0.0}) for name in used}
    rows["without features and links"] = scores(cases, dict.fromkeys(whole, 0.0))
    rows["text by cosine over the words of the query"] = scores(cases, whole, "cosine")
    rows["text by (1 + ln f) · idf over √length"] = scores(cases, whole, "euclidean")
    return table(["", *base], [[name, *_cells(found, base)] for name, found in rows.items()])


def _cells(found: dict[str, list[float]], base: dict[str, list[float]]) -> list[str]:
    cells = []
    for group, values in found.items():
        mean, before = sum(values) / len(values), sum(base[group]) / len(base[group])
        is_other = values != base[group] and randomisation_test(values, base[group]) < SIGNIFICANT
        cells.append(f"{mean:.3f}" + (("▲" if mean > before else "▼") if is_other else ""))
    return cells


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sets", nargs="*", choices=sets.NAMES, default=list(sets.NAMES), metavar="SET")
    options.add_argument("--web", type=Path, help="a local web of manuals, for known items")
    chosen = options.parse_args()
    print(report(gathered(chosen.web, chosen.sets)))


if __name__ == "__main__":
    main()
