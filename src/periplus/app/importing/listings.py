"""Lists of what lies in archives: CDXJ listings of records, and lists of the paths of archives.

The archives lie beside the list, or below an HTTP address, as Common Crawl serves its own.
"""

from __future__ import annotations

import io
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import msgspec
from msgspec import Struct

from periplus import addresses, archive
from periplus.app.importing.archives import PAGES, entries_of_file
from periplus.app.importing.items import Entry, Item, LeftOut, bad
from periplus.app.importing.lines import Lines, TooLong
from periplus.app.importing.lines import portions as line_portions
from periplus.app.importing.remote import LARGEST_RECORD, RemoteFiles
from periplus.errors import NotFound, PeriplusError
from periplus.records import ArchiveLocation, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKINGS: Final = ("", ".gz", ".zst", ".lz4")
_LISTINGS: Final = tuple(f".cdxj{packing}" for packing in _PACKINGS)
_PATHS: Final = tuple(f".paths{packing}" for packing in _PACKINGS)
_SHARD: Final = re.compile(r"cdx-\d+(\.gz)?")  # as Common Crawl names the parts of its listing
LONGEST: Final = 1_000_000_000  # bytes of one packed record
_OK: Final = 200


def is_list(name: str) -> bool:
    """Whether a file of this name, in small letters, is one of these."""
    return name.endswith((*_LISTINGS, *_PATHS)) or _SHARD.fullmatch(name) is not None


def check(base_url: str) -> None:
    """Raise what is wrong with the address that archives lie below, if one is given."""
    if base_url:
        addresses.canonical(base_url)


class ListedRecords(Struct, frozen=True):
    """Lines of a listing; ``folder`` is where it lies, ``base`` the address of archives that do not lie there."""

    folder: str
    base: str
    lines: Lines

    @property
    def count(self) -> int:
        return self.lines.count

    @property
    def size(self) -> int:
        return self.lines.size

    def entries(self) -> Iterator[Entry]:
        with RemoteFiles(self.base) as remote:
            for number, line in enumerate(self.lines.lines, self.lines.first):
                if line.strip() and not line.startswith(b"!"):  # what the listing says of itself
                    yield self._entry(line, f"line {number}", remote)

    def _entry(self, line: bytes, place: str, remote: RemoteFiles) -> Entry:
        file = self.lines.file
        try:
            fields: dict[str, Any] = msgspec.json.decode(line[line.index(b"{") :])
            url = addresses.try_canonical(str(fields["url"]))
            location = ArchiveLocation(str(fields["filename"]), int(fields["offset"]), int(fields["length"]))
        except (ValueError, KeyError, TypeError, msgspec.MsgspecError) as error:
            return bad(file, place, f"no line of CDXJ with url, filename, offset and length: {error}")
        if url is None:
            return LeftOut("invalid-address")
        if not (location.offset >= 0 and 0 < location.length <= (LARGEST_RECORD if self.base else LONGEST)):
            return bad(file, place, f"no record has the length {location.length} at {location.offset}")
        if (status := str(fields.get("status", _OK))) != str(_OK) and status.isdigit():
            return _refused(int(status))
        try:
            return _page(_remote_record(remote, location) if self.base else self._record(location), url)
        except (PeriplusError, OSError) as error:
            return bad(file, place, str(error), "damaged")

    def _record(self, location: ArchiveLocation) -> _Record:
        folder = Path(self.folder)
        return _Record(folder, msgspec.structs.replace(location, file=_beside(folder, location.file)))


class ListedArchive(Struct, frozen=True):
    """An archive that a line of a list of paths names, read whole."""

    list_file: str
    line: int
    base: str
    name: str
    count: int = PAGES  # nothing else goes with it into a batch
    size: int = 0

    def entries(self) -> Iterator[Entry]:
        try:
            with self._at_hand() as path:
                yield from _renamed(entries_of_file(path, self.name), path, self.name)
        except (PeriplusError, OSError) as error:
            yield bad(self.list_file, f"line {self.line}", str(error), "damaged")

    @contextmanager
    def _at_hand(self) -> Iterator[Path]:
        folder = Path(self.list_file).parent
        if not self.base:
            yield folder / _beside(folder, self.name)
            return
        with (
            tempfile.NamedTemporaryFile(prefix="periplus-", suffix=PurePosixPath(self.name).name) as copy,
            RemoteFiles(self.base) as remote,
        ):
            remote.copy(self.name, copy.file)
            copy.flush()
            yield Path(copy.name)


def _renamed(entries: Iterator[Entry], path: Path, name: str) -> Iterator[Entry]:
    """What a copy holds, with errors that call it by the name of what it was made from."""
    try:
        yield from entries
    except PeriplusError as error:
        raise type(error)(str(error).replace(str(path), name)) from error


class OddPath(Struct, frozen=True):
    """A line of a list of paths that names no archive."""

    list_file: str
    line: int
    what: str
    count: int = 1
    size: int = 0

    def entries(self) -> Iterator[Entry]:
        yield bad(self.list_file, f"line {self.line}", self.what)


class _Record(NamedTuple):
    """Where a record can be read."""

    source: Path | archive.ArchiveSource
    location: ArchiveLocation


class _Fetched:
    """The one record that came over the network; what else it refers to is not at hand."""

    def __init__(self, name: str, data: bytes) -> None:
        self._name, self._data = name, data

    def opened(self, name: str) -> BinaryIO:
        if name != self._name:
            raise NotFound(f"{name} is not at hand")
        return io.BytesIO(self._data)


def _remote_record(remote: RemoteFiles, location: ArchiveLocation) -> _Record:
    if not _is_below(location.file):
        raise NotFound(f"{location.file} does not lie below the address of the archives")
    data = remote.read(location.file, location.offset, location.length)
    return _Record(_Fetched(location.file, data), msgspec.structs.replace(location, offset=0))


def _page(found: _Record, url: str) -> Entry:
    exchange = archive.read(found.source, found.location)
    if exchange.status != _OK:
        return _refused(exchange.status)
    return Item(
        Page(url, exchange.body, exchange.header("content-type"), exchange.headers, exchange.status, exchange.started)
    )


def _refused(status: int) -> LeftOut:
    kind = status // 100
    return LeftOut("redirected" if kind == 3 else f"http-{kind}xx" if kind in (4, 5) else "not-a-page")


def _is_below(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "://" not in name


def _beside(folder: Path, name: str) -> str:
    """The file that a line names, below the folder of the listing; nothing outside of it is read."""
    return name if _is_below(name) and (folder / name).is_file() else PurePosixPath(name).name


def portions(path: Path, base: str) -> Iterator[ListedRecords | ListedArchive | OddPath | TooLong]:
    """What a list names; ``base`` is the address that archives lie below, if not in the folder of the list."""
    is_paths = path.name.lower().endswith(_PATHS)
    for portion in line_portions(path):
        if isinstance(portion, TooLong):
            yield portion
        elif is_paths:
            yield from _archives(portion, base)
        else:
            yield ListedRecords(str(path.parent), base, portion)


def _archives(lines: Lines, base: str) -> Iterator[ListedArchive | OddPath]:
    for number, line in enumerate(lines.lines, lines.first):
        name = line.decode("utf-8", "replace").strip()
        if not name:
            continue
        if not name.lower().endswith(archive.SUFFIXES):
            yield OddPath(lines.file, number, f"{name} is no archive; a listing of records is imported by itself")
        elif base and not _is_below(name):
            yield OddPath(lines.file, number, f"{name} does not lie below the address of the archives")
        else:
            yield ListedArchive(lines.file, number, base, name)
