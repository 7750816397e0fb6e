"""Files of a collection under one root, written so that a reader sees the old file or the whole new one.

A write goes to a temporary file in the same folder, is flushed to the disk, and is renamed into place; the folder is
flushed too, so a write that returned survives kill -9 and loss of power. What a crash leaves behind is a temporary file
that no reader sees and ``sweep`` removes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from periplus.errors import AlreadyThere, NotFound, StorageError, StorageFull, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPORARY_PREFIX = ".tmp-"
# EFBIG: the limit of a process or file system on the size of one file.
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})  # file systems without hard links


class LocalFiles:
    """Files by name ("documents/00000001.parquet") in a folder of the local disk."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()

    def path(self, name: str) -> Path:
        """Where the file of that name is or would be; a name that leads out of the root is refused."""
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\0" in name:
            raise UsageError(f"{name!r} is not a file name inside {self.root}; use a relative path without '..'")
        path = self.root.joinpath(*parts)
        if not path.parent.resolve().is_relative_to(self.root):
            raise UsageError(f"{name!r} leads out of {self.root} through a symbolic link")
        return path

    def write(
        self, name: str, data: bytes | bytearray | memoryview, *, new: bool = False, durable: bool = True
    ) -> None:
        """Put ``data`` under ``name``, replacing what was there unless it must be ``new``.

        It survives loss of power when this returns, unless it need not be ``durable``.
        """
        with self.create(name, new=new, durable=durable) as temporary, temporary.open("wb") as file:
            file.write(data)

    @contextmanager
    def create(self, name: str, *, new: bool = False, durable: bool = True) -> Iterator[Path]:
        """A temporary path for a writer of any kind; becomes ``name`` when the block ends without an error.

        A file that must be ``new`` never takes the place of another one: ``AlreadyThere``. Working files that can be
        made again need not be ``durable``: loss of power may then leave them short or empty, kill -9 does not.
        """
        path = self.path(name)
        temporary = path.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}-{path.name}")
        with disk_errors(path):
            self._make_folder(path.parent)
            with _held(temporary):
                yield temporary
                if durable:
                    sync(temporary)
                (_place if new else Path.replace)(temporary, path)
                if durable:
                    sync(path.parent)

    def read(self, name: str) -> bytes:
        path = self.path(name)
        with disk_errors(path):
            return path.read_bytes()

    def exists(self, name: str) -> bool:
        return self.path(name).is_file()

    def size(self, name: str) -> int:
        path = self.path(name)
        with disk_errors(path):
            return path.stat().st_size

    def names(self, prefix: str = "") -> list[str]:
        """Names that begin with ``prefix``, sorted; temporary files are not among them."""
        folder = prefix.rpartition("/")[0]
        start = self.path(folder) if folder else self.root
        found = (path.relative_to(self.root).as_posix() for path in _files_below(start) if not _is_temporary(path))
        return sorted(name for name in found if name.startswith(prefix))

    def remove(self, name: str) -> None:
        """Remove a file, durably; one that is not there is ``NotFound``."""
        path = self.path(name)
        with disk_errors(path):
            path.unlink()
            sync(path.parent)

    def sweep(self) -> list[str]:
        """Remove temporary files whose writers have died; their names."""
        swept = []
        for path in _files_below(self.root):
            if _is_temporary(path) and _is_abandoned(path):
                with disk_errors(path):
                    path.unlink(missing_ok=True)
                swept.append(path.relative_to(self.root).as_posix())
        return sorted(swept)

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def make_private_folder(folder: Path) -> None:
    """Make the folder of a collection where it is missing, for its owner alone; one that is there stays as it is.

    A collection holds the operator's key and what visitors searched for. Folders above it get the usual rights.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _files_below(folder: Path) -> Iterator[Path]:
    for base, _, names in os.walk(folder):
        yield from (Path(base, name) for name in names)


def _is_temporary(path: Path) -> bool:
    return path.name.startswith(TEMPORARY_PREFIX)


@contextmanager
def _held(temporary: Path) -> Iterator[None]:
    """Make the temporary file and hold a lock on it, which the kernel lets go when this process dies."""
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)  # nothing is left of it when it was renamed


def _is_abandoned(temporary: Path) -> bool:
    try:
        descriptor = os.open(temporary, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # renamed or removed just now, or not ours to read
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _place(temporary: Path, path: Path) -> None:
    """Give a file a name that no other has."""
    try:
        try:
            os.link(temporary, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            path.touch(exist_ok=False)  # the name is ours from here on; a crash leaves it empty
            temporary.replace(path)
    except FileExistsError as error:
        raise AlreadyThere(
            f"{path} is there already and is not overwritten; periplus doctor compares the files with the state"
        ) from error


def sync(path: Path) -> None:
    """Make what a file holds, or the names in a folder, survive a crash."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def reserve(path: Path, size: int) -> None:
    """Make a file of ``size`` bytes that has its room on the disk.

    For files that are mapped to be written: in one that has only its length, a full disk ends the process by a signal.
    """
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.ftruncate(descriptor, size)
            os.posix_fallocate(descriptor, 0, size)
        finally:
            os.close(descriptor)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Errors of the operating system about ``path``, as ours."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(f"{error.filename or path} does not exist") from error
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise StorageFull(f"no space left for {path}; free some and start again, what was there is kept") from error
        raise StorageError(f"{path}: {error.strerror or error}; check the disk and the rights on it") from error
