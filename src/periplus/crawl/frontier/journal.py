"""The journal of requests: one row each, as it is written, and a listing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.crawl.frontier.rows import JournalRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.storage import Database, Transaction

TOKEN_KEY = "crawl.bot"  # noqa: S105 - a name in meta, no secret

KEPT = 10_000_000  # requests; older ones are forgotten
FORGOTTEN_AT_ONCE = 2_000  # with one commit, which writes fewer

COLUMNS = ", ".join(JournalRow._fields)
_INSERT = f"INSERT INTO journal ({COLUMNS}) VALUES ({', '.join('?' * len(JournalRow._fields))})"  # noqa: S608
# What another worker is about to forget it has locked.
_FORGET = (
    "DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE id <= (SELECT MAX(id) FROM journal) - ?"
    " ORDER BY id LIMIT ?{})"
)


class JournalEntry(Struct, frozen=True):
    """One request."""

    at: float
    host: str
    ip: str
    url: str
    rule: str
    gap: float
    delay: float
    outcome: str
    status: int
    bytes: int
    ms: float


def write_requests(tx: Transaction, rows: Sequence[JournalRow]) -> None:
    """Add rows, and forget about as many of the oldest where there are more than are kept."""
    if rows:
        tx.executemany(_INSERT, rows)
        tx.execute(_FORGET.format(f"{tx.row_lock} SKIP LOCKED" if tx.row_lock else ""), (KEPT, FORGOTTEN_AT_ONCE))


def journal(database: Database, host: str = "", limit: int = 100) -> list[JournalEntry]:
    """The newest requests, newest first; of one host when named."""
    where, arguments = ("WHERE host = ?", (host, limit)) if host else ("", (limit,))
    sql = f"SELECT {COLUMNS} FROM journal {where} ORDER BY at DESC, id DESC LIMIT ?"  # noqa: S608
    with database.read() as tx:
        rows = [JournalRow(*row) for row in tx.rows(sql, arguments)]
    return [JournalEntry(*(getattr(row, name) for name in JournalEntry.__struct_fields__)) for row in rows]


def keep_token(database: Database, token: str) -> None:
    """Remember by which name robots files are read, so that the audit reads them alike."""
    with database.write() as tx:
        tx.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (TOKEN_KEY, token),
        )
