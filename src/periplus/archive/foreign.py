"""Pages out of archives that others made: WARC in any packing, WET, ARC and WACZ.

They are read from front to back, so nothing needs a place of its own, as ``iterate`` asks: several records may share a
gzip member, and zstd will do. What a file is, its first bytes say. Digests are checked where there are any. Memory is
bounded by the largest record that is accepted.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from periplus.archive import arc, encoding, http, member, reader, record, streams
from periplus.errors import Corrupt, Incompatible, PeriplusError, StorageError
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from periplus.archive.arc import ArcRecord
    from periplus.archive.record import Record

SUFFIXES: Final = (
    *(f".{kind}{packing}" for kind in ("warc", "wet", "arc") for packing in ("", ".gz", ".zst")),
    ".wacz",
)
_ZIP: Final = b"PK\x03\x04"
_OK: Final = 200
_CONVERTED: Final = "text/plain; charset=utf-8"  # what a conversion is, unless it says otherwise


def pages(path: Path | str, start: int = 0, end: int | None = None) -> Iterator[Page]:
    """Every page that was answered with success, and what stands for one (resources, texts of WET files).

    ``start`` and ``end`` are those of a ``Stretch``. Raises ``Corrupt``, ``Truncated`` or ``Incompatible`` where the
    file cannot be read further.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            is_package = file.read(len(_ZIP)) == _ZIP
            file.seek(0)
            if is_package:
                yield from _of_wacz(file, path)
            else:
                yield from _of_file(streams.Span(file, start, end) if start or end is not None else file, path)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
    except PeriplusError as error:
        raise type(error)(f"{path}: {error}") from error


def _of_wacz(file: BinaryIO, path: Path) -> Iterator[Page]:
    try:
        with zipfile.ZipFile(file) as package:
            names = [name for name in package.namelist() if name.startswith("archive/") and name.endswith(SUFFIXES)]
            if not names:
                raise Incompatible("a ZIP file without WARC files in a folder archive/, so it is no WACZ")
            for name in sorted(names):
                with package.open(name) as inside:
                    yield from _of_file(inside, path)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise Corrupt(f"the ZIP file cannot be read: {error}") from error


def _of_file(file: streams.Readable, path: Path) -> Iterator[Page]:
    folder = path.parent
    read = taken = 0  # bytes of the file, and what they unpacked to
    for length, size, record_alone in member.records_alone(file):
        read += length
        taken += size
        if (page := _of_warc(record_alone, folder)) is not None and page.body:
            yield page
    rest = streams.Rest(file, read)
    stream = streams.gzip_members(rest) if read else streams.unpacked(rest)
    found: Iterator[Page | None]
    if not read and stream.peek(len(arc.START)).startswith(arc.START):
        found = map(_of_arc, arc.records(stream))
    else:
        found = (_of_warc(placed.record, folder) for placed in _placed(stream, taken))
    yield from (page for page in found if page is not None and page.body)


def _placed(stream: BufferedReader, start: int) -> Iterator[member.PlacedRecord]:
    """Records of a stream before which ``start`` bytes were read; errors say behind which record they are."""
    at = max(0, start - len(member.RECORD_END))
    try:
        for placed in member.plain_records(cast("BinaryIO", stream), start):
            at = placed.offset + placed.length
            yield placed
    except PeriplusError as error:
        raise type(error)(f"unpacked, at {at}: {error}") from error


def _of_arc(found: ArcRecord) -> Page | None:
    if not found.url.lower().startswith(("http:", "https:")):
        return None
    message = http.decode(found.block)
    status, _ = http.status_of(message.start)
    named = ",".join(value for name, value in message.headers if name.lower() == "content-encoding")
    body, _ = encoding.unpack(message.payload, named)
    kind = next((value for name, value in message.headers if name.lower() == "content-type"), found.kind)
    return Page(found.url, body, kind, message.headers, status, found.moment) if status == _OK else None


def _of_warc(found: Record, folder: Path) -> Page | None:
    if found.type in reader.RESPONSES and reader.is_http(found):
        exchange = reader.exchange_of(found, folder)
        if exchange.status != _OK:
            return None
        kind = exchange.header("content-type")
        return Page(exchange.url, exchange.body, kind, exchange.headers, exchange.status, exchange.started)
    if found.type not in ("resource", "conversion"):
        return None
    if not record.agrees(found.fields.get("warc-block-digest", ""), found.block):
        raise Corrupt(f"the record of {found.url} does not agree with its digest")
    kind = found.fields.get("content-type", "")
    if found.type == "conversion" and kind.partition(";")[0].strip().lower() in ("", "text/plain"):
        kind = _CONVERTED
    return Page(found.url, found.block, kind, (), _OK, record.date_seconds(found.fields.get("warc-date", "")))
