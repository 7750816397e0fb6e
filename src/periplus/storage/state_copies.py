"""A copy of the state in a SQLite file of its own, as of one moment, while others read and write it.

SQLite copies page by page, so that what did not change since the last copy lies where it lay. Of PostgreSQL every table
is read in one snapshot and written into a new file of the same schema: whatever the engine, a copy is one file.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from periplus.errors import Corrupt, StorageError
from periplus.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.storage.database import Transaction

_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_MIGRATIONS: Final = "schema_migrations"
ROWS_AT_ONCE: Final = 1_000


def copy_state(database: Database, path: Path) -> None:
    """Write the state as it is now into a new file at ``path``."""
    if database.dialect == "sqlite":
        _copy_file(Path(database.name), path)
        return
    with Database.open(path) as target:
        with database.read() as source, target.write() as tx:
            for table, columns in _tables(tx):
                _copy_rows(source, tx, table, columns)
        target.checkpoint()


def _copy_file(source: Path, path: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(path)) as new,
        ):
            old.backup(new)  # all pages in one step, of one moment; in WAL mode writers go on
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise Corrupt(f"{source} is damaged ({error}); run periplus doctor --repair") from error
        raise StorageError(f"{source} cannot be copied to {path}: {error}; check the disk") from error


def _tables(tx: Transaction) -> Iterator[tuple[str, list[str]]]:
    for (table,) in tx.rows(_TABLES):
        if table != _MIGRATIONS:
            yield table, [str(row[1]) for row in tx.rows(f"PRAGMA table_info({table})")]


def _copy_rows(source: Transaction, target: Transaction, table: str, columns: list[str]) -> None:
    names = ", ".join(columns)
    target.execute(f"DELETE FROM {table}")  # noqa: S608 (what migrations put there)
    sql = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
    part = []
    for row in source.stream(f"SELECT {names} FROM {table}"):  # noqa: S608
        part.append(row)
        if len(part) == ROWS_AT_ONCE:
            target.executemany(sql, part)
            part = []
    target.executemany(sql, part)
