"""What several servers of one collection share: small tables, each with a number that rises with every change.

Nobody asks the database while answering a request. A server looks at the numbers every few seconds (``changes``), and
has each part that changed read its rows again. Files in which earlier versions kept the same are taken over once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from periplus.errors import NotFound, PeriplusError, StorageError

if TYPE_CHECKING:
    from periplus.storage.database import Database, Transaction
    from periplus.storage.files import LocalFiles

State = Callable[[], "Database"]  # opened when first asked for; raises a ``StorageError`` where it cannot be
PREFIX = "shared."
TAKEN = "taken."  # before the name of a file, in meta


class Shares(Protocol):
    """A part of a server that agrees with those of other servers through rows."""

    shares: str  # what its rows are called in ``changes``

    def share(self, *, changed: bool) -> None:
        """Tell what is new here, and read the rows again where they have ``changed``."""


class Follower:
    """Has parts share whenever their rows changed; look every few seconds."""

    def __init__(self, *parts: Shares) -> None:
        self._parts = parts
        self._seen: dict[int, int] = {}  # place of a part → the number that it shared at last

    def look(self, database: Database) -> list[PeriplusError | OSError]:
        """What went wrong; such a part tries again with the next look."""
        numbers = changes(database)  # before the rows are read: what changes in between is read again
        wrong: list[PeriplusError | OSError] = []
        for place, part in enumerate(self._parts):
            number = numbers.get(part.shares, 0)
            try:
                part.share(changed=number != self._seen.get(place))
            except (PeriplusError, OSError) as error:
                wrong.append(error)
            else:
                self._seen[place] = number
        return wrong


def note_change(tx: Transaction, name: str) -> None:
    """Have other servers read these rows again; part of the transaction that changes them."""
    tx.next_number(PREFIX + name)


def changes(database: Database) -> dict[str, int]:
    """How often each of the shared tables was changed."""
    with database.read() as tx:
        rows = tx.rows("SELECT name, value FROM counters WHERE name LIKE ?", (f"{PREFIX}%",))
    return {name.removeprefix(PREFIX): int(value) for name, value in rows}


def is_taken(tx: Transaction, name: str) -> bool:
    """Whether a file of an earlier version has become rows."""
    return bool(tx.value("SELECT 1 FROM meta WHERE key = ?", (TAKEN + name,)))


def mark_taken(tx: Transaction, name: str) -> bool:
    """Say so, in the transaction that writes these rows; false when it had been said."""
    return bool(tx.insert_new("meta", ("key", "value"), [(TAKEN + name, str(int(time.time())))], "key"))


def take_over(database: Database, files: LocalFiles, name: str, put: Callable[[Transaction], None]) -> None:
    """Have ``put`` make rows of a file of an earlier version, once; then the file goes.

    A crash before the commit leaves the file as it was. One after it leaves a file that nobody reads any more, so a key
    that was revoked since does not come back.
    """
    with database.read() as tx:
        done = is_taken(tx, name)
    if not done:
        with database.write() as tx:
            if mark_taken(tx, name):
                put(tx)
    with suppress(NotFound, StorageError):
        files.remove(name)
