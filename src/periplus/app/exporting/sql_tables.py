"""The tables of an export to PostgreSQL, and how rows become lines of COPY. docs/sql.md describes them to users.

While an export is under way its rows lie in tables of other names (``part``), so that readers see the last whole
export.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import psycopg

from periplus.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NOTED: Final = "export_noted"  # what the tables were made from
PIECES: Final = "export_pieces"  # what an export under way consists of, and what of it is done
PIECES_COLUMNS: Final = (
    "piece BIGINT PRIMARY KEY, made_from TEXT, step INTEGER, kind TEXT, bounds BIGINT[], rows BIGINT[]"
)
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": None})


class SqlTable(NamedTuple):
    """``indexes`` are names after the name of the table, with what stands behind ``ON table``."""

    name: str
    columns: str
    key: str = ""
    indexes: tuple[tuple[str, str], ...] = ()

    @property
    def part(self) -> str:
        """Its name while it is not complete."""
        return self.name.replace("export_", "export_part_", 1)

    @property
    def column_names(self) -> list[str]:
        return [column.split()[0] for column in self.columns.split(", ")]


COLLECTION: Final = SqlTable(
    "export_collection",
    "documents BIGINT, average_length DOUBLE PRECISION, k1 DOUBLE PRECISION, b DOUBLE PRECISION",
)
DOCUMENTS: Final = SqlTable(
    "export_documents",
    "number BIGINT, id TEXT, url TEXT, title TEXT, language TEXT, type TEXT, published DOUBLE PRECISION,"
    " fetched DOUBLE PRECISION, length BIGINT, preview TEXT, text TEXT",
    key="number",
)
POSTINGS: Final = SqlTable(
    "export_postings",
    "term TEXT, number BIGINT, title INTEGER, headings INTEGER, body INTEGER",
    indexes=(("by", "(term, number)"),),
)
HITS: Final = SqlTable(
    "export_hits",
    "term TEXT, number BIGINT, field TEXT, positions INTEGER[]",
    indexes=(("by", "(term, number)"),),
)
LEXICON: Final = SqlTable("export_lexicon", "term TEXT, documents BIGINT", key="term")
PAGES: Final = SqlTable("export_pages", "url TEXT, state TEXT, status INTEGER")
LINKS: Final = SqlTable(
    "export_links", "source TEXT, target TEXT, text TEXT, rel TEXT, place TEXT", indexes=(("by", "(target)"),)
)
RANKS: Final = SqlTable("export_ranks", "url TEXT, rank DOUBLE PRECISION, host TEXT, host_rank DOUBLE PRECISION")
TABLES: Final = (COLLECTION, DOCUMENTS, POSTINGS, HITS, LEXICON, PAGES, LINKS, RANKS)


@contextmanager
def connected(address: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection whose statements stand for themselves unless a transaction is opened."""
    try:
        with psycopg.connect(address, autocommit=True) as connection:
            yield connection
    except psycopg.Error as error:
        line = str(error).strip().partition("\n")[0]
        raise StorageError(f"PostgreSQL cannot be written to: {line}; check the address of --to") from error


def copy_lines(connection: psycopg.Connection[Any], table: SqlTable, lines: Iterable[str]) -> None:
    """Rows that are lines already, into the part of a table."""
    with connection.cursor().copy(f"COPY {table.part} ({', '.join(table.column_names)}) FROM STDIN") as copy:
        copy.write("".join(lines).encode("utf-8", "replace"))


def copy_rows(connection: psycopg.Connection[Any], table: SqlTable, rows: Iterable[Sequence[Any]]) -> int:
    lines = [line_of(row) for row in rows]
    copy_lines(connection, table, lines)
    return len(lines)


def line_of(row: Sequence[Any]) -> str:
    """A row in the text format of COPY, without the one character that PostgreSQL cannot hold."""
    return "\t".join(map(cell_of, row)) + "\n"


def cell_of(value: Any) -> str:
    if value is None:
        return "\\N"
    return value.translate(_ESCAPES) if isinstance(value, str) else str(value)
