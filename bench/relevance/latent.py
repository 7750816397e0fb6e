"""``python -m bench.relevance.latent``: what meaning beyond words adds, as far as it can be measured without a network.

Latent semantic analysis (Deerwester et al., 1990): the collection's own tf-idf matrix cut to its largest ``DIMENSIONS``
singular vectors. The best 200 of ``periplus`` are ordered by its score plus a share of the best score times the
cosine; the share is chosen on the four other sets. Beside it the time of one query's cosines.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
from bench.relevance import sets
from scipy import sparse
from scipy.sparse.linalg import svds

from periplus.evaluation import evaluate, randomisation_test
from periplus.search.query.vocabulary import is_stop_word
from periplus.text import analyze

DIMENSIONS = 150
CANDIDATES = 200
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
LEAST_DOCUMENTS = 2


def terms(text: str) -> Counter[str]:
    return Counter(
        token.forms[-1].term for token in analyze(text, "en") if not is_stop_word(token.text, "en") and token.forms
    )


class Latent:
    """Documents and queries as vectors of the collection's own topics."""

    def __init__(self, name: str) -> None:
        lines = (sets.DATA / name / "docs.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        counts = [terms(f"{row['title']} {row['text']}") for row in rows]
        known = Counter(term for count in counts for term in count)
        self._places = {term: i for i, (term, n) in enumerate(sorted(known.items())) if n >= LEAST_DOCUMENTS}
        self._places = {term: i for i, term in enumerate(self._places)}
        self._idf = np.array([np.log(len(rows) / known[term]) for term in self._places])
        matrix = sparse.csr_matrix(np.vstack([self._weighted(count) for count in counts]))
        _, _, self._axes = svds(matrix, k=min(DIMENSIONS, min(matrix.shape) - 1), random_state=7)
        self._vectors = _unit(np.asarray(matrix @ self._axes.T))
        self._rows = {str(row["id"]): i for i, row in enumerate(rows)}

    def _weighted(self, count: Counter[str]) -> Any:
        vector = np.zeros(len(self._places))
        for term, times in count.items():
            if term in self._places:
                vector[self._places[term]] = 1.0 + np.log(times)
        return _unit((vector * self._idf)[None, :])[0]

    def cosines(self, query: str, identifiers: list[str]) -> Any:
        vector = _unit((self._axes @ self._weighted(terms(query)))[None, :])[0]
        return self._vectors[[self._rows[name] for name in identifiers]] @ vector


def _unit(vectors: Any) -> Any:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def scored(name: str) -> tuple[dict[float, list[float]], float]:
    """nDCG@10 of every query for every share, and milliseconds a query."""
    judged, latent = sets.judged(name), Latent(name)
    listed, spent = {}, 0.0
    with sets.collection(name) as collection:
        for text in judged.queries.values():
            found = collection.engine.ranking(text, CANDIDATES, "periplus")
            began = time.process_time()
            listed[text] = (found, latent.cosines(text, [identifier for identifier, _ in found]))
            spent += time.process_time() - began

    def search(share: float, query: str, k: int) -> list[str]:
        found, cosines = listed[query]
        best = max((score for _, score in found), default=0.0)
        values = np.array([score for _, score in found]) + share * best * cosines
        return [found[i][0] for i in np.argsort(-values, kind="stable")[:k]]

    values = {}
    for share in SHARES:
        asked = partial(search, share)
        result = evaluate(asked, judged.queries, judged.qrels, name, CANDIDATES)
        values[share] = result.values("ndcg@10")
    return values, 1000 * spent / len(listed)


def main() -> None:
    found = {name: scored(name) for name in sets.NAMES}
    print("| set | `periplus` | with latent topics | difference | p | share | ms a query |")
    print("|---|---|---|---|---|---|---|")
    for name, (values, spent) in found.items():
        others = [other for other in sets.NAMES if other != name]
        share = max(SHARES, key=lambda s: sum(np.mean(found[other][0][s]) for other in others))
        plain, latent = values[0.0], values[share]
        p = randomisation_test(latent, plain)
        cells = f"{np.mean(plain):.3f} | {np.mean(latent):.3f} | {np.mean(latent) - np.mean(plain):+.3f} | {p:.3f}"
        print(f"| {name} | {cells} | {share} | {spent:.2f} |")
        print({s: round(float(np.mean(v)), 4) for s, v in values.items()}, file=sys.stderr)


if __name__ == "__main__":
    main()
