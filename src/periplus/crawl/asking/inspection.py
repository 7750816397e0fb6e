"""The way of one address through the crawl, stop by stop, each with its reason."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from periplus import addresses
from periplus.crawl.asking.submissions import is_arriving
from periplus.crawl.frontier.budgets import budget_of, is_withdrawn
from periplus.crawl.frontier.removed import removed_targets
from periplus.crawl.frontier.rows import (
    FAILED,
    FETCHED,
    LATER,
    QUEUED,
    REFUSED,
    STATE_NAMES,
    URL_COLUMNS,
    HostRow,
    RobotsRow,
    UrlRow,
)
from periplus.crawl.rules.host_rules import origin_of, rules_of
from periplus.crawl.rules.scope import Scope
from periplus.crawl.rules.traps import shape_refusal
from periplus.reasons import REASONS, sentence
from periplus.records import StepRecord

if TYPE_CHECKING:
    from periplus.settings import Settings
    from periplus.storage import Database

_REQUESTED = frozenset({"redirected", "robots-disallowed", "private-address"})  # refusals of a later stop than scope


class _KnownAddress:
    """Everything in the database that concerns one address."""

    def __init__(self, database: Database, url: str) -> None:
        key, host = addresses.key(url), addresses.host_key(addresses.host(url))
        with database.read() as tx:
            row = tx.row(f"SELECT {', '.join(URL_COLUMNS)} FROM urls WHERE host = ? AND key = ?", (host, key))  # noqa: S608
            self.row = UrlRow(*row) if row else None
            self.seeds = [str(seed) for (seed,) in tx.rows("SELECT url FROM seeds")]
            parent = self.row.parent if self.row else 0
            self.parent = (
                str(tx.value("SELECT url FROM urls WHERE key = ? AND state > 0", (parent,)) or "") if parent else ""
            )
            found = tx.row(
                "SELECT key, name, level, ready_at, last_at, delay, failures, pages, queued, reason, linked, judged,"
                " findable FROM hosts WHERE key = ?",
                (host,),
            )
            self.host = HostRow(*found) if found else None
            robots = tx.row("SELECT * FROM robots WHERE origin = ?", (origin_of(url),))
            self.robots = RobotsRow(*robots) if robots else None
            self.pages = int(tx.value("SELECT COALESCE(SUM(pages), 0) FROM hosts"))
        self.removed = removed_targets(database)
        self.arrives = self.row is None and is_arriving(database, url)


def inspect(database: Database, url: str, settings: Settings) -> list[StepRecord]:
    """discovered → scope → robots → queue → fetch → parse; raises ``InvalidAddress`` when ``url`` is none."""
    canonical = addresses.canonical(url)
    known = _KnownAddress(database, canonical)
    return [
        _discovered(known, canonical),
        _scope(known, canonical, settings),
        _robots(known, canonical, settings),
        _queue(known, settings),
        _fetch(known),
        _parse(known),
    ]


def _discovered(known: _KnownAddress, url: str) -> StepRecord:
    row = known.row
    if row is None and known.arrives:
        return StepRecord("discovered", "waiting", detail="it was named; the crawl takes it up with its next step")
    if row is None:
        return StepRecord("discovered", "unknown", detail="no page, sitemap or seed that was kept names this address")
    if url in known.seeds:
        return StepRecord("discovered", "ok", detail="a seed", at=row.found_at)
    how = "redirected from" if row.chain else "named by"
    return StepRecord("discovered", "ok", detail=f"{how} {known.parent}" if known.parent else "", at=row.found_at)


def _scope(known: _KnownAddress, url: str, settings: Settings) -> StepRecord:
    """What the crawl decided holds, whatever settings we are opened with; unknown addresses are judged by these."""
    row = known.row
    if row is None:
        reason = _judged_now(known, url, settings)
    elif known.removed & {url, addresses.host(url)}:
        reason = "removed"
    else:
        reason = row.reason if row.state == REFUSED and row.reason not in _REQUESTED else ""
    if reason:
        return _refusal("scope", reason)
    return StepRecord("scope", "ok", detail=_distance(row.depth) if row else "")


def _distance(links: int) -> str:
    return "a seed" if links == 0 else f"{links} {'link' if links == 1 else 'links'} from a seed"


def _judged_now(known: _KnownAddress, url: str, settings: Settings) -> str:
    reason = Scope(settings.crawl, known.seeds, known.removed).refusal(url)
    parts = urlsplit(url)
    return reason or shape_refusal(parts.path, parts.query, time.gmtime().tm_year)


def _robots(known: _KnownAddress, url: str, settings: Settings) -> StepRecord:
    if known.robots is None:
        reason = known.host.reason if known.host else ""
        return StepRecord("robots", "waiting" if known.row else "unknown", reason, "robots.txt is not read yet")
    rules = rules_of(known.robots, settings.bot.name)
    verdict = rules.file.verdict(url)
    if not verdict.allowed:
        return _refusal("robots", "robots-disallowed", str(verdict), known.robots.fetched_at)
    return StepRecord("robots", "ok", detail=rules.note or str(verdict), at=known.robots.fetched_at)


def _queue(known: _KnownAddress, settings: Settings) -> StepRecord:
    row, host, crawl = known.row, known.host, settings.crawl
    if row is None or host is None:
        return StepRecord("queue", "unknown")
    if row.state != QUEUED:
        return StepRecord("queue", "ok", detail=STATE_NAMES[row.state])
    if host.pages >= budget_of(host, crawl.host_budget):
        if not is_withdrawn(host.judged, host.findable):
            return _refusal("queue", "host-budget", state="waiting")
        detail = f"{host.findable} of the last {host.judged} bodies from {host.name} became documents of their own"
        return _refusal("queue", "host-yield", detail, state="waiting")
    if crawl.max_pages and known.pages >= crawl.max_pages:
        return _refusal("queue", "page-limit", state="waiting")
    due = max(row.next_at, host.ready_at)
    return StepRecord("queue", "waiting", host.reason, f"{host.queued} addresses wait at {host.name}", at=due)


def _fetch(known: _KnownAddress) -> StepRecord:
    row = known.row
    if row is None or (row.state == REFUSED and row.reason not in _REQUESTED):
        return StepRecord("fetch", "unknown")
    if row.state == FETCHED:
        detail = f"HTTP {row.status}, visit {row.visits}, {row.file} at {row.place}"
        return StepRecord("fetch", "ok", row.reason, detail, at=row.fetched_at)
    if row.state == QUEUED:
        detail = f"try {row.attempts + 1}; the last one: {row.detail}" if row.attempts else ""
        return StepRecord("fetch", "waiting", row.reason, detail, at=row.next_at)
    if row.reason == "robots-disallowed":
        return StepRecord("fetch", "unknown")
    return _refusal("fetch", row.reason, row.detail, row.tried_at, "failed" if row.state == FAILED else "refused")


def _parse(known: _KnownAddress) -> StepRecord:
    row = known.row
    if row is None or not row.fetched_at:
        return StepRecord("parse", "unknown")
    if row.refusal:
        return _refusal("parse", row.refusal, row.detail, row.tried_at)
    if row.pending == LATER:
        return StepRecord(
            "parse", "waiting", detail="made from the archive by the next periplus index", at=row.fetched_at
        )
    if row.pending:
        return StepRecord("parse", "waiting", detail="in the next batch", at=row.fetched_at)
    return StepRecord("parse", "ok", detail=f"batch {row.batch}", at=row.fetched_at)


def _refusal(step: str, reason: str, detail: str = "", at: float = 0.0, state: str = "refused") -> StepRecord:
    known = REASONS.get(reason)
    return StepRecord(step, state, reason, detail or sentence(reason), known.advice if known else "", at)
