"""Group commit: archive to disk, then one transaction, then documents to their batch; in a thread of its own.

The order is the promise: an address is marked fetched only when its record is on disk, and a document goes into a batch
only when its address is marked. What a crash leaves undone is found again by ``pending`` rows and archive marks.

On many machines the object store is the disk (``UploadPatience``): the bundle's part of the archive is uploaded whole
before the transaction that names it. While the store is away the bundle is kept, the lease is renewed, no new hosts are
taken, and the upload is tried again; when the lease is lost, the bundle is dropped.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec import Struct, field

from periplus.archive import ArchivePart, ArchiveParts
from periplus.crawl.frontier.page_pool import Grant
from periplus.crawl.frontier.rows import ActiveRow, Batched, Bundle, Committed
from periplus.crawl.keeping import takedown
from periplus.crawl.working.uploads import UploadPatience
from periplus.storage import PREFIXES, LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from periplus.archive import ArchiveWriter
    from periplus.crawl.frontier.frontier import Frontier
    from periplus.crawl.frontier.roster import SlotStatus, WorkerStatus
    from periplus.crawl.working.member import Member
    from periplus.documents import BatchLog
    from periplus.records import Document
    from periplus.storage import Database, Depot

T = TypeVar("T")
BATCH_DOCUMENTS = 500
BATCH_SECONDS = 5.0
COPY_BYTES = 2_000_000_000  # of archive and batches that a machine keeps as copies of objects
SHRINK_SECONDS = 60.0  # between two looks at them


class CommitOrder(NamedTuple):
    """What the engine asks of a round, besides its bundle."""

    hosts: int  # new ones wanted, at most
    revisits_only: bool
    places: int  # for new pages, to be held after the round
    used: frozenset[int]  # partitions of the hosts in memory
    status: WorkerStatus
    slots: list[SlotStatus]
    last: bool = False


class Round(Struct):
    """What one round of the committer brought back."""

    committed: Committed
    grant: Grant = Grant()
    parts: tuple[int, ...] = ()
    shared: bool = False  # there are other workers
    news: bool = False  # hosts may be due that were not before
    wanted: list[int] = field(default_factory=list)  # hosts that they need
    activated: list[ActiveRow] = field(default_factory=list)
    asked: int = 0
    next_due: float = 0.0


class Committer:
    """Writes bundles one after another. Only ``run`` does, in a thread of its own."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        frontier: Frontier,
        member: Member,
        delay: float,
        clock: Callable[[], float],
        writer: ArchiveWriter,
        depot: Depot | None = None,
    ) -> None:
        """``writer`` wrote what is committed; ``depot``: of a collection on many machines, where its files travel."""
        self._depot = depot
        self._writer = writer
        self._parts = ArchiveParts(database, depot) if depot is not None else None
        self._patience = UploadPatience(database, member, frontier.worker) if depot is not None else None
        self._next_shrink = 0.0
        self._clock = clock
        self._folder = folder
        self._database = database
        self._log: BatchLog | None = None
        self._frontier = frontier
        self._member = member
        self._delay = delay
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="periplus-commit")
        self._waiting: list[tuple[Document, float]] = []
        self._batched: list[Batched] = []
        self._last_batch = time.monotonic()
        self.documents = 0  # stored in this run

    async def run(self, bundle: Bundle, order: CommitOrder) -> Round:
        """Commit ``bundle``, store documents that are due, show life, and take new hosts."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.round, bundle, order)

    def round(self, bundle: Bundle, order: CommitOrder) -> Round:
        member, frontier = self._member, self._frontier
        bundle.batched, self._batched = self._batched, []
        self._keep(bundle, order)
        member.order = order
        result = Round(frontier.commit(bundle, self._clock(), member.check, member.settle), asked=order.hosts)
        self._let_go(bundle)
        result.grant = member.grant
        self._waiting += result.committed.documents
        leaves = member.gives_back(order.used)
        if order.last or leaves or self._is_batch_due():
            self._store(order)
        if order.last:
            self._finish()
            return result
        if leaves:
            self._mark_batched()  # whoever gets these partitions must not find documents that wait
        before = frontier.parts
        result.shared = member.beat(order.used) > 1
        result.parts = frontier.parts
        result.news = result.shared or result.parts != before
        result.wanted = frontier.wanted() if result.shared else []
        if order.hosts:
            result.activated = frontier.activate(
                self._clock(), order.hosts, self._delay, revisits_only=order.revisits_only, spare=result.wanted
            )
        if order.hosts or result.news:
            result.next_due = frontier.next_due()
        return result

    def _mark_batched(self) -> None:
        if self._batched:
            self._frontier.commit(Bundle(batched=self._batched), self._clock(), self._member.check)
            self._batched = []

    def _finish(self) -> None:
        self._mark_batched()
        self._member.leave(self.documents)

    @property
    def away(self) -> str:
        """Why a commit waits for the object store; nothing as a rule."""
        return self._patience.away if self._patience is not None else ""

    def hurry(self) -> None:
        """The worker ends: do not wait for ever."""
        if self._patience is not None:
            self._patience.hurry()

    def close(self) -> None:
        self._executor.shutdown(wait=True)
        if self._patience is not None:
            self._patience.close()

    def _is_batch_due(self) -> bool:
        if len(self._waiting) >= BATCH_DOCUMENTS:
            return True
        return bool(self._waiting) and time.monotonic() - self._last_batch >= BATCH_SECONDS

    def _store(self, order: CommitOrder) -> None:
        self._last_batch = time.monotonic()
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        log = self._batch_log()
        documents = [document for document, _ in waiting]
        number = self._patiently(order, partial(log.append, documents))
        self._patiently(order, partial(takedown.recall, self._database, self._folder, log, number, documents))
        self._batched += [Batched(number, document.key, tried_at) for document, tried_at in waiting]
        self.documents += len(waiting)

    def _batch_log(self) -> BatchLog:
        """Opened with the first document: a crawl that leaves documents for later goes without Arrow."""
        if self._log is None:
            import pyarrow as pa

            from periplus.documents import BatchLog

            pa.set_memory_pool(pa.system_memory_pool())  # Arrow's own keeps 50 MB after a batch that used 20
            self._log = BatchLog(LocalFiles(self._folder), self._database, self._depot)
        return self._log

    def _patiently(self, order: CommitOrder, action: Callable[[], T]) -> T:
        """What may need the object store."""
        return self._patience.run(action, order) if self._patience is not None else action()

    def _keep(self, bundle: Bundle, order: CommitOrder) -> None:
        """Every record of the bundle is safe when this returns."""
        if self._parts is None:
            for name in bundle.marks:
                self._writer.sync(name)  # which may go on meanwhile
            return
        for name, hosts in bundle.cut.items():
            stored = self._patiently(order, partial(self._parts.push, name))
            bundle.parts.append(ArchivePart(name, stored, self._frontier.worker, frozenset(hosts)))
        bundle.settled, bundle.marks = bundle.marks, {}

    def _let_go(self, bundle: Bundle) -> None:
        """Parts are known from here on: their files are copies, of which we keep so many bytes."""
        if self._depot is None:
            return
        for name in bundle.cut:
            self._writer.let_go(name)
        if time.monotonic() >= self._next_shrink:
            self._next_shrink = time.monotonic() + SHRINK_SECONDS
            self._depot.shrink(COPY_BYTES, prefixes=PREFIXES)
