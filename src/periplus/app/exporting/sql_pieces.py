"""One piece of an export to PostgreSQL: its rows and the note that it is done are one transaction.

``write`` is run by processes of ``jobs.ProcessRunner``. The row of a piece is locked while the piece is written, so a
process that outlived an export cannot write what the next one writes again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from periplus.app.exporting.postings import BODY, HEADINGS, TITLE, IndexedPart
from periplus.app.exporting.sql_tables import (
    COLLECTION,
    DOCUMENTS,
    HITS,
    LEXICON,
    LINKS,
    PAGES,
    PIECES,
    POSTINGS,
    RANKS,
    TABLES,
    cell_of,
    connected,
    copy_lines,
    copy_rows,
    line_of,
)
from periplus.errors import StorageError
from periplus.index import FIELDS, IndexStore, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from periplus.app.exporting.postings import IndexedDocument
    from periplus.app.exporting.sql_tables import SqlTable

PREVIEW: Final = 300  # characters
TERMS_AT_ONCE: Final = 20_000  # of the lexicon
# Kinds of pieces, with the tables that each writes to.
WRITES: Final[dict[str, tuple[SqlTable, ...]]] = {
    "collection": (COLLECTION,),
    "texts": (DOCUMENTS, POSTINGS, HITS),
    "pages": (PAGES,),
    "links": (LINKS,),
    "ranks": (RANKS,),
    "lexicon": (LEXICON,),
    "index": (),
}


class OpenIndex(Struct, frozen=True):
    """A generation that the leader of an export holds."""

    folder: Path
    manifest: Manifest


class PieceOrder(Struct, frozen=True):
    """What a process needs to write a piece; ``given`` are rows, or what they are made from."""

    address: str
    made_from: str
    piece: int
    kind: str
    given: Any
    index: OpenIndex


def write(order: PieceOrder) -> None:
    """Write a piece, unless that is done."""
    with connected(order.address) as connection, connection.transaction():
        row = connection.execute(
            f"SELECT rows FROM {PIECES} WHERE piece = %s AND made_from = %s FOR UPDATE",  # noqa: S608 - a constant
            (order.piece, order.made_from),
        ).fetchone()
        if row is None:
            raise StorageError("another export was begun in the same database; let one of them end, then try again")
        if row[0] is None:
            counts = _written(connection, order)
            connection.execute(f"UPDATE {PIECES} SET rows = %s WHERE piece = %s", (counts, order.piece))  # noqa: S608


def _written(connection: psycopg.Connection[Any], order: PieceOrder) -> list[int]:
    """Rows by table, in the order of ``WRITES``."""
    if order.kind == "texts":
        return _write_texts(connection, order)
    if order.kind == "lexicon":
        return [_write_lexicon(connection, order)]
    if order.kind == "index":
        _make_index(connection, *order.given)
        return []
    return [copy_rows(connection, WRITES[order.kind][0], order.given)]


def _write_texts(connection: psycopg.Connection[Any], order: PieceOrder) -> list[int]:
    first, numbers = order.given
    documents: list[str] = []
    postings: list[str] = []
    hits: list[str] = []
    with IndexStore(order.index.folder).reopen(order.index.manifest) as snapshot:
        for one in IndexedPart(snapshot, numbers, first):
            documents.append(line_of(_document(one)))
            terms = [cell_of(term) for term in one.terms]
            postings += _postings(one, terms)
            hits += _hits(one, terms)
    counts = []
    for table, lines in zip(WRITES["texts"], (documents, postings, hits), strict=True):
        copy_lines(connection, table, lines)
        counts.append(len(lines))
    return counts


def _document(one: IndexedDocument) -> tuple[Any, ...]:
    kept = one.stored
    preview = (kept.description or kept.text)[:PREVIEW]
    return (
        one.number,
        kept.id,
        kept.url,
        kept.title,
        kept.language,
        kept.content_type,
        kept.published or None,
        kept.fetched,
        one.length,
        preview,
        "" if kept.noarchive else kept.text,
    )


def _postings(one: IndexedDocument, terms: list[str]) -> Iterator[str]:
    for term, counts in zip(terms, one.counts.tolist(), strict=True):
        yield f"{term}\t{one.number}\t{counts[TITLE]}\t{counts[HEADINGS]}\t{counts[BODY]}\n"


def _hits(one: IndexedDocument, terms: list[str]) -> Iterator[str]:
    """Where each term stands: a line a term and field."""
    for field in (TITLE, HEADINGS, BODY):
        found: dict[int, list[str]] = {}
        for position, term in zip(*one.places.of(field), strict=True):
            found.setdefault(term, []).append(str(position))
        for term, positions in found.items():
            yield f"{terms[term]}\t{one.number}\t{FIELDS[field]}\t{{{','.join(positions)}}}\n"


def _write_lexicon(connection: psycopg.Connection[Any], order: PieceOrder) -> int:
    """The terms of the postings, with their documents as the index counts them."""
    count = 0
    with (
        IndexStore(order.index.folder).reopen(order.index.manifest) as snapshot,
        connection.cursor("terms") as asked,
    ):
        asked.execute(f"SELECT DISTINCT term FROM {POSTINGS.part}")  # noqa: S608 - a constant
        while some := [row[0] for row in asked.fetchmany(TERMS_AT_ONCE)]:
            known = snapshot.known_all(some)
            rows = [(term, entry.frequency) for term, entry in zip(some, known, strict=True)]
            count += copy_rows(connection, LEXICON, rows)
    return count


def _make_index(connection: psycopg.Connection[Any], table: int, place: int) -> None:
    made = TABLES[table]
    name, columns = made.indexes[place]
    connection.execute(f"CREATE INDEX {made.part}_{name} ON {made.part} {columns}")
