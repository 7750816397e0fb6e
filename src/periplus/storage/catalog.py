"""Catalog: which generations of the index and of the ranks are published for all machines, and of which objects.

A generation is a row: its number, its manifest as the room that wrote it knows it, and for each of its files the object
that holds it. Objects are uploaded first, under names that are never used again. Then one transaction, which checks the
writer's lease, makes the row. Whoever reads looks at the newest row and pulls the files that it needs.

Files of a generation that was replaced stay for ``GRACE`` seconds, and for as long as somebody holds it who pulls them.
"""

from __future__ import annotations

import secrets
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from periplus.errors import LeaseLost, NotFound, StorageBusy, StorageError
from periplus.storage.depot import Stored
from periplus.storage.kept_leases import kept_lease
from periplus.storage.leases import database_time, steady

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import ThreadPoolExecutor

    from periplus.storage.database import Database, Transaction
    from periplus.storage.depot import Depot
    from periplus.storage.kept_leases import KeptLease

INDEX: Final = "index"
RANKS: Final = "ranks"
GRACE: Final = 1_800.0  # seconds that objects of a replaced generation stay
HOLD_SECONDS: Final = 1_800.0  # that a pull may take without a sign
SIGNS: Final = 6  # of life, in that time
AT_ONCE: Final = 4  # files on their way
PUBLISHING_TIME: Final = 60.0  # seconds that a writer waits for somebody who publishes a merge
BUILDING: Final = "building"  # the lease of whoever indexes or ranks
_MERGING: Final = "publishing a merge in"

_FILES = msgspec.json.Decoder(dict[str, Stored])


class CatalogEntry(Struct, frozen=True):
    """A published generation; files by their names in the folder of their kind."""

    number: int
    manifest: bytes
    files: dict[str, Stored]


class Catalogs:
    """What all machines know of the generations of one collection, and who may publish another."""

    def __init__(self, database: Database, depot: Depot, grace: float = GRACE) -> None:
        self.database = database
        self.depot = depot
        self.grace = grace
        self._building = threading.local()
        self.index = Catalog(self, INDEX)
        self.ranks = Catalog(self, RANKS)

    @contextmanager
    def alone(self, doing: str) -> Iterator[KeptLease]:
        """Be the only one of all machines who indexes or ranks; what this thread publishes then is fenced by it."""
        with kept_lease(self.database, BUILDING, doing) as lease:
            self._building.lease = lease
            try:
                yield lease
            finally:
                self._building.lease = None

    def check(self, transaction: Transaction) -> None:
        """Raise ``LeaseLost`` where this thread began to index or rank alone and is so no more."""
        lease: KeptLease | None = getattr(self._building, "lease", None)
        if lease is not None:
            lease.check(transaction)


class Catalog:
    """The published generations of one kind. One writer at a time among all machines; any number of readers."""

    def __init__(self, catalogs: Catalogs, kind: str) -> None:
        self.kind = kind
        self._catalogs = catalogs
        self._database = catalogs.database
        self._depot = catalogs.depot
        self._known: CatalogEntry | None = None
        self._writer: KeptLease | None = None
        self._uploads = ""  # where this writer puts its objects
        self._staged: dict[str, Stored] = {}
        self._staging = ""

    @property
    def depot(self) -> Depot:
        """Between the objects of all machines and the folder of this one."""
        return self._depot

    def given(self) -> GivenCatalog | None:
        """The published generation as plain data; ``None`` when there is none yet."""
        entry = self.current()
        return GivenCatalog(self.kind, entry, self._depot) if entry else None

    # Reading

    def newest(self) -> int:
        """The number of the published generation; 0 when there is none yet."""
        with self._database.read() as tx:
            return int(tx.value("SELECT MAX(number) FROM generations WHERE kind = ?", (self.kind,)) or 0)

    def current(self) -> CatalogEntry | None:
        """The published generation; ``None`` when there is none yet."""
        known, newest = self._known, self.newest()
        if known is not None and known.number == newest:
            return known
        with self._database.read() as tx:
            row = tx.row(
                "SELECT number, manifest, files FROM generations WHERE kind = ? ORDER BY number DESC LIMIT 1",
                (self.kind,),
            )
        self._known = CatalogEntry(int(row[0]), row[1].encode(), _FILES.decode(row[2])) if row else None
        return self._known

    def pull(self, entry: CatalogEntry, wanted: Callable[[str], bool] = lambda _: True) -> None:
        """Have the files of a generation whose names are ``wanted``; ``NotFound`` when it is no longer kept."""
        lacking = [
            (name, stored)
            for name, stored in entry.files.items()
            if wanted(name) and not self._depot.has(stored, self._local(name))
        ]
        if not lacking:
            return
        with self._holding(entry.number) as give_sign, _threads() as threads:
            for _ in threads.map(lambda file: self._depot.pull(file[1], self._local(file[0])), lacking):
                give_sign()

    @contextmanager
    def _holding(self, number: int) -> Iterator[Callable[[], None]]:
        """Keep the objects of a generation while they are pulled; gives what to call now and then meanwhile."""
        owner = secrets.token_hex(8)
        due = [0.0]

        def give_sign() -> None:
            if steady() >= due[0]:
                due[0] = steady() + HOLD_SECONDS / SIGNS
                self._hold(number, owner)

        give_sign()
        try:
            yield give_sign
        finally:
            with suppress(StorageError), self._database.write() as tx:  # what is left of it expires
                tx.execute("DELETE FROM holds WHERE holder = ?", (owner,))

    def _hold(self, number: int, owner: str) -> None:
        with self._database.write() as tx:
            there = f"SELECT number FROM generations WHERE kind = ? AND number = ?{tx.row_lock}"  # noqa: S608
            if tx.value(there, (self.kind, number)) is None:
                raise NotFound(f"generation {number} of the {self.kind} is no longer kept; look for a newer one")
            tx.execute(
                "INSERT INTO holds (kind, generation, holder, until) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (kind, generation, holder) DO UPDATE SET until = excluded.until",
                (self.kind, number, owner, database_time(tx) + HOLD_SECONDS),
            )

    # Who may write

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer of all machines; waits for one that only publishes a merge, else ``StorageBusy``."""
        patience = steady() + PUBLISHING_TIME
        with self._written(f"writing the {self.kind} of", lambda doing: doing == _MERGING and steady() < patience):
            yield

    @contextmanager
    def publishing(self) -> Iterator[None]:
        """Be the only writer of all machines, however long that takes; for the merger."""
        with self._written(_MERGING, lambda _: True):
            yield

    @contextmanager
    def _written(self, doing: str, waits: Callable[[str], bool]) -> Iterator[None]:
        with kept_lease(self._database, f"{self.kind}.writer", doing, waits=waits) as lease:
            self._writer, self._uploads = lease, self._folder("w", lease)
            try:
                yield
            finally:
                self._writer, self._uploads = None, ""

    @contextmanager
    def merging(self) -> Iterator[bool]:
        """Be the only merger of all machines; false when another one is at it."""
        with ExitStack() as stack:
            try:
                lease = stack.enter_context(
                    kept_lease(self._database, f"{self.kind}.merger", f"merging the {self.kind} of")
                )
            except StorageBusy:
                yield False
                return
            self._staging, self._staged = self._folder("m", lease), {}
            stack.callback(self._unstage)
            yield True

    def _unstage(self) -> None:
        self._staging, self._staged = "", {}

    def _folder(self, letter: str, lease: KeptLease) -> str:
        """A part of names that nobody else uses, with the token by which later writers know that it is over."""
        return f"{self.kind}/{letter}{lease.token}-{secrets.token_hex(4)}"

    # Writing

    def stage(self, local: str, name: str) -> None:
        """Upload a file that a merge wrote at another place, before anybody has to wait for its publication."""
        self._staged[name] = self._depot.push(self._local(local), f"{self._staging}/{name}")

    def publish(self, number: int, manifest: bytes, names: Iterable[str]) -> None:
        """Make these files the newest generation for every machine: uploads what is new, then writes the row."""
        writer = self._held_writer()
        before = self.current()
        known = {**(before.files if before else {}), **self._staged}
        wanted = list(names)
        new = [name for name in wanted if name not in known]
        with _threads() as threads:
            pushed = threads.map(lambda name: self._depot.push(self._local(name), f"{self._uploads}/{name}"), new)
            known.update(zip(new, pushed, strict=True))
        entry = CatalogEntry(number, manifest, {name: known[name] for name in wanted})
        with self._database.write() as tx:
            self._check(tx)
            self._put(tx, entry, writer.token)
        self._known = entry

    def enter(self, tx: Transaction, entry: CatalogEntry) -> None:
        """Make a generation whose objects are there the newest one, where nobody can write yet: for a move."""
        self._put(tx, entry, 0)

    def _held_writer(self) -> KeptLease:
        if self._writer is None:
            raise LeaseLost(f"nobody here writes the {self.kind} of this collection; take its lease before")
        return self._writer

    def _check(self, tx: Transaction) -> None:
        self._held_writer().check(tx)
        self._catalogs.check(tx)

    def _put(self, tx: Transaction, entry: CatalogEntry, token: int) -> None:
        newest = int(tx.value("SELECT MAX(number) FROM generations WHERE kind = ?", (self.kind,)) or 0)
        if newest >= entry.number:
            raise LeaseLost(f"generation {newest} of the {self.kind} was published meanwhile; begin again from it")
        now = database_time(tx)
        tx.execute("UPDATE generations SET replaced = ? WHERE kind = ? AND replaced = 0", (now, self.kind))
        tx.execute(
            "INSERT INTO generations (kind, number, manifest, files, token, created, replaced)"
            " VALUES (?, ?, ?, ?, ?, ?, 0)",
            (self.kind, entry.number, entry.manifest.decode(), msgspec.json.encode(entry.files).decode(), token, now),
        )

    # Sweeping

    def sweep(self, *, at_once: bool = False) -> list[str]:
        """Remove generations that were replaced a while ago and that nobody holds; the objects that went with them.

        ``at_once`` leaves nobody time, as a takedown wants it. Only the writer may call this.
        """
        with self._database.write() as tx:
            self._check(tx)
            rows = self._expired(tx, at_once=at_once)
            tx.executemany(
                "DELETE FROM generations WHERE kind = ? AND number = ?", [(self.kind, number) for number, _ in rows]
            )
            named = self._named(tx) if rows else set()
        gone = sorted({stored.name for _, files in rows for stored in _FILES.decode(files).values()} - named)
        for name in gone:
            self._depot.objects.remove(name)
        return gone

    def _expired(self, tx: Transaction, *, at_once: bool) -> list[tuple[int, str]]:
        """Rows are locked before holds are read: who takes a hold locks the row, too."""
        now = database_time(tx)
        rows = tx.rows(
            "SELECT number, files FROM generations WHERE kind = ? AND replaced > 0 AND replaced <= ?"  # noqa: S608
            f" ORDER BY number{tx.row_lock}",
            (self.kind, now if at_once else now - self._catalogs.grace),
        )
        if at_once:
            tx.execute("DELETE FROM holds WHERE kind = ?", (self.kind,))
        tx.execute("DELETE FROM holds WHERE until <= ?", (now,))
        held = {int(number) for (number,) in tx.rows("SELECT generation FROM holds WHERE kind = ?", (self.kind,))}
        return [(int(number), files) for number, files in rows if number not in held]

    def _named(self, tx: Transaction) -> set[str]:
        """Objects that rows name."""
        rows = tx.rows("SELECT files FROM generations WHERE kind = ?", (self.kind,))
        return {stored.name for (files,) in rows for stored in _FILES.decode(files).values()}

    def sweep_leftovers(self) -> list[str]:
        """Remove what writers before us uploaded and never published, since they died or lost their lease; its names.

        Only the writer may call this: nobody with a smaller token can publish any more.
        """
        with self._database.write() as tx:
            self._check(tx)
            named = self._named(tx)
            sql = "SELECT token FROM leases WHERE name = ?"
            tokens = {letter: int(tx.value(sql, (f"{self.kind}.{name}",)) or 0) for letter, name in _LETTERS.items()}
        left = [name for name in self._depot.objects.names(f"{self.kind}/") if name not in named]
        gone = [name for name in left if _is_over(name.removeprefix(f"{self.kind}/"), tokens)]
        for name in gone:
            self._depot.objects.remove(name)
        return gone

    def forget_swept(self) -> None:
        """After the folder of this machine was swept: what is gone from it is no copy any more."""
        self._depot.forget_removed(f"{self.kind}/")

    def is_here(self, entry: CatalogEntry, wanted: Callable[[str], bool]) -> bool:
        """Whether all files that are ``wanted`` are on this machine."""
        files = [(name, stored) for name, stored in entry.files.items() if wanted(name)]
        return all(self._depot.has(stored, self._local(name)) for name, stored in files)

    def _local(self, name: str) -> str:
        return f"{self.kind}/{name}"


_LETTERS: Final = {"w": "writer", "m": "merger"}


def _threads() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # which a collection in one folder need not load

    return ThreadPoolExecutor(AT_ONCE, "depot")


def _is_over(name: str, tokens: dict[str, int]) -> bool:
    """Whether an object is of somebody whose lease was given to another since."""
    token = name[1:].partition("-")[0]
    return name[:1] in tokens and token.isdigit() and int(token) < tokens[name[0]]


class GivenCatalog(Catalog):
    """One generation as plain data, for a task that reads it where there is no database; can be sent there."""

    def __init__(self, kind: str, entry: CatalogEntry, depot: Depot) -> None:
        self.kind = kind
        self._entry = entry
        self._depot = depot

    def newest(self) -> int:
        return self._entry.number

    def current(self) -> CatalogEntry:
        return self._entry

    def pull(self, entry: CatalogEntry, wanted: Callable[[str], bool] = lambda _: True) -> None:
        for name, stored in entry.files.items():
            if wanted(name):
                self._depot.pull(stored, self._local(name))

    def forget_swept(self) -> None:
        """Copies are looked after by whoever has the database."""
