"""Objects whose rows are gone: written down in the transaction that takes the rows away, removed some time later.

Readers that had looked at the rows before still find the objects for a while. A takedown leaves no such time. What a
crash keeps from being removed is removed by the next sweep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from periplus.errors import StorageAway
from periplus.storage.depot import Stored
from periplus.storage.leases import database_time

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from periplus.storage.database import Database, Transaction
    from periplus.storage.depot import Depot

RETIRED_SECONDS: Final = 60.0  # that objects stay for readers that had looked at their rows
FILES: Final = "files"  # in ``changes``: rises when rows name other files, so that machines forget old copies
ARCHIVE: Final = "archive/"
PREFIXES: Final = (ARCHIVE, "documents/", "links/")  # of objects that rows of their own name
ORPHAN_SECONDS: Final = 6 * 3600.0  # within which a writer makes a row of what it uploaded, or never does
SWEEP_SECONDS: Final = 24 * 3600.0  # between two looks for objects that no row ever named
_SWEPT: Final = "objects.swept "  # in meta, followed by the prefix


def retire(tx: Transaction, names: Iterable[str]) -> None:
    """These objects are named by no row from now on; part of the transaction that sees to it."""
    now = database_time(tx)
    tx.insert_new("retired_objects", ("name", "at"), [(name, now) for name in names], "name")


def remove_retired(database: Database, depot: Depot, older: float = RETIRED_SECONDS) -> int:
    """Remove objects that were retired ``older`` seconds ago, with this machine's copies; how many."""
    with database.read() as tx:
        due = tx.rows("SELECT name FROM retired_objects WHERE at <= ? ORDER BY name", (database_time(tx) - older,))
    names = [str(name) for (name,) in due]
    for name in names:
        depot.objects.remove(name)
        depot.drop(name)
    if names:
        with database.write() as tx:
            tx.executemany("DELETE FROM retired_objects WHERE name = ?", [(name,) for name in names])
    return len(names)


def remove_orphans(database: Database, depot: Depot, prefix: str, named: Callable[[], Collection[str]]) -> list[str]:
    """Remove objects below ``prefix`` that were uploaded long ago and that no row names; looks once a day.

    A store that is away keeps nobody from what was to be done besides: it is looked at with the next call.
    """
    with database.read() as tx:
        now = database_time(tx)
        swept = float(tx.value("SELECT value FROM meta WHERE key = ?", (_SWEPT + prefix,)) or 0)
    if now - swept < SWEEP_SECONDS:
        return []
    try:
        gone = _remove_unnamed(depot, prefix, now - ORPHAN_SECONDS, named)
    except StorageAway:
        return []
    with database.write() as tx:
        tx.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (_SWEPT + prefix, str(now)),
        )
    return gone


def _remove_unnamed(depot: Depot, prefix: str, before: float, named: Callable[[], Collection[str]]) -> list[str]:
    old = [entry.name for entry in depot.objects.entries(prefix) if entry.modified <= before]
    known = named() if old else ()
    gone = [name for name in old if name not in known]
    for name in gone:
        depot.objects.remove(name)
    return gone


class SharedCopies:
    """This machine's copies of the files that rows name; those that no row names any more go when a takedown was."""

    shares = FILES

    def __init__(self, database: Database, depot: Depot) -> None:
        self._database = database
        self._depot = depot

    def share(self, *, changed: bool) -> None:
        if changed:
            self.forget()

    def forget(self) -> list[str]:
        """The names of copies that went."""
        copies = [prefix for prefix in PREFIXES if self._depot.copies(prefix)]
        if not copies:
            return []
        named = {Stored.decode(text).name for text in self._named()}
        return [name for prefix in copies for name in self._depot.retain(prefix, named)]

    def _named(self) -> Iterator[str]:
        """What rows name now: all batches, of which there are few, and of the archive the files that we have.

        An archive file without a row is one whose commit is under way or was cut short by a crash: recovery needs it.
        """
        held = self._depot.copies(ARCHIVE)
        with self._database.read() as tx:
            for row in tx.rows("SELECT documents_file, links_file FROM batches WHERE documents_file <> ''"):
                yield from row
            names = [(name.removeprefix(ARCHIVE),) for name in held]
            found = tx.each("SELECT file FROM archive_parts WHERE name = ?", names)
        for stored, rows in zip(held.values(), found, strict=True):
            yield rows[0][0] if rows else stored.encode()
