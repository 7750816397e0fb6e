"""A keeper looks after one long process of a cluster: a crawl worker, a shard server, a broker, the indexer.

It starts the ordinary ``periplus`` command as a child while it holds the lease of its slot, so that a child that
outlived its machine's connection and one that was started elsewhere never run together. A child that dies is started
again, later each time. While the database is away, a child that runs goes on: nobody else can have the lease either.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus import settings
from periplus.cluster.placement import BROKER, CRAWL, HELP, SHARD, kind_of, shard_of
from periplus.cluster.processes import Process
from periplus.errors import LeaseLost, PeriplusError, UsageError
from periplus.storage import Database, Leases, database_time, make_private_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from periplus.storage import Lease

LEASE_SECONDS = 20.0
RENEW_EVERY = 2.0  # seconds
DONE_PAUSE = 30.0  # seconds between two runs of a child that ends because its work is done, such as a crawl
SLOT_LEASE = "cluster.slot."
TOKEN_FILE = "cluster.token"  # noqa: S105 (its name)
LOGS = "cluster"  # folder of the children's logs, in the collection
SHARD_TOKEN = "PERIPLUS_SHARD_TOKEN"  # noqa: S105 (its name)
WAITING, RUNNING, RESTING = "waiting", "running", "resting"
_REPORT = (
    "INSERT INTO slots (name, node, state, process, starts, since, seen, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (name) DO UPDATE SET node = excluded.node, state = excluded.state, process = excluded.process,"
    " starts = excluded.starts, since = excluded.since, seen = excluded.seen, note = excluded.note"
)


class Keep(Struct, frozen=True):
    """What is to be kept running: the words of the command, in whose folder, on which node."""

    slot: str
    node: str
    folder: str
    words: tuple[str, ...]
    environment: dict[str, str] = {}
    prepared: dict[str, str] = {}  # files that the folder needs, where it has none: name and content


class KeptSlot(Struct, frozen=True):
    """A slot as its keeper reported it last."""

    name: str
    node: str
    state: str
    process: int
    starts: int
    since: float
    seen: float
    note: str


def command(slot: str, address: str, folder: str, port: int) -> tuple[str, ...]:
    """The ordinary command that runs in a slot."""
    if kind_of(slot) == CRAWL:
        return ("crawl", "--dir", folder, "--follow")
    if kind_of(slot) == HELP:
        return ("crawl", "--dir", folder, "--join")
    if kind_of(slot) == SHARD:
        return ("shard", "--dir", folder, "--number", str(shard_of(slot)), "--host", address, "--port", "0")
    if kind_of(slot) == BROKER:
        return ("serve", "--dir", folder, "--host", address, "--port", str(port), "--shards", "auto")
    return ("index", "--dir", folder, "--follow")


def read_token(folder: str | Path) -> str:
    """The secret of the cluster, of which each machine has a copy; empty where it has none."""
    try:
        return (Path(folder) / TOKEN_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{Path(folder) / TOKEN_FILE} cannot be read as a token: {error}; copy it again") from error


def shard_token(token: str) -> str:
    """What shard servers want to be shown: made of the cluster's secret, which it does not tell."""
    return hmac.new(token.encode(), b"shard servers", hashlib.sha256).hexdigest() if token else ""


def kept_slots(database: Database) -> list[KeptSlot]:
    """All slots that a keeper reported, by name."""
    sql = "SELECT name, node, state, process, starts, since, seen, note FROM slots ORDER BY name"
    with database.read() as tx:
        return [KeptSlot(*row) for row in tx.rows(sql)]


def free_slots(database: Database, node: str) -> None:
    """Let others have what keepers of a node held; for whoever knows that their children have ended."""
    with database.write() as tx:
        names = [name for (name,) in tx.rows("SELECT name FROM slots WHERE node = ?", (node,))]
        sql = "UPDATE leases SET expires = 0, owner = '' WHERE name = ? AND owner LIKE ?"
        tx.executemany(sql, [(SLOT_LEASE + name, f"{node}/%") for name in names])
        tx.execute("DELETE FROM slots WHERE node = ?", (node,))


class Keeper:
    """Begins to keep as soon as it is made; ``end`` ends the child and gives the slot up."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._owner = f"{keep.node}/{secrets.token_hex(4)}"
        self._ended = threading.Event()
        self._starts = 0
        self._thread = threading.Thread(target=self._run, name=f"keeper {keep.slot}", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def is_at_work(self) -> bool:
        return self._thread.is_alive()

    def lost(self) -> None:
        """Called when another keeper has taken the slot; it may be waited for again."""

    # The thread

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                prepare(self._keep)
                with Database.open(database_address(self._keep.folder)) as database:
                    self._hold(database)
            except PeriplusError:
                self._ended.wait(RENEW_EVERY)

    def _hold(self, database: Database) -> None:
        """Wait for the slot, keep the child while it is ours, give the slot up."""
        leases = Leases(database)
        name = SLOT_LEASE + self._keep.slot
        lease = leases.acquire(name, self._owner, LEASE_SECONDS)
        while lease is None:
            if self._ended.wait(RENEW_EVERY / 4):
                return
            lease = leases.acquire(name, self._owner, LEASE_SECONDS)
        held = _KeptLease(database, leases, lease, self._keep)
        try:
            self._keep_child(held)
        except LeaseLost:
            self.lost()  # another keeper has it: what we began has been ended
            return
        held.give_up()

    def _keep_child(self, held: _KeptLease) -> None:
        child = Process(words_of(self._keep), log_of(self._keep), environment_of(self._keep))
        try:
            while not self._ended.is_set():
                child.start()
                self._starts += 1
                held.report(RUNNING, child.number, self._starts)
                code = self._watch(child, held)
                if code is None:
                    return
                pause = child.pause() if code else DONE_PAUSE
                note = f"ended with code {code}: {child.last_line()}"[:300] if code else "its work is done"
                held.report(RESTING, 0, self._starts, note)
                self._rest(pause, held)
        finally:
            child.stop()

    def _watch(self, child: Process, held: _KeptLease) -> int | None:
        """The exit code of the child; None when the keeper is to end before."""
        while not self._ended.is_set():
            code = child.wait(RENEW_EVERY / 4)
            if code is not None:
                return code
            held.renew()
        return None

    def _rest(self, seconds: float, held: _KeptLease) -> None:
        while seconds > 0 and not self._ended.wait(min(seconds, RENEW_EVERY)):
            seconds -= RENEW_EVERY
            held.renew()


class _KeptLease:
    """A slot that is ours, until its lease is lost."""

    def __init__(self, database: Database, leases: Leases, lease: Lease, keep: Keep) -> None:
        self._database, self._leases, self._lease, self._keep = database, leases, lease, keep
        self._row: tuple[str, int, int, float, str] = (WAITING, 0, 0, 0.0, "")

    def renew(self) -> None:
        """Now and then; an error of the database is passed over, since it is away for all others, too."""
        if LEASE_SECONDS - self._leases.remaining(self._lease) < RENEW_EVERY:
            return
        try:
            self._lease = self._leases.renew(self._lease)
            self._write()
        except LeaseLost:
            raise
        except PeriplusError:
            return

    def report(self, state: str, process: int, starts: int, note: str = "") -> None:
        self._row = (state, process, starts, 0.0, note)
        try:
            self._write()
        except LeaseLost:
            raise
        except PeriplusError:
            return

    def _write(self) -> None:
        with self._database.write() as tx:
            self._leases.check(tx, self._lease)
            now = database_time(tx)
            state, process, starts, since, note = self._row
            self._row = (state, process, starts, since or now, note)
            tx.execute(_REPORT, (self._keep.slot, self._keep.node, state, process, starts, since or now, now, note))

    def give_up(self) -> None:
        with self._database.write() as tx:
            self._leases.check(tx, self._lease)
            tx.execute("DELETE FROM slots WHERE name = ?", (self._keep.slot,))
            self._leases.release_in(tx, self._lease)


def prepare(keep: Keep) -> None:
    """Make the working copy's folder, with settings and token, where a machine has none yet."""
    folder = Path(keep.folder)
    for name, content in keep.prepared.items():
        if not (folder / name).exists():
            make_private_folder(folder)
            (folder / name).touch(mode=0o600)
            (folder / name).write_text(content, encoding="utf-8")


def database_address(folder: str | Path) -> str:
    """Where the state of the collection in a folder is."""
    return settings.load(Path(folder)).values.storage.database or str(Path(folder) / "state.db")


def words_of(keep: Keep) -> list[str]:
    return [sys.executable, "-m", "periplus", *keep.words]


def log_of(keep: Keep) -> Path:
    return Path(keep.folder) / LOGS / f"{keep.slot.replace(':', '-')}.log"


def environment_of(keep: Keep, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours without what Ray adds to it, and with the token of shard servers."""
    kept = os.environ if given is None else given
    mine = {name: value for name, value in kept.items() if not name.startswith("RAY_") and name != "OMP_NUM_THREADS"}
    token = shard_token(read_token(keep.folder))
    return mine | ({SHARD_TOKEN: token} if token else {}) | keep.environment
