"""Things an operator should know: one row each, newest last, shown by the console and ``periplus status``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from periplus import log_lines

if TYPE_CHECKING:
    from periplus.storage.database import Transaction

KEPT = 10_000  # older ones are forgotten
EVENT = "event"  # what lines in JSON call one


def write_event(tx: Transaction, room: str, text: str, level: str = "info") -> int:
    """Tell the operator; part of the transaction that does what the text says. Gives the number of the event."""
    sql = "INSERT INTO events (at, room, level, text) VALUES (?, ?, ?, ?) RETURNING id"
    number = int(tx.value(sql, (time.time(), room, level, text)))
    tx.execute("DELETE FROM events WHERE id <= ?", (number - KEPT,))
    if log_lines.in_json():
        tx.afterwards(lambda: log_lines.tell(text, level, room=room, event=EVENT, number=number))
    return number
