"""Run files of TREC: what a system answered, one line a document: query, Q0, document, rank, score, tag.

As for trec_eval, the order of a run is that of its scores; the rank column is for people. Equal scores are ordered
by document id, downwards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from periplus.errors import UnfitFile, UsageError
from periplus.evaluation.lines import numbered_lines, write_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Run = dict[str, list[str]]  # query id → document ids, best first


def write_run(path: str | Path, run: Mapping[str, Sequence[str]], tag: str = "periplus") -> None:
    """Scores count down from the length of each list, so that every reader keeps the order."""
    for query, documents in run.items():
        _check_names(query, *documents)
    lines = (
        f"{query} Q0 {document} {rank} {len(documents) - rank + 1} {tag}"
        for query, documents in run.items()
        for rank, document in enumerate(documents, 1)
    )
    write_lines(path, lines)


def read_run(path: str | Path) -> Run:
    scored: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        query, document, score = _entry(line, path, number)
        documents = scored.setdefault(query, {})
        if document in documents:
            raise UnfitFile(f"{path} line {number}: {document} is there twice for query {query}")
        documents[document] = score
    return {query: _ordered(documents) for query, documents in scored.items()}


def _entry(line: str, path: str | Path, number: int) -> tuple[str, str, float]:
    try:
        query, _, document, _, score, _ = line.split()
        value = float(score)
    except ValueError as error:
        raise UnfitFile(f"{path} line {number}: not query, Q0, document, rank, score, tag") from error
    if math.isnan(value):
        raise UnfitFile(f"{path} line {number}: a score that is not a number has no place in an order")
    return query, document, value


def _ordered(documents: Mapping[str, float]) -> list[str]:
    by_id = sorted(documents, reverse=True)
    return sorted(by_id, key=lambda document: -documents[document])


def _check_names(*names: str) -> None:
    for name in names:
        if len(name.split()) != 1:
            raise UsageError(f"{name!r} is empty or has spaces and cannot stand in a run file")
