"""Between the folder of one machine and the object store of all: files are pushed as objects, and pulled as copies.

On many machines the folder of a collection is a working copy. A file is pushed whole under a name that is never used
again, then a row that names it makes it visible. Whoever needs it pulls it by what the row says: bytes and checksum.

Beside the files, in ``.depot``, stands a note for each one that is a copy of an object: of which, and when somebody
looked for it last. Only files with a note are ever removed to make room. One that was lost is made anew by reading the
file.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec
import xxhash
from msgspec import Struct

from periplus.errors import Corrupt, NotFound
from periplus.storage.files import TEMPORARY_PREFIX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from periplus.storage.files import LocalFiles
    from periplus.storage.objects import Objects

NOTES: Final = ".depot"
LOCKS: Final = 64
IDLE_SECONDS: Final = 600.0  # a copy that was looked for since is not removed: somebody may be about to open it
TRIES: Final = 2  # of a download whose checksum is wrong
_READ_BYTES: Final = 1 << 20
_NOTE_SUFFIX: Final = ".json"


class Stored(Struct, frozen=True):
    """An object as a row names it."""

    name: str
    bytes: int
    digest: str

    def encode(self) -> str:
        """As the text of a column."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decode(cls, text: str) -> Stored:
        try:
            return msgspec.json.decode(text, type=cls)
        except msgspec.MsgspecError as error:
            raise Corrupt(f"{text[:100]!r} does not name an object: {error}; the state is damaged") from error


class _Note(Struct, frozen=True):
    """What a local file is a copy of, as long as it has that time of change."""

    stored: Stored
    changed: int


class Depot:
    """Pushes and pulls files; may be used from many threads and processes, and be sent to other processes."""

    def __init__(self, files: LocalFiles, objects: Objects) -> None:
        self.files = files
        self.objects = objects

    def push(self, local_name: str, object_name: str = "") -> Stored:
        """Upload a local file under a name that nothing else ever has; durable when it returns."""
        path = self.files.path(local_name)
        if not path.is_file():
            raise NotFound(f"{path} does not exist")
        stored = Stored(object_name or local_name, path.stat().st_size, digest_of(path))
        self.objects.put(stored.name, path)
        with self._locked(local_name):
            self._note(local_name, stored)
        return stored

    def pull(self, stored: Stored, local_name: str = "") -> Path:
        """The local copy of an object, downloaded unless it is there already."""
        name = local_name or stored.name
        path = self.files.path(name)
        with self._locked(name):
            if not self._is_there(name, stored):
                self._download(name, stored)
                self._note(name, stored)
        return path

    def has(self, stored: Stored, local_name: str = "") -> bool:
        """Whether ``pull`` would find the copy there; asks nothing of the store."""
        name = local_name or stored.name
        with self._locked(name):
            return self._is_there(name, stored)

    def drop(self, local_name: str) -> None:
        """Remove a local copy; what is not there, or is no copy, stays as it is."""
        with self._locked(local_name):
            if self._noted(local_name) is not None:
                self._forget(local_name)

    def scratch_name(self) -> str:
        """Of a local file that is nobody else's, to be pushed under another name and dropped."""
        (self.files.root / NOTES).mkdir(parents=True, exist_ok=True)
        return f"{NOTES}/{secrets.token_hex(8)}"

    def copies(self, prefix: str = "") -> dict[str, Stored]:
        """The copies below ``prefix`` by their local names, and what they are copies of."""
        noted = ((name, self._noted(name)) for name in self._copies(prefix))
        return {name: note.stored for name, note in noted if note is not None}

    def retain(self, prefix: str, named: Collection[str]) -> list[str]:
        """Remove copies below ``prefix`` of objects that no row names any more; their local names."""
        gone = [name for name, stored in self.copies(prefix).items() if stored.name not in named]
        for name in gone:
            self.drop(name)
        return gone

    def forget_removed(self, prefix: str) -> None:
        """Forget copies below ``prefix`` whose files somebody else removed."""
        for name in self._copies(prefix):
            with self._locked(name):
                if not self.files.exists(name):
                    self._forget(name)

    def shrink(
        self,
        limit_bytes: int,
        keep: Collection[str] = (),
        idle_seconds: float = IDLE_SECONDS,
        prefixes: Sequence[str] = ("",),
    ) -> list[str]:
        """Remove the copies that were looked for least recently until ``limit_bytes`` are left; their local names.

        Those in ``keep``, and those looked for in the last ``idle_seconds``, stay whatever the limit. Only copies below
        ``prefixes`` count and go.
        """
        names = [name for prefix in prefixes for name in self._copies(prefix)]
        copies = [(used, size, name) for name in names for used, size in self._use(name)]
        left = sum(size for _, size, _ in copies)
        before = time.time() - idle_seconds
        removed = []
        for used, size, name in sorted(copies):
            if left <= limit_bytes or used > before:
                break
            if name not in keep:
                self.drop(name)
                removed.append(name)
                left -= size
        return removed

    # Copies

    def _is_there(self, name: str, stored: Stored) -> bool:
        path = self.files.path(name)
        try:
            status = path.stat()
        except OSError:
            return False
        if status.st_size != stored.bytes:
            return False
        note = self._noted(name)
        if note is not None and note.changed == status.st_mtime_ns and note.stored == stored:
            self._touch(name)
            return True
        if digest_of(path) != stored.digest:
            return False
        self._note(name, stored)
        return True

    def _download(self, name: str, stored: Stored) -> None:
        for left in reversed(range(TRIES)):
            try:
                with self.files.create(name) as temporary:
                    self.objects.download(stored.name, temporary)
                    self._check(name, stored, temporary)
            except Corrupt:
                if not left:
                    raise
            else:
                return

    def _check(self, name: str, stored: Stored, path: Path) -> None:
        if path.stat().st_size != stored.bytes or digest_of(path) != stored.digest:
            raise Corrupt(
                f"{self.objects.address}/{stored.name} is not what was written there; periplus doctor looks into it",
                part=name.partition("/")[0],
            )

    def _forget(self, name: str) -> None:
        """The file first: a note without a file does no harm."""
        self.files.path(name).unlink(missing_ok=True)
        self._note_path(name).unlink(missing_ok=True)

    # Notes

    def _note_path(self, name: str) -> Path:
        return self.files.path(f"{NOTES}/{name}{_NOTE_SUFFIX}")

    def _note(self, name: str, stored: Stored) -> None:
        """Not flushed: one that is lost costs a reading of the file."""
        path = self._note_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}")
        temporary.write_bytes(msgspec.json.encode(_Note(stored, self.files.path(name).stat().st_mtime_ns)))
        temporary.replace(path)

    def _noted(self, name: str) -> _Note | None:
        try:
            return msgspec.json.decode(self._note_path(name).read_bytes(), type=_Note)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None

    def _touch(self, name: str) -> None:
        try:
            os.utime(self._note_path(name))
        except OSError:
            return

    def _copies(self, prefix: str) -> list[str]:
        names = self.files.names(f"{NOTES}/{prefix}")
        return [
            name.removeprefix(f"{NOTES}/").removesuffix(_NOTE_SUFFIX) for name in names if name.endswith(_NOTE_SUFFIX)
        ]

    def _use(self, name: str) -> list[tuple[float, int]]:
        """When a copy was looked for last, and its bytes; nothing when it is gone."""
        try:
            return [(self._note_path(name).stat().st_mtime, self.files.path(name).stat().st_size)]
        except OSError:
            return []

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """One process and thread at a time looks after a name; the lock ends with its holder."""
        path = self.files.path(f"{NOTES}/locks/{xxhash.xxh3_64_intdigest(name.encode()) % LOCKS:02d}")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def digest_of(path: Path) -> str:
    """The checksum of a file, as rows have it."""
    digest = xxhash.xxh3_128()
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            digest.update(data)
    return digest.hexdigest()
