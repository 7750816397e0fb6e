"""One visit to a host: its robots.txt when that is due, otherwise the next of its addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.crawl.frontier.rows import FEED, FETCHED, ICON, PAGE, PICTURE, SITEMAP
from periplus.crawl.rules import icons, pictures
from periplus.crawl.rules.content_types import wanted_feed, wanted_type
from periplus.crawl.rules.host_rules import origin_of, rules_of
from periplus.crawl.rules.interpretation import sitemap_of
from periplus.crawl.working.robots_visit import stale_rules

if TYPE_CHECKING:
    from periplus.crawl.fetching.heavy_lane import HeavyLane
    from periplus.crawl.fetching.loop_lag import LoopLag
    from periplus.crawl.frontier.rows import RobotsRow, UrlRow, Visited
    from periplus.crawl.rules.host_rules import HostRules
    from periplus.crawl.rules.interpretation import Interpreter, Reading
    from periplus.crawl.rules.links import LinkFilter
    from periplus.crawl.rules.robots import Verdict
    from periplus.crawl.working.hosts import ActiveHost
    from periplus.crawl.working.ledger import Ledger
    from periplus.crawl.working.reading_line import ReadingLine
    from periplus.crawl.working.requests import Answer, Requester
    from periplus.crawl.working.robots_visit import RobotsVisit
    from periplus.settings import CrawlSettings

LARGE_ROBOTS = 50_000  # characters; a larger robots.txt is parsed beside the event loop
# Which bodies are taken, but of pages.
_WANTED = {FEED: wanted_feed, SITEMAP: None, ICON: icons.wanted_icon, PICTURE: icons.wanted_icon}
_LIMITS = {ICON: icons.MAX_BYTES, PICTURE: pictures.MAX_BYTES}
# A larger body goes through the lane of heavy work, so that usual pages do not wait for it.
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
        line: ReadingLine,
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
        self._line = line

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
        wanted = self._wanted_page if row.kind == PAGE else _WANTED[row.kind]
        limit = _LIMITS.get(row.kind, 0)
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

    def _wanted_page(self, content_type: str) -> bool:
        return wanted_type(content_type) and self._interpreter.takes(content_type)

    async def _interpret(self, host: ActiveHost, row: UrlRow, answer: Answer) -> Visited:
        exchange = answer.fetched.exchange
        reading: Reading | None = None
        if exchange is not None and row.kind == SITEMAP and len(exchange.body) > THREAD_SITEMAP_BYTES:
            reading = await self._lane.run(sitemap_of, row.url, exchange)
        elif exchange is not None and row.kind != SITEMAP and len(exchange.body) > self._most_in_loop():
            reading = await self._lane.run(self._interpreter.read, row.url, exchange, answer.location)
        elif exchange is not None:
            self._lane.light += 1
            reading = await self._interpreter.read_by(self._line.ask, row, exchange, answer.location)
        return self._interpreter.response(row, answer.fetched, answer.location, host.delay, reading)

    def _most_in_loop(self) -> int:
        """Bytes of a body that is read as usual pages are."""
        return LATE_BYTES if self._lag.is_short else THREAD_BYTES

    async def _read_robots(self, host: ActiveHost, row: UrlRow) -> None:
        """Read the rules and put the address back; without rules nothing may be asked."""
        origin = origin_of(row.url)
        host.doing = (f"{origin}/robots.txt", "robots", self._requester.clock())
        self._line.start()  # the first request of a crawl is on its way: make use of the wait
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
