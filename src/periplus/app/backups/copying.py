"""A backup is made: what changed travels, the inventory follows, what no kept backup needs is removed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from periplus import __version__
from periplus.app.backups import inventory as inventories
from periplus.app.backups.capture import captured, takedowns_wait
from periplus.app.backups.inventory import CHUNK_BYTES, CHUNKS, Inventory, KeptFile, chunk_name, digest_of
from periplus.app.console.backup_reports import BACKUP_LOCK, BackupReport, remember
from periplus.app.state import identity_of
from periplus.errors import Corrupt, NotFound, Occupied, StorageError, UsageError
from periplus.storage import LocalFiles, folder_lock, schema_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.backups.capture import CapturedFile, Moment
    from periplus.app.collection import Collection
    from periplus.storage import Objects

    Progress = Callable[[int, int, str], None]  # files done, of how many, the name of one

KEPT: Final = 3
TRIES: Final = 3  # to read an archive file without a takedown between


def back_up(
    collection: Collection, objects: Objects, *, keep: int = KEPT, progress: Progress | None = None
) -> BackupReport:
    """Make a backup of a collection that may be in use, and keep the last ``keep`` of them."""
    if keep < 1:
        raise UsageError(f"{keep} backups cannot be kept; keep at least 1")
    if collection.settings.storage.files:
        raise UsageError(
            "the files of this collection are in the object store that storage.files names, which keeps its own copies;"
            " periplus move brings it to a folder that can be backed up"
        )
    _check_place(collection.folder, objects.address)
    started = time.perf_counter()
    collection.create()  # sees to it that state and folder have a name
    with folder_lock(collection.folder / BACKUP_LOCK, "backing up"):
        report = _Copying(collection, objects, progress).run(keep, started)
        remember(collection, report)
    return report


def _check_place(folder: Path, address: str) -> None:
    """A backup inside what it backs up would be lost with it."""
    place = Path(address.removeprefix("file://"))
    if address.startswith("file://") and place.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{place} lies in the collection itself; name a folder elsewhere, best on another disk")


class _Copying:
    def __init__(self, collection: Collection, objects: Objects, progress: Progress | None) -> None:
        self._folder = collection.folder
        self._collection = collection
        self._objects = objects
        self._tell = progress or (lambda _done, _all, _name: None)
        self._chunks = self._bytes = 0

    def run(self, keep: int, started: float) -> BackupReport:
        self._objects.check()
        if self._objects.address.startswith("file://"):
            LocalFiles(self._objects.address.removeprefix("file://")).sweep()
        last = self._last()
        self._there = {name.rpartition("/")[2] for name in self._objects.names(CHUNKS)}
        self._known = {file.name: file for file in last.files if self._is_there(file)} if last else {}
        with captured(self._collection, self._is_known) as moment:
            inventory = self._copied(moment)
        inventories.write_inventory(self._objects, inventory)
        gone = self._sweep(inventory, keep)
        return BackupReport(
            inventory.number,
            self._objects.address,
            inventory.made,
            len(inventory.files),
            inventory.size,
            self._chunks,
            self._bytes,
            gone,
            time.perf_counter() - started,
        )

    def _last(self) -> Inventory | None:
        """The newest backup; none where it is damaged, so that everything is looked at again."""
        try:
            last = inventories.read_inventory(self._objects)
        except (NotFound, Corrupt):
            return None
        ours = identity_of(self._folder)
        if last.collection != ours:
            raise Occupied(f"{self._objects.address} holds backups of another collection; choose another place")
        return last

    def _is_there(self, file: KeptFile) -> bool:
        return all(chunk in self._there for chunk in file.chunks)

    def _is_known(self, name: str, stamp: str) -> bool:
        return bool(stamp) and name in self._known and self._known[name].stamp == stamp

    def _copied(self, moment: Moment) -> Inventory:
        made = time.time()
        files = []
        for place, file in enumerate(moment.files):
            self._tell(place, len(moment.files), file.name)
            files.append(self._kept(file))
        number = max(inventories.numbers(self._objects), default=0) + 1
        identity = identity_of(self._folder)
        return Inventory(number, made, identity, __version__, schema_version(), moment.takedowns, tuple(files))

    def _kept(self, file: CapturedFile) -> KeptFile:
        if file.read is None:
            return self._known[file.name]
        if not file.is_archive:
            return self._sent(file)
        folder = self._folder / "archive"
        for _ in range(TRIES):
            before = folder.stat().st_mtime_ns  # a takedown writes its plan there, and removes it
            kept = self._sent(file)
            if folder.stat().st_mtime_ns == before:
                return kept
        with takedowns_wait(self._folder):
            return self._sent(file)

    def _sent(self, file: CapturedFile) -> KeptFile:
        chunks = []
        for offset in range(0, file.size, CHUNK_BYTES):
            length = min(CHUNK_BYTES, file.size - offset)
            data = file.read(offset, length) if file.read else b""
            if len(data) != length:
                raise StorageError(f"{file.name} is shorter than it was; run periplus doctor, then the backup again")
            chunks.append(self._chunk(data))
        return KeptFile(file.name, file.size, tuple(chunks), file.stamp)

    def _chunk(self, data: bytes) -> str:
        digest = digest_of(data)
        if digest not in self._there:
            self._objects.put(chunk_name(digest), data)
            self._there.add(digest)
            self._chunks += 1
            self._bytes += len(data)
        return digest

    def _sweep(self, newest: Inventory, keep: int) -> tuple[int, ...]:
        """Remove what is older than the last ``keep``, of before a takedown or not whole, then chunks without a use."""
        kept: list[Inventory] = [newest]
        gone: list[int] = []
        for number in reversed(inventories.numbers(self._objects)):
            if number == newest.number:
                continue
            try:
                older = inventories.read_inventory(self._objects, number)
            except Corrupt:
                gone.append(number)
                continue
            is_fit = older.takedowns == newest.takedowns and older.chunks <= self._there
            if is_fit and len(kept) < keep:
                kept.append(older)
            else:
                gone.append(number)
        for number in gone:
            self._objects.remove(inventories.inventory_name(number))
        used = frozenset[str]().union(*(one.chunks for one in kept))
        for digest in self._there - used:
            self._objects.remove(chunk_name(digest))
        return tuple(sorted(gone))
