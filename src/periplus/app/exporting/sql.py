"""A collection as tables of PostgreSQL: what is stored, its links and ranks, and the words of the index.

An export is cut into pieces, whose list lies in the target beside the tables. Several processes write them, each over
a connection of its own; a piece is noted as done in the transaction that writes its rows. So an export that was ended
at any moment goes on with the pieces that are left. When none is, all tables take their names in one transaction.
docs/sql.md has the tables, and BM25 as a query.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from periplus.app.exporting.postings import IndexedCollection
from periplus.app.exporting.sql_pieces import WRITES, OpenIndex, PieceOrder
from periplus.app.exporting.sql_tables import NOTED, PIECES, PIECES_COLUMNS, TABLES, connected
from periplus.app.state import identity_of
from periplus.crawl import page_part, page_starts
from periplus.documents import BatchLog
from periplus.graph import GraphTables
from periplus.jobs import ProcessRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from periplus.app.collection import Collection

K1, B = 1.2, 0.75  # of BM25, as the profile has them
MOST_CONNECTIONS: Final = 4  # unless more are asked for
DOCUMENTS_AT_ONCE: Final = 1_000  # of one piece
WORDS_AT_ONCE: Final = 250_000  # of one piece, unless one document has more
LARGEST: Final = 2**63 - 1
_STEPS: Final = 2  # what only reads the tables of the first step comes with the second


class Exported(NamedTuple):
    table: str
    rows: int
    is_new: bool  # false: it was there already, made from the same


class _Piece(NamedTuple):
    piece: int
    step: int
    kind: str
    bounds: list[int]


def export_to_sql(
    collection: Collection,
    address: str,
    connections: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Exported]:
    """Write all tables; those that are there already, made from the same state, stay as they are.

    ``progress`` is told how many pieces are done, of how many.
    """
    with connected(address) as connection, IndexedCollection(collection) as index:
        sources = _Sources(collection, index)
        target = _Target(connection, sources.made_from)
        there = target.there()
        if there:
            return there
        target.begin(sources)
        workers = connections or min(MOST_CONNECTIONS, len(os.sched_getaffinity(0)))
        with ProcessRunner(workers, may_copy=False) as runner:
            _write_all(runner, address, target, sources, progress or (lambda _done, _of: None))
        return target.publish()


def _write_all(
    runner: ProcessRunner, address: str, target: _Target, sources: _Sources, progress: Callable[[int, int], None]
) -> None:
    done, total = target.counts()
    for step in range(1, _STEPS + 1):
        orders = (
            PieceOrder(address, sources.made_from, one.piece, one.kind, sources.given(one), sources.open_index)
            for one in target.left(step)
        )
        for outcome in runner.run("periplus.app.exporting.sql_pieces:write", orders):
            if outcome.error is not None:
                raise outcome.error
            done += 1
            progress(done, total)


class _Sources:
    """What there is to be written, and how it is cut."""

    def __init__(self, collection: Collection, index: IndexedCollection) -> None:
        self._collection, self._index = collection, index
        log = BatchLog(collection.files, collection.database, collection.depot)
        self._graph = GraphTables(log)
        self._ranks = collection.stores.ranks.current()
        self._batches = log.numbers()
        self.open_index = OpenIndex(collection.folder / "index", index.manifest)
        last = self._batches[-1] if self._batches else 0
        ranking = self._ranks.generation if self._ranks is not None else 0
        self.made_from = (
            f"collection {identity_of(collection.folder)}, generation {index.generation}, ranks {ranking},"
            f" batch {last} of {len(self._batches)}"
        )

    def pieces(self) -> Iterator[tuple[int, str, list[int]]]:
        """Step, kind and bounds of all pieces."""
        yield 1, "collection", []
        for low, high in self._cuts():
            yield 1, "texts", [low, high]
        starts = [*page_starts(self._collection.database), (LARGEST, LARGEST)]
        for (host, key), following in pairwise(starts):
            yield 1, "pages", [host, key, *following]
        for number in self._batches:
            yield 1, "links", [number]
        for number in self._batches if self._ranks is not None else ():
            yield 1, "ranks", [number]
        yield 2, "lexicon", []
        for table, entry in enumerate(TABLES):
            for place in range(len(entry.indexes)):
                yield 2, "index", [table, place]

    def given(self, piece: _Piece) -> Any:
        """What a process is given to write a piece."""
        bounds = piece.bounds
        if piece.kind == "collection":
            return [(self._index.documents, self._index.average_length, K1, B)]
        if piece.kind == "texts":
            return bounds[0], self._index.numbers[bounds[0] : bounds[1]]
        if piece.kind == "pages":
            table = page_part(self._collection.database, (bounds[0], bounds[1]), (bounds[2], bounds[3]))
            return _rows(table, "url", "state", "status")
        if piece.kind == "links":
            return _rows(self._graph.links(bounds[0]), "source", "target", "text", "rel", "place")
        if piece.kind == "ranks" and self._ranks is not None:
            return _rows(self._graph.ranks(bounds[0], self._ranks), "url", "rank", "host", "host_rank")
        return bounds

    def _cuts(self) -> Iterator[tuple[int, int]]:
        """Stretches of documents of about the same length."""
        low, ends = 0, np.cumsum(self._index.lengths())
        while low < len(ends):
            before = int(ends[low - 1]) if low else 0
            high = int(np.searchsorted(ends, before + WORDS_AT_ONCE, "right"))
            high = min(max(high, low + 1), low + DOCUMENTS_AT_ONCE)
            yield low, min(high, len(ends))
            low = high


class _Target:
    """The tables that are written, and the notes beside them."""

    def __init__(self, connection: psycopg.Connection[Any], made_from: str) -> None:
        self._connection, self._made_from = connection, made_from

    def there(self) -> list[Exported]:
        """All tables, if they were made from the same; else none."""
        self._connection.execute(
            f"CREATE TABLE IF NOT EXISTS {NOTED} (name TEXT PRIMARY KEY, made_from TEXT, rows BIGINT)"
        )
        noted = dict(
            self._connection.execute(
                f"SELECT name, rows FROM {NOTED} WHERE made_from = %s",  # noqa: S608 - a constant
                (self._made_from,),
            ).fetchall()
        )
        names = [table.name for table in TABLES]
        return [Exported(name, noted[name], is_new=False) for name in names] if noted.keys() >= set(names) else []

    def begin(self, sources: _Sources) -> None:
        """Have the list of pieces and their tables there; those of an export from the same state are gone on with."""
        with self._connection.transaction():
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS {PIECES} ({PIECES_COLUMNS})")
            self._connection.execute(f"LOCK TABLE {PIECES}")  # waits for processes of an export that was killed
            begun = self._connection.execute(f"SELECT made_from FROM {PIECES} LIMIT 1").fetchone()  # noqa: S608
            if begun is None or begun[0] != self._made_from:
                self._begin_anew(sources)

    def _begin_anew(self, sources: _Sources) -> None:
        self._connection.execute(f"DELETE FROM {PIECES}")  # noqa: S608
        for table in TABLES:
            key = f", PRIMARY KEY ({table.key})" if table.key else ""
            self._connection.execute(f"DROP TABLE IF EXISTS {table.part}")
            self._connection.execute(f"CREATE TABLE {table.part} ({table.columns}{key})")
        columns = "piece, made_from, step, kind, bounds"
        with self._connection.cursor().copy(f"COPY {PIECES} ({columns}) FROM STDIN") as copy:
            for number, (step, kind, bounds) in enumerate(sources.pieces()):
                copy.write_row((number, self._made_from, step, kind, bounds))

    def counts(self) -> tuple[int, int]:
        """Pieces that are done, and all."""
        row = self._connection.execute(f"SELECT count(rows), count(*) FROM {PIECES}").fetchone()  # noqa: S608
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def left(self, step: int) -> list[_Piece]:
        rows = self._connection.execute(
            f"SELECT piece, step, kind, bounds FROM {PIECES} WHERE step = %s AND rows IS NULL ORDER BY piece",  # noqa: S608
            (step,),
        )
        return [_Piece(*row) for row in rows.fetchall()]

    def publish(self) -> list[Exported]:
        """Give all tables their names, in one transaction."""
        with self._connection.transaction():
            counts = self._rows_by_table()
            for table in TABLES:
                self._connection.execute(f"DROP TABLE IF EXISTS {table.name}")
                self._connection.execute(f"ALTER TABLE {table.part} RENAME TO {table.name}")
                for name in [*(["pkey"] if table.key else []), *(name for name, _ in table.indexes)]:
                    self._connection.execute(f"ALTER INDEX {table.part}_{name} RENAME TO {table.name}_{name}")
                self._connection.execute(
                    f"INSERT INTO {NOTED} VALUES (%s, %s, %s) ON CONFLICT (name)"  # noqa: S608
                    " DO UPDATE SET made_from = excluded.made_from, rows = excluded.rows",
                    (table.name, self._made_from, counts[table.name]),
                )
            self._connection.execute(f"DROP TABLE {PIECES}")
        return [Exported(table.name, counts[table.name], is_new=True) for table in TABLES]

    def _rows_by_table(self) -> dict[str, int]:
        counts = dict.fromkeys((table.name for table in TABLES), 0)
        for kind, rows in self._connection.execute(f"SELECT kind, rows FROM {PIECES}").fetchall():  # noqa: S608
            for table, count in zip(WRITES[kind], rows, strict=True):
                counts[table.name] += count
        return counts


def _rows(table: Any, *names: str) -> list[tuple[Any, ...]]:
    """These columns of an Arrow table, row by row."""
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
