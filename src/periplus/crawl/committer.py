"""Group commit: archive to disk, then one transaction, then documents to their batch; in a thread of its own.

The order is the promise: an address is marked fetched only when its record is on disk, and a document goes into a batch
only when its address is marked. What a crash leaves undone is found again by ``pending`` rows and archive marks.
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from msgspec import Struct, field

from periplus.crawl.rows import ActiveRow, Batched, Bundle, Committed
from periplus.documents import BatchLog
from periplus.errors import StorageError, StorageFull
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from periplus.crawl.frontier import Frontier
    from periplus.records import Document
    from periplus.storage import Database, Transaction

BATCH_DOCUMENTS = 500
BATCH_SECONDS = 5.0
ARCHIVE = "archive"


class Round(Struct):
    """What one round of the committer brought back."""

    committed: Committed
    activated: list[ActiveRow] = field(default_factory=list)
    asked: int = 0
    next_due: float = 0.0


class Committer:
    """Writes bundles one after another. Only ``run`` and ``store_documents`` do; both in the same thread."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        frontier: Frontier,
        check: Callable[[Transaction], None],
        delay: float,
    ) -> None:
        self._archive = folder / ARCHIVE
        self._log = BatchLog(LocalFiles(folder), database)
        self._frontier = frontier
        self._check = check
        self._delay = delay
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="periplus-commit")
        self._waiting: list[tuple[Document, float]] = []
        self._batched: list[Batched] = []
        self._last_batch = time.monotonic()
        self.documents = 0  # stored in this run

    async def run(self, bundle: Bundle, hosts: int, *, revisits_only: bool, last: bool = False) -> Round:
        """Commit ``bundle``, store documents that are due, and take up to ``hosts`` new hosts."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.round, bundle, hosts, revisits_only, last)

    def round(self, bundle: Bundle, hosts: int, revisits_only: bool, last: bool = False) -> Round:
        bundle.batched, self._batched = self._batched, []
        self._sync(bundle)
        result = Round(self._frontier.commit(bundle, time.time(), self._check), asked=hosts)
        self._waiting += result.committed.documents
        if last or self._is_batch_due():
            self._store()
        if last and self._batched:
            self._frontier.commit(Bundle(batched=self._batched), time.time(), self._check)
            self._batched = []
        if hosts:
            now = time.time()
            result.activated = self._frontier.activate(now, hosts, self._delay, revisits_only=revisits_only)
            result.next_due = self._frontier.next_due()
        return result

    def close(self) -> None:
        self._executor.shutdown(wait=True)

    def _is_batch_due(self) -> bool:
        if len(self._waiting) >= BATCH_DOCUMENTS:
            return True
        return bool(self._waiting) and time.monotonic() - self._last_batch >= BATCH_SECONDS

    def _store(self) -> None:
        self._last_batch = time.monotonic()
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        number = self._log.append([document for document, _ in waiting])
        self._batched += [Batched(number, document.key, tried_at) for document, tried_at in waiting]
        self.documents += len(waiting)

    def _sync(self, bundle: Bundle) -> None:
        """Every record of the bundle is on disk when this returns; its writer may go on meanwhile."""
        for name in bundle.marks:
            try:
                descriptor = os.open(self._archive / name, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                raise _failure(self._archive / name, error) from error
            try:
                os.fsync(descriptor)
            except OSError as error:
                raise _failure(self._archive / name, error) from error
            finally:
                os.close(descriptor)


def _failure(path: Path, error: OSError) -> StorageError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(f"no space left for {path}; make room and start again, what was acknowledged is kept")
    return StorageError(f"{path} cannot be flushed: {error.strerror}; check the disk")
