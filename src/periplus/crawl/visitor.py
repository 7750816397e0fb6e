"""One visit to a host: its robots.txt when that is due, otherwise the next of its addresses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from periplus.crawl import icons
from periplus.crawl.hosts import origin_of, rules_of
from periplus.crawl.interpretation import sitemap_of, wanted_feed, wanted_type
from periplus.crawl.robots_visit import stale_rules
from periplus.crawl.rows import FEED, FETCHED, ICON, PAGE, SITEMAP

if TYPE_CHECKING:
    from periplus.crawl.heavy_lane import HeavyLane
    from periplus.crawl.hosts import ActiveHost, HostRules
    from periplus.crawl.interpretation import Interpreter, Reading
    from periplus.crawl.ledger import Ledger
    from periplus.crawl.links import LinkFilter
    from periplus.crawl.loop_lag import LoopLag
    from periplus.crawl.requests import Answer, Requester
    from periplus.crawl.robots import Verdict
    from periplus.crawl.robots_visit import RobotsVisit
    from periplus.crawl.rows import RobotsRow, UrlRow, Visited
    from periplus.settings import CrawlSettings

LARGE_ROBOTS = 50_000  # characters; a larger robots.txt is parsed beside the event loop
_WANTED = {PAGE: wanted_type, FEED: wanted_feed, SITEMAP: None, ICON: icons.wanted_icon}  # which bodies are taken
# A larger body is parsed beside the event loop, so that nothing waits for it longer than about a fifth of a second.
# Most are parsed in the loop: a second thread takes turns with it for one interpreter, which costs a tenth of the time.
THREAD_BYTES = 2_000_000
LATE_BYTES = 400_000  # the same while the loop is short of time: then others wait for every large page
THREAD_SITEMAP_BYTES = 500_000  # an event for each element makes them slower to read


class Visitor:
    """Does what one turn of a host asks for; the engine holds the host meanwhile."""

    def __init__(
        self,
        settings: CrawlSettings,
        token: str,
        requester: Requester,
        robots: RobotsVisit,
        interpreter: Interpreter,
        links: LinkFilter,
        ledger: Ledger,
        lane: HeavyLane,
        lag: LoopLag,
    ) -> None:
        self._settings = settings
        self._token = token
        self._requester = requester
        self._robots = robots
        self._interpreter = interpreter
        self._links = links
        self._ledger = ledger
        self._lane = lane
        self._lag = lag
        self._warming: asyncio.Task[None] | None = None

    def rules(self, host: ActiveHost, url: str, now: float) -> HostRules | None:
        """The rules for an address, none when they must be read first."""
        known = host.rules.get(origin_of(url))
        return known if known is not None and known.expires_at > now else None

    def refuse(self, row: UrlRow, reason: str, detail: str = "") -> None:
        """Settle an address without asking for it."""
        self._ledger.visited(self._interpreter.refused(row, reason, detail, self._requester.clock()))

    async def visit(self, host: ActiveHost, row: UrlRow, verdict: Verdict | None) -> int:
        """Ask for ``row``, or without a verdict for the robots.txt that is to give one; how many pages were gained."""
        if verdict is None:
            await self._read_robots(host, row)
            return 0
        host.doing = (row.url, "fetching", self._requester.clock())
        wanted = _WANTED[row.kind]
        limit = icons.MAX_BYTES if row.kind == ICON else 0
        answer = await self._requester.send(host, row.url, str(verdict), row=row, limit=limit, wanted=wanted)
        if answer.postponed:
            host.queue.appendleft(row)
            return 0
        host.doing = (row.url, "reading", self._requester.clock())
        visited = await self._interpret(host, row, answer)
        self._ledger.visited(visited)
        self._ledger.settle(answer.location)
        gained = int(visited.row.kind == PAGE) * ((visited.row.state == FETCHED) - (visited.was == FETCHED))
        host.row.pages += gained
        return gained

    async def _interpret(self, host: ActiveHost, row: UrlRow, answer: Answer) -> Visited:
        exchange = answer.fetched.exchange
        reading: Reading | None = None
        if self._warming is not None:
            await self._warming
        if exchange is not None and row.kind == SITEMAP and len(exchange.body) > THREAD_SITEMAP_BYTES:
            reading = await self._lane.run(sitemap_of, row.url, exchange)
        elif exchange is not None and row.kind != SITEMAP and len(exchange.body) > self._most_in_loop():
            reading = await self._lane.run(self._interpreter.read, row.url, exchange, answer.location)
        else:
            self._lane.light += 1
        return self._interpreter.response(row, answer.fetched, answer.location, host.delay, reading)

    def _most_in_loop(self) -> int:
        """Bytes of a body that may be parsed in the loop."""
        return LATE_BYTES if self._lag.is_short else THREAD_BYTES

    async def _read_robots(self, host: ActiveHost, row: UrlRow) -> None:
        """Read the rules and put the address back; without rules nothing may be asked."""
        origin = origin_of(row.url)
        host.doing = (f"{origin}/robots.txt", "robots", self._requester.clock())
        self._begin_warming()
        answer = await self._robots.read(host, origin)
        if answer.row is not None:
            self._ledger.robots(answer.row)
            self._take_rules(host, row, await self._parse_rules(answer.row))
            host.queue.appendleft(row)
            return
        stale = stale_rules(host.rules.get(origin), self._requester.clock())
        if stale is not None:
            self._take_rules(host, row, stale)
            host.queue.appendleft(row)
            return
        failed = self._interpreter.failed(row, answer.reason, answer.detail, self._requester.clock(), host.delay)
        self._ledger.visited(failed)

    def _begin_warming(self) -> None:
        """The first request of a crawl is on its way: make use of the wait."""
        if self._warming is None:
            self._warming = asyncio.create_task(asyncio.to_thread(self._interpreter.warm))

    async def _parse_rules(self, row: RobotsRow) -> HostRules:
        if len(row.body) > LARGE_ROBOTS:
            return await self._lane.run(rules_of, row, self._token)
        return rules_of(row, self._token)

    def _take_rules(self, host: ActiveHost, row: UrlRow, rules: HostRules) -> None:
        """Rules that were read for the sake of ``row``: the sitemaps in them are as far from the seeds as it is."""
        origin = origin_of(row.url)
        depth = row.depth if host.row.level else 0
        slower = host.learn_rules(origin, rules, self._settings)
        host.ready_at = max(host.ready_at, host.last_end + host.delay)
        self._ledger.found(self._links.of_announced(rules.file.sitemaps, origin, depth))
        self._ledger.host(host, urgent=slower)
