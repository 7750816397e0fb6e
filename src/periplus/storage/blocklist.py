"""What the operator has blocked: hosts and addresses that are hidden from results and not crawled any more.

Nothing of them is deleted, so to take a name off the list undoes it. Searches and crawls read a file, which is looked
at again when it changed, in every process. A list that cannot be read, or that is missing though hosts were blocked
here, is an error of whoever asks: what must not be shown is not shown by mistake.

Rows of the state say the same to the servers of other machines. The file is a copy of them, with a checksum; a file
without one was written by hand, or by an earlier version, and becomes the rows.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from periplus.errors import AlreadyThere, Corrupt, OverBudget, StorageError
from periplus.storage.locks import folder_lock
from periplus.storage.sealing import sealed, unsealed
from periplus.storage.shared import TAKEN, mark_taken, note_change

if TYPE_CHECKING:
    from periplus.storage.database import Database, Transaction
    from periplus.storage.files import LocalFiles
    from periplus.storage.shared import State

FILE_NAME = "blocked.json"
LOCK = "blocked.lock"
BLOCKED = "blocked"
MOST = 100_000  # hosts and addresses
ADVICE = "restore it from a backup, or write {} into it, which blocks nothing, and block again"
DOING = "changing the list of blocked hosts"

Times = dict[str, float]  # since when each is blocked
Stamp = tuple[int, int, int] | None  # of the file: when it was written, which one it is, its size


class Blocklist:
    """The list of one collection; safe for several threads and processes."""

    shares = BLOCKED

    def __init__(self, files: LocalFiles, state: State | None = None) -> None:
        """Without a ``state`` the file is all there is."""
        self._files = files
        self._state = state
        self._path, self._lock = files.path(FILE_NAME), files.path(LOCK)
        self._read: tuple[Stamp, frozenset[str]] = (None, frozenset())
        self._heard: frozenset[str] = frozenset()  # of the rows, where the file could not be written
        self._shared: Stamp | bool = False  # the file as it agreed with the rows

    def targets(self) -> frozenset[str]:
        """Hosts, and addresses in canonical form; the same object until the list changes."""
        stamp = self._stamp()
        if stamp is None:
            return frozenset(self._missing()) | self._heard
        if stamp != self._read[0]:
            self._read = (stamp, frozenset(self._times()) | self._heard)
        return self._read[1]

    def add(self, *targets: str) -> None:
        self._begin({})
        with folder_lock(self._lock, DOING):
            self._change(put=dict.fromkeys(targets, time.time()))

    def discard(self, *targets: str) -> bool:
        """Take names off the list; whether one of them was on it."""
        if not self._was_begun:
            return False
        with folder_lock(self._lock, DOING):
            return self._change(drop=targets)

    def share(self, *, changed: bool) -> None:
        """Make the file a copy of the rows, and rows of a file that was written by hand."""
        stamp = self._stamp()
        if self._state is None or (not changed and stamp == self._shared):
            return
        database = self._state()
        rows = _rows_of(database)
        try:
            if self._written() != (rows, True):
                self._begin(rows)
                with folder_lock(self._lock, DOING):
                    self._copy(self._agreed(database))
        except StorageError:
            self._hear(frozenset(rows))
            raise
        self._hear(frozenset())
        self._shared = stamp if stamp == self._stamp() else False

    @staticmethod
    def take_again(tx: Transaction) -> None:
        """In a state that was lost: its rows are made once more of the file, which is a copy of what they were."""
        tx.execute("DELETE FROM meta WHERE key = ?", (TAKEN + FILE_NAME,))

    def _hear(self, targets: frozenset[str]) -> None:
        if targets != self._heard:
            self._heard = targets
            self._read = (None, frozenset())

    def _begin(self, kept: Times) -> None:
        """The list comes before its lock, so that a lock without a list means that it was lost."""
        if not self._was_begun:
            with suppress(AlreadyThere):
                self._files.write(FILE_NAME, sealed(kept), new=True)

    def _change(self, put: Times | None = None, drop: tuple[str, ...] = ()) -> bool:
        """Rows first, then the file; a crash in between is made good by the next ``share``."""
        if self._state is None:
            before = self._times()
            after = _changed(before, put or {}, drop)
        else:
            database = self._state()
            self._agreed(database)
            with database.write() as tx:
                note_change(tx, BLOCKED)
                before = _rows(tx)
                after = _changed(before, put or {}, drop)
                _replace(tx, before, after)
        self._copy(after)
        return after != before

    def _agreed(self, database: Database) -> Times:
        """The rows, after a file that is not a copy of them has become them."""
        times, is_copy = self._written()
        with database.write() as tx:
            rows = _rows(tx)
            if mark_taken(tx, FILE_NAME):
                wanted = {**rows, **(times if times is not None else self._times())}
            elif times is None or is_copy:
                return rows
            else:
                wanted = times
            _replace(tx, rows, wanted)
            note_change(tx, BLOCKED)
            return wanted

    def _written(self) -> tuple[Times | None, bool]:
        """What the file says, if it can be read, and whether Periplus wrote it."""
        try:
            data = self._files.read(FILE_NAME) if self._path.exists() else None
            return (self._missing(), True) if data is None else (unsealed(data, Times), True)
        except Corrupt:
            with suppress(Corrupt):
                return self._times(), False
            return None, False

    def _copy(self, kept: Times) -> None:
        """Write the file where it is not the copy of these already."""
        if self._written() != (kept, True):
            self._files.write(FILE_NAME, sealed(kept))

    def _stamp(self) -> Stamp:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"{self._path} cannot be read: {error.strerror}; check the folder's owner") from error
        return status.st_mtime_ns, status.st_ino, status.st_size

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


def _rows_of(database: Database) -> Times:
    with database.read() as tx:
        return _rows(tx)


def _rows(tx: Transaction) -> Times:
    return dict(tx.rows("SELECT target, since FROM blocked"))


def _changed(before: Times, put: Times, drop: tuple[str, ...]) -> Times:
    after = {**put, **{target: since for target, since in before.items() if target not in drop}}
    if len(after) > MOST and len(after) > len(before):
        raise OverBudget(f"{MOST:,} hosts and addresses are blocked; crawl.banned_hosts takes longer lists")
    return after


def _replace(tx: Transaction, before: Times, after: Times) -> None:
    tx.executemany("DELETE FROM blocked WHERE target = ?", [(target,) for target in before if target not in after])
    tx.insert_new("blocked", ("target", "since"), [row for row in after.items() if row[0] not in before], "target")
