"""The state database in one file, by SQLite in WAL mode.

Durability: ``synchronous=FULL`` makes every commit wait until the WAL is on the disk, so an acknowledged commit
survives kill -9 and, where the disk tells the truth about its cache, loss of power. Group commits keep the price
low: one fsync a transaction. WAL needs shared memory between processes, so the file must be on a local disk.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time
from typing import TYPE_CHECKING, Any

from periplus.errors import Corrupt, DatabaseBusy, Incompatible, NotFound, PeriplusError, StorageError, StorageFull
from periplus.storage.read_only import ReadOnlyFile, cannot_be_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from periplus.storage.backend import Row

WRITER_CACHE_KIB = 96 * 1024  # of pages; the frontier's index pages are hot
READER_CACHE_KIB = 8 * 1024
# A commit folds the WAL in when it is as large as the file itself, within these bounds: pages that are written often
# are then folded in once, and the log of a small collection stays small.
LEAST_WAL, MOST_WAL = 4 * 1024 * 1024, 128 * 1024 * 1024  # bytes
FOLDING_MS = 250  # that a commit waits for readers of older pages; they come and go, few stay
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 32.0  # seconds until the next try, doubled while a reader stays
OLDEST_SQLITE = (3, 35)  # RETURNING
CACHED_STATEMENTS = 256
_PRIMARY_CODE = 0xFF  # an extended result code carries its primary code in the low byte
_LEAST_ROOM = 32_768  # bytes: what the shared memory beside a database takes at first


class SqliteBackend:
    dialect = "sqlite"
    errors: tuple[type[Exception], ...] = (sqlite3.Error, OverflowError, UnicodeEncodeError)
    types = {  # noqa: RUF012 (constant by convention, typed by the protocol)
        "int": "INTEGER",
        "real": "REAL",
        "text": "TEXT",
        "blob": "BLOB",
        "identity": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "clustered": "WITHOUT ROWID",
    }
    row_lock = ""  # a write transaction already holds the whole database
    single_writer = True
    most_parameters = 32_766  # SQLITE_MAX_VARIABLE_NUMBER since 3.32

    def __init__(self, path: Path, busy_seconds: float) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise Incompatible(f"SQLite {sqlite3.sqlite_version} is too old; use a Python built with 3.35 or later")
        self.path = path
        self.busy_seconds = busy_seconds
        self._only: ReadOnlyFile | None = None  # where this process may not write
        self._wal = path.with_name(f"{path.name}-wal")
        self._next_folding = self._pause = 0.0

    @property
    def name(self) -> str:
        return str(self.path)

    def create(self) -> None:
        """Make an empty file where there is none, for the first connection."""
        if not self.path.parent.is_dir():
            raise NotFound(f"{self.path.parent} is not a folder; create it before the database in it is opened")
        if self.path.exists():
            return
        try:
            self.path.touch()
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}; check the folder's owner and the disk") from error

    def connect(self, *, writable: bool) -> sqlite3.Connection:
        if self._only is None and cannot_be_written(self.path):
            self._only = ReadOnlyFile(self.path)
        if self._only is not None and writable:
            raise StorageError(f"{self.path} cannot be written to; mend the rights on it and its folder, or copy them")
        connection = sqlite3.connect(
            # One that vanished meanwhile is not made again, empty.
            self._only.uri if self._only is not None else f"{self.path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=self.busy_seconds,
            isolation_level=None,  # transactions begin and end only where we say so
            check_same_thread=False,  # the pool hands a connection to one thread at a time
            cached_statements=CACHED_STATEMENTS,
        )
        try:
            self._prepare(connection, writable=writable)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection, *, writable: bool) -> None:
        if self._only is None:
            self._use_wal(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA case_sensitive_like=ON")  # as PostgreSQL has it
        connection.execute("PRAGMA wal_autocheckpoint=0")  # ``committed`` does that, and cuts the file off
        connection.execute(f"PRAGMA cache_size=-{WRITER_CACHE_KIB if writable else READER_CACHE_KIB}")
        if not writable:
            connection.execute("PRAGMA query_only=ON")

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Switching a new file to WAL needs it alone for a moment, and SQLite does not wait for that by itself."""
        deadline = time.monotonic() + self.busy_seconds
        while True:
            try:
                if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal":
                    return
            except sqlite3.OperationalError as error:
                if not _is_busy(error):
                    raise
            if time.monotonic() > deadline:
                raise DatabaseBusy(f"{self.path} is held by another process; try again when it has ended")
            time.sleep(0.01)

    def usable(self, connection: sqlite3.Connection) -> bool:
        try:
            return not connection.in_transaction
        except sqlite3.ProgrammingError:  # closed
            return False

    def begin(self, connection: sqlite3.Connection, *, writable: bool) -> None:
        connection.execute("BEGIN IMMEDIATE" if writable else "BEGIN")

    def commit(self, connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")

    def committed(self, connection: sqlite3.Connection) -> None:
        """Keep the WAL within its bounds. SQLite's own way only begins it anew where no reader is in its way at that
        very moment, which with readers that overlap is never, and leaves the file as long as it once was.
        """
        if time.monotonic() < self._next_folding:
            return
        try:
            if self._wal.stat().st_size <= min(max(self.path.stat().st_size, LEAST_WAL), MOST_WAL):
                return
            is_done = self._folded(connection, FOLDING_MS)
        except (OSError, sqlite3.Error):
            is_done = False  # the commit itself is safe; what a full disk keeps from being folded in stays where it is
        self._pause = 0.0 if is_done else min(max(2 * self._pause, FIRST_PAUSE), LONGEST_PAUSE)
        self._next_folding = time.monotonic() + self._pause

    def _folded(self, connection: sqlite3.Connection, patience_ms: int) -> bool:
        """Fold all of the WAL into the file and empty it; False when a reader still needs it."""
        connection.execute(f"PRAGMA busy_timeout={patience_ms}")
        try:
            return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            connection.execute(f"PRAGMA busy_timeout={int(self.busy_seconds * 1000)}")

    def rollback(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def close(self, connection: sqlite3.Connection) -> None:
        connection.close()

    def run(self, connection: sqlite3.Connection, sql: str, arguments: Sequence[Any]) -> tuple[int, list[Row]]:
        cursor = connection.execute(sql, arguments)
        found = cursor.fetchall()
        return max(cursor.rowcount, 0), found

    def end_sessions(self, connection: sqlite3.Connection, process: str) -> int:
        """A file has no sessions; what a frozen process locked is free when it ends."""
        return 0

    def run_each(self, connection: sqlite3.Connection, sql: str, arguments: Sequence[Sequence[Any]]) -> list[list[Row]]:
        return [connection.execute(sql, values).fetchall() for values in arguments]

    def run_many(self, connection: sqlite3.Connection, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        connection.executemany(sql, rows)

    def insert_bulk(
        self,
        connection: sqlite3.Connection,
        table: str,
        columns: tuple[str, ...],
        rows: Sequence[Sequence[Any]],
        conflict: str,
    ) -> list[Row] | None:
        return None

    def stream(self, connection: sqlite3.Connection, sql: str, arguments: Sequence[Any], size: int) -> Iterator[Row]:
        with contextlib.closing(connection.execute(sql, arguments)) as cursor:
            cursor.arraysize = size
            while found := cursor.fetchmany():
                yield from found

    def lock_migrations(self, connection: sqlite3.Connection) -> None:
        """BEGIN IMMEDIATE is that lock."""

    def has_table(self, connection: sqlite3.Connection, table: str) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        return connection.execute(sql, (table,)).fetchone() is not None

    def checkpoint(self, connection: sqlite3.Connection) -> None:
        self._folded(connection, int(self.busy_seconds * 1000))

    def check(self, connection: sqlite3.Connection) -> list[str]:
        found = [str(line) for (line,) in connection.execute("PRAGMA quick_check(20)")]
        return [] if found == ["ok"] else found

    def translated(self, error: Exception) -> PeriplusError:
        code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
        if _is_busy(error):
            return DatabaseBusy(f"{self.path} is held by another process for over {self.busy_seconds:g} s; try again")
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(self.path)):
            return StorageFull(f"no space left for {self.path}; free some and start again, what was committed is kept")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            advice = "periplus doctor --repair builds it again from the stored files"
            return Corrupt(f"{self.path} is damaged or not a database ({error}); {advice}")
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return StorageError(
                f"{self.path}: {error}; check the disk (rights, quota, limits, health); what was committed is kept"
            )
        return StorageError(f"{self.path}: {error}")


def _is_full(path: Path) -> bool:
    """Whether the disk has no room at all: then SQLite cannot make the files beside its own, and does not say why."""
    try:
        return shutil.disk_usage(path.parent).free < _LEAST_ROOM
    except OSError:
        return False


def _is_busy(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
