"""Lists of what lies in archives: CDXJ listings of records, and lists of the paths of archives.

The archives lie beside the list, or below an HTTP address, as Common Crawl serves its own.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from periplus import addresses, archive
from periplus.app.importing.archives import PAGES, entries_of_file
from periplus.app.importing.items import Entry, FilePortion, Item, LeftOut, bad
from periplus.app.importing.lines import Lines, TooLong
from periplus.app.importing.lines import portions as line_portions
from periplus.app.importing.opening import AskedFolder, FileAsked, below, refused
from periplus.app.importing.remote import LARGEST_RECORD, RemoteFiles
from periplus.errors import NotFound, PeriplusError
from periplus.records import ArchiveLocation, Exchange, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.app.importing.opening import Opener
    from periplus.app.importing.sizes import Sizes

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


class ListedRecords(FilePortion, frozen=True):
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

    @property
    def place(self) -> tuple[str, str]:
        return self.lines.place

    @contextmanager
    def opening(self) -> Iterator[Opener]:
        if not self.base:
            yield below(Path(self.folder))
            return
        with RemoteFiles(self.base) as remote:
            yield lambda asked: _fetched(remote, asked)

    def entries(self, opened: Opener) -> Iterator[Entry]:
        for number, line in enumerate(self.lines.lines, self.lines.first):
            if line.strip() and not line.startswith(b"!"):  # what the listing says of itself
                yield self._entry(line, f"line {number}", opened)

    def _entry(self, line: bytes, place: str, opened: Opener) -> Entry:
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
            return _page(self._exchange(location, opened), url)
        except (PeriplusError, OSError) as error:
            return bad(file, place, str(error), "damaged")

    def _exchange(self, location: ArchiveLocation, opened: Opener) -> Exchange:
        if self.base:
            if not _is_below(location.file):
                raise NotFound(f"{location.file} does not lie below the address of the archives")
            return archive.read(_OneRecord(location, opened), msgspec.structs.replace(location, offset=0))
        folder = Path(self.folder)
        file = str(folder / _beside(folder, location.file))
        try:
            return archive.read(AskedFolder(folder, opened), msgspec.structs.replace(location, file=file))
        except NotFound as error:
            where = "put the listing into the folder of its archives, or give their address as --base-url"
            raise NotFound(f"{location.file} is not there: {where}") from error


class ListedArchive(FilePortion, frozen=True):
    """An archive that a line of a list of paths names, read whole."""

    list_file: str
    line: int
    base: str
    name: str
    count: int = PAGES  # nothing else goes with it into a batch
    size: int = 0

    @property
    def place(self) -> tuple[str, str]:
        return self.list_file, f"line {self.line}"

    @contextmanager
    def opening(self) -> Iterator[Opener]:
        if not self.base:
            yield below(Path(self.list_file).parent)
            return
        with RemoteFiles(self.base) as remote:
            yield lambda asked: _fetched(remote, FileAsked(asked.name), only=self.name)

    def entries(self, opened: Opener) -> Iterator[Entry]:
        folder = Path(self.list_file).parent
        path = Path(self.name) if self.base else folder / _beside(folder, self.name)
        try:
            yield from _renamed(entries_of_file(path, self.name, opened), path, self.name)
        except (PeriplusError, OSError) as error:
            yield bad(self.list_file, f"line {self.line}", str(error), "damaged")


def _renamed(entries: Iterator[Entry], path: Path, name: str) -> Iterator[Entry]:
    """What an archive holds, with errors that call it as the list does."""
    try:
        yield from entries
    except PeriplusError as error:
        raise type(error)(str(error).replace(str(path), name)) from error


class OddPath(FilePortion, frozen=True):
    """A line of a list of paths that names no archive."""

    list_file: str
    line: int
    what: str
    count: int = 1
    size: int = 0

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        yield bad(self.list_file, f"line {self.line}", self.what)


class _OneRecord:
    """The one record that is asked for over the network; what else it refers to is not at hand."""

    def __init__(self, location: ArchiveLocation, opened: Opener) -> None:
        self._location, self._opened = location, opened

    def opened(self, name: str) -> BinaryIO:
        location = self._location
        if name != location.file:
            raise NotFound(f"{name} is not at hand")
        return self._opened(FileAsked(name.encode(), location.offset, location.length))


def _fetched(remote: RemoteFiles, asked: FileAsked, only: str = "") -> BinaryIO:
    """A file below the address of the archives, or bytes of it, as a copy that vanishes when it is closed."""
    name = asked.name.decode("utf-8", "replace")
    if not _is_below(name) or (only and name != only):
        raise refused(asked)
    with tempfile.NamedTemporaryFile(prefix="periplus-", suffix=PurePosixPath(name).name) as copy:
        if asked.length:
            copy.write(remote.read(name, asked.offset, asked.length))
        else:
            remote.copy(name, copy.file)
        copy.flush()
        return Path(copy.name).open("rb")


def _page(exchange: Exchange, url: str) -> Entry:
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


def portions(
    path: Path, base: str, opened: Opener, sizes: Sizes
) -> Iterator[ListedRecords | ListedArchive | OddPath | TooLong]:
    """What a list names; ``base`` is the address that archives lie below, if not in the folder of the list."""
    is_paths = path.name.lower().endswith(_PATHS)
    for portion in line_portions(path, opened, sizes):
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
