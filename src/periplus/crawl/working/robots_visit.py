"""Reading the robots.txt of an origin, after RFC 9309: redirects, sizes, failures, caching."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from periplus import addresses
from periplus.crawl.fetching.fetcher import Fetched
from periplus.crawl.frontier.rows import RobotsRow
from periplus.crawl.rules.interpretation import REDIRECTS
from periplus.crawl.rules.robots import SIZE_LIMIT
from periplus.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from periplus.crawl.rules.host_rules import HostRules
    from periplus.crawl.working.hosts import ActiveHost
    from periplus.crawl.working.requests import Requester

MAX_REDIRECTS = 5
CACHED_SECONDS = 86_400.0
STALE_SECONDS = 30 * 86_400.0  # an old copy serves so long while the new one cannot be had
STALE_AGAIN = 3_600.0
GUEST_REQUESTS = 200  # of one host, in a day, for the robots.txt of hosts of other sites that redirect there
GUESTS_KNOWN = 10_000  # hosts that are counted so


class RobotsAnswer(NamedTuple):
    """The row to keep, or the reason why the file could not be had."""

    row: RobotsRow | None
    reason: str = ""
    detail: str = ""


class RobotsVisit:
    """Fetches robots files; ``borrow`` gives hosts that a redirect leads to, one holder at a time.

    Redirects are followed across hosts, as RFC 9309 says, but never where ``forbids`` says that nobody may go.
    However many hosts somebody invents whose robots.txt leads to one other site, we do not knock there for all of them.
    """

    def __init__(
        self,
        requester: Requester,
        borrow: Callable[[str], AbstractAsyncContextManager[ActiveHost]],
        forbids: Callable[[str], bool],
    ) -> None:
        self._requester = requester
        self._borrow = borrow
        self._forbids = forbids
        self._guests: dict[str, int] = {}  # by host, requests for other sites' robots.txt
        self._counted_since = requester.clock()

    async def read(self, host: ActiveHost, origin: str) -> RobotsAnswer:
        """The robots.txt of ``origin``; the caller holds ``host``."""
        url = f"{origin}/robots.txt"
        fetched = await self._ask(host, url)
        for _ in range(MAX_REDIRECTS):
            target = redirect_target(fetched)
            if target is None or self._forbids(target):
                break
            fetched = await self._follow(host, target)
        return judge(origin, host.key, fetched, self._requester.clock())

    async def _follow(self, host: ActiveHost, url: str) -> Fetched:
        name = addresses.host(url)
        if name == host.name:
            await asyncio.sleep(max(0.0, host.ready_at - self._requester.clock()))
            return await self._ask(host, url)
        try:
            self._count_guest(host.name, name)
            async with self._borrow(name) as other:
                return await self._ask(other, url)
        except FetchError as error:
            return Fetched(url, self._requester.clock(), 0.0, None, error.reason, error.detail)

    def _count_guest(self, ours: str, theirs: str) -> None:
        """Raises ``FetchError`` when a host was sent here for the robots.txt of others too often."""
        if addresses.site(ours) == addresses.site(theirs):
            return
        now = self._requester.clock()
        if now - self._counted_since > CACHED_SECONDS or len(self._guests) >= GUESTS_KNOWN:
            self._guests, self._counted_since = {}, now
        count = self._guests[theirs] = self._guests.get(theirs, 0) + 1
        if count > GUEST_REQUESTS:
            raise FetchError("robots-unreachable", f"robots.txt leads to {theirs}, as that of too many others does")

    async def _ask(self, host: ActiveHost, url: str) -> Fetched:
        while True:
            answer = await self._requester.send(host, url, "robots.txt itself", limit=SIZE_LIMIT)
            if not answer.postponed:
                self._requester.settle(answer)
                return answer.fetched
            await asyncio.sleep(max(0.0, answer.postponed - self._requester.clock()))


def judge(origin: str, host: int, fetched: Fetched, now: float) -> RobotsAnswer:
    """What a response to /robots.txt means: rules, all allowed, or not to be had for now."""
    exchange = fetched.exchange
    if exchange is None:
        return RobotsAnswer(None, fetched.reason, fetched.detail)
    status = exchange.status
    if status == 429 or status >= 500:
        reason = "asked-to-wait" if status in (429, 503) else "robots-unreachable"
        return RobotsAnswer(None, reason, f"robots.txt: HTTP {status}")
    expires = now + CACHED_SECONDS
    if 200 <= status < 300:
        body = exchange.body[:SIZE_LIMIT].decode("utf-8", "replace").replace("\x00", "")
        return RobotsAnswer(RobotsRow(origin, host, fetched.started, expires, status, "", body))
    what = "no robots.txt" if status >= 400 else "robots.txt redirects too often or astray"
    note = f"{what} (HTTP {status})"
    return RobotsAnswer(RobotsRow(origin, host, fetched.started, expires, status, note, ""))


def stale_rules(known: HostRules | None, now: float) -> HostRules | None:
    """An old copy that may serve while the file cannot be had; it is asked for again within the hour."""
    if known is None or now - known.fetched_at > STALE_SECONDS:
        return None
    known.expires_at = now + STALE_AGAIN
    return known


def redirect_target(fetched: Fetched) -> str | None:
    """Where a response for a robots.txt sends us; none when it does not, or to no address of ours."""
    exchange = fetched.exchange
    if exchange is None or exchange.status not in REDIRECTS:
        return None
    return addresses.try_canonical(exchange.header("location"), fetched.url)
