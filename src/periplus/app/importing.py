"""Import of what others made: archives, ``.jsonl``, Parquet, folders of HTML files (``sources``).

Everything becomes rows of the document log, as if it had been crawled; the index then takes it in like any batch. A
damaged record ends its file with an error that names it; what came before is kept. Files are read here; what is in them
is parsed and appended by helper processes, which append in the order of the files.
"""

from __future__ import annotations

import itertools
import os
import time
from typing import TYPE_CHECKING, Any, Self

import msgspec

from periplus.app.sources import Item, items_of
from periplus.documents import BatchLog
from periplus.errors import PeriplusError
from periplus.index.processes import Helper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path
    from types import TracebackType

    from periplus.app.collection import Collection
    from periplus.records import Document

BATCH = 1_000
BATCH_BYTES = 32_000_000


class ImportReport(msgspec.Struct, frozen=True):
    documents: int
    refused: int  # stored with a refusal, or without a document in them
    seconds: float


def import_paths(
    collection: Collection, paths: list[Path], base_url: str = "", progress: Callable[[int], None] | None = None
) -> ImportReport:
    """Read all of ``paths`` into the collection; unknown kinds are refused before anything is read."""
    started = time.perf_counter()
    readers = [items_of(path, base_url) for path in paths]
    chunks = _chunks(item for reader in readers for item in reader)
    workers = collection.create().settings.index.workers or len(os.sched_getaffinity(0))
    first = next(chunks, _Chunk())
    appender = _Appenders(collection, workers) if workers > 1 and first.is_full else _Appender(collection)
    with appender:
        for chunk in itertools.chain([first], chunks):
            appender.take(chunk.items)
            if progress:
                progress(appender.found + appender.refused)
            if chunk.failure:
                appender.finish()
                raise chunk.failure
        appender.finish()
    return ImportReport(appender.found, appender.refused, time.perf_counter() - started)


class _Chunk(msgspec.Struct):
    """What becomes one batch; ``failure`` is what kept its file from being read further."""

    items: list[Item] = []
    size: int = 0
    failure: Exception | None = None

    @property
    def is_full(self) -> bool:
        return len(self.items) >= BATCH or self.size >= BATCH_BYTES


def _chunks(items: Iterator[Item]) -> Iterator[_Chunk]:
    chunk = _Chunk()
    try:
        for item in items:
            chunk.items.append(item)
            chunk.size += item.size
            if chunk.is_full:
                yield chunk
                chunk = _Chunk()
    except (PeriplusError, OSError) as error:
        chunk.failure = error
    if chunk.items or chunk.failure:
        yield chunk


class _Appender:
    """Parses and appends, one chunk after the other."""

    def __init__(self, collection: Collection) -> None:
        self._log = BatchLog(collection.files, collection.database)
        self.found = 0
        self.refused = 0  # refused, or without a document in them
        self._parsed: list[Document] = []

    def take(self, items: list[Item]) -> None:
        self.parse(items)
        self.append()

    def finish(self) -> None:
        """Everything taken is in the log afterwards."""

    def parse(self, items: list[Item]) -> None:
        documents = [item.document() for item in items]
        self._parsed = [document for document in documents if document is not None]
        found = sum(document.indexable for document in self._parsed)
        self.found += found
        self.refused += len(items) - found

    def append(self) -> None:
        if self._parsed:
            self._log.append(self._parsed)
        self._parsed = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is left to end."""


class _Appenders(_Appender):
    """Deals chunks out to helper processes in turns, and lets them append in the same order."""

    def __init__(self, collection: Collection, workers: int) -> None:
        super().__init__(collection)
        self._helpers = [Helper(f"{__name__}:append_chunks") for _ in range(workers)]
        self._taken = 0
        self._settled = 0
        for helper in self._helpers:
            helper.send(str(collection.folder), collection.flags)

    def take(self, items: list[Item]) -> None:
        if self._taken - self._settled == len(self._helpers):
            self._settle()
        self._helpers[self._taken % len(self._helpers)].send(items)
        self._taken += 1

    def finish(self) -> None:
        while self._settled < self._taken:
            self._settle()

    def close(self) -> None:
        for helper in self._helpers:
            helper.close()

    def _settle(self) -> None:
        """Let the chunk whose turn it is be appended."""
        helper = self._helpers[self._settled % len(self._helpers)]
        found, refused = helper.receive()
        helper.send("append")
        helper.receive()
        self.found += found
        self.refused += refused
        self._settled += 1


def append_chunks(connection: Connection[Any, Any]) -> None:
    """The function that a helper runs: chunks are parsed at once, and appended when told to."""
    from periplus.app.collection import Collection

    folder, flags = connection.recv()
    with Collection(folder, flags=flags) as collection:
        while True:
            appender = _Appender(collection)
            (items,) = connection.recv()
            appender.parse(items)
            connection.send((appender.found, appender.refused))
            connection.recv()
            appender.append()
            connection.send(None)
