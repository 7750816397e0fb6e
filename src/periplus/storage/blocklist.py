"""What the operator has blocked: hosts and addresses that are hidden from results and not crawled any more.

Nothing of them is deleted, so to take a name off the list undoes it. A file of its own, read by crawls and by searches
alike; it is looked at again when it changed, in every process. A list that cannot be read, or that is missing though
hosts were blocked here, is an error of whoever asks: what must not be shown is not shown by mistake.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from periplus.errors import AlreadyThere, Corrupt, OverBudget, StorageError
from periplus.storage.locks import folder_lock
from periplus.storage.sealing import sealed, unsealed

if TYPE_CHECKING:
    from periplus.storage.files import LocalFiles

FILE_NAME = "blocked.json"
LOCK = "blocked.lock"
MOST = 100_000  # hosts and addresses
ADVICE = "restore it from a backup, or write {} into it, which blocks nothing, and block again"

Times = dict[str, float]  # since when each is blocked


class Blocklist:
    """The list of one collection; safe for several threads and processes."""

    def __init__(self, files: LocalFiles) -> None:
        self._files = files
        self._path, self._lock = files.path(FILE_NAME), files.path(LOCK)
        self._read: tuple[tuple[int, int, int] | None, frozenset[str]] = (None, frozenset())

    def targets(self) -> frozenset[str]:
        """Hosts, and addresses in canonical form; the same object until the list changes."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return frozenset(self._missing())
        except OSError as error:
            raise StorageError(f"{self._path} cannot be read: {error.strerror}; check the folder's owner") from error
        stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
        if stamp != self._read[0]:
            self._read = (stamp, frozenset(self._times()))
        return self._read[1]

    def add(self, *targets: str) -> None:
        if not self._was_begun:
            with suppress(AlreadyThere):
                self._files.write(FILE_NAME, sealed({}), new=True)
        with folder_lock(self._lock, "changing the list of blocked hosts"):
            kept = {**dict.fromkeys(targets, time.time()), **self._times()}
            if len(kept) > MOST:
                raise OverBudget(f"{MOST:,} hosts and addresses are blocked; crawl.banned_hosts takes longer lists")
            self._write(kept)

    def discard(self, *targets: str) -> bool:
        """Take names off the list; whether one of them was on it."""
        if not self._was_begun:
            return False
        with folder_lock(self._lock, "changing the list of blocked hosts"):
            before = self._times()
            kept = {target: at for target, at in before.items() if target not in targets}
            if len(kept) < len(before):
                self._write(kept)
        return len(kept) < len(before)

    def _write(self, kept: Times) -> None:
        self._files.write(FILE_NAME, sealed(kept))

    def _times(self) -> Times:
        if not self._path.exists():
            return self._missing()
        data = self._files.read(FILE_NAME)
        try:
            return unsealed(data, Times)
        except Corrupt as error:
            return self._unsealed(data, error)

    def _unsealed(self, data: bytes, error: Corrupt) -> Times:
        """A list of an earlier version, or one that was written by hand, carries no checksum."""
        try:
            return msgspec.json.decode(data, type=Times)
        except (msgspec.MsgspecError, ValueError):
            raise Corrupt(f"{self._path} is damaged ({error}); {ADVICE}") from error

    def _missing(self) -> Times:
        """Nothing, where nothing was ever blocked."""
        if self._was_begun:
            raise Corrupt(f"{self._path} is missing, though hosts were blocked here; {ADVICE}")
        return {}

    @property
    def _was_begun(self) -> bool:
        """The lock comes after the first list, and stays."""
        return self._lock.exists()
