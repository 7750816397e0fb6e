"""Steering a running crawl from anywhere: commands in the ``control`` table."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from periplus.crawl.roster import ENDED
from periplus.crawl.rows import PARTITIONS
from periplus.crawl.status import status
from periplus.errors import UsageError, WrongState

if TYPE_CHECKING:
    from periplus.storage import Database, Transaction

NAME = "crawl"
COMMANDS = ("pause", "resume", "stop", "workers N", "restart N")
_COMMAND = re.compile(r"pause|resume|stop|workers [1-9]\d{0,3}|restart \d{1,18}")


def send_command(database: Database, command: str) -> None:
    """Ask the running crawl to pause, resume or stop, to use N workers, or to restart worker number N."""
    if not _COMMAND.fullmatch(command):
        raise UsageError(f"unknown command {command!r}; known are {', '.join(COMMANDS)}")
    if command.startswith("workers ") and int(command.removeprefix("workers ")) > PARTITIONS:
        raise UsageError(f"{command}: at most {PARTITIONS} workers share a crawl")
    with database.write() as tx:
        if command.startswith("restart "):
            _check_restart(tx, int(command.removeprefix("restart ")))
        tx.execute(
            "INSERT INTO control (name, value, at) VALUES (?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at",
            (NAME, command, time.time()),
        )


def _check_restart(tx: Transaction, number: int) -> None:
    """The first worker is the crawl itself; others are processes that can go and come."""
    working = [one for (one,) in tx.rows("SELECT number FROM workers WHERE state <> ? ORDER BY number", (ENDED,))]
    if number not in working:
        raise WrongState(f"no worker {number} at work; these are: {', '.join(map(str, working)) or 'none'}")
    if number == working[0]:
        raise WrongState(f"worker {number} leads the crawl and ends with it; use periplus stop, then crawl again")


def read_command(database: Database) -> tuple[str, float]:
    """The newest command and when it was given; the same one may be given again."""
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
        tx.execute("DELETE FROM control WHERE name = ?", (NAME,))
