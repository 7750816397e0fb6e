"""Whole crawls of the mock web and of the demo web."""

from __future__ import annotations

import gzip
import threading
import time
from typing import TYPE_CHECKING

import pytest

from crawl.voyages import settings_for
from mockweb.faults import Gate, Hang, asked_to_wait
from periplus.archive import iterate
from periplus.crawl import Crawler, host_report, inspect, journal, remove, send_command, status
from periplus.demo import Reply, html
from periplus.documents import BatchLog
from periplus.errors import StorageError, UsageError
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.demo import DemoWeb, Request
    from periplus.settings import Settings


def test_a_site_is_crawled_on_both_databases(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    pages = mock_web.site("a.test", 12) + mock_web.site("b.test", 3)
    mock_web.page("http://a.test/3", links=["http://b.test/"])
    result = voyage_anywhere.run(mock_web, "http://a.test/")
    assert voyage_anywhere.fetched() == set(pages)
    assert result.state == "done"
    assert result.pages == len(pages) == result.documents
    assert result.queued == 0
    assert result.hosts == 2
    assert set(voyage_anywhere.documents()) == set(pages)
    assert status(voyage_anywhere.database).pages == len(pages)


def test_the_second_run_asks_for_nothing(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 5)
    voyage_anywhere.run(mock_web, "http://a.test/")
    asked = len(mock_web.requests())
    again = voyage_anywhere.run(mock_web, "http://a.test/")
    assert len(mock_web.requests()) == asked
    assert (again.pages, again.unchanged) == (0, 0)
    assert status(voyage_anywhere.database).pages == 6  # of the last crawl that did something


def test_robots_is_asked_first_and_obeyed(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["/open", "/closed/1", "/closed/but-open"])
    mock_web.page("http://a.test/open")
    mock_web.page("http://a.test/closed/but-open")
    mock_web.robots(
        "a.test", "User-agent: *\nDisallow: /\n\nUser-agent: periplus\nDisallow: /closed\nAllow: /closed/but"
    )
    voyage.run(mock_web, "http://a.test/")
    assert mock_web.paths("a.test")[0] == "/robots.txt"
    assert "/closed/1" not in mock_web.paths("a.test")
    assert "http://a.test/closed/but-open" in voyage.fetched()
    row = voyage.url("http://a.test/closed/1")
    assert (row["reason"], row["detail"]) == ("robots-disallowed", "line 5: Disallow: /closed")
    assert journal(voyage.database, "a.test")[0].rule


def test_unreachable_robots_keeps_us_out_until_it_can_be_read(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/")
    mock_web.robots("a.test", answer=[_status(500), _status(500), _status(200)])
    voyage.run(mock_web, "http://a.test/")
    assert mock_web.paths("a.test") == ["/robots.txt"] * 3 + ["/"]


def test_robots_that_stays_unreachable_ends_in_a_reason(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/")
    mock_web.robots("a.test", answer=_status(500))
    result = voyage.run(mock_web, "http://a.test/", retries=1)
    assert set(mock_web.paths("a.test")) == {"/robots.txt"}
    assert voyage.url("http://a.test/")["reason"] == "robots-unreachable"
    assert result.failed == 1


def test_robots_redirected_to_another_host(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["/closed", "http://b.test/"])
    mock_web.site("b.test", 4)
    mock_web.redirect("http://a.test/robots.txt", "http://b.test/rules", 301)
    mock_web.text("http://b.test/rules", "User-agent: *\nDisallow: /closed")
    voyage.run(mock_web, "http://a.test/", "http://b.test/")
    assert voyage.url("http://a.test/closed")["reason"] == "robots-disallowed"
    assert "http://b.test/3" in voyage.fetched()


def test_crawl_delay_is_kept_and_capped(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 3)
    mock_web.site("b.test", 3)
    mock_web.robots("a.test", "User-agent: *\nCrawl-delay: 0.15")
    mock_web.robots("b.test", "User-agent: *\nCrawl-delay: 900")
    voyage.run(mock_web, "http://a.test/", "http://b.test/", max_delay=0.2)
    assert min(mock_web.gaps("a.test")) >= 0.14
    assert min(mock_web.gaps("b.test")) >= 0.19
    report = host_report(voyage.database, "a.test")
    assert report is not None
    assert (report.delay, report.crawl_delay, report.rule_group) == (0.15, 0.15, "*")


@pytest.mark.parametrize("code", [429, 503])
def test_retry_after_is_kept(voyage: Voyage, mock_web: MockWeb, code: int) -> None:
    mock_web.page("http://a.test/", links=["/busy"])
    mock_web.at("http://a.test/busy", [asked_to_wait(code, seconds=1), _status(200)])
    voyage.run(mock_web, "http://a.test/")
    first, second = mock_web.requests("a.test", "/busy")
    assert second.monotonic - first.finished >= 0.99
    assert "http://a.test/busy" in voyage.fetched()


def test_a_failure_that_passes_is_fetched_in_the_end(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.at("http://a.test/", [_status(500), _status(502), _status(200)])
    result = voyage.run(mock_web, "http://a.test/")
    assert "http://a.test/" in voyage.fetched()
    assert (result.pages, result.failed) == (1, 0)


def test_a_failure_that_stays_ends_after_its_retries(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.at("http://a.test/", _status(500))
    result = voyage.run(mock_web, "http://a.test/", retries=2)
    assert mock_web.paths("a.test") == ["/robots.txt", "/", "/", "/"]
    assert (result.failed, voyage.url("http://a.test/")["reason"]) == (1, "http-5xx")


def test_redirects_go_through_the_frontier(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.redirect("http://a.test/", "http://b.test/x", 301)
    mock_web.page("http://b.test/x")
    mock_web.page("http://b.test/", links=["/loop1", "/long0", "/nowhere"])
    mock_web.redirect("http://b.test/loop1", "/loop2")
    mock_web.redirect("http://b.test/loop2", "/loop1")
    mock_web.redirect("http://b.test/nowhere", "ftp://b.test/")
    for number in range(6):
        mock_web.redirect(f"http://b.test/long{number}", f"/long{number + 1}")
    voyage.run(mock_web, "http://a.test/", "http://b.test/", max_redirects=3)
    assert voyage.url("http://a.test/")["reason"] == "redirected"
    assert "http://b.test/x" in voyage.fetched()
    assert voyage.url("http://b.test/loop2")["reason"] == "redirect-loop"
    assert voyage.url("http://b.test/long3")["reason"] == "too-many-redirects"
    assert voyage.url("http://b.test/nowhere")["reason"] == "bad-redirect"
    assert "/long4" not in mock_web.paths("b.test")


def test_a_seed_that_moved_within_its_site_is_followed_even_in_host_scope(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.redirect("http://a.test/", "http://www.a.test/", 301)
    pages = mock_web.site("www.a.test", 3)
    voyage.run(mock_web, "http://a.test/", scope="host")
    assert voyage.fetched() == set(pages)
    assert inspect(voyage.database, pages[2], _settings(mock_web, scope="host"))[1].state == "ok"


def test_scope_depth_and_patterns(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["/1", "/secret", "http://other.test/"])
    mock_web.page("http://a.test/1", links=["/2"])
    mock_web.page("http://a.test/2", links=["/3"])
    mock_web.page("http://other.test/")
    voyage.run(mock_web, "http://a.test/", scope="host", max_depth=1, exclude=("/secret",))
    assert voyage.fetched() == {"http://a.test/", "http://a.test/1"}
    assert voyage.url("http://a.test/2")["reason"] == "too-deep"
    assert voyage.url("http://a.test/secret")["reason"] == "excluded"
    assert voyage.url("http://other.test/") == {}
    # what a filter refused is taken up again when the filter changes
    voyage.run(mock_web, scope="host", max_depth=2, exclude=("/secret",))
    assert "http://a.test/2" in voyage.fetched()


def test_the_page_limit_is_exact_and_can_be_raised(voyage: Voyage, mock_web: MockWeb) -> None:
    seeds = [mock_web.site(f"h{number}.test", 3)[0] for number in range(12)]
    assert voyage.run(mock_web, *seeds, max_pages=7).pages == 7
    assert len(voyage.fetched()) == 7
    assert voyage.run(mock_web, max_pages=7).pages == 0
    assert voyage.run(mock_web, max_pages=10).pages == 3
    full = _settings(mock_web, max_pages=10)
    step = next(step for step in inspect(voyage.database, _waiting(voyage), full) if step.step == "queue")
    assert (step.state, step.reason) == ("waiting", "page-limit")


def test_host_budget(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 20)
    mock_web.site("b.test", 3)
    voyage.run(mock_web, "http://a.test/", "http://b.test/", host_budget=5)
    assert len([url for url in voyage.fetched() if "a.test" in url]) == 5
    assert len([url for url in voyage.fetched() if "b.test" in url]) == 4


def test_duplicates_and_canonical_pages(voyage: Voyage, mock_web: MockWeb) -> None:
    same = "<title>Same</title><p>The very same words about the harbour of Velda and its lights."
    mock_web.page("http://a.test/", links=["/one", "/two", "/print"])
    for path in ("one", "two"):
        mock_web.text(f"http://a.test/{path}", same, "text/html")
    mock_web.text("http://a.test/print", same + '<link rel=canonical href="/whole">', "text/html")
    mock_web.page("http://a.test/whole", "<p>The whole story of the harbour.")
    result = voyage.run(mock_web, "http://a.test/")
    documents = voyage.documents()
    assert sorted((documents["http://a.test/one"], documents["http://a.test/two"])) == ["", "duplicate"]
    assert documents["http://a.test/print"] == "canonical-elsewhere"
    assert documents["http://a.test/whole"] == ""
    assert result.documents == 5
    copy = next(url for url in ("http://a.test/one", "http://a.test/two") if documents[url])
    assert voyage.url(copy)["detail"] in ("http://a.test/one", "http://a.test/two")


def test_nofollow_noindex_and_language(voyage: Voyage, mock_web: MockWeb) -> None:
    german = "<p>Der Hafen liegt im Nebel, und die Schiffe warten auf den Wind, der von Norden kommt und lange bleibt."
    mock_web.text(
        "http://a.test/",
        '<a href="/hidden" rel="nofollow">x</a><a href="/noindex">y</a><a href="/de">z</a><a href="/stop">s</a> words',
        "text/html",
    )
    mock_web.text("http://a.test/noindex", '<meta name="robots" content="noindex"><a href="/behind">b</a>', "text/html")
    mock_web.text("http://a.test/stop", '<meta name="robots" content="nofollow"><a href="/never">b</a> w', "text/html")
    mock_web.page("http://a.test/behind")
    mock_web.page("http://a.test/de", german, lang="de")
    voyage.run(mock_web, "http://a.test/", languages=("en",))
    assert not {"/hidden", "/never"} & set(mock_web.paths("a.test"))
    assert "http://a.test/behind" in voyage.fetched()
    assert voyage.documents()["http://a.test/noindex"] == "noindex"
    assert voyage.documents()["http://a.test/de"] == "wrong-language"


def test_a_sitemap_that_a_page_links_to_is_no_page(voyage: Voyage, mock_web: MockWeb) -> None:
    """Whether the link or the robots.txt is met first must not decide what search finds."""
    mock_web.page("http://a.test/", links=["/map.xml"])
    urls = "<?xml version='1.0'?>\n<!-- ours -->\n<urlset><url><loc>http://a.test/listed</loc></url></urlset>"
    mock_web.text("http://a.test/map.xml", urls, "application/xml")
    mock_web.page("http://a.test/listed")
    result = voyage.run(mock_web, "http://a.test/")
    assert "http://a.test/listed" in voyage.fetched()
    assert set(voyage.documents()) == {"http://a.test/", "http://a.test/listed"}
    assert result.pages == 2
    assert voyage.rows("SELECT pages FROM hosts") == [(2,)]


def test_sitemaps_and_feeds_are_read(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.robots("a.test", "Sitemap: http://a.test/index.xml\nSitemap: /list.txt")
    index = "<sitemapindex><sitemap><loc>http://a.test/deep.xml.gz</loc></sitemap></sitemapindex>"
    mock_web.text("http://a.test/index.xml", index, "application/xml")
    urls = "<urlset><url><loc>http://a.test/from-sitemap</loc></url></urlset>"
    mock_web.text("http://a.test/deep.xml.gz", gzip.compress(urls.encode()), "application/gzip")
    mock_web.text("http://a.test/list.txt", "http://a.test/from-list\n")
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed"> words of the front page'
    mock_web.text("http://a.test/", feed, "text/html")
    items = (
        "<rss version='2.0'><channel><title>t</title><item><link>http://a.test/from-feed</link></item></channel></rss>"
    )
    mock_web.text("http://a.test/feed", items, "application/rss+xml")
    for name in ("sitemap", "list", "feed"):
        mock_web.page(f"http://a.test/from-{name}", f"<p>Found by {name}.")
    result = voyage.run(mock_web, "http://a.test/")
    assert {f"http://a.test/from-{name}" for name in ("sitemap", "list", "feed")} <= voyage.fetched()
    assert result.pages == 4  # sitemaps and feeds are not pages
    assert "http://a.test/feed" not in voyage.documents()


def test_the_demo_web(voyage: Voyage, demo_web: DemoWeb) -> None:
    result = voyage.run(demo_web, *demo_web.seeds(), seconds=60)
    notes = {note.url: note.note for note in demo_web.notes()}
    hidden = {url for url, note in notes.items() if "never be asked" in note or "disallowed by robots" in note}
    hidden |= {url for url, note in notes.items() if "reached only by a rel=nofollow" in note}
    hidden |= {url for url, note in notes.items() if "linked only from a page with meta robots nofollow" in note}
    missed = set(demo_web.pages()) - voyage.fetched()
    assert missed <= hidden, missed - hidden
    asked = {record.url for record in demo_web.requests}
    assert not asked & hidden
    documents = voyage.documents()
    for url, note in notes.items():
        if "must not be found" in note and url in documents:
            assert documents[url], note
    assert result.queued == 0
    assert result.failed >= 2  # a 404 and a loop of redirects
    assert len([url for url in asked if "/calendar/" in url]) < 60
    for host in {record.host for record in demo_web.requests}:
        assert max(record.concurrency for record in demo_web.requests if record.host == host) == 1


def test_recrawl_is_conditional_and_notices_changes(voyage: Voyage, mock_web: MockWeb) -> None:
    unchanged, changed = "http://a.test/same", "http://a.test/new"
    mock_web.page("http://a.test/", links=["/same", "/new", "/gone", "/plain"])
    mock_web.at(unchanged, _conditional)
    mock_web.page(changed, "<p>Old news of the port.")
    mock_web.page("http://a.test/plain", "<p>No validators here.")
    mock_web.page("http://a.test/gone", "<p>Soon gone.")
    voyage.run(mock_web, "http://a.test/")
    mock_web.page(changed, "<p>New news of the port, with a link.", links=["/found-later"])
    mock_web.page("http://a.test/found-later")
    mock_web.remove("http://a.test/gone")
    result = voyage.run(mock_web, recrawl=True)
    assert [record.status for record in mock_web.requests("a.test", "/same")] == [200, 304]
    assert result.unchanged == 3  # by 304, and two by the same body
    (stored,) = [gzip.decompress(path.read_bytes()) for path in _archive_files(voyage)]
    assert stored.count(b"WARC-Type: revisit") == 3
    assert result.pages == 2
    assert voyage.url(changed)["changes"] == 1
    assert "http://a.test/found-later" in voyage.fetched()
    assert voyage.documents()["http://a.test/gone"] == ""  # once missing is not gone
    voyage.run(mock_web, recrawl=True)
    assert voyage.documents()["http://a.test/gone"] == "gone"
    assert voyage.url("http://a.test/gone")["reason"] == "gone"


def test_a_page_that_now_redirects_leaves_the_index(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["/old"])
    mock_web.page("http://a.test/old", "<p>At the old place.")
    voyage.run(mock_web, "http://a.test/")
    mock_web.redirect("http://a.test/old", "/moved", 301)
    mock_web.page("http://a.test/moved", "<p>At the new place.")
    voyage.run(mock_web, recrawl=True)
    assert voyage.documents()["http://a.test/old"] == "redirected"
    assert voyage.documents()["http://a.test/moved"] == ""


def test_removed_addresses_and_hosts_stay_out(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 3)
    mock_web.site("b.test", 3)
    seeds = ("http://a.test/", "http://b.test/")
    voyage.run(mock_web, *seeds)
    log = BatchLog(LocalFiles(voyage.folder), voyage.database)
    one = remove(voyage.database, "http://a.test/1", log)
    assert (one.addresses, len(one.archived)) == (("http://a.test/1",), 1)
    many = remove(voyage.database, "b.test")
    assert (many.is_host, len(many.addresses)) == (True, 4)
    mock_web.log.clear()
    voyage.run(mock_web, *seeds, recrawl=True)
    assert "/1" not in mock_web.paths("a.test")
    assert mock_web.paths("b.test") == []
    documents = voyage.documents()
    assert documents["http://a.test/1"] == "removed"
    assert all(documents[url] == "removed" for url in many.addresses)
    assert inspect(voyage.database, "http://b.test/new", _settings(mock_web))[1].reason == "removed"


def test_a_dead_host_costs_the_others_nothing(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 10)
    seeds = ("http://a.test/", "http://nowhere.invalid/")
    result = voyage.run(mock_web, *seeds, retries=1)
    assert len(voyage.fetched()) == 11
    assert voyage.url("http://nowhere.invalid/")["reason"] == "dns-failure"
    assert result.failed == 1


def test_private_addresses_are_refused_also_behind_links_and_redirects(voyage: Voyage, mock_web: MockWeb) -> None:
    port = mock_web.port
    mock_web.page("http://a.test/", links=[f"http://localhost:{port + 1}/", "http://10.0.0.1/", "/r"])
    mock_web.redirect("http://a.test/r", "http://169.254.169.254/latest/meta-data/")
    voyage.run(mock_web, "http://a.test/")
    for url in (f"http://localhost:{port + 1}/", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/"):
        assert voyage.url(url)["reason"] == "private-address", url


def test_pause_resume_and_stop(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 40)
    gate, later = Gate(), Gate()
    mock_web.at("http://a.test/5", gate)
    mock_web.at("http://a.test/20", later)
    crawler = Crawler(voyage.folder, voyage.database, _settings(mock_web))
    voyage.web = mock_web
    results = []
    thread = threading.Thread(target=lambda: results.append(crawler.run(["http://a.test/"])))
    thread.start()
    mock_web.log.wait_for(1, "a.test", "/5")
    crawler.pause()
    gate.open()
    _until(lambda: status(voyage.database).state == "paused")
    asked = len(mock_web.requests())
    assert asked < 41
    crawler.resume()
    mock_web.log.wait_for(1, "a.test", "/20")
    crawler.stop()
    later.open()
    thread.join(timeout=60)
    assert results[0].state == "stopped"
    assert status(voyage.database).state == "stopped"
    voyage.run(mock_web)
    paths = mock_web.paths("a.test")
    assert len(voyage.fetched()) == 41
    assert len(set(paths)) == 42
    assert {path for path in paths if paths.count(path) > 1} <= {"/20"}  # under way when the order came


def test_a_command_from_another_process_and_a_request_that_never_ends(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("periplus.crawl.working.engine.STOP_GRACE", 0.2)
    mock_web.at("http://a.test/", Hang())
    crawler = Crawler(voyage.folder, voyage.database, _settings(mock_web, timeout=60))
    results = []
    thread = threading.Thread(target=lambda: results.append(crawler.run(["http://a.test/"])))
    thread.start()
    mock_web.log.wait_for(1, "a.test", "/")
    send_command(voyage.database, "stop")
    thread.join(timeout=10)
    assert results[0].state == "stopped"
    last = journal(voyage.database)[0]
    assert (last.url, last.outcome) == ("http://a.test/", "timeout")
    assert voyage.url("http://a.test/")["state"] == 0
    with pytest.raises(UsageError, match="unknown command"):
        send_command(voyage.database, "sink")


def test_a_hot_host_does_not_starve_the_others(voyage: Voyage, mock_web: MockWeb) -> None:
    hot = mock_web.site("hot.test", 60)
    others = [mock_web.site(f"h{number}.test", 4)[0] for number in range(6)]
    voyage.run(mock_web, hot[0], *others, concurrency=2)
    hosts = [record.host for record in mock_web.requests()]
    last_other = max(place for place, host in enumerate(hosts) if host != "hot.test")
    assert hosts[last_other:].count("hot.test") > 10
    assert len(voyage.fetched()) == 61 + 6 * 5


def test_a_trap_site_ends(voyage: Voyage, mock_web: MockWeb) -> None:
    words = " ".join(
        f"{wind} wind over the {sea} sea" for wind in ["north", "east", "south", "west"] for sea in ["grey", "green"]
    )

    def endless(request: Request) -> Reply:
        number = int(request.path.rpartition("/")[2] or 0)
        return html(f"<p>Item {number}: {words} <a href='/item/{number + 1}'>next</a>")

    mock_web.host("trap.test", endless)
    mock_web.robots("trap.test", "")
    voyage.run(mock_web, "http://trap.test/item/0", max_depth=1000)
    assert len(mock_web.requests("trap.test")) < 60
    assert voyage.rows("SELECT reason FROM closed_patterns") == [("trap-near-duplicates",)]


def test_a_page_that_breaks_the_reader_is_kept_with_a_reason(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(line: object, reader: int, page: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("periplus.crawl.working.reading_line.ReadingLine.ask", broken)
    mock_web.page("http://a.test/", "<p>Words.")
    voyage.run(mock_web, "http://a.test/")
    assert voyage.documents() == {"http://a.test/": "unreadable"}


def test_two_crawls_of_one_folder_are_refused(voyage: Voyage, mock_web: MockWeb) -> None:
    gate = Gate()
    mock_web.at("http://a.test/", gate)
    first = threading.Thread(target=lambda: voyage.run(mock_web, "http://a.test/"))
    first.start()
    mock_web.log.wait_for(1, "a.test", "/")
    with pytest.raises(StorageError, match="another process is crawling"):
        Crawler(voyage.folder, voyage.database, _settings(mock_web)).run(["http://a.test/"])
    gate.open()
    first.join(timeout=10)


def test_wrong_use(voyage: Voyage, mock_web: MockWeb) -> None:
    with pytest.raises(UsageError, match="mailto:me@a.test"):
        voyage.run(mock_web, "http://a.test/", "mailto:me@a.test")
    with pytest.raises(UsageError, match="nothing to crawl"):
        voyage.run(mock_web)
    with pytest.raises(UsageError, match="regular expression"):
        voyage.run(mock_web, "http://a.test/", include=("(",))
    with pytest.raises(UsageError, match="HOST=IP"):
        Crawler(voyage.folder, voyage.database, _settings(mock_web, resolve=("x",))).run(["http://a.test/"])


def test_inspect_tells_the_whole_way(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["/1", "/missing"])
    mock_web.page("http://a.test/1", "<p>Words about the first page.")
    voyage.run(mock_web, "http://a.test/")
    settings = _settings(mock_web, scope="host")
    good = inspect(voyage.database, "http://a.test/1", settings)
    assert [step.step for step in good] == ["discovered", "scope", "robots", "queue", "fetch", "parse"]
    assert all(step.state == "ok" for step in good)
    assert "named by http://a.test/" in good[0].detail
    missing = {step.step: step for step in inspect(voyage.database, "http://a.test/missing", settings)}
    assert (missing["fetch"].state, missing["fetch"].reason) == ("failed", "http-4xx")
    foreign = {step.step: step for step in inspect(voyage.database, "http://z.test/", settings)}
    assert (foreign["discovered"].state, foreign["scope"].reason) == ("unknown", "out-of-scope")


def test_rounds_of_revisits_share_an_archive_file(voyage: Voyage, mock_web: MockWeb) -> None:
    """Each begins where the last one ended, whatever it was, and all that they stored can be read."""
    pages = mock_web.site("a.test", 3)
    for _ in range(4):
        voyage.run(mock_web, pages[0], recrawl=True)
    (file,) = _archive_files(voyage)
    urls = [exchange.url for _, exchange in iterate(file)]
    assert {urls.count(page) for page in pages} == {4}
    assert voyage.rows("SELECT place FROM archive_marks") == [(file.stat().st_size,)]
    for _, place in voyage.rows("SELECT file, place FROM urls WHERE state = 1 AND kind = 0"):
        assert place < file.stat().st_size


def _settings(web: MockWeb, **options: object) -> Settings:
    return settings_for(**({"resolve": web.resolve} | options))


def _status(code: int) -> Reply:
    return html(f"<title>{code}</title><p>Answer {code} with some words.", code)


def _conditional(request: Request) -> Reply:
    if request.header("if-none-match") == '"v1"':
        return Reply(304, b"", (("ETag", '"v1"'),))
    return html("<p>Words that do not change.", 200, (("ETag", '"v1"'),))


def _archive_files(voyage: Voyage) -> list[Path]:
    return sorted((voyage.folder / "archive").glob("*.warc.gz"))


def _waiting(voyage: Voyage) -> str:
    return voyage.rows("SELECT url FROM urls WHERE state = 0 LIMIT 1")[0][0]


def _until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "waited for too long"
        time.sleep(0.02)
