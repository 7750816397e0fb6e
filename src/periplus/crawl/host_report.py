"""What we know and did at one host: for its owner (/about-bot) and for the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from periplus import addresses
from periplus.crawl.hosts import rules_of
from periplus.crawl.journal import TOKEN_KEY
from periplus.crawl.rows import NEVER, REFUSED, RobotsRow

if TYPE_CHECKING:
    from periplus.storage import Database, Transaction


class HostReport(Struct, frozen=True):
    host: str
    rule_group: str  # the robots.txt group that we follow: our name, "*", or empty when no rule concerns us
    robots: str  # how the last reading of robots.txt ended
    robots_read: float
    crawl_delay: float | None
    delay: float  # seconds between two requests, in force
    requests: int
    pages: int
    queued: int
    last_visit: float
    next_visit: float  # 0 when none is planned
    failures: int
    reason: str
    refusals: dict[str, int]  # addresses that we do not ask for, by reason


def host_report(database: Database, host: str) -> HostReport | None:
    """The report on a host (or on the host of an address); none when we never heard of it."""
    name = addresses.host(addresses.canonical(host)) if "://" in host else host.strip().lower()
    with database.read() as tx:
        key = addresses.host_key(name)
        row = tx.row(
            "SELECT delay, requests, pages, queued, last_at, next_at, ready_at, active, failures, reason"
            " FROM hosts WHERE key = ?",
            (key,),
        )
        return _report(tx, name, key, row) if row else None


def _report(tx: Transaction, name: str, key: int, row: tuple[Any, ...]) -> HostReport:
    delay, requests, pages, queued, last_at, next_at, ready_at, active, failures, reason = row
    token = str(tx.value("SELECT value FROM meta WHERE key = ?", (TOKEN_KEY,)) or "Periplus")
    stored = tx.row("SELECT * FROM robots WHERE host = ? ORDER BY fetched_at DESC LIMIT 1", (key,))
    robots = RobotsRow(*stored) if stored else None
    rules = rules_of(robots, token) if robots else None
    planned = float(ready_at if active else next_at)
    refusals = tx.rows(
        "SELECT reason, COUNT(*) FROM urls WHERE host = ? AND state = ? GROUP BY reason ORDER BY 2 DESC", (key, REFUSED)
    )
    return HostReport(
        host=name,
        rule_group=rules.file.group if rules else "",
        robots=_robots_note(robots),
        robots_read=robots.fetched_at if robots else 0.0,
        crawl_delay=rules.file.delay if rules else None,
        delay=float(delay),
        requests=int(requests),
        pages=int(pages),
        queued=int(queued),
        last_visit=float(last_at),
        next_visit=planned if planned < NEVER else 0.0,
        failures=int(failures),
        reason=str(reason),
        refusals={str(code): int(count) for code, count in refusals},
    )


def _robots_note(robots: RobotsRow | None) -> str:
    if robots is None:
        return "not read yet"
    return robots.reason or f"read (HTTP {robots.status})"
