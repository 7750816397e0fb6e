"""The database at the new place: what it may hold before, and the rows that it gets."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from periplus.app.state import IDENTITY, MOVED, UNFINISHED
from periplus.errors import Occupied
from periplus.storage import copy_tables, tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.storage import Database, Transaction

# What is of one place: where files are, and which processes there are.
OF_A_PLACE: Final = frozenset(
    {"generations", "holds", "archive_parts", "retired_objects", "servers", "nodes", "slots", "tasks", "ip_slots"}
)
COPIED_LAST: Final = "meta"


def begin(target: Database, identity: str) -> str:
    """Mark a database as one that is being filled with this collection; the name of the move, the same for each try."""
    with target.write() as tx:
        known: dict[str, str] = dict(tx.rows("SELECT key, value FROM meta"))
        is_used = bool(tx.value("SELECT 1 FROM urls LIMIT 1") or tx.value("SELECT 1 FROM batches LIMIT 1"))
        other = known.get(IDENTITY, "") not in ("", identity) or (is_used and IDENTITY not in known)
        if other:
            raise Occupied(f"{target.name} holds another collection; name an empty database")
        if IDENTITY in known and not {UNFINISHED, MOVED} & set(known):
            raise Occupied(f"{target.name} holds this collection already; name an empty database")
        name = known.get(UNFINISHED) or secrets.token_hex(8)
        put(tx, {IDENTITY: identity, UNFINISHED: name})
        return name


def fill(source: Transaction, target: Database, told: Callable[[str, int], None]) -> dict[str, int]:
    """All rows that are not of a place; by table. Tokens of leases go on, and nobody holds one."""
    found = copy_tables(source, target, OF_A_PLACE | {COPIED_LAST}, told)
    kept = {str(key): str(value) for key, value in source.rows("SELECT key, value FROM meta")}
    with target.write() as tx:
        for table in OF_A_PLACE & set(tables(tx)):
            tx.execute(f"DELETE FROM {table}")  # noqa: S608 (our own names)
        tx.execute("UPDATE leases SET owner = '', expires = 0")
        tx.execute("DELETE FROM meta WHERE key <> ?", (UNFINISHED,))
        put(tx, {key: value for key, value in kept.items() if key != UNFINISHED})
    return found | {COPIED_LAST: len(kept)}


def finish(tx: Transaction) -> None:
    """The collection is whole at this place."""
    tx.execute("DELETE FROM meta WHERE key = ? OR key = ?", (UNFINISHED, MOVED))


def put(tx: Transaction, values: dict[str, str]) -> None:
    """Into meta, whatever was there."""
    tx.executemany(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        list(values.items()),
    )
