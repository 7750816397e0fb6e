"""A collection as of one moment, held by open files while others go on.

Nothing waits for a backup longer than the state takes to be copied. Files of a collection are replaced and removed,
never changed, so an open descriptor keeps what it was opened on, whatever becomes of its name, and a killed backup
leaves nothing behind. The order matters:

    1. index and ranks     so that the state knows at least the batches that they have taken in
    2. the state           a copy of one moment
    3. what it names       batches, and the archive up to what was committed
    4. everything else     settings, rules, the list of blocked hosts

Compactions, takedowns and what thins the archive wait meanwhile: they remove what the state names. Archive files grow,
and a takedown overwrites records in them. So each is read again where a takedown came between.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from periplus import archive
from periplus.app.state import STATE_FILE
from periplus.crawl import TAKEDOWN_LOCK
from periplus.documents import BatchLog
from periplus.errors import NotReady, OverBudget, StorageError
from periplus.graph import RankStore
from periplus.index import IndexStore
from periplus.storage import Database, LocalFiles, awaited_lock, copy_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from periplus.app.collection import Collection

    Reader = Callable[[int, int], bytes]  # offset and length
    IsKnown = Callable[[str, str], bool]  # name and stamp: is the file in the backup as it is now?

WORK: Final = ".backup"  # for the copy of the state; swept by the next backup
PARTS: Final = frozenset({"archive", "documents", "links", "index", "ranks"})  # listed by what names their files
LEFT_OUT: Final = frozenset({WORK, "damaged", "logs", ".depot"})
TRANSIENT: Final = (".lock", ".slots", "-wal", "-shm")
ATTEMPTS: Final = 20
SPARE_FILES: Final = 64  # descriptors for everything else
LOCK_SECONDS = 60.0
YOUNG: Final = 2.0  # seconds: a file that changed so lately may change again without another time of change


class CapturedFile(NamedTuple):
    """One file of the moment; ``read`` is None where the backup has it already."""

    name: str
    size: int
    stamp: str
    read: Reader | None
    is_archive: bool = False


class Moment(NamedTuple):
    files: list[CapturedFile]
    takedowns: str


class _Gone(Exception):
    """A file vanished between its naming and its opening: what named it is replaced by now."""


@contextmanager
def captured(collection: Collection, is_known: IsKnown) -> Iterator[Moment]:
    """The files of the collection as of now, open while the block runs."""
    holder = _Holder(collection.folder, is_known)
    work = collection.folder / WORK
    shutil.rmtree(work, ignore_errors=True)
    try:
        work.mkdir()
        with takedowns_wait(collection.folder):
            holder.take_together(partial(_index, collection.folder))
            holder.take_together(partial(_ranks, collection.folder))
            copy = work / STATE_FILE
            copy_state(collection.sound_state(), copy)
            takedowns = _named_by_state(collection, copy, holder)
        holder.hold(STATE_FILE, copy, stamped=False)
        for name in _others(collection.folder):
            with suppress(_Gone):
                holder.take(name)
        yield Moment(holder.files, takedowns)
    except OSError as error:
        raise StorageError(f"{collection.folder} cannot be read: {error.strerror or error}; check the disk") from error
    finally:
        holder.close()
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def takedowns_wait(folder: Path) -> Iterator[None]:
    """No takedown and no compaction while the block runs; waits for one that is under way."""
    with awaited_lock(folder / TAKEDOWN_LOCK, "backing up", LOCK_SECONDS):
        yield


def _named_by_state(collection: Collection, copy: Path, holder: _Holder) -> str:
    """Take the files that the copied state names; what it says of takedowns."""
    with Database.open(copy) as database:
        log = BatchLog(collection.files, database)
        for number in log.numbers():
            for name in log.names_of(number):
                holder.take(name)
        with database.read() as tx:
            marks = {str(file): int(place) for file, place in tx.rows("SELECT file, place FROM archive_marks")}
            count, last = tx.row("SELECT COUNT(*), MAX(at) FROM removed") or (0, None)
        database.checkpoint()
    for path in sorted((collection.folder / "archive").glob("*")):
        name = f"archive/{path.name}"
        if path.name in marks:
            holder.take_archive(name, marks[path.name])
        elif path.is_file() and not path.name.startswith((".tmp-", "periplus-")):
            holder.take(name)
    return f"{count} {last or 0}"


def _index(folder: Path) -> Iterator[str]:
    store = IndexStore(folder / "index")
    manifest = store.manifest()
    if manifest is None:
        return
    yield "index/manifest.json"
    yield f"index/generations/{manifest.generation:08d}.json"
    for entry in manifest.segments:
        yield from LocalFiles(folder).names(f"index/segments/{entry.name}/")
        yield from (f"index/overlays/{name}" for name in (entry.live_file, entry.prior_file) if name)
    if manifest.summary:
        yield from (f"index/summaries/{name}" for name in (manifest.summary.words, manifest.summary.pages))


def _ranks(folder: Path) -> Iterator[str]:
    meta = RankStore(folder / "ranks").meta()
    if meta is not None:
        yield "ranks/current.json"
        yield from LocalFiles(folder).names(f"ranks/{meta.generation}/")


def _others(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        if path.name in PARTS | LEFT_OUT or path.name.startswith((STATE_FILE, "state.rebuilding", ".tmp-")):
            continue
        if path.is_dir():
            yield from LocalFiles(folder).names(f"{path.name}/")
        elif path.is_file() and not path.name.endswith(TRANSIENT):
            yield path.name


class _Holder:
    """Opens files and keeps them open."""

    def __init__(self, folder: Path, is_known: IsKnown) -> None:
        self._folder = folder
        self._is_known = is_known
        self._descriptors: list[int] = []
        self._most = _most_descriptors()
        self.files: list[CapturedFile] = []

    def take_together(self, named: Callable[[], Iterator[str]]) -> None:
        """Take files of which the first names all others; again when it was replaced on the way."""
        for _ in range(ATTEMPTS):
            before, opened = len(self.files), len(self._descriptors)
            try:
                names = list(named())
                for name in names:
                    self.take(name)
                if list(named()) == names:
                    return
            except _Gone:
                pass
            self._forget(before, opened)
        raise NotReady(f"{self._folder} is replaced faster than it can be read; try again")

    def take(self, name: str) -> None:
        self.hold(name, self._folder / name)

    def hold(self, name: str, path: Path, *, stamped: bool = True) -> None:
        descriptor, stamp = self._opened(path)
        size = os.fstat(descriptor).st_size
        if stamped and self._is_known(name, stamp):
            os.close(descriptor)
            self.files.append(CapturedFile(name, size, stamp, None))
            return
        self._descriptors.append(descriptor)
        self.files.append(CapturedFile(name, size, stamp if stamped else "", partial(_read, descriptor)))

    def take_archive(self, name: str, length: int) -> None:
        """An archive file up to what was committed, all of one that is thinned; only takedowns change that part."""
        descriptor, stamp = self._opened(self._folder / name)
        with open(descriptor, "rb", closefd=False) as file:
            size = os.fstat(descriptor).st_size if archive.is_thinned(file) else length
        stamp = f"{stamp} {size}" if stamp else ""
        if self._is_known(name, stamp):
            os.close(descriptor)
            self.files.append(CapturedFile(name, size, stamp, None, is_archive=True))
            return
        self._descriptors.append(descriptor)
        self.files.append(CapturedFile(name, size, stamp, partial(_read, descriptor), is_archive=True))

    def close(self) -> None:
        self._forget(0, 0)

    def _opened(self, path: Path) -> tuple[int, str]:
        if len(self._descriptors) >= self._most:
            raise OverBudget(
                f"{self._most:,} files are open and more are needed for one moment of the collection;"
                " raise the limit (ulimit -n) and run it again"
            )
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise _Gone from error
        status = os.fstat(descriptor)
        if time.time() - status.st_mtime < YOUNG:
            return descriptor, ""
        return descriptor, f"{status.st_ino} {status.st_mtime_ns} {status.st_size}"

    def _forget(self, files: int, descriptors: int) -> None:
        for descriptor in self._descriptors[descriptors:]:
            os.close(descriptor)
        del self.files[files:], self._descriptors[descriptors:]


def _read(descriptor: int, offset: int, length: int) -> bytes:
    return os.pread(descriptor, length, offset)


def _most_descriptors() -> int:
    """How many files may be open; the limit of this process is raised as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    return max(soft - SPARE_FILES, SPARE_FILES)
