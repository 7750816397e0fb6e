"""Sites whose owner wishes us ill: what they say must not break politeness, time, memory, disk or terminals."""

from __future__ import annotations

import gzip
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from periplus.crawl import inspect
from periplus.crawl.fetching.unpack import MAX_MEMBERS, unpack
from periplus.crawl.frontier.rows import FEED, ICON, SITEMAP
from periplus.crawl.rules.interpretation import SitemapReading, sitemap_of
from periplus.crawl.rules.links import CANONICAL_HOPS, SITEMAP_LEVELS
from periplus.crawl.rules.robots import RULE_SHOWN, SITEMAPS_LIMIT, RobotsFile
from periplus.crawl.rules.traps import MAX_FEEDS, MAX_SITEMAPS, TrapRules
from periplus.demo import Reply, Request
from periplus.errors import FetchError
from periplus.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.records import Exchange


def number_in(request: Request) -> int:
    return int("0" + "".join(filter(str.isdigit, request.path)))


def xml(text: str) -> Reply:
    return Reply(200, text.encode(), (("Content-Type", "application/xml"),))


# This machine, by all its names

_SPELLINGS = (
    "2130706433", "017700000001", "0x7f000001", "0x7f.1", "127.1", "127.0.0.1.", "127.000.000.001", "%31%32%37.0.0.1",
    "①②⑦.0.0.1", "127。0。0。1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::1%25lo]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "localhost", "LOCALHOST.", "a.localhost", "0", "0.0.0.0", "127.0.0.1",
)  # fmt: skip


@pytest.mark.parametrize("way", ["link", "redirect", "robots", "sitemap", "icon", "canonical", "feed", "refresh"])
def test_no_way_of_writing_an_address_leads_to_this_machine(voyage: Voyage, mock_web: MockWeb, way: str) -> None:
    targets = [f"http://{spelling}:{mock_web.port}/secret" for spelling in _SPELLINGS]
    for number, target in enumerate(targets):
        host = f"h{number}.test"
        pages = {
            "link": f"<a href='{target}'>in</a>",
            "icon": f"<link rel=icon href='{target}'>",
            "canonical": f"<link rel=canonical href='{target}'>",
            "feed": f"<link rel=alternate type='application/rss+xml' href='{target}'>",
            "refresh": f"<meta http-equiv=refresh content='0; url={target}'>",
        }
        mock_web.text(f"http://{host}/", f"<title>T</title>{pages.get(way, '')}<p>Words at {host}.", "text/html")
        if way == "redirect":
            mock_web.redirect(f"http://{host}/", quote(target, safe=":/[]%"))
        if way == "robots":
            mock_web.robots(host, answer=Reply(302, b"", (("Location", quote(target, safe=":/[]%")),)))
        if way == "sitemap":
            mock_web.robots(host, f"Sitemap: {target}\n")
    voyage.run(mock_web, *(f"http://h{number}.test/" for number in range(len(targets))), icons=True, retries=0)
    assert {record.host for record in mock_web.requests()} <= {f"h{number}.test" for number in range(len(targets))}


def test_a_canonical_address_that_always_has_another_one_goes_no_deeper_than_links(
    voyage: Voyage, mock_web: MockWeb
) -> None:
    def answer(request: Request) -> Reply:
        number = number_in(request)
        text = f"<title>{number}</title><link rel=canonical href='/{number + 1}'><p>Number {number}."
        return Reply(200, text.encode(), (("Content-Type", "text/html"),))

    mock_web.robots("a.test", "")
    mock_web.host("a.test", answer)
    voyage.run(mock_web, "http://a.test/0", max_depth=2, max_pages=200)
    assert len(voyage.fetched()) == 1 + CANONICAL_HOPS + 2


# Politeness


def test_robots_hold_however_many_addresses_they_forbid(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.robots("a.test", "User-agent: *\nDisallow: /private/\n")
    mock_web.page("http://a.test/", "<p>Doors.", links=[*(f"/private/{n}" for n in range(450)), "/open"])
    mock_web.page("http://a.test/open", "<p>Come in.")
    voyage.run(mock_web, "http://a.test/")
    assert mock_web.paths("a.test") == ["/robots.txt", "/", "/open"]
    assert voyage.rows("SELECT COUNT(*) FROM urls WHERE reason = 'robots-disallowed'") == [(450,)]


def test_refusals_that_take_long_let_others_in_between(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("periplus.crawl.working.engine.REFUSING_SECONDS", 0.0)
    mock_web.robots("a.test", "User-agent: *\nDisallow: /private/\n")
    mock_web.page("http://a.test/", "<p>Doors.", links=[*(f"/private/{n}" for n in range(40)), "/open"])
    mock_web.page("http://a.test/open", "<p>Come in.")
    voyage.run(mock_web, "http://a.test/")
    assert mock_web.paths("a.test") == ["/robots.txt", "/", "/open"]


def test_a_robots_file_leads_to_no_banned_host(voyage: Voyage, mock_web: MockWeb, tmp_path: Path) -> None:
    banned = tmp_path / "banned.txt"
    banned.write_text("banned.test\n")
    mock_web.robots("a.test", answer=Reply(302, b"", (("Location", "http://banned.test/robots.txt"),)))
    mock_web.page("http://a.test/", "<p>Home.")
    voyage.run(mock_web, "http://a.test/", banned_hosts=str(banned))
    assert mock_web.paths("banned.test") == []
    assert voyage.fetched() == {"http://a.test/"}


@pytest.mark.parametrize("port", [0, 22, 25, 6667, 5432, 6379, 9200, 11211])
def test_no_link_makes_us_speak_to_another_protocol(voyage: Voyage, mock_web: MockWeb, port: int) -> None:
    mock_web.robots("a.test", answer=Reply(302, b"", (("Location", f"http://b.test:{port}/robots.txt"),)))
    mock_web.page("http://a.test/", "<p>Home.", links=[f"http://b.test:{port}/x", "http://b.test:8080/y"])
    voyage.run(mock_web, "http://a.test/")
    assert {record.header("host") for record in mock_web.requests()} == {"a.test", "b.test:8080"}
    assert inspect(voyage.database, f"http://b.test:{port}/x", Settings())[1].reason == "foreign-port"


@pytest.mark.parametrize("target", ["file:///etc/passwd", "data:text/plain,Disallow:", "javascript:alert(1)", "//"])
def test_a_robots_file_that_redirects_astray_is_none(voyage: Voyage, mock_web: MockWeb, target: str) -> None:
    mock_web.robots("a.test", answer=Reply(302, b"", (("Location", target),)))
    mock_web.page("http://a.test/", "<p>Home.")
    voyage.run(mock_web, "http://a.test/")
    assert mock_web.paths("a.test") == ["/robots.txt", "/"]


# What never ends


def test_sitemaps_that_lead_to_ever_new_sitemaps_end(voyage: Voyage, mock_web: MockWeb) -> None:
    def index(request: Request) -> Reply:
        address = f"http://{request.host}/maps/{number_in(request) + 1}"
        return xml(f"<sitemapindex><sitemap><loc>{address}</loc></sitemap></sitemapindex>")

    mock_web.host("a.test", index)
    mock_web.robots("a.test", "Sitemap: http://a.test/maps/0\n")
    mock_web.page("http://a.test/", "<p>Home.")
    voyage.run(mock_web, "http://a.test/")
    assert len(mock_web.paths("a.test")) == 2 + 1 + SITEMAP_LEVELS


def test_feeds_that_lead_to_ever_new_feeds_end(voyage: Voyage, mock_web: MockWeb) -> None:
    def page(request: Request) -> Reply:
        body = f'<link rel=alternate type="application/rss+xml" href="/feeds/{number_in(request) + 1}"><p>News.'
        return Reply(200, body.encode(), (("Content-Type", "text/html"),))

    mock_web.host("a.test", page)
    mock_web.robots("a.test")
    voyage.run(mock_web, "http://a.test/")
    assert mock_web.paths("a.test") == ["/robots.txt", "/", "/feeds/1"]


def test_hosts_that_lead_to_ever_new_hosts_by_their_robots_files_end(voyage: Voyage, mock_web: MockWeb) -> None:
    """Each host allows nothing but a sitemap, which names a page of the next host: no page is ever had."""

    def any_host(number: int) -> None:
        name, following = f"h{number}.a.test", f"h{number + 1}.a.test"
        mock_web.robots(name, f"User-agent: *\nDisallow: /page\nSitemap: http://{name}/map\n")
        mock_web.at(f"http://{name}/map", xml(f"<urlset><url><loc>http://{following}/page</loc></url></urlset>"))

    for number in range(12):
        any_host(number)
    voyage.run(mock_web, "http://h0.a.test/page", max_depth=4)
    assert [n for n in range(12) if mock_web.paths(f"h{n}.a.test")] == [0, 1, 2, 3, 4]


def test_a_host_has_so_many_sitemaps_and_feeds_and_no_more() -> None:
    traps = TrapRules()
    for kind, most in ((SITEMAP, MAX_SITEMAPS), (FEED, MAX_FEEDS)):
        found = [traps.list_refusal(f"http://a.test/{number}", kind) for number in range(most + 2)]
        assert found == [""] * most + ["trap-lists"] * 2
        assert not traps.list_refusal("http://b.test/0", kind)
    assert not traps.list_refusal("http://a.test/icon", ICON)


# Time


def test_a_large_sitemap_is_read_beside_the_loop(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set()

    def noticed(url: str, exchange: Exchange) -> SitemapReading:
        threads.add(threading.current_thread() is threading.main_thread())
        return sitemap_of(url, exchange)

    monkeypatch.setattr("periplus.crawl.working.visitor.THREAD_SITEMAP_BYTES", 10)
    monkeypatch.setattr("periplus.crawl.working.visitor.sitemap_of", noticed)
    mock_web.robots("a.test", "Sitemap: /map\nSitemap: /broken\n")
    mock_web.at("http://a.test/map", xml("<urlset><url><loc>http://a.test/listed</loc></url></urlset>"))
    mock_web.at("http://a.test/broken", xml("no sitemap at all"))
    mock_web.page("http://a.test/", "<p>Home.")
    mock_web.page("http://a.test/listed", "<p>Listed.")
    voyage.run(mock_web, "http://a.test/")
    assert threads == {False}
    assert "http://a.test/listed" in voyage.fetched()
    assert voyage.url("http://a.test/broken")["reason"] == "unreadable"


def test_a_stream_of_many_gzip_members_is_not_copied_for_each_of_them() -> None:
    """The parts that are given to a member grow with it, so that thousands of tiny ones cost no more than they are."""
    tiny = gzip.compress(b"x", mtime=0)
    assert unpack(tiny * 1_000, "gzip", 1_000_000) == b"x" * 1_000
    blocks = [bytes([number]) * 70_000 for number in range(5)]
    assert unpack(b"".join(gzip.compress(block, 0) for block in blocks), "gzip", 1_000_000) == b"".join(blocks)


def test_a_stream_of_empty_gzip_members_is_given_up() -> None:
    with pytest.raises(FetchError, match="gzip members"):
        unpack(gzip.compress(b"", mtime=0) * (MAX_MEMBERS + 2), "gzip", 1_000_000)


# Disk, journal and terminal


def test_a_rule_as_long_as_the_file_does_not_fill_the_journal(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.robots("a.test", "User-agent: *\nAllow: /" + "*" * 400_000 + "\nDisallow: /x" + "*" * 50_000 + "\n")
    mock_web.page("http://a.test/", "<p>Home.", links=["/x", "/y"])
    voyage.run(mock_web, "http://a.test/")
    assert max(len(rule) for (rule,) in voyage.rows("SELECT rule FROM journal")) < RULE_SHOWN + 20
    assert max(len(detail) for (detail,) in voyage.rows("SELECT detail FROM urls")) < RULE_SHOWN + 20


def test_a_rule_steers_no_terminal() -> None:
    verdict = RobotsFile.parse("User-agent: *\nDisallow: /\x1b]0;owned\x07\x9b31m*\n", "Periplus")
    (line,) = verdict.lines(1)
    assert line.isprintable()


def test_a_file_announces_so_many_sitemaps() -> None:
    body = "".join(f"Sitemap: /{number}\n" for number in range(SITEMAPS_LIMIT + 5))
    assert len(RobotsFile.parse(body, "Periplus").sitemaps) == SITEMAPS_LIMIT


def test_headers_of_any_length_leave_short_rows(voyage: Voyage, mock_web: MockWeb) -> None:
    long = "x" * 20_000
    fixed = (("Content-Type", "text/html"), ("ETag", f'"{long}"'), ("Last-Modified", long))
    mock_web.robots("a.test")
    mock_web.at("http://a.test/", Reply(200, b"<p>Home. <a href=/away>Away</a>", fixed))
    mock_web.at("http://a.test/away", Reply(302, b"", (("Location", "mailto:" + long),)))
    voyage.run(mock_web, "http://a.test/")
    mock_web.at("http://a.test/", Reply(304, b"", fixed))
    voyage.run(mock_web, "http://a.test/", recrawl=True)
    rows = voyage.rows("SELECT LENGTH(etag) + LENGTH(last_modified) + LENGTH(detail) FROM urls")
    assert max(length for (length,) in rows) < 1_000
    assert voyage.url("http://a.test/away")["reason"] == "bad-redirect"
