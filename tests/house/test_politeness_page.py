"""The page for owners of sites gives the figures that the crawler goes by."""

from __future__ import annotations

from documented_commands import ROOT

from periplus.crawl.fetching.fetcher import user_agent
from periplus.crawl.rules import politeness, robots
from periplus.crawl.working import robots_visit
from periplus.settings import Settings


def test_the_page_gives_the_figures_in_force():
    page = (ROOT / "docs" / "politeness.md").read_text(encoding="utf-8")
    crawl = Settings().crawl

    assert (crawl.delay, crawl.max_delay, crawl.ip_delay) == (1.0, 300.0, 0.25)
    assert "a second, or what the operator chose; your `Crawl-delay`, up to five minutes" in page
    assert "a quarter of a second" in page
    assert f"as long as you took to answer, up to {politeness.RESPONSE_TIME_CAP:.0f} s" in page
    assert (politeness.BACK_OFF_FACTOR, politeness.BACK_OFF_CAP, politeness.RETRY_AFTER_CAP) == (5.0, 3_600.0, 86_400.0)
    assert "five gaps, then twice as long each time, up to an hour" in page
    assert "in seconds or as a date, up to a day" in page
    assert f"The first {robots.SIZE_LIMIT // 1024} KiB count" in page
    assert robots_visit.CACHED_SECONDS == 86_400.0
    assert f"what it said before counts for {robots_visit.STALE_SECONDS / 86_400:.0f} days" in page
    assert (robots_visit.MAX_REDIRECTS, "it is followed, five times" in page) == (5, True)
    assert f"User-Agent: {user_agent(Settings())} (+https://" in page
