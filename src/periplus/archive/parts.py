"""The archive of a collection on many machines: each commit of a crawl has a whole WARC file, which is one object.

A row of ``archive_parts`` has the name that places of records give to a file (``ArchiveLocation.file``), and the object
that has its content now. A file is uploaded before the transaction that writes its row. It is read from this machine's
copy, else by ranges of the object. A takedown uploads a file of the same length without the records that go, puts it
into the row, and removes the old object at once.
"""

from __future__ import annotations

import io
import shutil
from array import array
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final, cast
from uuid import uuid4

from msgspec import Struct

from periplus.archive.blanking import blank_member, overwrite, places_in
from periplus.archive.member import PlainFile
from periplus.archive.writer import SUFFIX
from periplus.errors import NotFound, StorageBusy
from periplus.storage import FILES, Stored, note_change, remove_orphans, remove_retired, retire

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from periplus.records import ArchiveLocation
    from periplus.storage import Database, Depot, Transaction

FOLDER: Final = "archive"
LOOKED_UP: Final = 2_000  # names that are asked for at once
READ_AHEAD: Final = 256_000  # bytes of an object that one reading asks for
_ROW: Final = "SELECT name, file, worker, hosts FROM archive_parts"
_INSERT: Final = (
    "INSERT INTO archive_parts (name, file, bytes, settled, worker, hosts) VALUES (?, ?, ?, 0, ?, ?)"
    " ON CONFLICT (name) DO NOTHING"
)


class ArchivePart(Struct, frozen=True):
    """One file of the archive, and the object that has it."""

    name: str
    stored: Stored
    worker: int
    hosts: frozenset[int] = frozenset()  # keys; none where they are not known

    def may_hold(self, hosts: Collection[int]) -> bool:
        return not self.hosts or not self.hosts.isdisjoint(hosts)


def write_parts(tx: Transaction, parts: Iterable[ArchivePart]) -> None:
    """Make uploaded files part of the archive; of a file that is one already, nothing."""
    tx.executemany(
        _INSERT,
        [
            (one.name, one.stored.encode(), one.stored.bytes, one.worker, array("q", sorted(one.hosts)).tobytes())
            for one in parts
        ],
    )


def settle_parts(tx: Transaction, places: Mapping[str, int]) -> None:
    """Say up to where the state knows the records of these files."""
    tx.executemany("UPDATE archive_parts SET settled = ? WHERE name = ?", [(at, name) for name, at in places.items()])


def settle_all(tx: Transaction) -> None:
    """Nobody is at work, and all records are known."""
    tx.execute("UPDATE archive_parts SET settled = bytes WHERE settled < bytes")


class ArchiveParts:
    """Reads the archive, and takes records out of it; may be used from many threads."""

    def __init__(self, database: Database, depot: Depot) -> None:
        self._database = database
        self._depot = depot

    def push(self, name: str) -> Stored:
        """Upload a file of this machine that is whole."""
        return self._depot.push(f"{FOLDER}/{name}")

    def parts(self) -> list[ArchivePart]:
        with self._database.read() as tx:
            return [_part(*row) for row in tx.rows(f"{_ROW} ORDER BY name")]

    def unsettled(self, workers: Collection[int] | None = None) -> list[tuple[str, int]]:
        """Files of these workers, or of all, with records that the state may not know, and from where on."""
        sql = "SELECT name, settled FROM archive_parts WHERE settled < bytes"
        if workers is not None:
            sql += f" AND worker IN ({', '.join(str(int(number)) for number in workers) or 'NULL'})"
        with self._database.read() as tx:
            return [(str(name), int(place)) for name, place in tx.rows(f"{sql} ORDER BY name")]

    def knows(self, name: str) -> bool:
        with self._database.read() as tx:
            return tx.value("SELECT 1 FROM archive_parts WHERE name = ?", (name,)) is not None

    def unknown(self, names: Sequence[str]) -> list[str]:
        """Those that are no part of the archive; a machine may have many thousands of files, so not one by one."""
        sql = "SELECT 1 FROM archive_parts WHERE name = ?"
        left: list[str] = []
        for start in range(0, len(names), LOOKED_UP):
            some = names[start : start + LOOKED_UP]
            with self._database.read() as tx:
                found = tx.each(sql, [(name,) for name in some])
            left += [name for name, rows in zip(some, found, strict=True) if not rows]
        return left

    def find(self, name: str) -> ArchivePart:
        with self._database.read() as tx:
            row = tx.row(f"{_ROW} WHERE name = ?", (name,))
        if row is None:
            raise NotFound(f"the archive has no file {name}")
        return _part(*row)

    def path(self, name: str) -> Path:
        """The whole file on this machine, pulled where it is not there."""
        return self._depot.pull(self.find(name).stored, f"{FOLDER}/{name}")

    def pull(self) -> None:
        """Have all files on this machine."""
        for part in self.parts():
            self.path(part.name)

    def opened(self, name: str) -> BinaryIO:
        """This machine's copy when there is one, else a file that reads ranges of the object.

        A file of this machine that is not part of the archive yet is read as it is.
        """
        local = f"{FOLDER}/{name}"
        path = self._depot.files.path(local)
        try:
            part = self.find(name)
            stored = part.stored
        except NotFound:
            if not path.is_file():
                raise
            return path.open("rb")
        if self._depot.has(stored, local):
            try:
                return path.open("rb")
            except FileNotFoundError:
                pass  # it was removed to make room just now
        kind = PlainFile if part.worker else io.BufferedReader  # what workers wrote was never thinned
        return cast("BinaryIO", kind(_ObjectFile(self._depot, stored), READ_AHEAD))

    def blank(self, wanted: Callable[[str], bool], hosts: Collection[int]) -> list[ArchiveLocation]:
        """Take out all records about addresses that are ``wanted``, which are of these ``hosts``; where they stood."""
        found: list[ArchiveLocation] = []
        for part in self.parts():
            if part.may_hold(hosts):
                places = list(places_in(self.path(part.name), wanted))
                if places:
                    self._replace(part, places)
                    found += places
        remove_retired(self._database, self._depot, older=0)
        return found

    def sweep(self) -> list[str]:
        """Remove objects of the archive that were uploaded long ago and never became part of it; their names."""
        return remove_orphans(
            self._database, self._depot, f"{FOLDER}/", lambda: {one.stored.name for one in self.parts()}
        )

    def _replace(self, part: ArchivePart, places: list[ArchiveLocation]) -> None:
        blank_member(min(place.length for place in places))  # raises before anything is changed that cannot be done
        local = f"{FOLDER}/{part.name}"
        with self._copied(local) as copy:
            overwrite(self._depot.files.path(copy), places)
            stored = self._depot.push(copy, f"{FOLDER}/{part.name.removesuffix(SUFFIX)}~{uuid4().hex[:12]}{SUFFIX}")
            try:
                self._swap(part, stored)
            except StorageBusy:
                self._depot.objects.remove(stored.name)
                raise
        self._depot.drop(local)

    def _swap(self, part: ArchivePart, stored: Stored) -> None:
        sql = "UPDATE archive_parts SET file = ? WHERE name = ? AND file = ?"
        with self._database.write() as tx:
            if tx.execute(sql, (stored.encode(), part.name, part.stored.encode())) != 1:
                raise StorageBusy(f"another process changed {part.name} meanwhile; do it again")
            retire(tx, [part.stored.name])
            note_change(tx, FILES)

    @contextmanager
    def _copied(self, local: str) -> Iterator[str]:
        """The name of a copy of a local file, which goes in the end."""
        files = self._depot.files
        name = self._depot.scratch_name()
        try:
            shutil.copyfile(files.path(local), files.path(name))
            yield name
        finally:
            self._depot.drop(name)
            files.path(name).unlink(missing_ok=True)


def _part(name: str, file: str, worker: int, hosts: bytes) -> ArchivePart:
    return ArchivePart(name, Stored.decode(file), worker, frozenset(array("q", bytes(hosts))))


class _ObjectFile(io.RawIOBase):
    """An object as a file that is read by ranges."""

    def __init__(self, depot: Depot, stored: Stored) -> None:
        super().__init__()
        self._objects = depot.objects
        self._stored = stored
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._stored.bytes}[whence]
        self._place = max(0, base + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        length = min(len(buffer), self._stored.bytes - self._place)
        if length <= 0:
            return 0
        buffer[:length] = self._objects.get_range(self._stored.name, self._place, length)
        self._place += length
        return length
