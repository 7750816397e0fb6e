"""A collection as tables of PostgreSQL: what is stored, its links and ranks, and the words of the index.

Each table is written by COPY in one transaction, together with a note of what it was made from. Begun again after an
end on the way, it goes on with the tables that are not noted. docs/sql.md has the tables, and BM25 as a query.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import psycopg

from periplus.app.export_postings import BODY, HEADINGS, TITLE, IndexedCollection
from periplus.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from periplus.app.collection import Collection

NOTED: Final = "export_noted"
K1, B = 1.2, 0.75  # of BM25, as the profile has them
_FLUSH: Final = 10_000  # rows between two words of progress
_TABLES: Final = {
    "export_collection": "documents BIGINT, average_length DOUBLE PRECISION, k1 DOUBLE PRECISION, b DOUBLE PRECISION",
    "export_documents": (
        "number BIGINT PRIMARY KEY, id TEXT, url TEXT, title TEXT, language TEXT, type TEXT,"
        " published DOUBLE PRECISION, fetched DOUBLE PRECISION, length BIGINT, preview TEXT, text TEXT"
    ),
    "export_postings": "term TEXT, number BIGINT, title INTEGER, headings INTEGER, body INTEGER",
    "export_lexicon": "term TEXT PRIMARY KEY, documents BIGINT",
    "export_pages": "url TEXT, state TEXT, status INTEGER",
    "export_links": "source TEXT, target TEXT, text TEXT, rel TEXT, place TEXT",
    "export_ranks": "url TEXT, rank DOUBLE PRECISION, host TEXT, host_rank DOUBLE PRECISION",
}
_INDEXES: Final = {
    "export_postings": "CREATE INDEX {name} ON export_postings (term, number)",
    "export_links": "CREATE INDEX {name} ON export_links (target)",
}
PREVIEW: Final = 300  # characters


class Exported(NamedTuple):
    table: str
    rows: int
    is_new: bool  # false: it was there already, made from the same


def export_to_sql(
    collection: Collection,
    address: str,
    tables: Callable[[str], Iterable[Any]],
    progress: Callable[[str, int], None] | None = None,
) -> list[Exported]:
    """Write all tables; those that are there already, made from the same state, stay as they are.

    ``tables`` gives pages, links and ranks as Arrow tables.
    """
    with _connected(address) as connection, IndexedCollection(collection) as index:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {NOTED} (name TEXT PRIMARY KEY, made_from TEXT, rows BIGINT)")
        connection.commit()
        made_from = f"generation {index.generation}, batch {_last_batch(collection)}"
        writer = _TableWriter(connection, made_from, progress or (lambda _name, _rows: None))
        sources: dict[str, Callable[[], Iterable[tuple[Any, ...]]]] = {
            "export_collection": lambda: [(index.documents, index.average_length, K1, B)],
            "export_documents": lambda: _documents(index),
            "export_postings": lambda: _postings(index),
            "export_lexicon": lambda: _lexicon(connection, index),
            "export_pages": lambda: _rows(tables("pages"), "url", "state", "status"),
            "export_links": lambda: _rows(tables("links"), "source", "target", "text", "rel", "place"),
            "export_ranks": lambda: _rows(tables("ranks"), "url", "rank", "host", "host_rank"),
        }
        return [writer.write(name, rows) for name, rows in sources.items()]


@contextmanager
def _connected(address: str) -> Iterator[psycopg.Connection[Any]]:
    try:
        with psycopg.connect(address) as connection:
            yield connection
    except psycopg.Error as error:
        line = str(error).strip().partition("\n")[0]
        raise StorageError(f"PostgreSQL cannot be written to: {line}; check the address of --to") from error


class _TableWriter:
    def __init__(self, connection: psycopg.Connection[Any], made_from: str, say: Callable[[str, int], None]) -> None:
        self._connection, self._made_from, self._say = connection, made_from, say

    def write(self, name: str, rows: Callable[[], Iterable[tuple[Any, ...]]]) -> Exported:
        noted = self._connection.execute(
            f"SELECT rows FROM {NOTED} WHERE name = %s AND made_from = %s",  # noqa: S608 - a constant
            (name, self._made_from),
        ).fetchone()
        if noted is not None:
            return Exported(name, int(noted[0]), is_new=False)
        with self._connection.transaction():
            self._connection.execute(f"DROP TABLE IF EXISTS {name}")
            self._connection.execute(f"CREATE TABLE {name} ({_TABLES[name]})")
            count = self._copied(name, rows())
            if name in _INDEXES:
                self._connection.execute(_INDEXES[name].format(name=f"{name}_by"))
            self._connection.execute(
                f"INSERT INTO {NOTED} VALUES (%s, %s, %s) ON CONFLICT (name)"  # noqa: S608
                " DO UPDATE SET made_from = excluded.made_from, rows = excluded.rows",
                (name, self._made_from, count),
            )
        self._connection.commit()
        return Exported(name, count, is_new=True)

    def _copied(self, name: str, rows: Iterable[tuple[Any, ...]]) -> int:
        count = 0
        columns = [column.split()[0] for column in _TABLES[name].split(", ")]
        with self._connection.cursor().copy(f"COPY {name} ({', '.join(columns)}) FROM STDIN") as copy:
            for count, row in enumerate(rows, 1):
                copy.write_row([_clean(value) for value in row])
                if count % _FLUSH == 0:
                    self._say(name, count)
        self._say(name, count)
        return count


def _clean(value: Any) -> Any:
    """Texts without the one character that PostgreSQL cannot hold."""
    return value.replace("\0", "").encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _documents(index: IndexedCollection) -> Iterator[tuple[Any, ...]]:
    for one in index:
        kept = one.stored
        preview = (kept.description or kept.text)[:PREVIEW]
        yield (
            one.number,
            kept.id,
            kept.url,
            kept.title,
            kept.language,
            kept.content_type,
            kept.published,
            kept.fetched,
            one.length,
            preview,
            "" if kept.noarchive else kept.text,
        )


def _postings(index: IndexedCollection) -> Iterator[tuple[Any, ...]]:
    for one in index:
        for term, counts in zip(one.terms, one.counts.tolist(), strict=True):
            yield term, one.number, counts[TITLE], counts[HEADINGS], counts[BODY]


def _lexicon(connection: psycopg.Connection[Any], index: IndexedCollection) -> Iterator[tuple[Any, ...]]:
    """The terms of the postings that were just written, with their documents as the index counts them."""
    # Read before anything is copied: while a COPY is under way, its connection answers nothing.
    terms = [row[0] for row in connection.execute("SELECT DISTINCT term FROM export_postings").fetchall()]
    return ((term, index.frequency(term)) for term in sorted(terms))


def _rows(tables: Iterable[Any], *names: str) -> Iterator[tuple[Any, ...]]:
    """These columns of Arrow tables, row by row."""
    for table in tables:
        yield from zip(*(table.column(name).to_pylist() for name in names), strict=True)


def _last_batch(collection: Collection) -> int:
    with collection.database.read() as tx:
        return int(tx.value("SELECT COALESCE(MAX(number), 0) FROM batches"))
