"""Steering a running crawl from anywhere: commands in the ``control`` table."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from periplus.errors import UsageError

if TYPE_CHECKING:
    from periplus.storage import Database

NAME = "crawl"
COMMANDS = ("pause", "resume", "stop", "workers N", "restart N")
_COMMAND = re.compile(r"pause|resume|stop|workers [1-9]\d{0,3}|restart \d{1,18}")


def send_command(database: Database, command: str) -> None:
    """Ask the running crawl to pause, resume or stop, to use N workers, or to restart worker number N."""
    if not _COMMAND.fullmatch(command):
        raise UsageError(f"unknown command {command!r}; known are {', '.join(COMMANDS)}")
    with database.write() as tx:
        tx.execute(
            "INSERT INTO control (name, value, at) VALUES (?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at",
            (NAME, command, time.time()),
        )


def read_command(database: Database) -> str:
    with database.read() as tx:
        return str(tx.value("SELECT value FROM control WHERE name = ?", (NAME,)) or "")


def clear_commands(database: Database) -> None:
    with database.write() as tx:
        tx.execute("DELETE FROM control WHERE name = ?", (NAME,))
