"""The audit of the journal of requests: it looks for broken promises.

It trusts nothing but the rows: it computes the gaps again from the times of the requests, asks the stored robots files
again about every address, and compares with the delay that was in force.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.crawl.frontier.journal import COLUMNS, TOKEN_KEY
from periplus.crawl.frontier.rows import JournalRow, RobotsRow
from periplus.crawl.rules.host_rules import origin_of, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.crawl.rules.host_rules import HostRules
    from periplus.storage import Database, Transaction

TOLERANCE = 0.005  # seconds: clocks are read a little before and after the wire
MOST_VIOLATIONS = 1_000


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
    sql = f"SELECT {COLUMNS} FROM journal {where} ORDER BY {order}"  # noqa: S608
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
