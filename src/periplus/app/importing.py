"""Import of what others made: WARC files, ``.jsonl``, folders of HTML files.

Everything becomes rows of the document log, as if it had been crawled; the index then takes it in like any batch. A
damaged record ends its file with an error that names it; what came before is kept. Files are read here; what is in them
is parsed and appended by helper processes, which append in the order of the files.
"""

from __future__ import annotations

import gzip
import itertools
import mimetypes
import os
import time
from typing import TYPE_CHECKING, Any, Self

import msgspec

from periplus import addresses, archive
from periplus.documents import BatchLog, parse
from periplus.errors import Corrupt, ParseError, PeriplusError, UsageError
from periplus.index.processes import Helper
from periplus.records import Document, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path
    from types import TracebackType

    from periplus.app.collection import Collection
    from periplus.records import Exchange

BATCH = 1_000
BATCH_BYTES = 32_000_000
HTML_SUFFIXES = {".html", ".htm", ".xhtml"}
ARCHIVE_SUFFIXES = (".warc", ".warc.gz")
JSONL_SUFFIXES = (".jsonl", ".jsonl.gz")


class ImportReport(msgspec.Struct, frozen=True):
    documents: int
    refused: int  # stored with a refusal, or without a document in them
    seconds: float


class JsonLine(msgspec.Struct, frozen=True):
    """One line of a ``.jsonl`` file."""

    id: str | int
    text: str = ""
    title: str = ""
    url: str = ""


def import_paths(
    collection: Collection, paths: list[Path], base_url: str = "", progress: Callable[[int], None] | None = None
) -> ImportReport:
    """Read all of ``paths`` into the collection; unknown kinds are refused before anything is read."""
    started = time.perf_counter()
    readers = [_reader(path, base_url) for path in paths]
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

    items: list[_Item] = []
    size: int = 0
    failure: Exception | None = None

    @property
    def is_full(self) -> bool:
        return len(self.items) >= BATCH or self.size >= BATCH_BYTES


def _chunks(items: Iterator[_Item]) -> Iterator[_Chunk]:
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

    def take(self, items: list[_Item]) -> None:
        self.parse(items)
        self.append()

    def finish(self) -> None:
        """Everything taken is in the log afterwards."""

    def parse(self, items: list[_Item]) -> None:
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

    def take(self, items: list[_Item]) -> None:
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


class _Item(msgspec.Struct, frozen=True):
    """A page to be parsed; for a line of a ``.jsonl`` file also what it says itself."""

    page: Page
    line: JsonLine | None = None

    @property
    def size(self) -> int:
        return len(self.page.body)

    def document(self) -> Document | None:
        document = _parsed(self.page)
        return document if document is None or self.line is None else _with_line(document, self.line)


def _reader(path: Path, base_url: str) -> Iterator[_Item]:
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if path.is_dir():
        if not base_url:
            raise UsageError(f"{path} is a folder: its pages need --base-url, the address they are published under")
        return _folder(path, addresses.canonical(base_url))
    name = path.name.lower()
    if name.endswith(ARCHIVE_SUFFIXES):
        return _warc(path)
    if name.endswith(JSONL_SUFFIXES):
        return _jsonl(path)
    known = ", ".join((*ARCHIVE_SUFFIXES, *JSONL_SUFFIXES))
    raise UsageError(f"{path}: unknown kind of file; known are {known} and folders of HTML files")


def _warc(path: Path) -> Iterator[_Item]:
    for _, exchange in archive.iterate(path):
        url = addresses.try_canonical(exchange.url)
        if url is not None and exchange.status == 200 and exchange.body:
            yield _Item(_page_of(exchange, url))


def _page_of(exchange: Exchange, url: str) -> Page:
    kind = exchange.header("content-type")
    return Page(url, exchange.body, kind, exchange.headers, exchange.status, exchange.started)


def _folder(folder: Path, base: str) -> Iterator[_Item]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in HTML_SUFFIXES or not path.is_file():
            continue
        url = addresses.try_canonical(path.relative_to(folder).as_posix(), base)
        if url is not None:
            kind = mimetypes.guess_type(path.name)[0] or "text/html"
            yield _Item(Page(url, path.read_bytes(), kind, fetched=path.stat().st_mtime))


def _jsonl(path: Path) -> Iterator[_Item]:
    opener = gzip.open if path.suffix == ".gz" else open
    decoder = msgspec.json.Decoder(JsonLine)
    with opener(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield _item_of(decoder.decode(line), path.stat().st_mtime)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise Corrupt(f"{path} line {number}: {error}; what came before it is kept") from error


def _item_of(line: JsonLine, moment: float) -> _Item:
    """A line is one document by its id, whatever its address."""
    address = addresses.try_canonical(line.url) if line.url else None
    body = line.text.encode()
    page = Page(address or _name_of(line), body, "text/plain; charset=utf-8", fetched=moment)
    return _Item(page, msgspec.structs.replace(line, text=""))


def _name_of(line: JsonLine) -> str:
    return f"id:{line.id}"


def _with_line(document: Document, line: JsonLine) -> Document:
    title = line.title.strip() or document.title
    refusal = "" if title else document.refusal
    return msgspec.structs.replace(
        document, key=addresses.key(_name_of(line)), id=str(line.id), title=title, refusal=refusal, links=()
    )


def _parsed(page: Page) -> Document | None:
    try:
        return parse(page)
    except ParseError:
        return None
