"""One polite request: the gap kept, the answer archived, the host's clock set, the journal written."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

from periplus.archive import Revisit
from periplus.crawl.fetching.fetcher import Fetched, NotSent
from periplus.crawl.fetching.resolver import Route
from periplus.crawl.frontier.address_slots import AddressSlots
from periplus.crawl.frontier.rows import FETCHED, WAITING, JournalRow
from periplus.crawl.rules.interpretation import outcome_of, signed_hash
from periplus.crawl.rules.politeness import retry_after, wait_after
from periplus.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.crawl.fetching.fetcher import Fetcher
    from periplus.crawl.frontier.rows import UrlRow
    from periplus.crawl.working.hosts import ActiveHost
    from periplus.crawl.working.ledger import Ledger
    from periplus.records import ArchiveLocation, Exchange
    from periplus.settings import CrawlSettings

LEASE_PAUSE = 0.5  # until a request is tried again that our lease would not have outlived
URGENT_WAIT = 30.0  # a wait longer than this must survive a crash that comes soon


class Answer(NamedTuple):
    """How a request ended. ``postponed`` when it was not sent: host or IP address are not free before that time."""

    fetched: Fetched
    location: ArchiveLocation | None = None
    postponed: float = 0.0


class Requester:
    """Sends requests for a worker; the caller holds the host (``busy``) and has waited for ``ready_at``."""

    def __init__(
        self,
        settings: CrawlSettings,
        fetcher: Fetcher,
        ledger: Ledger,
        slots: AddressSlots | None = None,
        *,
        may_send: Callable[[], bool] | None = None,
    ) -> None:
        """``may_send`` is asked directly before a request leaves: whether our lease outlives it."""
        self._settings = settings
        self._fetcher = fetcher
        self._ledger = ledger
        self._slots = slots or AddressSlots(settings.ip_delay)
        self._may_send = may_send
        self.clock = ledger.clock

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
        try:
            route = await self._fetcher.route(url)
        except FetchError as error:
            fetched = Fetched(url, self.clock(), 0.0, None, error.reason, error.detail)
            self._settle(host, fetched, None, rule)
            return Answer(fetched)
        now = self.clock()
        free_at = now + host.steady_wait()
        if free_at == now and not route.exempt:
            free_at = self._slots.ask(route.ip, host.key, now)
        if free_at > now:
            host.ready_at = max(host.ready_at, free_at)
            return Answer(Fetched(url, now, 0.0), postponed=free_at)
        kept = row if row is not None and _is_whole(row) else None
        try:
            fetched = await self._fetcher.fetch(
                url,
                etag=kept.etag if kept else "",
                last_modified=kept.last_modified if kept else "",
                limit=limit,
                wanted=wanted,
                may_send=self._may_send,
            )
        except NotSent:
            host.ready_at = max(host.ready_at, now + LEASE_PAUSE)
            return Answer(Fetched(url, now, 0.0), postponed=host.ready_at)
        except asyncio.CancelledError:  # it was sent all the same, so it is written down
            given_up = Fetched(url, now, self.clock() - now, None, "timeout", "given up when the crawl was stopped")
            self._settle(host, given_up, route, rule)
            raise
        location = self._archive(fetched.exchange, row) if fetched.exchange is not None else None
        self._settle(host, fetched, Route(fetched.ip or route.ip, route.port, route.exempt), rule)
        return Answer(fetched, location)

    def settle(self, answer: Answer) -> None:
        """The answer has been understood; nothing of it is left to replay."""
        self._ledger.settle(answer.location)

    def _archive(self, exchange: Exchange, row: UrlRow | None) -> ArchiveLocation:
        """Store the response; one that repeats what we have is stored without its payload."""
        same = row is not None and row.state == FETCHED and row.location is not None
        if row is not None and same and (exchange.status == 304 or _repeats(row, exchange)):
            return self._ledger.archive(exchange, Revisit(row.url, row.fetched_at, row.location))
        return self._ledger.archive(exchange, None)

    def _settle(self, host: ActiveHost, fetched: Fetched, route: Route | None, rule: str) -> None:
        """Set the clock of the host after a request, and write the request down; no route: it was never sent."""
        ended = max(self.clock(), fetched.started + fetched.elapsed)  # the clock may have been set back meanwhile
        outcome = outcome_of(fetched)
        wait = wait_after(
            ended=ended,
            elapsed=fetched.elapsed - fetched.lag,
            delay=host.delay,
            failures=host.failures,
            outcome=outcome,
            asked=_asked_for(fetched, ended),
        )
        if route is not None:
            self._ledger.journal(self._journal_row(host, fetched, route, rule, wait.not_before))
            host.last_end = ended
            host.ip = route.ip
        host.ready_at, host.failures = wait.not_before, wait.failures
        host.steady_ready = time.monotonic() + wait.not_before - ended
        host.reason = outcome if wait.failures else ""
        self._ledger.host(host, requests=int(route is not None), urgent=wait.not_before - ended > URGENT_WAIT)
        self._ledger.counters.answered(fetched.status)
        self._ledger.counters.bytes += len(fetched.exchange.payload) if fetched.exchange else 0

    def _journal_row(
        self, host: ActiveHost, fetched: Fetched, route: Route, rule: str, not_before: float
    ) -> JournalRow:
        return JournalRow(
            at=fetched.started,
            host=host.name,
            ip=route.ip,
            exempt=int(route.exempt),
            url=fetched.url,
            rule=f"{rule}; {fetched.note}" if fetched.note else rule,
            gap=round(fetched.started - host.last_end, 6) if host.last_end else -1.0,
            delay=host.delay,
            ip_delay=self._slots.gap,
            outcome=outcome_of(fetched),
            status=fetched.status,
            bytes=len(fetched.exchange.payload) if fetched.exchange else 0,
            ms=round(fetched.elapsed * 1000, 3),
            not_before=not_before,
        )


def _is_whole(row: UrlRow) -> bool:
    """Whether an answer that nothing changed would leave us with everything about the page."""
    return row.state == FETCHED and not row.same_as and row.pending != WAITING


def _repeats(row: UrlRow, exchange: Exchange) -> bool:
    return exchange.status == 200 and not exchange.truncated and signed_hash(exchange.body) == row.body_hash != 0


def _asked_for(fetched: Fetched, now: float) -> float | None:
    """Seconds that a response asks us to stay away; only those that are no page may.

    A date is compared with the earlier of two times, since a crawl may be ahead of the clock (``CrawlClock``).
    """
    exchange = fetched.exchange
    if exchange is None or exchange.status < 300:
        return None
    return retry_after(exchange.header("retry-after"), min(now, time.time()))
