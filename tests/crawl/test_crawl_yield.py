"""Hosts that give copies and soft 404s lose their budget for new pages, and get it back when they get better."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from crawl.voyages import settings_for
from periplus.crawl import host_report, inspect, status
from periplus.crawl.frontier.budgets import JUDGED_FROM
from periplus.demo import html

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.demo import Reply, Request

PAGES = 220
UNCOMMITTED = 100  # pages that may come in before the commit that tells what they are worth
OPTIONS = {"host_budget": 5_000, "delay": 0.005, "ip_delay": 0.0, "commit_pages": 10, "max_pages": 0}
WORDS = tuple(f"{first}{last}" for first in ("sand", "wind", "tide", "salt", "mast") for last in ("bank", "ward", "s"))


def names() -> list[str]:
    """Addresses without a number, so that no rule about patterns of addresses has a say."""
    return ["".join(chr(97 + int(digit)) for digit in f"{number:03}") for number in range(PAGES)]


def own_page(request: Request) -> Reply:
    chance = random.Random(request.path)
    return html(f"<title>{request.path}</title><p>{' '.join(chance.choices(WORDS, k=80))}</p>")


def not_found(request: Request) -> Reply:
    return html(f"<title>Oops</title><p>We are sorry, the page {request.path} is not there. Try our search.</p>")


def copy(request: Request) -> Reply:
    return html(f"<title>Copy</title><p>One text for all of them.</p><!-- {len(request.path) * 0} -->")


def list_of(mock_web: MockWeb, *hosts: str) -> str:
    """A page that leads to all pages of these hosts."""
    return mock_web.page("http://list.test/", links=[f"http://{host}/{name}" for host in hosts for name in names()])


def crawl(voyage: Voyage, mock_web: MockWeb, *seeds: str, recrawl: bool = False) -> None:
    voyage.run(mock_web, *seeds, recrawl=recrawl, **OPTIONS)
    voyage.web = None  # without gaps, which the voyage would look for


def pages_of(voyage: Voyage, host: str) -> int:
    return sum(url.startswith(f"http://{host}/") for url in voyage.fetched())


def test_budget_is_withdrawn_from_copies_and_soft_404s(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    voyage = voyage_anywhere
    for host, answer in (("good.test", own_page), ("soft.test", not_found), ("copy.test", copy)):
        mock_web.host(host, answer)
        mock_web.robots(host, "")
    crawl(voyage, mock_web, list_of(mock_web, "good.test", "soft.test", "copy.test"))
    assert pages_of(voyage, "good.test") == PAGES
    for host in ("soft.test", "copy.test"):
        assert JUDGED_FROM <= pages_of(voyage, host) <= JUDGED_FROM + UNCOMMITTED
        report = host_report(voyage.database, host)
        assert report is not None
        assert report.findable * 4 < report.judged >= JUDGED_FROM
        assert report.refusals == {"host-yield": report.queued}
        waiting = next(url for (url,) in voyage.rows("SELECT url FROM urls WHERE state = 0") if host in url)
        queue = next(
            step for step in inspect(voyage.database, waiting, settings_for((), **OPTIONS)) if step.step == "queue"
        )
        assert (queue.state, queue.reason) == ("waiting", "host-yield")
        assert f"of the last {report.judged} bodies" in queue.detail
    assert status(voyage.database).withdrawn == 2
    good = host_report(voyage.database, "good.test")
    assert good is not None
    assert (good.judged, good.findable, good.refusals) == (PAGES, PAGES, {})


def test_a_host_that_gets_better_has_its_budget_back(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.host("soft.test", not_found)
    mock_web.robots("soft.test", "")
    seed = list_of(mock_web, "soft.test")
    crawl(voyage, mock_web, seed)
    assert pages_of(voyage, "soft.test") < PAGES
    crawl(voyage, mock_web, seed, recrawl=True)  # as bad as before
    assert pages_of(voyage, "soft.test") < PAGES
    mock_web.host("soft.test", own_page)
    crawl(voyage, mock_web, seed, recrawl=True)
    assert pages_of(voyage, "soft.test") == PAGES
    assert status(voyage.database).withdrawn == 0


def test_a_page_that_changes_a_little_is_no_copy_of_itself(voyage: Voyage, mock_web: MockWeb) -> None:
    text = " ".join(random.Random(1).choices(WORDS, k=300))
    for number in range(3):
        mock_web.page("http://a.test/", f"<p>{text} {number}")
        crawl(voyage, mock_web, "http://a.test/", recrawl=bool(number))
    report = host_report(voyage.database, "a.test")
    assert report is not None
    assert (report.judged, report.findable) == (3, 3)
