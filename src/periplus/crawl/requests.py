"""One polite request: the gap kept, the answer archived, the host's clock set, the journal written."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

from periplus.archive import Revisit
from periplus.crawl.interpretation import outcome_of
from periplus.crawl.politeness import AddressSlots, retry_after, wait_after
from periplus.crawl.rows import FETCHED, JournalRow
from periplus.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.crawl.fetcher import Fetched, Fetcher
    from periplus.crawl.hosts import ActiveHost
    from periplus.crawl.ledger import Ledger
    from periplus.crawl.resolver import Route
    from periplus.crawl.rows import UrlRow
    from periplus.records import ArchiveLocation, Exchange
    from periplus.settings import CrawlSettings

URGENT_WAIT = 30.0  # a wait longer than this must survive a crash that comes soon


class Answer(NamedTuple):
    fetched: Fetched
    location: ArchiveLocation | None


class Requester:
    """Sends requests for a worker; the caller holds the host (``busy``) and has waited for ``ready_at``."""

    def __init__(self, settings: CrawlSettings, fetcher: Fetcher, ledger: Ledger) -> None:
        self._settings = settings
        self._fetcher = fetcher
        self._ledger = ledger
        self._slots = AddressSlots(settings.ip_delay)

    async def route(self, host: ActiveHost, url: str) -> Route:
        """Where the request will go, when that IP address is free too; raises ``FetchError``."""
        while True:
            route = await self._fetcher.route(url)
            now = time.time()
            free_at = 0.0 if route.exempt else self._slots.free_at(route.ip)
            if free_at <= now:
                return route
            await asyncio.sleep(free_at - now)

    async def send(
        self,
        host: ActiveHost,
        url: str,
        rule: str,
        *,
        row: UrlRow | None = None,
        limit: int = 0,
        wanted: Callable[[str], bool] | None = None,
    ) -> Answer:
        """Ask once, conditionally when ``row`` tells what we have; never raises for the web's faults."""
        kept = row if row is not None and row.state == FETCHED and not (row.same_as or row.pending) else None
        try:
            route = await self.route(host, url)
        except FetchError as error:
            fetched = _unsent(url, error)
            self._settle(host, fetched, "", False, rule, sent=False)
            return Answer(fetched, None)
        if not route.exempt:
            self._slots.take(route.ip, time.time())
        fetched = await self._fetcher.fetch(
            url,
            etag=kept.etag if kept else "",
            last_modified=kept.last_modified if kept else "",
            limit=limit,
            wanted=wanted,
        )
        location = self._archive(fetched.exchange, row) if fetched.exchange is not None else None
        self._settle(host, fetched, fetched.ip or route.ip, route.exempt, rule, sent=True)
        return Answer(fetched, location)

    def _archive(self, exchange: Exchange, row: UrlRow | None) -> ArchiveLocation:
        revisit = None
        if exchange.status == 304 and row is not None:
            revisit = Revisit(row.url, row.fetched_at, row.location)
        return self._ledger.archive(exchange, revisit)

    def _settle(self, host: ActiveHost, fetched: Fetched, ip: str, exempt: bool, rule: str, *, sent: bool) -> None:
        """Set the clock of the host after a request, and write the request down."""
        ended = time.time()
        outcome = outcome_of(fetched)
        asked = retry_after(fetched.exchange.header("retry-after"), ended) if _may_ask(fetched) else None
        wait = wait_after(
            ended=ended,
            elapsed=fetched.elapsed,
            delay=host.delay,
            failures=host.failures,
            outcome=outcome,
            asked=asked,
        )
        if sent:
            self._ledger.journal(self._journal_row(host, fetched, ip, exempt, rule, outcome, wait.not_before))
            host.last_end = ended
            host.ip = ip
        host.ready_at, host.failures = wait.not_before, wait.failures
        host.reason = outcome if wait.failures else ""
        self._ledger.host(host, requests=int(sent), urgent=wait.not_before - ended > URGENT_WAIT)
        self._ledger.counters.bytes += len(fetched.exchange.payload) if fetched.exchange else 0

    def _journal_row(
        self, host: ActiveHost, fetched: Fetched, ip: str, exempt: bool, rule: str, outcome: str, not_before: float
    ) -> JournalRow:
        gap = fetched.started - host.last_end if host.last_end else -1.0
        size = len(fetched.exchange.payload) if fetched.exchange else 0
        milliseconds = round(fetched.elapsed * 1000, 3)
        return JournalRow(
            fetched.started, host.name, ip, int(exempt), fetched.url, rule, round(gap, 6), host.delay, outcome,
            fetched.status, size, milliseconds, not_before,
        )  # fmt: skip


def _may_ask(fetched: Fetched) -> bool:
    return fetched.exchange is not None and fetched.exchange.status >= 300


def _unsent(url: str, error: FetchError) -> Fetched:
    from periplus.crawl.fetcher import Fetched  # noqa: PLC0415

    return Fetched(url, time.time(), 0.0, None, error.reason, error.detail)
