"""Judged collections, measures, run files, and the comparison of profiles."""

from periplus.evaluation.bridges import JudgedDataset, transformer
from periplus.evaluation.judgements import (
    JudgedCollection,
    JudgedDocument,
    Qrels,
    Queries,
    read_collection,
    read_documents,
    read_qrels,
    read_queries,
    write_qrels,
)
from periplus.evaluation.runs import Run, read_run, write_run
from periplus.evaluation.scores import (
    MEASURES,
    Comparison,
    QueryDifference,
    QueryScores,
    Scores,
    Search,
    compare,
    differences,
    evaluate,
    evaluate_run,
    report,
)
from periplus.evaluation.significance import randomisation_test

__all__ = [
    "MEASURES",
    "Comparison",
    "JudgedCollection",
    "JudgedDataset",
    "JudgedDocument",
    "Qrels",
    "Queries",
    "QueryDifference",
    "QueryScores",
    "Run",
    "Scores",
    "Search",
    "compare",
    "differences",
    "evaluate",
    "evaluate_run",
    "randomisation_test",
    "read_collection",
    "read_documents",
    "read_qrels",
    "read_queries",
    "read_run",
    "report",
    "transformer",
    "write_qrels",
    "write_run",
]
