"""What is heavy stays out of the way of others, and what is our own lateness is no host's."""

from __future__ import annotations

import asyncio
import gzip
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from crawl.voyages import settings_for
from mockweb.faults import Bomb, Gate
from periplus import addresses
from periplus.archive import ArchiveWriter
from periplus.crawl.fetching.fetcher import UNPACKED_IN_LOOP, Fetched, Fetcher
from periplus.crawl.fetching.heavy_lane import LONGEST_REST, REST, TURN, HeavyLane, rest_after
from periplus.crawl.fetching.loop_lag import LoopLag
from periplus.crawl.fetching.resolver import Route
from periplus.crawl.frontier.rows import HostRow
from periplus.crawl.working.counters import Counters
from periplus.crawl.working.hosts import ActiveHost
from periplus.crawl.working.ledger import Ledger
from periplus.crawl.working.requests import Requester
from periplus.demo import Reply

if TYPE_CHECKING:
    from pathlib import Path

    from mockweb.mock_web import MockWeb

HTML = ("Content-Type", "text/html")
PACKED = ("Content-Encoding", "gzip")


class Counted(HeavyLane):
    """A lane that counts what it is given, and in which thread it is done."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[str] = []

    async def run(self, work: Any, *arguments: Any) -> Any:
        def noted() -> Any:
            self.threads.append(threading.current_thread().name)
            return work(*arguments)

        return await super().run(noted)


def fetched_in(lane: HeavyLane, web: MockWeb, *urls: str, **options: Any) -> list[Fetched]:
    async def ask() -> list[Fetched]:
        with lane:
            async with Fetcher(settings_for(web.resolve, **options), lane=lane) as fetcher:
                return [await fetcher.fetch(url) for url in urls]

    return asyncio.run(ask())


def test_small_bodies_are_unpacked_at_once_and_large_ones_in_the_lane(mock_web: MockWeb) -> None:
    small, large = b"<p>small" * 100, b"<p>large" * (UNPACKED_IN_LOOP // 4)
    for name, body in (("small", small), ("large", large)):
        mock_web.at(f"http://a.test/{name}", Reply(200, gzip.compress(body), (HTML, PACKED)))
    lane = Counted()
    one, two = fetched_in(lane, mock_web, "http://a.test/small", "http://a.test/large")
    assert one.exchange is not None
    assert two.exchange is not None
    assert (one.exchange.body, two.exchange.body) == (small, large)
    assert len(lane.threads) == 1
    assert lane.threads[0].startswith("periplus-heavy")


def test_a_bomb_goes_off_in_the_lane(mock_web: MockWeb) -> None:
    mock_web.at("http://a.test/", Bomb(megabytes=40))
    lane = Counted()
    (found,) = fetched_in(lane, mock_web, "http://a.test/")
    assert found.reason == "decompression-bomb"
    assert len(lane.threads) == 1


def test_a_body_below_the_limit_of_the_loop_never_needs_the_lane(mock_web: MockWeb) -> None:
    mock_web.at("http://a.test/", Bomb(megabytes=2))
    lane = Counted()
    (found,) = fetched_in(lane, mock_web, "http://a.test/", max_unpacked=1_000)
    assert found.reason == "decompression-bomb"
    assert lane.threads == []


def test_the_lane_does_one_thing_at_a_time_with_short_turns() -> None:
    before = sys.getswitchinterval()
    under_way: list[int] = []
    most: list[int] = []

    def work(number: int) -> int:
        under_way.append(number)
        most.append(len(under_way))
        time.sleep(0.005)
        under_way.remove(number)
        return number

    async def all_of_them() -> list[int]:
        with HeavyLane() as lane:
            assert sys.getswitchinterval() <= TURN * 1.01
            return await asyncio.gather(*(lane.run(work, number) for number in range(6)))

    assert asyncio.run(all_of_them()) == list(range(6))
    assert set(most) == {1}
    assert sys.getswitchinterval() == before


def test_the_lane_rests_while_others_have_pages() -> None:
    times: list[tuple[float, float]] = []

    def work() -> None:
        began = time.monotonic()
        time.sleep(0.02)
        times.append((began, time.monotonic()))

    async def two() -> None:
        with HeavyLane() as lane:
            await lane.run(work)
            lane.light += 1
            await lane.run(work)

    asyncio.run(two())
    (began, ended), (again, _) = times
    assert again - ended >= REST * (ended - began) * 0.9
    assert rest_after(1.0) == REST
    assert rest_after(1_000.0) == LONGEST_REST


def test_lateness_of_the_loop_is_seen() -> None:
    async def blocked() -> tuple[float, bool]:
        lag = LoopLag()
        lag.start()
        await asyncio.sleep(0)
        time.sleep(0.5)  # what a heavy piece of work in the loop does
        at_once = lag.seconds
        await asyncio.sleep(0.05)
        assert lag.seconds >= at_once
        short = lag.is_short
        lag.stop()
        return at_once, short

    late, short = asyncio.run(blocked())
    assert late >= 0.4
    assert short


def test_what_a_request_took_tells_our_own_lateness_apart(mock_web: MockWeb) -> None:
    gate = Gate()
    mock_web.at("http://a.test/", gate)

    async def ask() -> Fetched:
        async with Fetcher(settings_for(mock_web.resolve)) as fetcher:
            asking = asyncio.create_task(fetcher.fetch("http://a.test/"))
            await asyncio.to_thread(mock_web.log.wait_for, 1)
            gate.open()
            time.sleep(0.5)  # the answer is here, and we are not
            return await asking

    found = asyncio.run(ask())
    assert found.lag >= 0.4
    assert found.elapsed >= found.lag


class Told:
    """A fetcher that gives a prepared answer."""

    def __init__(self, fetched: Fetched) -> None:
        self._fetched = fetched

    async def route(self, _url: str) -> Route:
        return Route("127.0.0.1", 80, exempt=True)

    async def fetch(self, _url: str, **_options: Any) -> Fetched:
        return self._fetched


def test_our_own_lateness_lengthens_no_gap(tmp_path: Path) -> None:
    """The host answered within 0.2 s; 4.8 s were ours."""
    url = "http://a.test/"
    fetched = Fetched(url, time.time() - 5.0, 5.0, None, "bad-response", "", lag=4.8)
    row = HostRow(addresses.host_key("a.test"), "a.test", 0, 0.0, 0.0, 1.0, 0, 0, 1)
    host = ActiveHost(row, [], 1.0)
    ledger = Ledger(ArchiveWriter(tmp_path, 10**9, "test"), Counters(0), time.time)
    requester: Any = Requester(settings_for((), delay=1.0).crawl, Told(fetched), ledger)  # type: ignore[arg-type]
    asyncio.run(requester.send(host, url, "allowed"))
    assert abs(host.ready_at - host.last_end - 1.0) < 0.001
    (journalled,) = ledger.bundle.journal
    assert journalled.ms == 5_000.0  # the journal keeps the whole time, by which the audit judges
