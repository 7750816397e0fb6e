"""Intake: items are parsed and become batches that are whole on disk; whoever leads publishes them in order.

This is the part of an import that may run in another process: it asks no database.
"""

from __future__ import annotations

from contextlib import suppress
from queue import Queue, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

import msgspec

from periplus.app.sources import Item, items_between
from periplus.archive import Stretch
from periplus.documents.batches import BatchFiles, BatchTables, StagedBatch, tables_of
from periplus.errors import PeriplusError
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

BATCH = 1_000
BATCH_BYTES = 32_000_000

Job = list[Item] | Stretch  # items of one batch, or where to read some


class Parsed(msgspec.Struct):
    """What became of a job; ``failure`` is what kept a stretch from being read to its end."""

    found: int = 0
    refused: int = 0  # refused, or without a document in them
    batches: list[StagedBatch] = []
    failure: Exception | None = None
    is_fatal: bool = False  # nothing can be stored


class Chunk(msgspec.Struct):
    """What becomes one batch; ``failure`` is what kept its file from being read further."""

    items: list[Item] = []
    size: int = 0
    failure: Exception | None = None

    @property
    def is_full(self) -> bool:
        return len(self.items) >= BATCH or self.size >= BATCH_BYTES


def chunks(items: Iterable[Item]) -> Iterator[Chunk]:
    """Items in the portions of batches; after a failure there are no more."""
    chunk = Chunk()
    try:
        for item in items:
            chunk.items.append(item)
            chunk.size += item.size
            if chunk.is_full:
                yield chunk
                chunk = Chunk()
    except (PeriplusError, OSError) as error:
        chunk.failure = error
    if chunk.items or chunk.failure:
        yield chunk


class Intake:
    """Parses jobs, and stages what comes of them beside it: a thread that waits for the disk costs nothing."""

    def __init__(self, files: LocalFiles, answer: Callable[[Parsed], None]) -> None:
        """``answer`` is called by another thread when a job is done, in the order of jobs."""
        self._log = BatchFiles(files)
        self._answer = answer
        self._parsed: Queue[_Portion | None] = Queue(maxsize=1)
        self._failure: Exception | None = None
        self._stager = Thread(target=self._stage_all, daemon=True)
        self._stager.start()

    def take(self, job: Job) -> None:
        if not isinstance(job, Stretch):
            self._parsed.put(_portion(job, is_last=True))
            return
        for chunk in chunks(items_between(job)):
            self._parsed.put(_portion(chunk.items, failure=chunk.failure))
        self._parsed.put(_portion([], is_last=True))

    def close(self) -> None:
        """Everything taken is staged and answered when this returns."""
        self._parsed.put(None)
        self._stager.join()

    def _stage_all(self) -> None:
        parsed = Parsed()
        while (portion := self._parsed.get()) is not None:
            parsed.found += portion.found
            parsed.refused += portion.refused
            parsed.failure = parsed.failure or portion.failure
            try:
                if portion.tables is not None:
                    parsed.batches.append(self._log.stage(portion.tables))
            except PeriplusError as error:
                parsed.failure = error
                parsed.is_fatal = True
            if portion.is_last:
                self._answer(parsed)
                parsed = Parsed()


class _Portion(msgspec.Struct):
    """One batch of a job; ``is_last`` of the job."""

    tables: BatchTables | None
    found: int
    refused: int
    is_last: bool
    failure: Exception | None


def _portion(items: list[Item], *, is_last: bool = False, failure: Exception | None = None) -> _Portion:
    documents = [document for item in items if (document := item.document()) is not None]
    found = sum(document.indexable for document in documents)
    tables = tables_of(documents) if documents else None
    return _Portion(tables, found, len(items) - found, is_last, failure)


def take_jobs(connection: Connection[Any, Any]) -> None:
    """The function that a helper runs: the folder comes first, then jobs, which are answered in order."""
    (folder,) = connection.recv()
    intake = Intake(LocalFiles(folder), connection.send)
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_read_ahead, args=(connection, jobs), daemon=True).start()
    while (job := jobs.get()) is not None:
        intake.take(job)


def _read_ahead(connection: Connection[Any, Any], jobs: SimpleQueue[Any]) -> None:
    """Take the next job while one is worked on. ``None`` says that the parent is gone."""
    with suppress(EOFError, OSError):
        while True:
            (job,) = connection.recv()
            jobs.put(job)
    jobs.put(None)
