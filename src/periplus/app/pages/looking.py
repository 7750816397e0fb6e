"""One look at one address, as the crawler would see it: robots.txt first, then the page. Nothing is stored."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus import addresses
from periplus.crawl.fetching.fetcher import Fetched, Fetcher
from periplus.crawl.rules.host_rules import origin_of, rules_of
from periplus.crawl.rules.robots import SIZE_LIMIT
from periplus.crawl.working.robots_visit import MAX_REDIRECTS as MAX_ROBOTS_REDIRECTS
from periplus.crawl.working.robots_visit import judge, redirect_target
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
    origin = origin_of(url)
    fetched = await fetcher.fetch(f"{origin}/robots.txt", limit=SIZE_LIMIT)
    for _ in range(MAX_ROBOTS_REDIRECTS):
        target = redirect_target(fetched)
        if target is None:
            break
        fetched = await fetcher.fetch(target, limit=SIZE_LIMIT)
    answer = judge(origin, 0, fetched, time.time())
    if answer.row is None:
        raise FetchError(answer.reason, answer.detail)
    rules = rules_of(answer.row, bot)
    verdict = rules.file.verdict(url)
    if not verdict.allowed:
        raise FetchError("robots-disallowed", str(verdict))
    return rules.note or str(verdict)


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
