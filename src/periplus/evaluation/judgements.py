"""Judged collections: documents, queries and relevance judgements as they come in files.

A folder holds ``docs.jsonl`` (``{"id", "title", "text"}`` a line), ``queries.tsv`` (id, text) and ``qrels.tsv``
(query, document, grade). Judgements are also read in the format of TREC: query, iteration, document, grade.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.errors import UnfitFile
from periplus.evaluation.lines import numbered_lines, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

Queries = dict[str, str]  # query id → text
Qrels = dict[str, dict[str, int]]  # query id → document id → grade

DOCUMENTS_FILE = "docs.jsonl"
QUERIES_FILE = "queries.tsv"
QRELS_FILE = "qrels.tsv"


class JudgedDocument(Struct, frozen=True):
    id: str
    title: str = ""
    text: str = ""


class JudgedCollection(Struct, frozen=True):
    """Queries and judgements in memory; documents are read from their file when asked for."""

    name: str
    folder: Path
    queries: Queries
    qrels: Qrels

    def documents(self) -> Iterator[JudgedDocument]:
        return read_documents(self.folder / DOCUMENTS_FILE)


def read_collection(folder: str | Path) -> JudgedCollection:
    place = Path(folder)
    return JudgedCollection(place.name, place, read_queries(place / QUERIES_FILE), read_qrels(place / QRELS_FILE))


def read_documents(path: str | Path) -> Iterator[JudgedDocument]:
    decoder = msgspec.json.Decoder(JudgedDocument)
    for number, line in numbered_lines(path):
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError as error:
            raise UnfitFile(
                f"{path} line {number}: {error}; a line is a JSON object with id, title and text"
            ) from error


def read_queries(path: str | Path) -> Queries:
    queries: Queries = {}
    for number, line in numbered_lines(path):
        identifier, tab, text = line.partition("\t")
        if not tab or not identifier.strip():
            raise UnfitFile(f"{path} line {number}: {_shown(line)} is not a query id, a tab and a query")
        if identifier.strip() in queries:
            raise UnfitFile(f"{path} line {number}: query {identifier.strip()} is there twice; remove one")
        queries[identifier.strip()] = text.strip()
    return queries


def read_qrels(path: str | Path) -> Qrels:
    """Judgements; of several for one document the highest grade counts."""
    qrels: Qrels = {}
    for number, line in numbered_lines(path):
        query, document, grade = _judgement(line, path, number)
        grades = qrels.setdefault(query, {})
        grades[document] = max(grade, grades.get(document, grade))
    return qrels


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgements in the format of TREC."""
    lines = (f"{query} 0 {document} {grade}" for query, grades in qrels.items() for document, grade in grades.items())
    write_lines(path, lines)


def _judgement(line: str, path: str | Path, number: int) -> tuple[str, str, int]:
    fields = [field.strip() for field in (line.split("\t") if "\t" in line else line.split())]
    if len(fields) == 4:
        del fields[1]  # TREC's iteration, always 0
    try:
        query, document, grade = fields
        return query, document, int(grade)
    except ValueError as error:
        raise UnfitFile(
            f"{path} line {number}: {_shown(line)} is neither query, document, grade nor query, 0, document, grade"
        ) from error


def _shown(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:60] + "…")
