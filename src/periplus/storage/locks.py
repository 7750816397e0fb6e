"""A lock on a folder that the operating system lets go when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.errors import StorageBusy, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAUSE = 0.05  # seconds between two tries of who waits


class LockHolder(Struct, frozen=True):
    """Who holds a lock, as it wrote into the file."""

    process: int = 0
    address: str = ""  # of the pages that it serves

    def __str__(self) -> str:
        where = f", {self.address}" if self.address else ""
        return f" (process {self.process}{where})" if self.process else ""


class HeldLock:
    """A lock that is ours; ``serves`` adds the address of our pages to what others read."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._write(LockHolder(os.getpid()))

    def serves(self, address: str) -> None:
        self._write(LockHolder(os.getpid(), address))

    def _write(self, holder: LockHolder) -> None:
        """As well as the disk allows: the lock holds without it."""
        text = msgspec.json.encode(holder)
        with suppress(OSError):
            os.pwrite(self._handle, text, 0)
            os.ftruncate(self._handle, len(text))


def holder_of(path: Path) -> LockHolder | None:
    """Who holds the lock now; none when it is free."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(path)
    else:
        return None
    finally:
        os.close(handle)


def _read(path: Path) -> LockHolder:
    try:
        return msgspec.json.decode(path.read_bytes(), type=LockHolder)
    except (OSError, msgspec.DecodeError):
        return LockHolder()


@contextmanager
def folder_lock(path: Path, doing: str) -> Iterator[HeldLock]:
    """Hold ``path`` alone while ``doing`` something; raises ``StorageBusy`` when another process has it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageError(f"{path} cannot be opened: {error.strerror}; check the folder's owner") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StorageBusy(
                f"another process is {doing} in {path.parent}{_read(path)}; wait for it or stop it"
            ) from error
        yield HeldLock(handle)
    finally:
        os.close(handle)


@contextmanager
def awaited_lock(path: Path, doing: str, seconds: float) -> Iterator[HeldLock]:
    """Hold ``path`` alone, after waiting for who has it; raises ``StorageBusy`` when that takes more ``seconds``."""
    limit = time.monotonic() + seconds
    with ExitStack() as held:
        while True:
            try:
                lock = held.enter_context(folder_lock(path, doing))
                break
            except StorageBusy:
                if time.monotonic() > limit:
                    raise
            time.sleep(PAUSE)
        yield lock
