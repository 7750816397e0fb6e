"""Steering a running crawl from anywhere: commands are rows of the ``control`` table, which every worker reads.

The row ``crawl`` is for all workers, ``crawl.worker.N`` for one of them, ``crawl.size`` says how many there should be.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from periplus.crawl.asking.status import status
from periplus.crawl.frontier.roster import ENDED, RESTING
from periplus.errors import UsageError, WrongState
from periplus.storage import database_time

if TYPE_CHECKING:
    from periplus.storage import Database, Transaction

NAME = "crawl"
SIZE = "crawl.size"
WORKER = "crawl.worker."
OVER = "over"  # the crawl is: all workers leave it
COMMAND_SECONDS = 0.25  # between two looks at the rows
MOST_WORKERS = 64  # of one machine
COMMANDS = ("pause", "resume", "stop", "workers N", "pause N", "resume N", "restart N", "shutdown N")
_COMMAND = re.compile(r"pause|resume|stop|workers [1-9]\d{0,3}|(pause|resume|restart|shutdown) \d{1,18}")


def send_command(database: Database, command: str) -> None:
    """Ask the running crawl, or worker number N of it, to pause, resume or stop; or to use N workers."""
    if not _COMMAND.fullmatch(command):
        raise UsageError(f"unknown command {command!r}; known are {', '.join(COMMANDS)}")
    verb, _, number = command.partition(" ")
    with database.write() as tx:
        if verb == "workers":
            if int(number) > MOST_WORKERS:
                raise UsageError(f"{command}: at most {MOST_WORKERS} workers of a machine share a crawl")
            _write(tx, SIZE, number)
        elif number:
            _check_worker(tx, verb, int(number))
            _write(tx, f"{WORKER}{number}", verb)
        else:
            _write(tx, NAME, verb)


def order_worker(tx: Transaction, number: int, verb: str) -> None:
    """Tell one worker, whatever state it is in."""
    _write(tx, f"{WORKER}{number}", verb)


def order_all(tx: Transaction, verb: str) -> None:
    _write(tx, NAME, verb)


def _write(tx: Transaction, name: str, value: str) -> None:
    tx.execute(
        "INSERT INTO control (name, value, at) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at",
        (name, value, database_time(tx)),
    )


def _check_worker(tx: Transaction, verb: str, number: int) -> None:
    sql = "SELECT number FROM workers WHERE state NOT IN (?, ?) ORDER BY number"
    working = [one for (one,) in tx.rows(sql, (ENDED, RESTING))]
    if number not in working:
        raise WrongState(f"no worker {number} at work; these are: {', '.join(map(str, working)) or 'none'}")
    if verb == "shutdown" and working == [number]:
        raise WrongState(f"worker {number} is the only one at work; use periplus stop to end the crawl")


class WorkerOrders:
    """What a worker was told, by rows; ``look`` reads them now and then."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self._names = (NAME, f"{WORKER}{number}", SIZE)
        self._next = 0.0
        self.stop = False  # all workers
        self.is_over = False  # for it is done, and nobody ordered it
        self.leave = ""  # this worker: restart or shutdown
        self.paused = False
        self.size = 0

    def look(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + COMMAND_SECONDS
        with self._database.read() as tx:
            sql = "SELECT name, value, at FROM control WHERE name IN (?, ?, ?)"
            rows = {name: (value, at) for name, value, at in tx.rows(sql, self._names)}
        everyone, own = (rows.get(name, ("", 0.0)) for name in self._names[:2])
        self.stop = everyone[0] in ("stop", OVER)
        self.is_over = everyone[0] == OVER
        self.leave = own[0] if own[0] in ("stop", "restart", "shutdown") else ""
        self.paused = max((everyone, own), key=lambda said: said[1])[0] == "pause"
        self.size = int(rows.get(SIZE, ("0", 0.0))[0])


def was_shut_down(database: Database, number: int) -> bool:
    """Whether a worker left for good by order, so that none is wanted in its place."""
    with database.read() as tx:
        return bool(tx.value("SELECT value FROM control WHERE name = ?", (f"{WORKER}{number}",)) == "shutdown")


def read_command(database: Database) -> tuple[str, float]:
    """The newest command to all workers and when it was given; the same one may be given again."""
    with database.read() as tx:
        row = tx.row("SELECT value, at FROM control WHERE name = ?", (NAME,))
    return (str(row[0]), float(row[1])) if row else ("", 0.0)


def is_paused(database: Database) -> bool:
    """Whether a running crawl rests, or was told to and has not obeyed yet."""
    return status(database).state == "paused" or read_command(database)[0] == "pause"


def resume_wanted(database: Database) -> bool:
    """Whether somebody asked a crawl that was stopped to go on; a crawl that begins takes the wish away."""
    return read_command(database)[0] == "resume"


def clear_commands(database: Database) -> None:
    with database.write() as tx:
        tx.execute("DELETE FROM control WHERE name = ? OR name LIKE 'crawl.%'", (NAME,))
