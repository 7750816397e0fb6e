"""A lost state is built again from the stored files, beside what is left of it; ``doctor --repair`` does that.

SQLite: into a file of its own, which takes the place of the old one in one step; the old one is kept under a new name.
PostgreSQL: into the database itself, which must be empty; a mark in it says that it is not whole until it is. Either
way an interrupted repair is begun again, and nobody writes to a state that is half built.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

from periplus.app.state import IDENTITY, STATE_FILE, UNFINISHED, identity_of, misfit
from periplus.crawl.leading.rebuilding import Rebuilt, rebuild
from periplus.errors import PeriplusError, StateLost
from periplus.storage import Blocklist, Database, sync, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from periplus.app.collection import Collection

    Progress = Callable[[int, str], None]

NEW_FILE: Final = "state.rebuilding.db"
SIDES: Final = ("", "-wal", "-shm")
# What the stored files tell, and what only concerns processes that are gone; all other tables are taken over.
MADE_AGAIN: Final = frozenset(
    {"batches", "counters", "archive_marks", "hosts", "urls", "site_links", "aliases", "bodies", "arrivals"}
)
OF_PROCESSES: Final = frozenset({"workers", "wanted_hosts", "leases", "control", "partitions", "servers"})
NOT_TAKEN: Final = MADE_AGAIN | OF_PROCESSES | {"schema_migrations", "sqlite_sequence"}
EMPTY: Final = ("is empty", "was not built")  # beginnings of what ``misfit`` says of a database that may be filled
CHUNK: Final = 1_000


def rebuild_state(collection: Collection, progress: Progress | None = None) -> list[str]:
    """Build the state of a collection again; what was done and what cannot be known again, one line each.

    The caller holds the locks of crawling and building, and closes the collection's database before and after.
    """
    address = collection.settings.storage.database
    return _on_server(collection, address, progress) if address else _in_file(collection, progress)


# SQLite


def _in_file(collection: Collection, progress: Progress | None) -> list[str]:
    folder = collection.folder
    new, old = folder / NEW_FILE, folder / STATE_FILE
    for side in SIDES:
        new.with_name(new.name + side).unlink(missing_ok=True)
    with Database.open(new) as database:
        taken = _take_over(old, database, identity_of(folder))
        with database.write() as tx:
            Blocklist.take_again(tx)
        done = rebuild(folder, database, collection.settings, _known_number(folder), progress)
        _finish(database, identity_of(folder))
        database.checkpoint()
    kept = _set_aside(old)
    new.replace(old)
    sync(folder)
    said = _said(done, taken)
    return [*said, f"the old file is kept as {kept.name}"] if kept else said


def _set_aside(old: Path) -> Path | None:
    """Give the old file, with its log, a name that is free; nothing is deleted."""
    if not any(old.with_name(old.name + side).exists() for side in SIDES):
        return None
    number = 1
    while any(_kept(old, number, side).exists() for side in SIDES):
        number += 1
    for side in SIDES:  # the file first: without its log it would be an older state that looks sound
        path = old.with_name(old.name + side)
        if path.exists():
            path.rename(_kept(old, number, side))
    sync(old.parent)
    return _kept(old, number, "")


def _kept(old: Path, number: int, side: str) -> Path:
    return old.with_name(f"{old.name}.kept-{number}{side}")


def _take_over(old: Path, database: Database, ours: str) -> set[str]:
    """Copy what the stored files do not tell, as far as it can be read and is of this collection; which tables."""
    taken: set[str] = set()
    if not (old.exists() and old.stat().st_size):
        return taken
    try:
        with closing(sqlite3.connect(f"{old.absolute().as_uri()}?mode=ro", uri=True)) as source:
            if ours and _name(source) not in ("", ours):
                return taken
            for (table,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                if table not in NOT_TAKEN and _copied(source, table, database):
                    taken.add(table)
    except sqlite3.Error:
        pass  # damaged: what was read before is kept
    return taken


def _name(source: sqlite3.Connection) -> str:
    """Of the collection that a state belongs to; empty where it cannot be read."""
    try:
        found = source.execute("SELECT value FROM meta WHERE key = ?", (IDENTITY,)).fetchone()
    except sqlite3.Error:
        return ""
    return str(found[0]) if found else ""


def _copied(source: sqlite3.Connection, table: str, database: Database) -> bool:
    """Whether any row of a table could be copied; rows before damage are."""
    try:
        columns = _columns(source, table, database)
        rows = source.execute(f"SELECT {', '.join(columns)} FROM {table}") if columns else None  # noqa: S608
        if rows is None:
            return False
        sql = (
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
            " ON CONFLICT DO NOTHING"
        )
        count = 0
        while part := rows.fetchmany(CHUNK):
            with database.write() as tx:
                tx.executemany(sql, part)
            count += len(part)
    except sqlite3.Error:
        return False
    except PeriplusError:
        return False
    return count > 0


def _columns(source: sqlite3.Connection, table: str, database: Database) -> list[str]:
    """Those that both have."""
    theirs = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
    with database.read() as tx:
        ours = {row[1] for row in tx.rows(f"PRAGMA table_info({table})")}
    return [name for name in theirs if name in ours]


# PostgreSQL


def _on_server(collection: Collection, address: str, progress: Progress | None) -> list[str]:
    folder = collection.folder
    with Database.open(address) as database, _unfinished(folder, database):
        done = rebuild(folder, database, collection.settings, _known_number(folder), progress)
        _finish(database, identity_of(folder))
    return _said(done, set())


@contextmanager
def _unfinished(folder: Path, database: Database) -> Iterator[None]:
    """The database is emptied and marked; the mark goes with the end of the work."""
    wrong = misfit(folder, database)
    if wrong and not wrong.startswith(EMPTY):
        raise StateLost(f"{database.name} {wrong}; name an empty database in storage.database, then doctor --repair")
    with database.write() as tx:
        tx.insert_new("meta", ("key", "value"), [(UNFINISHED, "1")], "key")
        for table in (*sorted(MADE_AGAIN | OF_PROCESSES), "seeds", "removed", "journal", "robots", "closed_patterns"):
            tx.execute(f"DELETE FROM {table}")  # noqa: S608 (names of our own; a repair before may have begun)
    yield
    with database.write() as tx:
        tx.execute("DELETE FROM meta WHERE key = ?", (UNFINISHED,))


# Both


def _finish(database: Database, identity: str) -> None:
    with database.write() as tx:
        if identity:
            tx.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (IDENTITY, identity),
            )
        write_event(tx, "doctor", "the state was built again from the stored files", "warning")


def _known_number(folder: Path) -> int:
    """No number up to what index and ranks have taken in is given again, even where the files are gone."""
    from periplus.graph import RankStore
    from periplus.index import IndexStore

    numbers = [0]
    for look in (IndexStore(folder / "index").manifest, RankStore(folder / "ranks").current):
        try:
            found = look()
        except PeriplusError:
            continue
        numbers.append(found.last_batch if found else 0)
    return max(numbers)


def _said(done: Rebuilt, taken: set[str]) -> list[str]:
    pages = f"{done.batches:,} batches, {done.pages:,} pages, {done.queued:,} addresses that wait"
    said = [f"built again: {pages}, {done.requests:,} requests, {done.removed:,} takedowns", *done.problems]
    if done.guessed and done.seeds:
        first = f"the first page of each site stands for it ({len(done.seeds):,})"
        said.append(f"where the crawl began is not known again; {first}")
    lost = [text for table, text in _LOST.items() if table not in taken]
    return [*said, *([f"not known again: {'; '.join(lost)}"] if lost else [])]


_LOST: Final = {
    "meta": "what a crawl was told and the console changed (flags and settings: give them again), and the"
    " operator's key (the next start shows a new one)",
    "removed": "whether a whole host was taken down (each address that was is; periplus remove HOST makes it sure)",
    "journal": "requests that got no answer, and the gaps as they were kept",
    "events": "events",
    "api_keys": "keys of programs, if there were any (periplus keys create makes new ones)",
    "judgements": "judgements and past queries",
}
