"""All rows of one state database in another one, of whichever engine; both have the tables of this version."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from periplus.errors import Corrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from periplus.storage.database import Database, Transaction

TOGETHER: Final = 5_000  # rows of one transaction
_COLUMNS: Final = (
    "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?"
)
OF_ENGINES: Final = frozenset({"schema_migrations", "sqlite_sequence"})


def tables(tx: Transaction) -> list[str]:
    """The names of all tables but those that an engine or its migrations keep."""
    if tx.dialect == "postgresql":
        sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    else:
        sql = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return sorted({str(name) for (name,) in tx.rows(sql)} - OF_ENGINES)


def columns(tx: Transaction, table: str) -> list[str]:
    """The names of a table's columns."""
    if tx.dialect == "postgresql":
        sql = f"{_COLUMNS} ORDER BY ordinal_position"
        return [str(name) for (name,) in tx.rows(sql, (table,))]
    return [str(row[1]) for row in tx.rows(f"PRAGMA table_info({table})")]


def row_count(tx: Transaction, table: str) -> int:
    return int(tx.value(f"SELECT COUNT(*) FROM {table}"))  # noqa: S608 (our own names)


def copy_rows(source: Transaction, target: Database, table: str, told: Callable[[int], None]) -> int:
    """Put all rows of a table in the place of those that ``target`` has; how many. ``told`` is given how many so far.

    Raises ``Corrupt`` when there are not as many in the end.
    """
    names = columns(source, table)
    insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608
    with target.write() as tx:
        tx.execute(f"DELETE FROM {table}")  # noqa: S608
    rows = source.stream(f"SELECT {', '.join(names)} FROM {table}")  # noqa: S608
    done = 0
    while some := list(islice(rows, TOGETHER)):
        with target.write() as tx:
            tx.executemany(insert, some)
        done += len(some)
        told(done)
    with target.write() as tx:
        _continue_numbers(tx, table)
        there = row_count(tx, table)
    if not done == there == row_count(source, table):
        raise Corrupt(f"{target.name} has {there:,} rows of {table} instead of {done:,}; run it again")
    return done


def copy_tables(
    source: Transaction,
    target: Database,
    without: Collection[str] = (),
    progress: Callable[[str, int], None] | None = None,
) -> dict[str, int]:
    """All tables but those ``without``; rows by table. ``progress`` is told a table and how many rows of it came."""
    said = progress or (lambda _table, _rows: None)
    found = {}
    for table in tables(source):
        if table not in without:
            found[table] = copy_rows(source, target, table, lambda rows, table=table: said(table, rows))  # type: ignore[misc]
    return found


def _continue_numbers(tx: Transaction, table: str) -> None:
    """Numbers that the server gives begin behind those that were copied; SQLite looks by itself."""
    if tx.dialect != "postgresql":
        return
    for (name,) in tx.rows(f"{_COLUMNS} AND is_identity = 'YES'", (table,)):
        tx.rows(
            f"SELECT setval(pg_get_serial_sequence('{table}', '{name}'), MAX({name})) FROM {table}"  # noqa: S608
            f" HAVING MAX({name}) IS NOT NULL"
        )
