"""One look at one address, as the crawler would see it: robots.txt first, then the page. Nothing is stored."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from msgspec import Struct

from periplus import addresses
from periplus.crawl.fetcher import Fetched, Fetcher
from periplus.crawl.robots import RobotsFile
from periplus.errors import FetchError
from periplus.records import Exchange

if TYPE_CHECKING:
    from periplus.settings import Settings

MAX_REDIRECTS = 8


class Look(Struct, frozen=True):
    """What came back, by way of which redirects, and the robots rule that allowed the last of them."""

    exchange: Exchange
    robots: str
    redirects: tuple[str, ...]


def look_at(url: str, settings: Settings) -> Look:
    """Fetch ``url`` once; raises ``FetchError`` with a reason when nothing usable came."""
    return asyncio.run(_look(addresses.canonical(url), settings))


async def _look(url: str, settings: Settings) -> Look:
    passed: list[str] = []
    async with Fetcher(settings) as fetcher:
        while True:
            robots = await _allowed(fetcher, url, settings.bot.name)
            exchange = _response(await fetcher.fetch(url))
            target = exchange.header("location") if 300 <= exchange.status < 400 else ""
            if not target:
                return Look(exchange, robots, tuple(passed))
            passed.append(url)
            url = _next(url, target, passed)


async def _allowed(fetcher: Fetcher, url: str, bot: str) -> str:
    """The rule that lets us in, in words; raises ``FetchError`` when robots.txt forbids the address."""
    fetched = await fetcher.fetch(urljoin(url, "/robots.txt"))
    if fetched.exchange is None or fetched.status >= 500:
        raise FetchError("robots-unreachable", fetched.detail or f"status {fetched.status}")
    if fetched.status >= 300:
        return f"no robots.txt (status {fetched.status})"
    verdict = RobotsFile.parse(fetched.exchange.body, bot).verdict(url)
    if not verdict.allowed:
        raise FetchError("robots-disallowed", str(verdict))
    return str(verdict)


def _response(fetched: Fetched) -> Exchange:
    if fetched.exchange is None:
        raise FetchError(fetched.reason, fetched.detail)
    return fetched.exchange


def _next(url: str, target: str, passed: list[str]) -> str:
    following = addresses.try_canonical(target, url)
    if following is None:
        raise FetchError("bad-redirect", target)
    if following in passed:
        raise FetchError("redirect-loop", following)
    if len(passed) > MAX_REDIRECTS:
        raise FetchError("too-many-redirects", following)
    return following
