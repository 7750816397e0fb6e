"""No host holds up the others: one with nearly all addresses, one that never answers, one that never ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mockweb.faults import Hang
from periplus import addresses
from periplus.crawl.frontier.budgets import FAMOUS
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.rows import Bundle, FoundAddress, HostChange, Rest
from periplus.crawl.working.hosts import BURSTS
from periplus.demo import html

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.demo import Reply, Request
    from periplus.storage import Database

SMALL = 6


def test_a_hot_host_does_not_starve_the_others(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("hot.test", 9 * 8 * SMALL)  # nine of ten addresses
    others = [url for number in range(8) for url in mock_web.site(f"h{number}.test", SMALL - 1)]
    seeds = ["http://hot.test/", *(f"http://h{number}.test/" for number in range(8))]
    voyage.run(mock_web, *seeds, max_pages=3 * len(others), concurrency=2)
    assert set(others) <= voyage.fetched()
    last = max(record.monotonic for url in others for record in mock_web.requests(addresses.host(url)))
    hot = [record.monotonic for record in mock_web.requests("hot.test")]
    assert sum(at < last for at in hot) <= 2 * len(others) / 8 + 10  # its own turns, and no more


def test_a_site_that_never_answers_costs_the_others_nothing(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = [url for number in range(4) for url in mock_web.site(f"h{number}.test", 15)]
    for number in range(3):
        mock_web.host(f"dead{number}.test", Hang())
    dead = [f"http://dead{number}.test/" for number in range(3)]
    voyage.run(mock_web, *dead, *(f"http://h{number}.test/" for number in range(4)), timeout=3.0, retries=0)
    assert voyage.fetched() == set(pages)
    first_timeout = min(record.monotonic for record in mock_web.requests("dead0.test")) + 3.0
    living = [record.monotonic for number in range(4) for record in mock_web.requests(f"h{number}.test")]
    # Had they waited for it, only what came before its first request would be there.
    assert sum(at < first_timeout for at in living) >= len(living) * 0.25
    assert {voyage.url(url)["reason"] for url in dead} <= {"timeout", "robots-unreachable", "too-slow"}


def test_a_trap_ends_within_its_budget(voyage: Voyage, mock_web: MockWeb) -> None:
    def endless(request: Request) -> Reply:
        links = "".join(f'<a href="{request.path.rstrip("/")}/{word}">on</a>' for word in ("north", "east", "south"))
        return html(f"<title>Corridor</title><p>A corridor like all others, number {request.path}.</p>{links}")

    mock_web.host("maze.test", endless)
    mock_web.robots("maze.test", "")
    pages = mock_web.site("h.test", 12)
    voyage.run(mock_web, "http://maze.test/", "http://h.test/", host_budget=25, delay=0.005, max_pages=0)
    inside = [url for url in voyage.fetched() if "maze.test" in url]
    assert len(inside) <= 25
    assert set(pages) <= voyage.fetched()
    voyage.web = None  # another delay than the voyage's own


@pytest.mark.parametrize(
    ("level", "linked", "expected"), [(0, 0, 1_000), (1, 0, 1_000), (2, 0, 50), (2, 9, 500), (2, 99, 1_000)]
)
def test_budgets_grow_with_fame(database: Database, level: int, linked: int, expected: int) -> None:
    frontier = Frontier(database, lambda _: level, host_queue=10, host_budget=1_000)
    url = "http://a.test/"
    found = [FoundAddress(addresses.key(url), url, "a.test")]
    sites = {f"site{number}.test" for number in range(linked)}
    frontier.commit(Bundle(found=found, linked={"a.test": sites, "unknown.test": sites}), 1.0)
    frontier.commit(Bundle(linked={"a.test": sites}), 1.0)  # counted once
    (active,) = frontier.activate(2.0, 9, 1.0)
    assert frontier.budget(active.host) == expected
    assert FAMOUS == 20
    assert frontier.outlook(3).soonest >= 1.0


def test_among_hosts_that_wait_the_higher_rank_comes_first(database: Database) -> None:
    frontier = Frontier(database, lambda _: 2, host_queue=10, host_budget=1_000)
    urls = ["http://low.test/", "http://high.test/", "http://unknown.test/"]
    ranks = {addresses.host_key("low.test"): 0.2, addresses.host_key("high.test"): 3.0}
    frontier.commit(Bundle(found=[FoundAddress(addresses.key(url), url, addresses.host(url)) for url in urls]), 1.0)
    frontier.rank_hosts(lambda keys: [ranks.get(key, 0.0) for key in keys])
    keys = [row.host.key for row in frontier.activate(2.0, 9, 1.0)]
    asked = {key: HostChange(50.0, 2.0, 1.0, 0, "", "", 1) for key in keys}
    frontier.commit(Bundle(hosts=asked, resting=dict.fromkeys(keys, Rest.MORE)), 3.0)
    again = frontier.activate(100.0, 9, 1.0)
    assert [row.host.name for row in again] == ["high.test", "low.test", "unknown.test"]
    assert {row.host.ready_at for row in again} == {50.0}  # politeness is untouched


def test_links_from_other_sites_are_counted(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://famous.test/")
    for number in range(4):
        mock_web.page(f"http://fan{number}.test/", links=["http://famous.test/", f"http://fan{number}.test/own"])
        mock_web.page(f"http://fan{number}.test/own", links=["http://famous.test/"])
    voyage.run(mock_web, *(f"http://fan{number}.test/" for number in range(4)))
    assert dict(voyage.rows("SELECT name, linked FROM hosts"))["famous.test"] == 4
    assert voyage.rows("SELECT level FROM hosts WHERE name = 'famous.test'") == [(2,)]
    assert list(BURSTS) == sorted(BURSTS, reverse=True)
