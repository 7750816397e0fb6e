"""The archive as one WACZ 1.1.1 file, which players and other tools open: the WARC files, an index of them, the pages.

A ZIP file whose parts are stored, not packed, so that readers may seek in it. The index is CDXJ, sorted in bounded
memory: runs of lines are sorted and put aside, and then merged. Of a file that is being written, the whole records are
taken.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import os
import tempfile
import zipfile
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, cast

from periplus.addresses import surt, try_canonical
from periplus.archive import reader, record
from periplus.archive.tails import whole_bytes
from periplus.archive.writer import SUFFIX
from periplus.errors import NotFound, Truncated
from periplus.storage.files import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from periplus.records import ArchiveLocation, Exchange

WACZ_VERSION: Final = "1.1.1"
_RUN: Final = 100_000  # lines of the index that are sorted in memory
_STEP: Final = 1_000_000


class PackagedPage(NamedTuple):
    """A page that a reader of the package may begin with."""

    url: str
    title: str
    fetched: float


def write_package(
    archive: Path, target: Path, pages: Iterable[PackagedPage], software: str, created: float, title: str = ""
) -> int:
    """Write the archive in the folder ``archive`` to ``target``, whole or not at all; how many responses it holds."""
    files = sorted(archive.glob(f"*{SUFFIX}"))
    if not files:
        raise NotFound(f"{archive} holds no WARC files; crawl something first")
    with (
        LocalFiles(target.parent).create(target.name) as temporary,
        _WaczPackage(temporary) as package,
        ExitStack() as held,
    ):
        index = _Index(held)
        for file, source in _opened(files):
            whole = index.add(file, source)
            source.seek(0)
            package.add(f"archive/{file.name}", _pieces(source, whole))
        package.add("indexes/index.cdx", index.lines())
        package.add("pages/pages.jsonl", _page_lines(pages))
        package.finish(software, created, title)
    return index.count


def write_listing(archive: Path, target: Path) -> int:
    """Write the index of the archive in the folder ``archive`` as CDXJ, sorted; how many responses it lists."""
    files = sorted(archive.glob(f"*{SUFFIX}"))
    if not files:
        raise NotFound(f"{archive} holds no WARC files; crawl something first")
    with LocalFiles(target.parent).create(target.name) as temporary, ExitStack() as held:
        index = _Index(held)
        for file, source in _opened(files):
            index.add(file, source)
        with temporary.open("wb") as listing:
            listing.writelines(index.lines())
    return index.count


def _opened(files: Iterable[Path]) -> Iterator[tuple[Path, BinaryIO]]:
    """Each file, open: one that is thinned meanwhile stays as it was opened."""
    for file in files:
        try:
            source = file.open("rb")
        except FileNotFoundError:
            continue  # nothing of it was left
        with source:
            yield file, source


class _WaczPackage:
    """The ZIP file: adds parts, and remembers their sizes and digests for the list that ends it."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._resources: list[dict[str, Any]] = []

    def __enter__(self) -> _WaczPackage:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._zip.open(name, "w", force_zip64=True) as part:
            for piece in pieces:
                part.write(piece)
                digest.update(piece)
                size += len(piece)
        short = name.rpartition("/")[2]
        self._resources.append({"name": short, "path": name, "hash": f"sha256:{digest.hexdigest()}", "bytes": size})

    def finish(self, software: str, created: float, title: str) -> None:
        described = {
            "profile": "data-package",
            "wacz_version": WACZ_VERSION,
            "title": title,
            "software": software,
            "created": record.date_text(created),
            "resources": self._resources,
        }
        content = json.dumps(described, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
        self._zip.writestr("datapackage.json", content)
        self._zip.writestr("datapackage-digest.json", json.dumps(digest, indent=2))


class _Index:
    """Lines of CDXJ, sorted in runs that wait in temporary files."""

    def __init__(self, held: ExitStack) -> None:
        self._held = held
        self._runs: list[BinaryIO] = []
        self._lines: list[bytes] = []
        self.count = 0

    def add(self, file: Path, source: BinaryIO) -> int:
        """Take in the responses of a WARC file; how many of its bytes are whole records.

        A crawl may be writing it: what comes after this call began is left to the next package.
        """
        whole = whole_bytes(source)
        try:
            for location, exchange in reader.iterate_as_it_stands(file, source):
                if location.offset + location.length > whole:
                    break
                self._add_line(_line(location, exchange))
        except Truncated:
            if whole == os.fstat(source.fileno()).st_size:
                raise
        return whole

    def lines(self) -> Iterator[bytes]:
        """All lines in order."""
        self._lines.sort()
        return heapq.merge(*self._runs, self._lines)

    def _add_line(self, line: bytes | None) -> None:
        if line is None:
            return
        self._lines.append(line)
        self.count += 1
        if len(self._lines) >= _RUN:
            self._put_aside()

    def _put_aside(self) -> None:
        run = cast("BinaryIO", self._held.enter_context(tempfile.TemporaryFile()))  # noqa: SIM115 - it is held
        self._lines.sort()
        run.writelines(self._lines)
        run.seek(0)
        self._runs.append(run)
        self._lines = []


def _line(location: ArchiveLocation, exchange: Exchange) -> bytes | None:
    url = try_canonical(exchange.url)
    if url is None or exchange.status == 304:
        return None
    described = {
        "url": exchange.url,
        "mime": exchange.header("content-type").partition(";")[0].strip().lower() or "unk",
        "status": str(exchange.status),
        "digest": record.digest(exchange.payload),
        "length": str(location.length),
        "offset": str(location.offset),
        "filename": location.file,
    }
    moment = record.date_text(exchange.started)
    stamp = "".join(sign for sign in moment[:19] if sign.isdigit())
    return f"{surt(url)} {stamp} {json.dumps(described)}\n".encode()


def _page_lines(pages: Iterable[PackagedPage]) -> Iterator[bytes]:
    yield b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n'
    for page in pages:
        described = {"url": page.url, "ts": record.date_text(page.fetched), "title": page.title}
        yield json.dumps(described, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _pieces(source: BinaryIO, size: int) -> Iterator[bytes]:
    left = size
    while left > 0 and (piece := source.read(min(_STEP, left))):
        left -= len(piece)
        yield piece
