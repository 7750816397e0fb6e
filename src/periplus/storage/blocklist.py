"""What the operator has blocked: hosts and addresses that are hidden from results and not crawled any more.

Nothing of them is deleted, so to take a name off the list undoes it. A file of its own, read by crawls and by searches
alike; it is looked at again when it changed, in every process.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from periplus.errors import Corrupt, OverBudget
from periplus.storage.locks import folder_lock

if TYPE_CHECKING:
    from periplus.storage.files import LocalFiles

FILE_NAME = "blocked.json"
LOCK = "blocked.lock"
MOST = 100_000  # hosts and addresses


class Blocklist:
    """The list of one collection; safe for several threads and processes."""

    def __init__(self, files: LocalFiles) -> None:
        self._files = files
        self._path = files.path(FILE_NAME)
        self._read: tuple[tuple[int, int, int] | None, frozenset[str]] = (None, frozenset())

    def targets(self) -> frozenset[str]:
        """Hosts, and addresses in canonical form; the same object until the list changes."""
        try:
            status = self._path.stat()
        except OSError:
            return self._read[1] if self._read[0] is None else self._forgotten()
        stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
        if stamp != self._read[0]:
            self._read = (stamp, frozenset(self._times()))
        return self._read[1]

    def add(self, *targets: str) -> None:
        with folder_lock(self._files.path(LOCK), "changing the list of blocked hosts"):
            kept = {**dict.fromkeys(targets, time.time()), **self._times()}
            if len(kept) > MOST:
                raise OverBudget(f"{MOST:,} hosts and addresses are blocked; crawl.banned_hosts takes longer lists")
            self._write(kept)

    def discard(self, *targets: str) -> bool:
        """Take names off the list; whether one of them was on it."""
        with folder_lock(self._files.path(LOCK), "changing the list of blocked hosts"):
            before = self._times()
            kept = {target: at for target, at in before.items() if target not in targets}
            if len(kept) < len(before):
                self._write(kept)
        return len(kept) < len(before)

    def _forgotten(self) -> frozenset[str]:
        self._read = (None, frozenset())
        return self._read[1]

    def _write(self, kept: dict[str, float]) -> None:
        self._files.write(FILE_NAME, msgspec.json.encode(kept))

    def _times(self) -> dict[str, float]:
        """Since when each is blocked."""
        if not self._path.exists():
            return {}
        try:
            return msgspec.json.decode(self._files.read(FILE_NAME), type=dict[str, float])
        except msgspec.DecodeError as error:
            raise Corrupt(f"{self._path} is damaged ({error}); move it away and block again") from error
