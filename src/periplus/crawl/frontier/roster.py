"""The workers of a crawl: one row each, written by the worker, read by the console, the status and the coordinator."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from periplus.storage import Lease, database_time, process_name, steady

if TYPE_CHECKING:
    from periplus.storage import Database, Transaction

ALIVE_SECONDS = 10.0  # a worker writes its row more often than this
ENDED, SILENT = "ended", "silent"
RESTING = "resting"  # it has no hosts and takes none; its process goes on
LEASE = "crawl.worker."
_COUNTER = "crawl.workers"


class WorkerStatus(Struct, frozen=True):
    """What one worker has done in this crawl; the fields from ``pages`` on are its own figures."""

    number: int = 0
    address: str = ""  # machine:process
    state: str = ""  # starting, running, idle, paused, stopping, ended; silent when it stopped writing
    started: float = 0.0
    last_write: float = 0.0
    partitions: int = 0
    pages: int = 0
    unchanged: int = 0
    failed: int = 0
    refused: int = 0
    bytes: int = 0
    documents: int = 0
    links: int = 0
    rate: float = 0.0  # pages a second, lately
    max_rate: float = 0.0
    average_rate: float = 0.0
    answers_2xx: int = 0
    answers_3xx: int = 0
    answers_404: int = 0
    answers_other: int = 0  # other statuses, and requests without an answer
    active: int = 0  # requests under way
    hosts: int = 0  # hosts in memory
    current: str = ""


class SlotStatus(Struct, frozen=True):
    """One request under way."""

    worker: int = 0
    url: str = ""
    step: str = ""  # robots, waiting, fetching or reading
    since: float = 0.0

    @property
    def age(self) -> float:
        return max(0.0, time.time() - self.since)


def own_address() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def register(database: Database, seconds: float) -> tuple[int, Lease]:
    """A new worker's number and its lease of so many seconds; numbers never come twice in a collection."""
    granted = steady()
    with database.write() as tx:
        now = database_time(tx)
        number = tx.next_number(_COUNTER)
        tx.execute(
            "INSERT INTO workers (number, address, state, started, at, process) VALUES (?, ?, 'starting', ?, ?, ?)",
            (number, own_address(), now, now, process_name()),
        )
        lease = Lease(lease_name(number), owner_name(number), 1, now + seconds, seconds, granted)
        sql = "INSERT INTO leases (name, owner, token, expires) VALUES (?, ?, ?, ?)"
        tx.execute(sql, (lease.name, lease.owner, lease.token, lease.expires))
    return number, lease


def take_seat(tx: Transaction, number: int) -> None:
    """A worker was registered by another process, and is this one."""
    sql = "UPDATE workers SET address = ?, process = ? WHERE number = ?"
    tx.execute(sql, (own_address(), process_name(), number))


def owner_name(number: int) -> str:
    """By which a worker holds its lease."""
    return f"worker {number}"


def lease_name(number: int) -> str:
    return f"{LEASE}{number}"


def write(tx: Transaction, status: WorkerStatus, slots: list[SlotStatus]) -> None:
    tx.execute(
        "UPDATE workers SET state = ?, at = ?, figures = ?, slots = ? WHERE number = ?",
        (status.state, database_time(tx), _encoded(status), _encoded(slots), status.number),
    )


def end(tx: Transaction, number: int) -> None:
    """A worker is no more; its figures stay until the next crawl."""
    tx.execute("UPDATE workers SET state = ?, places = 0, slots = '[]' WHERE number = ?", (ENDED, number))
    tx.execute("DELETE FROM wanted_hosts WHERE worker = ?", (number,))


def forget_ended(tx: Transaction) -> None:
    """A crawl begins: figures of the one before are no longer wanted, nor are leases of workers that are no more.

    Their numbers do not come again. A worker that wakes up finds no lease, which is as good as another's.
    """
    tx.execute("DELETE FROM workers WHERE state = ?", (ENDED,))
    kept = f"SELECT '{LEASE}' || number FROM workers"  # noqa: S608
    sql = f"DELETE FROM leases WHERE name LIKE ? AND expires <= ? AND name NOT IN ({kept})"  # noqa: S608
    tx.execute(sql, (f"{LEASE}%", database_time(tx)))


def living(tx: Transaction) -> list[int]:
    """The numbers of the workers that share the work now, in order: those that hold their lease."""
    sql = (
        f"SELECT w.number FROM workers w JOIN leases l ON l.name = '{LEASE}' || w.number"  # noqa: S608
        f" AND l.owner = 'worker ' || w.number WHERE w.state NOT IN ('{ENDED}', '{RESTING}') AND l.expires > ?"
        " ORDER BY w.number"
    )
    return [int(number) for (number,) in tx.rows(sql, (database_time(tx),))]


class Seat(NamedTuple):
    """A worker that has not ended, as its lease shows it."""

    number: int
    state: str
    process: str
    lease: Lease
    is_over: bool  # the lease has expired


def seats(database: Database) -> list[Seat]:
    """All workers that have not ended, also those that died and were not healed yet."""
    sql = (
        f"SELECT w.number, w.state, w.process, l.name, l.owner, l.token, l.expires FROM workers w"  # noqa: S608
        f" LEFT JOIN leases l ON l.name = '{LEASE}' || w.number WHERE w.state <> '{ENDED}' ORDER BY w.number"
    )
    with database.read() as tx:
        now = database_time(tx)
        rows = tx.rows(sql)
    return [
        Seat(number, state, process, Lease(name or lease_name(number), owner or "", token or 0, expires or 0.0),
             (expires or 0.0) <= now)
        for number, state, process, name, owner, token, expires in rows
    ]  # fmt: skip


def workers(database: Database) -> list[WorkerStatus]:
    """The workers of the newest crawl, by number."""
    with database.read() as tx:
        now = database_time(tx)
        rows = tx.rows("SELECT number, address, state, started, at, figures FROM workers ORDER BY number")
    return [
        _as_of(now, msgspec.json.decode(figures, type=WorkerStatus), number, address, state, started, at)
        for number, address, state, started, at, figures in rows
    ]


def _as_of(
    now: float, figures: WorkerStatus, number: int, address: str, state: str, started: float, at: float
) -> WorkerStatus:
    """What a row says now; a worker that does not work has no rate, whatever it last wrote."""
    lives = state != ENDED and now - at < ALIVE_SECONDS
    return msgspec.structs.replace(
        figures,
        number=number,
        address=address,
        state=state if lives or state == ENDED else SILENT,
        started=started,
        last_write=at,
        rate=figures.rate if lives else 0.0,
    )


def slots(database: Database) -> list[SlotStatus]:
    """What every slot of every living worker is doing, the oldest first."""
    with database.read() as tx:
        rows = tx.rows("SELECT slots FROM workers WHERE state <> ?", (ENDED,))
    found = [slot for (text,) in rows for slot in msgspec.json.decode(text, type=list[SlotStatus])]
    return sorted(found, key=lambda slot: slot.since)


def _encoded(value: WorkerStatus | list[SlotStatus]) -> str:
    return msgspec.json.encode(value).decode()
