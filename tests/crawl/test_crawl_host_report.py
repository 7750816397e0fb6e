"""What the owner of a host is told."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from periplus.crawl import host_report, remove

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb


def test_the_owner_is_told_everything_but_addresses(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    voyage = voyage_anywhere
    mock_web.page("http://a.test/", links=["/secret/1", "/secret/2", "/x?sid=0123456789abcdef", "/1"])
    mock_web.page("http://a.test/1", "<p>Words.")
    mock_web.robots(
        "a.test", "User-agent: *\nDisallow: /\n\nUser-agent: periplus\nDisallow: /secret # keep out\nCrawl-delay: 0.1\n"
    )
    voyage.run(mock_web, "http://a.test/")
    report = host_report(voyage.database, "A.test ")
    assert report is not None
    assert (report.bot, report.rule_group) == ("Periplus", "periplus")
    assert report.rules == ("line 5: Disallow: /secret",)
    assert (report.delay, report.crawl_delay) == (0.1, 0.1)
    assert "Crawl-delay" in report.delay_because
    assert (report.requests, report.requests_today, report.pages, report.queued) == (3, 3, 2, 0)
    assert report.refusals == {"robots-disallowed": 2, "trap-session": 1}
    assert report.explanations["robots-disallowed"] == "robots.txt forbids the address"
    assert time.time() - 60 < report.last_visit < time.time() < report.next_visit
    assert report.robots == "read (HTTP 200)"
    assert report.last_outcome == "HTTP 200"
    assert any("User-agent: Periplus" in line for line in report.opt_out)
    assert not report.taken_down
    assert "secret/1" not in str(report)


def test_reasons_for_delays_and_failures(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 1)
    mock_web.site("slow.test", 1)
    mock_web.robots("slow.test", "User-agent: *\nCrawl-delay: 900")
    voyage.run(mock_web, "http://a.test/", "http://slow.test/", "http://no.invalid/", max_delay=0.1, retries=0)
    plain, slow = (host_report(voyage.database, name) for name in ("a.test", "http://slow.test/x"))
    assert plain is not None
    assert slow is not None
    assert plain.delay_because == "the least that the operator has set"
    assert (slow.delay, slow.crawl_delay) == (0.1, 900.0)
    assert "900 s" in slow.delay_because
    dead = host_report(voyage.database, "no.invalid")
    assert dead is not None
    assert (dead.reason, dead.explanations) == ("dns-failure", {"dns-failure": "the host name could not be resolved"})
    assert (dead.requests, dead.last_outcome, dead.robots) == (0, "", "not read yet")
    remove(voyage.database, "a.test")
    gone = host_report(voyage.database, "a.test")
    assert gone is not None
    assert gone.taken_down
    assert host_report(voyage.database, "never.test") is None
