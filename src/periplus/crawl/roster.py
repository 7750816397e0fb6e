"""The workers of a crawl: one row each, written by the worker, read by the console, the status and the coordinator."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from periplus.storage import Database, Transaction

ALIVE_SECONDS = 10.0  # a worker writes its row more often than this
ENDED, SILENT = "ended", "silent"
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


def register(database: Database) -> int:
    """A new worker's number; numbers never come twice in a collection."""
    now = time.time()
    with database.write() as tx:
        number = tx.next_number(_COUNTER)
        tx.execute(
            "INSERT INTO workers (number, address, state, started, at) VALUES (?, ?, 'starting', ?, ?)",
            (number, own_address(), now, now),
        )
    return number


def owner_name(number: int) -> str:
    """By which a worker holds leases."""
    return f"worker {number}"


def write(tx: Transaction, status: WorkerStatus, slots: list[SlotStatus]) -> None:
    tx.execute(
        "UPDATE workers SET state = ?, at = ?, figures = ?, slots = ? WHERE number = ?",
        (status.state, time.time(), _encoded(status), _encoded(slots), status.number),
    )


def end(tx: Transaction, number: int) -> None:
    """A worker is no more; its figures stay until the next crawl."""
    tx.execute("UPDATE workers SET state = ?, places = 0, slots = '[]' WHERE number = ?", (ENDED, number))


def forget_all(tx: Transaction) -> None:
    tx.execute("DELETE FROM workers")
    tx.execute("DELETE FROM wanted_hosts")


def living(tx: Transaction) -> int:
    """How many workers share the work now."""
    sql = "SELECT COUNT(*) FROM workers WHERE state <> ? AND at > ?"
    return int(tx.value(sql, (ENDED, time.time() - ALIVE_SECONDS)))


def workers(database: Database) -> list[WorkerStatus]:
    """The workers of the newest crawl, by number."""
    now = time.time()
    with database.read() as tx:
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
