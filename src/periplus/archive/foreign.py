"""What is in archives that others made: WARC in any packing, WET, ARC and WACZ.

They are read from front to back, so nothing needs a place of its own, as ``iterate`` asks: several records may share a
gzip member, and zstd will do. What a file is, its first bytes say. Digests are checked where there are any. What
follows a damaged place is read on from the next record (``salvage``).
"""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from periplus.archive import encoding, http, reader, record
from periplus.archive.arc import START as ARC_START
from periplus.archive.arc import ArcRecord
from periplus.archive.cutting import next_part
from periplus.archive.formats import ARC, WARC
from periplus.archive.salvage import TRIES, ArchivePlace, FoundRecord, Hole, Salvage
from periplus.archive.streams import DAMAGE, GZIP, FilePart, Unpacker, packing_of
from periplus.errors import Corrupt, Incompatible, PeriplusError, StorageError
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.archive.reader import ArchiveSource
    from periplus.archive.record import Record
    from periplus.records import Exchange

SUFFIXES: Final = (
    *(f".{kind}{packing}" for kind in ("warc", "wet", "arc") for packing in ("", ".gz", ".zst", ".lz4")),
    ".wacz",
)
_ZIP: Final = b"PK\x03\x04"
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")  # of a part of a ZIP file: mark, length of the name and of the rest
_ZIP_DAMAGE: Final = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
    *DAMAGE,
)
_OK: Final = 200
_REDIRECTIONS: Final = range(300, 400)
_CLIENT_ERRORS: Final = range(400, 500)
_SERVER_ERRORS: Final = range(500, 600)
_CONVERTED: Final = "text/plain; charset=utf-8"  # what a conversion is, unless it says otherwise


class Passed(NamedTuple):
    """A record that stands for an address, but holds no page; ``reason`` is one of ``periplus.reasons``."""

    url: str
    reason: str


class Damaged(NamedTuple):
    """A place where a record cannot be read, or is not what its digest says."""

    place: ArchivePlace
    what: str


Content = Page | Passed | Damaged


class _Origin(NamedTuple):
    """What a file is called, in small letters, and where those are that its revisits refer to."""

    name: str
    others: Path | ArchiveSource


def contents(
    path: Path | str,
    start: int = 0,
    end: int | None = None,
    *,
    is_last: bool = True,
    source: ArchiveSource | None = None,
) -> Iterator[Content]:
    """Every page that was answered with success, and what stands for one (resources, texts of WET files).

    Also what is passed over, and why. ``start``, ``end`` and ``is_last`` are those of a ``Stretch``; one that is not
    the last raises ``Truncated`` where a record goes on behind it. ``source`` gives the file, and those that its
    revisits refer to; without it they lie in the folder. A file in which there is no record at all raises
    ``Corrupt`` or ``Incompatible``.
    """
    path = Path(path)
    try:
        with reader.opened(path, source) as file:
            origin = _Origin(path.name.lower(), path.parent if source is None else source)
            size = os.fstat(file.fileno()).st_size
            if file.read(len(_ZIP)) == _ZIP:
                yield from _of_package(file, origin, size)
            elif size:
                yield from _of_span(file, origin, start, size if end is None else end, is_last=is_last)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
    except PeriplusError as error:
        raise type(error)(f"{path}: {error}") from error


def _of_package(file: BinaryIO, origin: _Origin, size: int) -> Iterator[Content]:
    try:
        package = zipfile.ZipFile(file)
    except _ZIP_DAMAGE as error:
        yield from _of_torn_package(file, origin, size, str(error))
        return
    with package:
        parts = [part for part in package.infolist() if _is_archive(part.filename)]
        if not parts:
            raise Incompatible("a ZIP file without WARC files in a folder archive/, so it is no WACZ")
        for part in sorted(parts, key=lambda part: part.filename):
            yield from _of_part(file, package, part, origin)


def _is_archive(name: str) -> bool:
    return name.startswith("archive/") and name.endswith(SUFFIXES)


def _of_part(file: BinaryIO, package: zipfile.ZipFile, part: zipfile.ZipInfo, origin: _Origin) -> Iterator[Content]:
    start = _data_of(file, part)
    if start is not None and part.compress_type == zipfile.ZIP_STORED:
        yield from _of_span(file, origin, start, start + part.compress_size)
        return
    try:
        with package.open(part) as inside:
            yield from _of_file(FilePart(inside, 0, part.file_size), origin, 0)
    except (*_ZIP_DAMAGE, PeriplusError) as error:
        place = ArchivePlace(part.header_offset, part.compress_size)
        yield Damaged(place, f"{part.filename} cannot be taken out of the ZIP file: {error}")


def _data_of(file: BinaryIO, part: zipfile.ZipInfo) -> int | None:
    """Where the bytes of a part begin; none where its header is damaged."""
    file.seek(part.header_offset)
    header = file.read(30)
    if len(header) < 30 or not header.startswith(_ZIP):
        return None
    _, name, extra = _LOCAL_HEADER.unpack(header)
    return part.header_offset + len(header) + int(name) + int(extra)


def _of_torn_package(file: BinaryIO, origin: _Origin, size: int, what: str) -> Iterator[Content]:
    """A WACZ file without the list of its parts, which stands at its end: the packed records that are in it."""
    sought = next_part(file, 0, size, GZIP, WARC.begins, TRIES)
    if sought.at is None:
        raise Corrupt(f"the ZIP file cannot be read: {what}")
    yield Damaged(ArchivePlace(0, sought.at), f"the ZIP file is not whole ({what}); it is searched for records")
    yield from _of_span(file, origin, sought.at, size)


def _of_span(file: BinaryIO, origin: _Origin, start: int, end: int, *, is_last: bool = True) -> Iterator[Content]:
    return _of_file(FilePart(file, start, end), origin, start, is_last=is_last)


def _of_file(span: FilePart, origin: _Origin, start: int, *, is_last: bool = True) -> Iterator[Content]:
    packing = packing_of(span, origin.name)
    opening = Unpacker(span, packing, packing.first if packing else 0).piece()
    is_arc = opening.startswith(ARC_START) or (not WARC.begins(opening) and ".arc" in origin.name)
    salvage = Salvage(span, packing, ARC if is_arc else WARC, is_cut=not is_last)
    is_empty = True
    for found in salvage:
        if isinstance(found, Hole):
            if is_empty and found.place.offset + found.place.length >= span.size and not start:
                raise Corrupt(f"no record of a web archive in it: {found.what}")
            yield Damaged(found.place.moved(start), found.what)
            continue
        is_empty = False
        if (content := _content(found, origin.others, start)) is not None:
            yield content


def _content(found: FoundRecord, others: Path | ArchiveSource, start: int) -> Content | None:
    """What a record holds; none for requests and notes, which stand beside it."""
    try:
        if isinstance(found.record, ArcRecord):
            return _of_arc(found.record)
        return _of_warc(found.record, others)
    except PeriplusError as error:
        return Damaged(found.place.moved(start), str(error))


def _of_arc(found: ArcRecord) -> Content | None:
    if not found.url.lower().startswith(("http:", "https:")):
        return None
    message = http.decode(found.block)
    status, _ = http.status_of(message.start)
    if (reason := _reason(status)) is not None:
        return Passed(found.url, reason)
    named = ",".join(value for name, value in message.headers if name.lower() == "content-encoding")
    body, _ = encoding.unpack(message.payload, named)
    kind = next((value for name, value in message.headers if name.lower() == "content-type"), found.kind)
    return _page(Page(found.url, body, kind, message.headers, status, found.moment))


def _of_warc(found: Record, others: Path | ArchiveSource) -> Content | None:
    if found.type in reader.RESPONSES:
        return _of_response(found, others)
    if found.type not in ("resource", "conversion"):
        return None
    if not record.agrees(found.fields.get("warc-block-digest", ""), found.block):
        raise Corrupt(f"the record of {found.url} does not agree with its digest")
    kind = found.fields.get("content-type", "")
    if found.type == "conversion" and kind.partition(";")[0].strip().lower() in ("", "text/plain"):
        kind = _CONVERTED
    moment = record.date_seconds(found.fields.get("warc-date", ""))
    return _page(Page(found.url, found.block, kind, (), _OK, moment))


def _of_response(found: Record, others: Path | ArchiveSource) -> Content:
    if not reader.is_http(found):
        return Passed(found.url, "not-a-page")
    exchange: Exchange = reader.exchange_of(found, others)
    if found.type == "revisit" and not exchange.body:
        return Passed(found.url, "revisit")
    if (reason := _reason(exchange.status)) is not None:
        return Passed(found.url, reason)
    kind = exchange.header("content-type")
    return _page(Page(exchange.url, exchange.body, kind, exchange.headers, exchange.status, exchange.started))


def _page(page: Page) -> Content:
    return page if page.body else Passed(page.url, "no-content")


def _reason(status: int) -> str | None:
    """Why an answer with this status has no page in it; none where it has."""
    if status == _OK:
        return None
    if status in _REDIRECTIONS:
        return "redirected"
    if status in _CLIENT_ERRORS:
        return "http-4xx"
    return "http-5xx" if status in _SERVER_ERRORS else "not-a-page"
