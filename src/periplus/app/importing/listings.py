"""CDXJ listings: the records that they name, read from WARC files that lie beside the listing."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from periplus import addresses, archive
from periplus.app.importing.items import Entry, Item, LeftOut, bad
from periplus.app.importing.lines import Lines, TooLong
from periplus.app.importing.lines import portions as line_portions
from periplus.errors import PeriplusError
from periplus.records import ArchiveLocation, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES: Final = tuple(f".cdxj{packing}" for packing in ("", ".gz", ".zst", ".lz4"))
LONGEST: Final = 1_000_000_000  # bytes of one packed record
_OK: Final = 200


class ListedRecords(Struct, frozen=True):
    """Lines of a listing; ``folder`` is where it lies."""

    folder: str
    lines: Lines

    @property
    def count(self) -> int:
        return self.lines.count

    @property
    def size(self) -> int:
        return self.lines.size

    def entries(self) -> Iterator[Entry]:
        for number, line in enumerate(self.lines.lines, self.lines.first):
            if line.strip() and not line.startswith(b"!"):  # what the listing says of itself
                yield self._entry(line, f"line {number}")

    def _entry(self, line: bytes, place: str) -> Entry:
        file = self.lines.file
        try:
            fields: dict[str, Any] = msgspec.json.decode(line[line.index(b"{") :])
            url = addresses.try_canonical(str(fields["url"]))
            location = ArchiveLocation(str(fields["filename"]), int(fields["offset"]), int(fields["length"]))
        except (ValueError, KeyError, TypeError, msgspec.MsgspecError) as error:
            return bad(file, place, f"no line of CDXJ with url, filename, offset and length: {error}")
        if url is None:
            return LeftOut("invalid-address")
        if not (location.offset >= 0 and 0 < location.length <= LONGEST):
            return bad(file, place, f"no record has the length {location.length} at {location.offset}")
        try:
            return _page(Path(self.folder), location, url)
        except (PeriplusError, OSError) as error:
            return bad(file, place, str(error), "damaged")


def _page(folder: Path, location: ArchiveLocation, url: str) -> Entry:
    exchange = archive.read(folder, msgspec.structs.replace(location, file=_beside(folder, location.file)))
    if exchange.status != _OK:
        kind = exchange.status // 100
        return LeftOut("redirected" if kind == 3 else f"http-{kind}xx" if kind in (4, 5) else "not-a-page")
    return Item(
        Page(url, exchange.body, exchange.header("content-type"), exchange.headers, exchange.status, exchange.started)
    )


def _beside(folder: Path, name: str) -> str:
    """The file that a line names, below the folder of the listing; nothing outside of it is read."""
    path = PurePosixPath(name)
    if not path.is_absolute() and ".." not in path.parts and (folder / path).is_file():
        return str(path)
    return path.name


def portions(path: Path) -> Iterator[ListedRecords | TooLong]:
    for portion in line_portions(path):
        yield ListedRecords(str(path.parent), portion) if isinstance(portion, Lines) else portion
