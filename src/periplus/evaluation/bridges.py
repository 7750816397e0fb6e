"""Bridges to the tools of researchers: judged collections as ``ir_datasets`` shows them, and a PyTerrier transformer.

The dataset needs no package of others. The transformer needs PyTerrier (extra ``research``), which brings pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from periplus.evaluation.judgements import JudgedCollection

    Ranking = Callable[[str, int], Sequence[tuple[str, float]]]  # query, how many → document ids and scores

MOST = 1_000  # documents a query, as TREC asks for
PARTS = ("docs", "queries", "qrels")
GRADES = {0: "not relevant", 1: "relevant"}


class DatasetDocument(NamedTuple):
    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        """Title and text, as tools of others index them."""
        return f"{self.title} {self.text}".strip()


class DatasetQuery(NamedTuple):
    query_id: str
    text: str

    def default_text(self) -> str:
        return self.text


class DatasetQrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class JudgedDataset:
    """A judged collection with the methods of a dataset of ``ir_datasets``."""

    def __init__(self, judged: JudgedCollection) -> None:
        self._judged = judged

    def dataset_id(self) -> str:
        return f"periplus/{self._judged.name}"

    def has(self, kind: Any) -> bool:
        """Whether there are such parts; ``kind`` is a name, or one of ``ir_datasets.EntityType``."""
        return getattr(kind, "value", kind) in PARTS

    def has_docs(self) -> bool:
        return True

    def has_queries(self) -> bool:
        return True

    def has_qrels(self) -> bool:
        return True

    # A dataset that wraps this one asks for a handler to learn which parts there are.

    def docs_handler(self) -> JudgedDataset:
        return self

    def queries_handler(self) -> JudgedDataset:
        return self

    def qrels_handler(self) -> JudgedDataset:
        return self

    def docs_lang(self) -> None:
        """Not known."""

    def queries_lang(self) -> None:
        """Not known."""

    def docs_cls(self) -> type[DatasetDocument]:
        return DatasetDocument

    def queries_cls(self) -> type[DatasetQuery]:
        return DatasetQuery

    def qrels_cls(self) -> type[DatasetQrel]:
        return DatasetQrel

    def qrels_defs(self) -> dict[int, str]:
        return GRADES

    def docs_count(self) -> int:
        return sum(1 for _ in self._judged.documents())

    def queries_count(self) -> int:
        return len(self._judged.queries)

    def qrels_count(self) -> int:
        return sum(map(len, self._judged.qrels.values()))

    def docs_iter(self) -> Iterator[DatasetDocument]:
        return (DatasetDocument(one.id, one.title, one.text) for one in self._judged.documents())

    def queries_iter(self) -> Iterator[DatasetQuery]:
        return (DatasetQuery(name, text) for name, text in self._judged.queries.items())

    def qrels_iter(self) -> Iterator[DatasetQrel]:
        return (
            DatasetQrel(query, document, grade)
            for query, grades in self._judged.qrels.items()
            for document, grade in grades.items()
        )

    def qrels_dict(self) -> dict[str, dict[str, int]]:
        return self._judged.qrels


def transformer(ranking: Ranking, most: int = MOST) -> Any:
    """A PyTerrier transformer that answers queries by ``ranking``, such as ``Collection.engine.ranking``."""
    try:
        import pandas as pd
        import pyterrier as pt
    except ImportError as error:
        raise UsageError("PyTerrier is not installed; pip install 'periplus[research]'") from error

    def found(topics: Any) -> Any:
        rows = [
            (topic.qid, topic.query, document, rank, score)
            for topic in topics.itertuples()
            for rank, (document, score) in enumerate(_falling(ranking(topic.query, most)))
        ]
        return pd.DataFrame(rows, columns=["qid", "query", "docno", "rank", "score"])

    return pt.apply.generic(found)


def _falling(ranked: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    """Scores that fall from each document to the next, by the least that a measure can tell.

    Measures of others order documents by score, and those of one score by name; we order them by address.
    """
    last = np.float32(np.inf)
    for document, score in ranked:
        last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
        yield document, float(last)
