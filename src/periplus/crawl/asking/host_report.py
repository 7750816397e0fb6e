"""What we know and did at one host: for its owner (/about-bot) and for the operator.

It names no address of the host, since anybody may ask about any host.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from periplus import addresses
from periplus.crawl.frontier.budgets import is_withdrawn
from periplus.crawl.frontier.journal import TOKEN_KEY
from periplus.crawl.frontier.rows import NEVER, REFUSED, RobotsRow
from periplus.crawl.rules.host_rules import rules_of
from periplus.reasons import sentence

if TYPE_CHECKING:
    from periplus.crawl.rules.host_rules import HostRules
    from periplus.storage import Database, Transaction

LINES_SHOWN = 30
DAY = 86_400.0
_HOST = (
    "SELECT delay, requests, pages, queued, last_at, next_at, ready_at, active, failures, reason, judged, findable"
    " FROM hosts WHERE key = ?"
)


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
    bot: str = ""  # the name under which we obey robots.txt
    rules: tuple[str, ...] = ()  # of that group, the first ones with their lines
    delay_because: str = ""
    requests_today: int = 0  # in the last 24 hours
    last_outcome: str = ""  # of the last request, in words
    explanations: dict[str, str] = {}  # a sentence for each reason above
    taken_down: bool = False
    opt_out: tuple[str, ...] = ()  # what the owner can do, each line whole
    judged: int = 0  # bodies that it gave lately …
    findable: int = 0  # … and how many of them became documents of their own


def host_report(database: Database, host: str) -> HostReport | None:
    """The report on a host (or on the host of an address); none when we never heard of it."""
    name = addresses.host(addresses.canonical(host)) if "://" in host else host.strip().lower()
    with database.read() as tx:
        key = addresses.host_key(name)
        row = tx.row(_HOST, (key,))
        return _report(tx, name, key, row) if row else None


def opt_out(bot: str) -> tuple[str, ...]:
    """The ways to keep the crawler away, as an owner would write them."""
    return (
        f"robots.txt, to keep it out of everything: User-agent: {bot} / Disallow: /",
        f"robots.txt, to slow it down: User-agent: {bot} / Crawl-delay: 30",
        'a page, to keep it out of the results: <meta name="robots" content="noindex"> or X-Robots-Tag: noindex',
        "a takedown of what was fetched: ask the operator, who has periplus remove HOST",
    )


def _report(tx: Transaction, name: str, key: int, row: tuple[Any, ...]) -> HostReport:
    delay, requests, pages, queued, last_at, next_at, ready_at, active, failures, reason, judged, findable = row
    bot = str(tx.value("SELECT value FROM meta WHERE key = ?", (TOKEN_KEY,)) or "Periplus")
    robots, rules = _rules(tx, key, bot)
    planned = float(ready_at if active else next_at)
    refusals = _refusals(tx, key)
    if queued and is_withdrawn(judged, findable):
        refusals["host-yield"] = int(queued)
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
        refusals=refusals,
        bot=bot,
        rules=rules.file.lines(LINES_SHOWN) if rules else (),
        delay_because=_delay_because(float(delay), rules.file.delay if rules else None),
        requests_today=int(
            _value(tx, "SELECT COUNT(*) FROM journal WHERE host = ? AND at > ?", name, time.time() - DAY)
        ),
        last_outcome=_last_outcome(tx, name),
        explanations={code: sentence(code) for code in (*refusals, reason) if code},
        taken_down=bool(_value(tx, "SELECT 1 FROM removed WHERE target = ?", name)),
        opt_out=opt_out(bot),
        judged=int(judged),
        findable=int(findable),
    )


def _rules(tx: Transaction, key: int, bot: str) -> tuple[RobotsRow | None, HostRules | None]:
    stored = tx.row("SELECT * FROM robots WHERE host = ? ORDER BY fetched_at DESC LIMIT 1", (key,))
    robots = RobotsRow(*stored) if stored else None
    return robots, rules_of(robots, bot) if robots else None


def _refusals(tx: Transaction, key: int) -> dict[str, int]:
    sql = "SELECT reason, COUNT(*) FROM urls WHERE host = ? AND state = ? GROUP BY reason ORDER BY 2 DESC, 1"
    return {str(code): int(count) for code, count in tx.rows(sql, (key, REFUSED))}


def _last_outcome(tx: Transaction, name: str) -> str:
    last = tx.row("SELECT outcome, status FROM journal WHERE host = ? ORDER BY at DESC, id DESC LIMIT 1", (name,))
    if last is None:
        return ""
    outcome, status = str(last[0]), int(last[1])
    said = f"HTTP {status}" if status else "no answer"
    return f"{said}: {sentence(outcome)}" if outcome else said


def _delay_because(delay: float, asked: float | None) -> str:
    if asked is None or asked < delay:
        return "the least that the operator has set"
    if asked > delay:
        return f"robots.txt asks for {asked:g} s, of which the operator grants so much"
    return "robots.txt asks for it (Crawl-delay)"


def _robots_note(robots: RobotsRow | None) -> str:
    if robots is None:
        return "not read yet"
    return robots.reason or f"read (HTTP {robots.status})"


def _value(tx: Transaction, sql: str, *arguments: Any) -> Any:
    return tx.value(sql, arguments) or 0
