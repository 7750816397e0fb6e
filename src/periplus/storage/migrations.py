"""Schema changes, numbered and forward only: ``migrations/NNNN_name.sql``.

Each runs in one transaction together with the row that records it, so a crash leaves it done or not begun. Processes
that open a database at the same time take turns. A file that was applied must never change: its checksum is kept.
"""

from __future__ import annotations

import hashlib
import re
import time
from importlib import resources
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.errors import Incompatible, StorageError
from periplus.storage.sql import statements, with_types

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable

    from periplus.storage.database import Database, Transaction

TABLE = "schema_migrations"
_NAME = re.compile(r"^(\d{4})_([a-z0-9_]+)\.sql$")
_CREATE = (
    f"CREATE TABLE IF NOT EXISTS {TABLE}"
    " (number {int} PRIMARY KEY, name {text} NOT NULL, checksum {text} NOT NULL, applied {real} NOT NULL)"
)


class Migration(Struct, frozen=True):
    number: int
    name: str
    script: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.script.encode()).hexdigest()[:16]


def packaged() -> list[Migration]:
    """The migrations of this version, in order."""
    return read_folder(resources.files("periplus.storage") / "migrations")


def read_folder(folder: Traversable) -> list[Migration]:
    found = []
    for entry in folder.iterdir():
        match = _NAME.match(entry.name)
        if match:
            found.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    found.sort(key=lambda migration: migration.number)
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise StorageError(f"migrations must be numbered 1, 2, 3 … without gaps: {[m.number for m in found]}")
    return found


def migrate(database: Database, migrations: Sequence[Migration] | None = None) -> int:
    """Bring the schema to this version; how many migrations were applied now."""
    wanted = packaged() if migrations is None else migrations
    with database.read() as transaction:
        if not _due(database, transaction, wanted):
            return 0
    applied = 0
    while _apply_next(database, wanted):
        applied += 1
    return applied


def _apply_next(database: Database, wanted: Sequence[Migration]) -> bool:
    with database.write() as transaction:
        database.backend.lock_migrations(transaction._connection)  # noqa: SLF001
        due = _due(database, transaction, wanted)  # again: another process may have been first
        if not due:
            return False
        _apply(transaction, due[0], database.backend.types)
        return True


def _apply(transaction: Transaction, migration: Migration, types: Mapping[str, str]) -> None:
    transaction.execute(with_types(_CREATE, types))
    for statement in statements(with_types(migration.script, types)):
        transaction.execute(statement)
    transaction.execute(
        f"INSERT INTO {TABLE} (number, name, checksum, applied) VALUES (?, ?, ?, ?)",  # noqa: S608
        (migration.number, migration.name, migration.checksum, time.time()),
    )


def _due(database: Database, transaction: Transaction, wanted: Sequence[Migration]) -> list[Migration]:
    """Migrations that are not applied yet; refuses a database that another version wrote."""
    if not database.backend.has_table(transaction._connection, TABLE):  # noqa: SLF001
        return list(wanted)
    applied: dict[int, str] = dict(transaction.rows(f"SELECT number, checksum FROM {TABLE}"))  # noqa: S608
    newest = max(applied, default=0)
    if newest > len(wanted):
        raise Incompatible(
            f"{database.name} has schema {newest}, this version knows {len(wanted)}; use a newer Periplus"
        )
    for migration in wanted[:newest]:
        if applied.get(migration.number) != migration.checksum:
            raise Incompatible(
                f"{database.name}: migration {migration.number} ({migration.name}) is not the one applied to it;"
                " use the version that made it, or build the collection again from its archive"
            )
    return list(wanted[newest:])


def schema_version() -> int:
    """The schema that this version brings every state to."""
    return len(packaged())
