"""The journal of requests: how it is written, a listing, and the audit that looks for broken promises.

The audit trusts nothing but the rows: it computes the gaps again from the times of the requests, asks the stored
robots files again about every address, and compares with the delay that was in force.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.crawl.frontier.rows import JournalRow, RobotsRow
from periplus.crawl.working.hosts import origin_of, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from periplus.crawl.working.hosts import HostRules
    from periplus.storage import Database, Transaction

TOLERANCE = 0.005  # seconds: clocks are read a little before and after the wire
MOST_VIOLATIONS = 1_000
TOKEN_KEY = "crawl.bot"  # noqa: S105 - a name in meta, no secret

KEPT = 10_000_000  # requests; older ones are forgotten
FORGOTTEN_AT_ONCE = 2_000  # with one commit, which writes fewer

_COLUMNS = ", ".join(JournalRow._fields)
_INSERT = f"INSERT INTO journal ({_COLUMNS}) VALUES ({', '.join('?' * len(JournalRow._fields))})"  # noqa: S608
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


class Violation(Struct, frozen=True):
    """A promise that a request broke."""

    kind: str  # overlap, gap, asked-to-wait, ip-gap or robots
    host: str
    url: str
    at: float
    detail: str

    def __str__(self) -> str:
        moment = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(self.at))
        return f"{self.kind} at {self.host}, {moment}: {self.detail} ({self.url})"


class AuditReport(Struct, frozen=True):
    """What the journal proves; ``violations`` must be empty."""

    requests: int
    hosts: int
    violations: tuple[Violation, ...]
    shortest_gap: float  # seconds between two requests to a host; negative when no host had two
    checked: float

    @property
    def clean(self) -> bool:
        return not self.violations


def write_requests(tx: Transaction, rows: Sequence[JournalRow]) -> None:
    """Add rows, and forget about as many of the oldest where there are more than are kept."""
    if rows:
        tx.executemany(_INSERT, rows)
        tx.execute(_FORGET.format(f"{tx.row_lock} SKIP LOCKED" if tx.row_lock else ""), (KEPT, FORGOTTEN_AT_ONCE))


def journal(database: Database, host: str = "", limit: int = 100) -> list[JournalEntry]:
    """The newest requests, newest first; of one host when named."""
    where, arguments = ("WHERE host = ?", (host, limit)) if host else ("", (limit,))
    sql = f"SELECT {_COLUMNS} FROM journal {where} ORDER BY at DESC, id DESC LIMIT ?"  # noqa: S608
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


def audit(database: Database, host: str = "") -> AuditReport:
    """Check every journalled request, or those to one host."""
    with database.read() as tx:
        check = _Audit(tx, str(tx.value("SELECT value FROM meta WHERE key = ?", (TOKEN_KEY,)) or "Periplus"))
        for row in _rows(tx, host, "host, at, id"):
            check.row(row)
        for row in _rows(tx, host, "ip, at, id", exempt=False):
            check.address(row)
    return AuditReport(check.requests, check.hosts, tuple(check.violations), check.shortest, time.time())


def _rows(tx: Transaction, host: str, order: str, *, exempt: bool = True) -> Iterator[JournalRow]:
    conditions = ["host = ?"] if host else []
    conditions += [] if exempt else ["exempt = 0"]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = f"SELECT {_COLUMNS} FROM journal {where} ORDER BY {order}"  # noqa: S608
    return (JournalRow(*row) for row in tx.stream(sql, (host,) if host else ()))


class _Audit:
    """Goes through the rows, host by host, keeping only the last one."""

    def __init__(self, tx: Transaction, token: str) -> None:
        self._tx = tx
        self._token = token
        self._last: JournalRow | None = None
        self._last_of_ip: JournalRow | None = None
        self._rules: dict[str, HostRules | None] = {}
        self.requests = 0
        self.hosts = 0
        self.shortest = -1.0
        self.violations: list[Violation] = []

    def row(self, row: JournalRow) -> None:
        last, self._last = self._last, row
        self.requests += 1
        if last is None or last.host != row.host:
            self.hosts += 1
            self._rules = {}
        else:
            self._compare(last, row)
        self._ask_robots(row)

    def address(self, row: JournalRow) -> None:
        last, self._last_of_ip = self._last_of_ip, row
        if last is None or last.ip != row.ip or not row.ip:
            return
        gap = row.at - last.at
        if gap < row.ip_delay - TOLERANCE:
            self._broken("ip-gap", row, f"{gap:.3f} s after another request to {row.ip}, not {row.ip_delay:g} s")

    def _compare(self, last: JournalRow, row: JournalRow) -> None:
        gap = row.at - (last.at + last.ms / 1000)
        self.shortest = gap if self.shortest < 0 else min(self.shortest, gap)
        if gap < -TOLERANCE:
            self._broken("overlap", row, "sent before the last response had ended")
        elif gap < row.delay - TOLERANCE:
            self._broken("gap", row, f"{gap:.3f} s after the last response, not {row.delay:g} s")
        if row.at < last.not_before - TOLERANCE:
            early = last.not_before - row.at
            self._broken("asked-to-wait", row, f"{early:.3f} s before the time that the last response set")

    def _ask_robots(self, row: JournalRow) -> None:
        origin = origin_of(row.url)
        if origin not in self._rules:
            found = self._tx.row("SELECT * FROM robots WHERE origin = ?", (origin,))
            self._rules[origin] = rules_of(RobotsRow(*found), self._token) if found else None
        rules = self._rules[origin]
        if rules is None or row.at < rules.fetched_at:
            return
        verdict = rules.file.verdict(row.url)
        if not verdict.allowed:
            self._broken("robots", row, f"robots.txt forbids it, {verdict}")

    def _broken(self, kind: str, row: JournalRow, detail: str) -> None:
        if len(self.violations) < MOST_VIOLATIONS:
            self.violations.append(Violation(kind, row.host, row.url, row.at, detail))
