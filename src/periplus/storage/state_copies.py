"""A copy of the state in a SQLite file of its own, as of one moment, while others read and write it.

SQLite copies page by page, so that what did not change since the last copy lies where it lay. Of PostgreSQL every table
is read in one snapshot and written into a new file of the same schema: whatever the engine, a copy is one file.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from periplus.errors import Corrupt, StorageError
from periplus.storage.copying import copy_tables
from periplus.storage.database import Database


def copy_state(database: Database, path: Path) -> None:
    """Write the state as it is now into a new file at ``path``."""
    if database.dialect == "sqlite":
        _copy_file(Path(database.name), path)
        return
    with Database.open(path) as target:
        with database.read() as source:
            copy_tables(source, target)
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
