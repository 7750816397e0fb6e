"""The state database: everything of a collection that changes, in SQLite or PostgreSQL behind one face.

Invariants:

- All work happens in a transaction: ``with database.write() as tx`` commits when the block ends, rolls back when it
  raises. Leaving the block without an error means that the commit is durable.
- ``read()`` is one consistent snapshot and cannot write.
- A ``Database`` may be used from many threads and, opened in each, from many processes. A transaction belongs to the
  thread that began it. On SQLite one write transaction runs at a time: keep them short.
- Errors are those of ``periplus.errors``.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from periplus.errors import DatabaseBusy, PeriplusError, StorageError
from periplus.storage.sqlite import SqliteBackend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from periplus.storage.backend import DatabaseBackend, Row

BUSY_SECONDS = 30.0
MOST_IDLE = 8  # connections kept open for later, of readers and of writers each
STREAM_ROWS = 1_000
INSERT_ROWS = 200  # of one statement of insert_new
POSTGRESQL = ("postgresql://", "postgres://")


class Transaction:
    """Statements of one transaction; values are given for ``?``, never pasted into the text."""

    def __init__(self, backend: DatabaseBackend, connection: Any) -> None:
        self._backend = backend
        self._connection = connection
        self._open = True
        self._then: list[Callable[[], object]] = []

    @property
    def dialect(self) -> str:
        return self._backend.dialect

    @property
    def row_lock(self) -> str:
        """Suffix of a SELECT in a write transaction that keeps the row from others until the end."""
        return self._backend.row_lock

    def execute(self, sql: str, arguments: Sequence[Any] = ()) -> int:
        """Run a statement; how many rows it touched."""
        return self._run(sql, arguments)[0]

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once a row."""
        with self._guarded():
            self._backend.run_many(self._connection, sql, rows)

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        return self._run(sql, arguments)[1]

    def each(self, sql: str, arguments: Sequence[Sequence[Any]]) -> list[list[Row]]:
        """The rows of a statement for each of ``arguments``; a server gets all of them at once, not one by one."""
        if not arguments:
            return []
        with self._guarded():
            return self._backend.run_each(self._connection, sql, arguments)

    def row(self, sql: str, arguments: Sequence[Any] = ()) -> Row | None:
        """The first row, ``None`` when there is none."""
        return next(iter(self.rows(sql, arguments)), None)

    def value(self, sql: str, arguments: Sequence[Any] = ()) -> Any:
        """The first column of the first row, ``None`` when there is none."""
        found = self.row(sql, arguments)
        return found[0] if found else None

    def stream(self, sql: str, arguments: Sequence[Any] = (), size: int = STREAM_ROWS) -> Iterator[Row]:
        """Rows one by one, holding about ``size`` of them in memory."""
        with self._guarded():
            yield from self._backend.stream(self._connection, sql, arguments, size)

    def insert_new(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], conflict: str) -> list[Any]:
        """Insert the rows whose ``conflict`` column has a new value; these values (of several columns: tuples)."""
        with self._guarded():
            found = self._backend.insert_bulk(self._connection, table, tuple(columns), rows, conflict)
        if found is not None:
            return [key[0] if len(key) == 1 else key for key in found]
        width = len(columns)
        most = max(1, min(INSERT_ROWS, self._backend.most_parameters // width))
        fresh: list[Any] = []
        for start in range(0, len(rows), most):
            part = rows[start : start + most]
            values = [value for row in part for value in row]
            sql = _insert_new_sql(table, tuple(columns), conflict, len(part))
            fresh.extend(key[0] if len(key) == 1 else key for key in self.rows(sql, values))
        return fresh

    def next_number(self, counter: str) -> int:
        """The next of 1, 2, 3 …; transactions that take one commit in the order of their numbers."""
        sql = (
            "INSERT INTO counters (name, value) VALUES (?, 1)"
            " ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value"
        )
        return int(self.value(sql, (counter,)))

    def afterwards(self, step: Callable[[], object]) -> None:
        """Something to do once all this is committed; not done where it is undone."""
        self._then.append(step)

    def _run(self, sql: str, arguments: Sequence[Any]) -> tuple[int, list[Row]]:
        with self._guarded():
            return self._backend.run(self._connection, sql, arguments)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        if not self._open:
            raise StorageError("the transaction has ended; begin a new one")
        with translated_errors(self._backend):
            yield

    def _settle(self) -> None:
        for step in self._then:
            step()

    def _end(self) -> None:
        self._open = False


class Database:
    """One open state database; make one with ``Database.open``."""

    def __init__(self, backend: DatabaseBackend, busy_seconds: float = BUSY_SECONDS) -> None:
        self._backend = backend
        self._busy_seconds = busy_seconds
        self._reset()

    @classmethod
    def open(cls, address: str | Path, busy_seconds: float = BUSY_SECONDS) -> Self:
        """Open ``postgresql://…`` or the SQLite file at a path, made when missing, and migrate it to this version."""
        from periplus.storage.migrations import migrate

        database = cls(_backend(address, busy_seconds), busy_seconds)
        try:
            database.backend.create()
            migrate(database)
        except BaseException:
            database.close()
            raise
        return database

    @property
    def dialect(self) -> str:
        return self._backend.dialect

    @property
    def name(self) -> str:
        """For messages: the path, or the address without its password."""
        return self._backend.name

    @property
    def backend(self) -> DatabaseBackend:
        return self._backend

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A consistent snapshot that cannot write."""
        with self._transaction(writable=False) as transaction:
            yield transaction

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction that is durable when the block ends, and undone when it raises."""
        if getattr(self._local, "writing", False):
            raise StorageError("this thread already has a write transaction open; pass that one on")
        self._take_turn()
        self._local.writing = True
        try:
            with self._transaction(writable=True) as transaction:
                yield transaction
        finally:
            self._local.writing = False
            if self._backend.single_writer:
                self._turn.release()

    def end_sessions(self, process: str) -> int:
        """Fence a process off that hangs with its locks: its transactions are undone. How many sessions it had."""
        with self.read() as transaction, translated_errors(self._backend):
            return self._backend.end_sessions(transaction._connection, process)  # noqa: SLF001

    def checkpoint(self) -> None:
        """Fold SQLite's write-ahead log into the file; nothing to do on PostgreSQL."""
        connection = self._take(writable=True)
        try:
            with translated_errors(self._backend):
                self._backend.checkpoint(connection)
        finally:
            self._give_back(connection, writable=True)

    def check(self) -> list[str]:
        """What is wrong inside the database file, one line each; empty when it is sound."""
        with self.read() as transaction, translated_errors(self._backend):
            return self._backend.check(transaction._connection)  # noqa: SLF001

    def close(self) -> None:
        """Close the idle connections; transactions under way close theirs when they end."""
        self._closed = True
        with self._pool_lock:
            idle = [connection for pool in self._idle.values() for connection in pool]
            for pool in self._idle.values():
                pool.clear()
        for connection in idle:
            self._backend.close(connection)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Connections

    def _reset(self) -> None:
        self._process = os.getpid()
        self._closed = False
        self._local = threading.local()
        self._turn = threading.Lock()
        self._pool_lock = threading.Lock()
        self._idle: dict[bool, list[Any]] = {True: [], False: []}

    def _after_fork(self) -> None:
        """A forked child must neither use nor close the connections of its parent, so it forgets them for good."""
        if self._process != os.getpid():
            _INHERITED.append(self._idle)
            self._reset()

    def _take_turn(self) -> None:
        """Threads of one process queue here: SQLite's own waiting is by polling and lets some starve."""
        self._after_fork()
        if self._backend.single_writer and not self._turn.acquire(timeout=self._busy_seconds):
            raise DatabaseBusy(f"another thread writes to {self.name} for over {self._busy_seconds:g} s; try again")

    @contextmanager
    def _transaction(self, *, writable: bool) -> Iterator[Transaction]:
        connection = self._begun(writable=writable)
        transaction = Transaction(self._backend, connection)
        try:
            yield transaction
            with translated_errors(self._backend):
                self._backend.commit(connection)
            if writable:
                self._backend.committed(connection)
        except BaseException:
            self._undo(connection)
            raise
        finally:
            transaction._end()  # noqa: SLF001
            self._give_back(connection, writable=writable)
        transaction._settle()  # noqa: SLF001

    def _begun(self, *, writable: bool, fresh: bool = False) -> Any:
        """A connection with a transaction begun; one that broke while it was idle is replaced by a fresh one."""
        connection = self._connect(writable=writable) if fresh else self._take(writable=writable)
        try:
            with translated_errors(self._backend):
                self._backend.begin(connection, writable=writable)
        except PeriplusError:
            alive = self._backend.usable(connection)
            self._give_back(connection, writable=writable)
            if alive or fresh:
                raise
            return self._begun(writable=writable, fresh=True)
        return connection

    def _undo(self, connection: Any) -> None:
        try:
            self._backend.rollback(connection)
        except self._backend.errors:
            self._backend.close(connection)  # the engine undoes what a lost connection had begun

    def _take(self, *, writable: bool) -> Any:
        self._after_fork()
        if self._closed:
            raise StorageError(f"{self.name} is closed; open it again")
        with self._pool_lock:
            idle = self._idle[writable]
            if idle:
                return idle.pop()
        return self._connect(writable=writable)

    def _connect(self, *, writable: bool) -> Any:
        with translated_errors(self._backend):
            return self._backend.connect(writable=writable)

    def _give_back(self, connection: Any, *, writable: bool) -> None:
        with self._pool_lock:
            idle = self._idle[writable]
            if self._backend.usable(connection) and not self._closed and len(idle) < MOST_IDLE:
                idle.append(connection)
                return
        self._backend.close(connection)


_INHERITED: list[Any] = []  # keeps a parent's connections from being closed by a forked child


@contextmanager
def translated_errors(backend: DatabaseBackend) -> Iterator[None]:
    try:
        yield
    except backend.errors as error:
        raise backend.translated(error) from error


def _backend(address: str | Path, busy_seconds: float) -> DatabaseBackend:
    text = str(address)
    if text.startswith(POSTGRESQL):
        from periplus.storage.postgres import PostgresBackend

        return PostgresBackend(text, busy_seconds)
    return SqliteBackend(Path(address), busy_seconds)


def _insert_new_sql(table: str, columns: tuple[str, ...], conflict: str, count: int) -> str:
    values = ", ".join([f"({', '.join('?' * len(columns))})"] * count)
    names = ", ".join(columns)
    return (
        f"INSERT INTO {table} ({names}) VALUES {values}"  # noqa: S608 (names come from code, values are bound)
        f" ON CONFLICT ({conflict}) DO NOTHING RETURNING {conflict}"
    )
