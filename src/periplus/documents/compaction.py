"""Compaction: small batches of the log become larger ones, so that files follow the documents and not the time.

Neighbours are merged, under the last of their numbers, into files named by the first and the last. Of each key the
newest row is kept, refusals too, with its links. A reader that had taken in part of them takes the merged batch again
and comes to the same state; one that read them before misses nothing.

    1. write the merged tables under temporary names   a crash leaves temporary files
    2. give them their names                           a crash leaves a merged file without a row; it is removed
    3. in one transaction: the merged row, for theirs  from here on they are read
    4. a minute later: remove the files merged         until then readers that had listed them find them

On many machines files are objects with names of their own. They are uploaded in step 1 and have their names; step 3
writes down which objects are to go, and is undone when a takedown swapped one of the batches meanwhile.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from periplus.documents import schema, spans
from periplus.documents.batches import BatchTables
from periplus.errors import StorageBusy
from periplus.storage import Stored, remove_orphans, remove_retired, retire

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from periplus.documents.batches import BatchLog, BatchObjects, StagedBatch
    from periplus.documents.spans import Span
    from periplus.storage import Database, Depot, LocalFiles, Transaction

FAN: Final = 8  # neighbours of one size that are merged
FULL_DOCUMENTS: Final = 2_000  # a batch of half as many is left alone, and none becomes larger
FULL_BYTES: Final = 8_000_000  # the same of its packed documents
RETIRED_SECONDS: Final = 60.0  # that merged files stay for readers that had listed them


class Batch(NamedTuple):
    """One row of the table of batches."""

    span: Span
    documents: int
    links: int
    created: float
    size: int  # bytes of its documents
    source: str = ""  # of an import; only batches of one source are merged

    @property
    def is_full(self) -> bool:
        return 2 * self.documents > FULL_DOCUMENTS or 2 * self.size > FULL_BYTES

    @property
    def tier(self) -> int:
        """Its size in powers of ``FAN``."""
        tier, rest = 0, self.documents
        while rest >= FAN:
            tier, rest = tier + 1, rest // FAN
        return tier


class Compaction:
    """Of one log, by one process at a time; the caller keeps takedowns and builders of indexes away meanwhile."""

    def __init__(self, log: BatchLog, files: LocalFiles, database: Database, depot: Depot | None = None) -> None:
        self._log = log
        self._files = files
        self._database = database
        self._depot = depot

    def run(self, upto: int, also: Callable[[Transaction, Span], None] | None = None) -> int:
        """Merge what is due among the batches up to ``upto``, remove what was merged before; how many batches went.

        ``also`` joins the transaction of each merge, for tables that name batches.
        """
        sweep(self._files, self._database, depot=self._depot)
        gone = 0
        while group := next(due(self._batches(upto), self._strangers()), None):
            if not self._merge(group, also):
                break  # a newer version wrote what we would not keep
            gone += len(group) - 1
        return gone

    def _batches(self, upto: int) -> list[Batch]:
        self._log.numbers()
        sql = "SELECT number, first, documents, links, created, source FROM batches WHERE number <= ? ORDER BY number"
        with self._database.read() as tx:
            rows = tx.rows(sql, (upto,))
        return [
            Batch(spans.span(number, first), documents, links, created, self._log.size(number), source)
            for number, first, documents, links, created, source in rows
        ]

    def _strangers(self) -> list[int]:
        """Numbers of files that no row holds: nothing is merged over them, as it would say that they are held."""
        covers = spans.covered_by(listed(self._database))
        return [one.last for one in spans.stored(self._files) if one.first == one.last and not covers(one)]

    def _merge(self, group: Sequence[Batch], also: Callable[[Transaction, Span], None] | None) -> bool:
        numbers = [one.span.last for one in group]
        before = [self._log.objects_of(number) for number in numbers]
        tables = merged(list(map(self._log.document_table, numbers)), list(map(self._log.links, numbers)))
        if tables is None:
            return False
        whole = spans.Span(group[0].span.first, group[-1].span.last)
        staged = self._log.stage(tables)
        try:
            with self._database.write() as tx, self._log.placed(staged, whole):
                _forget_rows(tx, group, before)
                _write_row(tx, whole, group, staged)
                if also is not None:
                    also(tx, whole)
        except BaseException:
            self._log.discard_unplaced(staged)
            raise
        return True


def listed(database: Database) -> list[Span]:
    """What the table of batches says."""
    with database.read() as tx:
        return [spans.span(number, first) for number, first in tx.rows("SELECT number, first FROM batches")]


def sweep(files: LocalFiles, database: Database, older: float = RETIRED_SECONDS, depot: Depot | None = None) -> None:
    """Remove files whose batches were merged ``older`` seconds ago, and merged ones that a crash left without a row."""
    if depot is not None:
        _sweep_objects(database, depot, older)
    rows, stored = listed(database), spans.stored(files)
    known = frozenset(rows)
    covers = spans.covered_by(rows)
    for one, folders in stored.items():
        holder = covers(one)
        if one in known:
            continue
        if holder is not None:
            is_over = time.time() - _placed_at(files, holder) >= older
        else:
            is_over = one.first < one.last and _is_spare(one, rows, stored)
        for folder in sorted(folders) if is_over else ():
            files.remove(one.documents if folder == "documents" else one.links)


def _placed_at(files: LocalFiles, holder: Span) -> float:
    """When a merged file got its name; one that is an object has none here, and its row is old enough."""
    path = files.path(holder.documents)
    return path.stat().st_mtime if path.exists() else 0.0


def _sweep_objects(database: Database, depot: Depot, older: float) -> None:
    remove_retired(database, depot, older)
    for folder in spans.FOLDERS:
        remove_orphans(database, depot, f"{folder}/", partial(_named_objects, database))


def _named_objects(database: Database) -> set[str]:
    """Of batches that count, and of those that were merged just now."""
    with database.read() as tx:
        columns = tx.rows("SELECT documents_file, links_file FROM batches WHERE documents_file <> ''")
        retired = {str(name) for (name,) in tx.rows("SELECT name FROM retired_objects")}
    return retired | {Stored.decode(text).name for row in columns for text in row}


def _is_spare(one: Span, rows: Sequence[Span], stored: Container[Span]) -> bool:
    """Whether all that a merged file holds is in the files of batches that count."""
    parts = [row for row in rows if one.covers(row)]
    return bool(parts) and all(part in stored for part in parts)


def due(batches: Sequence[Batch], strangers: Sequence[int] = ()) -> Iterator[list[Batch]]:
    """Groups of neighbours to be merged, the smallest first; each after the one before was done and all is new."""
    for tier in range(max((one.tier for one in batches), default=0) + 1):
        run: list[Batch] = []
        for one in batches:
            if one.tier > tier or one.is_full or _is_parted(run, one, strangers):
                if len(run) >= FAN:
                    yield run
                run = []
            elif _is_filled(run, one):
                if len(run) > 1:
                    yield run
                run = []
            if one.tier <= tier and not one.is_full:
                run.append(one)
        if len(run) >= FAN:
            yield run


def _is_parted(run: Sequence[Batch], one: Batch, strangers: Sequence[int]) -> bool:
    """Whether a batch is of another source than those before it, or a file that no row holds lies between."""
    if not run:
        return False
    return one.source != run[-1].source or any(run[0].span.first < number < one.span.last for number in strangers)


def _is_filled(run: Sequence[Batch], one: Batch) -> bool:
    """Whether a batch is too much for those before it."""
    documents, size = sum(each.documents for each in run), sum(each.size for each in run)
    return documents + one.documents > FULL_DOCUMENTS or size + one.size > FULL_BYTES


def merged(documents: Sequence[pa.Table], links: Sequence[pa.Table]) -> BatchTables | None:
    """The newest row of each key with its links, in order; None where a column is unknown to this version."""
    if any(set(table.column_names) - set(schema.DOCUMENTS.names) for table in documents):
        return None
    if any(table.schema.names != schema.LINKS.names for table in links):
        return None
    counts = [table.num_rows for table in documents]
    starts = np.cumsum([0, *counts[:-1]])
    rows = pa.concat_tables([_conformed(table) for table in documents])
    keys = rows.column("key").to_numpy()
    _, last = np.unique(keys[::-1], return_index=True)
    kept = np.sort(len(keys) - 1 - last)
    place = np.full(len(keys), -1, np.int64)
    place[kept] = np.arange(len(kept))
    parts = []
    for table, start in zip(links, starts, strict=True):
        target = place[table.column("row").to_numpy().astype(np.int64) + start]
        column = table.schema.get_field_index("row")
        numbered = table.set_column(column, schema.LINKS.field("row"), pa.array(target, pa.int32()))
        parts.append(numbered.filter(pa.array(target >= 0)))
    return BatchTables(rows.take(pa.array(kept)), pa.concat_tables(parts))


def _conformed(table: pa.Table) -> pa.Table:
    """With all columns of today; one that was written before a field existed gets its default."""
    if table.schema.names == schema.DOCUMENTS.names:
        return table.cast(schema.DOCUMENTS)
    return schema.documents_table(schema.documents_of(table))


def _forget_rows(tx: Transaction, group: Sequence[Batch], before: Sequence[BatchObjects | None]) -> None:
    """Take away the rows of what was merged, as they were when it was read."""
    for one, objects in zip(group, before, strict=True):
        column = objects.columns[0] if objects is not None else ""
        if tx.execute("DELETE FROM batches WHERE number = ? AND documents_file = ?", (one.span.last, column)) != 1:
            raise StorageBusy(f"another process changed batch {one.span.last} while it was merged; it is done later")
    retire(tx, [name for objects in before if objects is not None for name in objects.names])


def _write_row(tx: Transaction, whole: Span, group: Sequence[Batch], staged: StagedBatch) -> None:
    tx.execute(
        "INSERT INTO batches (number, first, documents, links, created, source, documents_file, links_file)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            whole.last, whole.first, staged.documents, staged.links, max(one.created for one in group),
            group[0].source, *staged.columns,
        ),
    )  # fmt: skip
