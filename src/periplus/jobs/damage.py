"""Batches whose files are not what was written: found, made again from the archive, or left out by a step.

A batch of crawled pages is emptied, and its pages get their documents from the archive, in a batch of their own. What
was imported is stored once: such a batch is left out, and listed with its error among the tasks that failed, until its
file is whole again or the doctor gave it up. Where no batch at all is whole, a folder is missing rather than a file
damaged: then the step ends with the error, and nothing is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from msgspec import Struct

from periplus.crawl import TAKEDOWN_LOCK, make_again
from periplus.errors import Corrupt, NotFound
from periplus.storage import database_time, folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from periplus.documents import BatchLog
    from periplus.storage import Database, LocalFiles

INDEX_JOB, RANK_JOB = "index", "rank"  # in the table of tasks
T = TypeVar("T")
KIND: Final = "batch"  # of their rows in the table of tasks
SET_ASIDE: Final = "damaged"  # folder of what was damaged
_STATED: Final = (
    "SELECT number, documents, links, source = '' AND EXISTS (SELECT 1 FROM urls WHERE urls.batch BETWEEN"
    " CASE WHEN first > 0 THEN first ELSE number END AND number) FROM batches ORDER BY number"
)
_LIST: Final = (
    "INSERT INTO tasks (job, kind, input, state, tries, error, changed) VALUES (?, ?, ?, 'failed', 1, ?, ?)"
    " ON CONFLICT (job, kind, input) DO UPDATE SET error = excluded.error"
)


class DamagedBatch(Struct, frozen=True):
    number: int
    error: str
    has_documents: bool  # they are whole, and only its links are not
    is_archived: bool  # the archive has its pages; what was imported is here alone

    @property
    def damage(self) -> str:
        """Its error, without what to do."""
        return self.error.partition("; ")[0]


class RemadeBatch(Struct, frozen=True):
    """What came of a damaged batch."""

    documents: int  # that it held
    pages: tuple[str, ...]  # addresses whose documents are made again
    keeps_documents: bool


def damaged_batches(
    log: BatchLog, database: Database, tell: Callable[[int, str], None] | None = None, *, links: bool = True
) -> list[DamagedBatch]:
    """Reads every batch; ``links`` too, unless nobody needs them. A store that is away is an error, and no damage."""
    with database.read() as tx:
        stated = [_Stated(*row) for row in tx.rows(_STATED)]
    found = []
    for one in stated:
        if tell is not None:
            tell(one.number, "documents")
        damaged = _examined(log, one, links=links)
        if damaged is not None:
            found.append(damaged)
    return found


def remake(log: BatchLog, files: LocalFiles, database: Database, batch: DamagedBatch) -> RemadeBatch:
    """Keep the files of a batch under ``damaged/``, empty it, and have its pages made again from the archive."""
    number = batch.number
    with database.read() as tx:
        held = int(tx.value("SELECT documents FROM batches WHERE number = ?", (number,)) or 0)
    for name in log.names_of(number):
        _keep(log, files, name)
    kept = log.empty(number, documents=not batch.has_documents)
    pages = make_again(database, *log.span(number))
    with database.write() as tx:
        tx.execute("DELETE FROM tasks WHERE kind = ? AND input = ?", (KIND, _row_name(number)))
    return RemadeBatch(held, tuple(pages), kept)


def left_out(database: Database, job: str) -> set[int]:
    """Numbers of the batches that a job is listed to leave out."""
    with database.read() as tx:
        rows = tx.rows("SELECT input FROM tasks WHERE job = ? AND kind = ?", (job, KIND))
    return {int(str(name).rpartition(" ")[2]) for (name,) in rows}


class WholeBatches:
    """Keeps damaged batches away from a job within its context, while nobody else indexes or ranks."""

    def __init__(
        self, log: BatchLog, files: LocalFiles, database: Database, job: str, tell: Callable[[str, str], None]
    ) -> None:
        """``tell`` is given a line for people, and its level."""
        self._log, self._files, self._database = log, files, database
        self._job, self._tell = job, tell
        self.again: set[int] = set()  # numbers of batches that were listed, and are whole again

    def __enter__(self) -> Self:
        before = left_out(self._database, self._job)
        if before:
            still = {one.number for one in self._damaged()} & before
            self._log.leave_out(still)
            self.again = before - still
            self._unlist(self.again)
        return self

    def __exit__(self, *_: object) -> None:
        self._log.leave_out(())

    def do(self, step: Callable[[], T]) -> T:
        """Do a step; where it fails over damaged batches, once more with the rest."""
        try:
            return step()
        except (Corrupt, NotFound):
            if not self._settle():
                raise
        return step()

    def _settle(self) -> bool:
        """After a failure: make damaged batches again, or leave them out. Whether that may have been the cause."""
        damaged = self._damaged()
        with self._database.read() as tx:
            batches = int(tx.value("SELECT COUNT(*) FROM batches"))
        if not damaged or len(damaged) == batches:
            return False
        with folder_lock(self._files.root / TAKEDOWN_LOCK, "taking down pages"):
            for one in damaged:
                if one.is_archived:
                    made = remake(self._log, self._files, self._database, one)
                    again = f"{len(made.pages):,} pages are made again from the archive"
                    self._tell(f"{one.damage}; {again}", "warning")
        self._list([one for one in damaged if not one.is_archived])
        return True

    def _damaged(self) -> list[DamagedBatch]:
        return damaged_batches(self._log, self._database, links=self._job != INDEX_JOB)

    def _list(self, left_out: list[DamagedBatch]) -> None:
        with self._database.write() as tx:
            now = database_time(tx)
            for one in left_out:
                tx.execute(_LIST, (self._job, KIND, _row_name(one.number), one.error, now))
        for one in left_out:
            self._tell(f"{one.damage}; batch {one.number} is left out, since the archive does not have it", "warning")
        self._log.leave_out({one.number for one in left_out})

    def _unlist(self, numbers: set[int]) -> None:
        sql = "DELETE FROM tasks WHERE job = ? AND kind = ? AND input = ?"
        with self._database.write() as tx:
            tx.executemany(sql, [(self._job, KIND, _row_name(number)) for number in sorted(numbers)])


class _Stated(Struct, frozen=True):
    """What the state says of a batch."""

    number: int
    documents: int
    links: int
    is_archived: bool


def _row_name(number: int) -> str:
    return f"batch {number}"


def _keep(log: BatchLog, files: LocalFiles, name: str) -> None:
    """A copy of what is damaged, as far as there is something."""
    try:
        data = log.depot.objects.get(name) if log.depot is not None else files.read(name)
    except NotFound:
        return
    files.write(f"{SET_ASIDE}/{name}", data)


def _examined(log: BatchLog, stated: _Stated, *, links: bool) -> DamagedBatch | None:
    number, has_documents = stated.number, False
    try:
        texts = log.document_table(number)
        _compare(f"documents of batch {number}", texts.num_rows, stated.documents)
        log.documents(number)
        has_documents = True
        if not links:
            return None
        table = log.links(number)
        _compare(f"links of batch {number}", table.num_rows, stated.links)
    except (Corrupt, NotFound) as error:
        return DamagedBatch(number, str(error), has_documents, bool(stated.is_archived))
    if _belong(texts, table):
        return None
    apart = f"documents and links of batch {number} are not of one batch"
    return DamagedBatch(number, apart, has_documents=False, is_archived=bool(stated.is_archived))


def _compare(what: str, rows: int, stated: int) -> None:
    if rows != stated:
        raise Corrupt(f"{what}: {rows:,} rows are stored, {stated:,} were")


def _belong(texts: Any, links: Any) -> bool:
    """Whether each link names the key of the document in whose row it says it is."""
    keys = np.asarray(texts.column("key").to_numpy(), np.int64)
    rows = np.asarray(links.column("row").to_numpy(), np.int64)
    if not len(rows):
        return True
    if rows.min() < 0 or rows.max() >= len(keys):
        return False
    return bool((keys[rows] == np.asarray(links.column("source_key").to_numpy(), np.int64)).all())
