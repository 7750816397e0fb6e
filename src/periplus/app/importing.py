"""Import of what others made: WARC files, ``.jsonl``, folders of HTML files.

Everything becomes rows of the document log, as if it had been crawled; the index then takes it in like any batch. A
damaged record ends its file with an error that names it; what came before is kept.
"""

from __future__ import annotations

import gzip
import mimetypes
import time
from typing import TYPE_CHECKING

import msgspec

from periplus import addresses, archive
from periplus.documents import BatchLog, parse
from periplus.errors import Corrupt, ParseError, UsageError
from periplus.records import Document, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.records import Exchange

BATCH = 1_000
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
    log = BatchLog(collection.create().files, collection.database)
    found = refused = 0
    waiting: list[Document] = []
    for reader in readers:
        for document in reader:
            found += document is not None and document.indexable
            refused += document is None or not document.indexable
            if document is not None:
                waiting.append(document)
            if len(waiting) >= BATCH:
                log.append(waiting)
                waiting = []
            if progress and (found + refused) % 50 == 0:
                progress(found + refused)
    if waiting:
        log.append(waiting)
    return ImportReport(found, refused, time.perf_counter() - started)


def _reader(path: Path, base_url: str) -> Iterator[Document | None]:
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


def _warc(path: Path) -> Iterator[Document | None]:
    for _, exchange in archive.iterate(path):
        url = addresses.try_canonical(exchange.url)
        if url is not None and exchange.status == 200 and exchange.body:
            yield _parsed(_page_of(exchange, url))


def _page_of(exchange: Exchange, url: str) -> Page:
    kind = exchange.header("content-type")
    return Page(url, exchange.body, kind, exchange.headers, exchange.status, exchange.started)


def _folder(folder: Path, base: str) -> Iterator[Document | None]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in HTML_SUFFIXES or not path.is_file():
            continue
        url = addresses.try_canonical(path.relative_to(folder).as_posix(), base)
        if url is not None:
            kind = mimetypes.guess_type(path.name)[0] or "text/html"
            yield _parsed(Page(url, path.read_bytes(), kind, fetched=path.stat().st_mtime))


def _jsonl(path: Path) -> Iterator[Document | None]:
    opener = gzip.open if path.suffix == ".gz" else open
    decoder = msgspec.json.Decoder(JsonLine)
    with opener(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield _document_of(decoder.decode(line), path.stat().st_mtime)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise Corrupt(f"{path} line {number}: {error}; what came before it is kept") from error


def _document_of(line: JsonLine, moment: float) -> Document | None:
    """A line is one document by its id, whatever its address."""
    name = f"id:{line.id}"
    address = addresses.try_canonical(line.url) if line.url else None
    page = Page(address or name, line.text.encode(), "text/plain; charset=utf-8", fetched=moment)
    document = _parsed(page)
    if document is None:
        return None
    title = line.title.strip() or document.title
    refusal = "" if title else document.refusal
    return msgspec.structs.replace(
        document, key=addresses.key(name), id=str(line.id), title=title, refusal=refusal, links=()
    )


def _parsed(page: Page) -> Document | None:
    try:
        return parse(page)
    except ParseError:
        return None
