"""Writing WARC files: every exchange as a response (or revisit) record followed by its request.

Invariants: a file holds whole records only, but for a tail torn by a crash, which ``repair`` cuts; what was appended
before a ``flush`` that returned survives a crash; a full disk leaves the file at its last whole record. A writer holds
a lock on its file, and a file that was not closed cleanly has a marker beside it. A file that could not be synced is
given up, and no later sync vouches for it: the kernel may have dropped what it failed to write, and says so once.
"""

from __future__ import annotations

import calendar
import errno
import fcntl
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.archive import http, member, record
from periplus.archive.tails import ends_whole
from periplus.errors import StorageError, StorageFull
from periplus.records import ArchiveLocation
from periplus.storage import sync

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from periplus.archive.record import Fields
    from periplus.records import Exchange

PREFIX = "periplus"
SUFFIX = ".warc.gz"
MARKER = ".open"  # beside a file that is being written, or was when its writer died
SOFTWARE = "Periplus"
ROTATE_BYTES = 1_000_000_000
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
ELAPSED = "Periplus-Elapsed-Ms"

_STAMP, _STAMP_LENGTH = "%Y%m%d%H%M%S", 14  # of the time in the name of a file
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PACKED = ("gzip", "x-gzip", "deflate", "br", "zstd")
_PACKED_FROM = 2048  # bytes of a packed payload from which packing the record again gains next to nothing
_CUT = ("length", "time", "disconnect", "unspecified")


class Revisit(Struct, frozen=True):
    """The earlier response that a new one repeats."""

    url: str = ""
    fetched: float = 0.0
    location: ArchiveLocation | None = None


class ArchiveWriter:
    """Appends exchanges to files of its own in ``folder``; only ``sync`` may be called by another thread.

    ``settled`` names files and their sizes whose records are all known: the newest of them that has room is gone on
    with, so that many short crawls do not leave a file each. With ``rotate_seconds`` no file is gone on with that was
    begun longer ago. With ``part_of``, a text that no other writer has, files are parts that travel: each has that text
    in its name, and ends with ``cut``.
    """

    def __init__(
        self,
        folder: Path | str,
        rotate_bytes: int = ROTATE_BYTES,
        software: str = SOFTWARE,
        settled: Callable[[], Mapping[str, int]] = dict,
        part_of: str = "",
        rotate_seconds: float = 0.0,
    ) -> None:
        self._folder = Path(folder)
        self._rotate_bytes = rotate_bytes
        self._rotate_seconds = rotate_seconds
        self._software = software
        self._settled = settled if not part_of else dict
        self._part_of = part_of
        self._cut: dict[str, int] = {}  # parts that are whole, and the descriptors that hold their locks
        self._descriptor = -1
        self._path = Path()
        self._size = 0
        self._whole: dict[str, int] = {}  # files of this writer, and where their whole records end
        self._safe: dict[str, int] = {}  # up to where they are on disk for certain
        self._given_up: set[str] = set()  # they could not be synced
        self._syncing = threading.Lock()
        self._begun = 0  # where in its file this writer began
        self._serial = 0

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, exchange: Exchange, revisit: Revisit | None = None) -> ArchiveLocation:
        """Writes one exchange; a status of 304, or a ``revisit``, makes it a revisit record without payload."""
        if self._descriptor >= 0 and (self._size >= self._rotate_bytes or self._is_old(self._path.name)):
            self.cut()
            self._end()
        if self._path.name in self._given_up:
            self._leave()
        if self._descriptor < 0:
            self._open()
        response, request = members(exchange, revisit)
        offset = self._size
        self._write(response + request)
        return ArchiveLocation(self._path.name, offset, len(response))

    def flush(self) -> None:
        """Returns when everything appended so far is on disk."""
        if self._descriptor >= 0:
            self.sync(self._path.name)

    def sync(self, name: str) -> None:
        """Returns when all whole records of a file of this writer are on disk; other threads may append meanwhile."""
        path = self._folder / name
        with self._syncing:  # one after the other: a failure is told to one of those who sync at the same time
            if name in self._given_up:
                raise StorageError(f"{path} could not be flushed, so it is not written any more; check the disk")
            end = self._whole.get(name, 0)
            if self._safe.get(name, 0) >= end:
                return
            try:
                sync(path)  # by a descriptor of its own: ours may be closed meanwhile, by another thread
            except OSError as error:
                self._given_up.add(name)
                raise failure(path, error) from error
            self._safe[name] = end

    @property
    def in_parts(self) -> bool:
        return bool(self._part_of)

    def cut(self) -> None:
        """End a part; the next ``append`` begins another. It stays locked until ``let_go``. Other files go on.

        Nothing is flushed: whoever asked for the cut takes the part to where it is safe.
        """
        if self._part_of and self._descriptor >= 0:
            self._cut[self._path.name] = self._descriptor
            self._whole.pop(self._path.name)
            self._descriptor = -1

    def let_go(self, name: str) -> None:
        """A part is kept elsewhere and is known: what it holds need not be looked for again."""
        descriptor = self._cut.pop(name, -1)
        if descriptor >= 0:
            os.close(descriptor)
            marker_of(self._folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Flushes and closes the file; the next ``append`` begins a new one."""
        while self._cut:  # parts that were not kept: their markers tell
            os.close(self._cut.popitem()[1])
        self._end()

    def _end(self) -> None:
        if self._descriptor < 0:
            return
        name = self._path.name
        if name in self._given_up:
            self._leave()
            return
        try:
            self.flush()
        finally:
            self._leave()
        self._whole.pop(name)  # all of it is safe
        self._safe.pop(name, None)
        marker_of(self._path).unlink(missing_ok=True)

    def _leave(self) -> None:
        """Go on in another file; the marker tells that this one was not closed cleanly."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if not self._continue():
                self._create()
            sync(self._folder)
        except OSError as error:
            self._abandon()
            raise failure(self._folder, error) from error
        try:
            self._write(information(self._path.name, self._software))
        except StorageError:
            self._abandon()
            raise

    def _continue(self) -> bool:
        """Take up a file that an earlier writer closed, if there is one; a writer does so once."""
        settled, self._settled = self._settled(), dict
        for name in sorted(settled, reverse=True):
            has_room = settled[name] < self._rotate_bytes and not self._is_old(name)
            if has_room and self._take_up(self._folder / name, settled[name]):
                return True
        return False

    def _is_old(self, name: str) -> bool:
        """Whether a file was begun too long ago to be gone on with, as its name tells."""
        if not self._rotate_seconds:
            return False
        begun = max(time.time() - self._rotate_seconds, 0.0)
        return name < f"{PREFIX}-{_stamp(begun)}"

    def _take_up(self, path: Path, size: int) -> bool:
        """Whether the file was taken up: nobody has it, its last writer closed it, and it is whole at its end."""
        try:
            file = path.open("r+b")
        except FileNotFoundError:
            return False
        with file:
            if not _is_free(file.fileno()) or marker_of(path).exists() or os.fstat(file.fileno()).st_size != size:
                return False
            if member.is_marked(file) or not ends_whole(file, size):
                return False
            self._descriptor = os.dup(file.fileno())  # the lock is of both
        self._path, self._begun = path, size
        marker_of(path).write_text(str(size), encoding="ascii")
        os.lseek(self._descriptor, size, os.SEEK_SET)
        self._safe[path.name] = size
        self._grow_to(size)
        return True

    def _create(self) -> None:
        """A file of a name that no other process has taken, with its marker first."""
        stamp = _stamp(time.time())
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        while self._descriptor < 0:
            self._serial += 1
            part = f"-{self._part_of}" if self._part_of else ""
            self._path = self._folder / f"{PREFIX}-{stamp}{part}-{self._serial:05d}{SUFFIX}"
            try:
                self._descriptor = os.open(self._path, flags, 0o644)
            except FileExistsError:
                continue
        self._begun = 0
        self._grow_to(0)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        marker_of(self._path).touch()

    def _abandon(self) -> None:
        """Gives up a file that could not even be begun; one that was gone on with stays as it was."""
        if self._descriptor < 0:
            return
        if self._begun and not self._cut_back(self._begun):
            return
        self._leave()
        if not self._begun:
            self._path.unlink(missing_ok=True)
        marker_of(self._path).unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            self._cut_back(self._size)
            raise failure(self._path, error) from error
        self._grow_to(self._size + len(data))

    def _grow_to(self, size: int) -> None:
        self._size = self._whole[self._path.name] = size

    def _cut_back(self, size: int) -> bool:
        """Whether the file could be cut to its first bytes; if not, another one is begun with the next record."""
        try:
            os.ftruncate(self._descriptor, size)
            os.lseek(self._descriptor, size, os.SEEK_SET)
        except OSError:
            self._leave()
            return False
        self._grow_to(size)
        return True


def begun_on(name: str) -> float:
    """When a file was begun, as its name tells; 0 where it tells nothing."""
    try:
        return calendar.timegm(time.strptime(name.split("-")[1][:_STAMP_LENGTH], _STAMP))
    except (ValueError, IndexError):
        return 0.0


def _stamp(moment: float) -> str:
    return time.strftime(_STAMP, time.gmtime(moment))


def marker_of(path: Path) -> Path:
    return path.with_name(path.name + MARKER)


def begun_at(marker: Path) -> int:
    """Where the writer that left this marker began in its file; 0 where that is not known."""
    try:
        text = marker.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return int(text) if text.isdecimal() else 0


def _is_free(descriptor: int) -> bool:
    """Take the lock of a file that is still there, unless somebody has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(descriptor).st_nlink > 0


def failure(path: Path, error: OSError) -> StorageError:
    """What a failed change of an archive file means to whoever asked for it."""
    if error.errno in _FULL:
        return StorageFull(f"no space left for {path}: make room and start again; what was acknowledged is kept")
    return StorageError(f"{path} cannot be written: {error.strerror or error}; check the disk")


def members(exchange: Exchange, revisit: Revisit | None = None) -> tuple[bytes, bytes]:
    """The response and the request, each a packed record."""
    identity = record.new_id()
    if exchange.status == 304 or revisit is not None:
        response = _revisit_record(exchange, revisit or Revisit(), identity)
    else:
        response = _response_record(exchange, identity)
    packed = len(exchange.payload) >= _PACKED_FROM and exchange.header("content-encoding").lower() in _PACKED
    return record.pack(response, packed=packed), record.pack(_request_record(exchange, identity))


def _common(kind: str, identity: str, exchange: Exchange) -> Fields:
    fields = [
        ("WARC-Type", kind),
        ("WARC-Record-ID", identity),
        ("WARC-Date", record.date_text(exchange.started)),
        ("WARC-Target-URI", exchange.url),
    ]
    if exchange.ip:
        fields.append(("WARC-IP-Address", exchange.ip))
    return fields


def _timing(exchange: Exchange) -> tuple[str, str]:
    return ELAPSED, f"{exchange.elapsed * 1000:.3f}"


def _status_line(exchange: Exchange) -> str:
    return f"HTTP/1.1 {exchange.status} {exchange.reason}"


def _response_record(exchange: Exchange, identity: str) -> bytes:
    fields = _common("response", identity, exchange)
    if exchange.truncated:
        fields.append(("WARC-Truncated", exchange.truncated if exchange.truncated in _CUT else "unspecified"))
    fields += [
        ("WARC-Payload-Digest", record.digest(exchange.payload)),
        ("Content-Type", "application/http;msgtype=response"),
        _timing(exchange),
    ]
    bodiless = exchange.method == "HEAD" and not exchange.payload
    headers = exchange.headers if bodiless else http.framed(exchange.headers, len(exchange.payload))
    return record.encode(fields, http.encode(_status_line(exchange), headers, exchange.payload))


def _revisit_record(exchange: Exchange, earlier: Revisit, identity: str) -> bytes:
    fields = _common("revisit", identity, exchange)
    not_modified = exchange.status == 304
    fields.append(("WARC-Profile", NOT_MODIFIED if not_modified else IDENTICAL))
    fields += _references(earlier)
    if not not_modified:
        fields.append(("WARC-Payload-Digest", record.digest(exchange.payload)))
    fields += [("Content-Type", "application/http;msgtype=response"), _timing(exchange)]
    return record.encode(fields, http.encode(_status_line(exchange), exchange.headers, b""))


def _references(earlier: Revisit) -> Fields:
    fields = []
    if earlier.url:
        fields.append(("WARC-Refers-To-Target-URI", earlier.url))
    if earlier.fetched:
        fields.append(("WARC-Refers-To-Date", record.date_text(earlier.fetched)))
    if earlier.location is not None:
        fields += [
            ("WARC-Refers-To-Filename", earlier.location.file),
            ("WARC-Refers-To-File-Offset", str(earlier.location.offset)),
        ]
    return fields


def _request_record(exchange: Exchange, response_identity: str) -> bytes:
    fields = _common("request", record.new_id(), exchange)
    fields += [
        ("WARC-Concurrent-To", response_identity),
        ("Content-Type", "application/http;msgtype=request"),
    ]
    target = "/" + exchange.url.partition("://")[2].partition("/")[2]
    return record.encode(fields, http.encode(f"{exchange.method} {target} HTTP/1.1", exchange.request_headers, b""))


def information(file_name: str, software: str) -> bytes:
    """The packed record that a file begins with."""
    block = "".join(
        f"{name}: {record.one_line(value)}\r\n"
        for name, value in (
            ("software", software),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
        )
    )
    fields = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", record.new_id()),
        ("WARC-Date", record.date_text(time.time())),
        ("WARC-Filename", file_name),
        ("Content-Type", "application/warc-fields"),
    ]
    return record.pack(record.encode(fields, block.encode("utf-8", "replace")))
