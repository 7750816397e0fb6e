"""What pages ask for and what they are: robots directives, scripts, types, feeds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from mockweb.faults import Endless
from periplus.crawl.rules import schedule
from periplus.demo import Reply

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb


@pytest.mark.parametrize(
    ("header", "refusal", "followed"),
    [
        ("noindex", "noindex", True),
        ("none", "noindex", False),
        ("nofollow", "", False),
        ("otherbot: noindex, nofollow", "", True),
        ("periplus: noindex", "noindex", True),
        ("noarchive", "", True),
    ],
)
def test_x_robots_tag(voyage: Voyage, mock_web: MockWeb, header: str, refusal: str, followed: bool) -> None:
    mock_web.page("http://a.test/", "<p>Words of a page.", links=["/next"], headers=[("X-Robots-Tag", header)])
    mock_web.page("http://a.test/next", "<p>Words of the next one.")
    voyage.run(mock_web, "http://a.test/")
    assert voyage.documents()["http://a.test/"] == refusal
    assert ("http://a.test/next" in voyage.fetched()) is followed


def test_a_page_that_is_empty_without_scripts_says_so(voyage: Voyage, mock_web: MockWeb) -> None:
    shell = (
        '<!doctype html><html><head><title>App</title><script src="/bundle.js"></script></head>'
        '<body><div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript></body></html>'
    )
    mock_web.text("http://a.test/", shell, "text/html")
    voyage.run(mock_web, "http://a.test/")
    assert voyage.documents() == {"http://a.test/": "needs-javascript"}
    assert voyage.url("http://a.test/")["refusal"] == "needs-javascript"


def test_bodies_of_unwanted_types_are_not_taken(voyage: Voyage, mock_web: MockWeb) -> None:
    film = Endless(limit=30_000_000)
    mock_web.page("http://a.test/", links=["/film", "/picture", "/paper"])
    mock_web.at("http://a.test/film", _typed(film, "video/mp4"))
    mock_web.text("http://a.test/picture", b"\x89PNG" * 100, "image/png")
    mock_web.text("http://a.test/paper", "Plain words on paper.")
    result = voyage.run(mock_web, "http://a.test/")
    assert voyage.documents()["http://a.test/film"] == "unsupported-type"
    assert voyage.documents()["http://a.test/picture"] == "unsupported-type"
    assert voyage.documents()["http://a.test/paper"] == ""
    assert result.bytes < 10_000
    assert mock_web.requests("a.test", "/film")[0].sent < 20_000_000
    assert all(record.method == "GET" for record in mock_web.requests())


def test_json_is_taken_as_a_feed_only(voyage: Voyage, mock_web: MockWeb) -> None:
    head = '<link rel="alternate" type="application/feed+json" href="/feed">'
    mock_web.text("http://a.test/", f'{head} words of the page <a href="/data">data</a>', "text/html")
    mock_web.text("http://a.test/data", '{"rows": [' + "1, " * 100_000 + "1]}", "application/json")
    feed = '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "http://a.test/entry"}]}'
    mock_web.text("http://a.test/feed", feed, "application/feed+json")
    mock_web.page("http://a.test/entry", "<p>An entry that has words.")
    result = voyage.run(mock_web, "http://a.test/")
    assert voyage.documents()["http://a.test/data"] == "unsupported-type"
    assert result.bytes < 10_000
    assert "http://a.test/entry" in voyage.fetched()


def test_feeds_are_polled_on_their_own_schedule(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.text(
        "http://a.test/",
        '<link rel="alternate" type="application/atom+xml" href="/feed"> words of the page',
        "text/html",
    )
    mock_web.at("http://a.test/feed", [_feed("one"), _feed("one", "two")])
    for name in ("one", "two"):
        mock_web.page(f"http://a.test/{name}", f"<p>Entry {name} has words.")
    voyage.run(mock_web, "http://a.test/")
    now = time.time()
    assert voyage.url("http://a.test/feed")["next_at"] - now == pytest.approx(schedule.FEED_FIRST, abs=60)
    assert voyage.url("http://a.test/one")["next_at"] - now == pytest.approx(86_400, abs=60)
    # the feed's time has come, no page's has
    with voyage.database.write() as tx:
        tx.execute("UPDATE urls SET next_at = 0, tried_at = tried_at - 3600 WHERE url = ?", ("http://a.test/feed",))
        tx.execute("UPDATE hosts SET next_at = ready_at")
    mock_web.log.clear()
    voyage.run(mock_web)
    assert mock_web.paths("a.test") == ["/feed", "/two"]
    later = voyage.url("http://a.test/feed")
    assert later["changes"] == 1
    assert later["next_at"] - time.time() <= 2 * schedule.FEED_FIRST


def test_a_feed_that_never_changes_is_asked_less_and_less() -> None:
    interval, span = schedule.FEED_FIRST, 0.0
    for visits in range(2, 30):
        span += interval
        interval = schedule.polled_interval(
            visits=visits, changes=0, span=span, last=interval, first=schedule.FEED_FIRST, most=schedule.FEED_MOST
        )
    assert interval == schedule.FEED_MOST


def test_a_page_that_is_missing_is_looked_at_again_no_later_than_any_other_page(
    voyage: Voyage, mock_web: MockWeb
) -> None:
    mock_web.page("http://a.test/", links=["/page"])
    mock_web.page("http://a.test/page", "<p>Soon gone.")
    voyage.run(mock_web, "http://a.test/", recrawl_after=3600)
    mock_web.remove("http://a.test/page")
    voyage.run(mock_web, recrawl=True, recrawl_after=3600)
    wait = voyage.url("http://a.test/page")["next_at"] - time.time()
    assert wait == pytest.approx(3600, abs=60)


def test_a_page_that_stays_missing_is_asked_less_and_less_and_at_least_twice_a_year() -> None:
    waits = [schedule.missing_interval(times, first=7 * 86_400.0) for times in (1, 2, 3, 20, 5000)]
    assert waits == [86_400.0, 2 * 86_400.0, 4 * 86_400.0, schedule.MOST, schedule.MOST]


def _typed(reply: Endless, kind: str) -> Reply:
    class Typed(Endless):
        async def send(self, wire):  # type: ignore[no-untyped-def]
            wire.keep_alive = False
            await wire.head(200, (("Content-Type", kind),))
            while wire.record.sent < self.limit:
                await wire.write(self.piece)

    return Typed(limit=reply.limit)


def _feed(*names: str) -> Reply:
    entries = "".join(f'<entry><title>{name}</title><link href="http://a.test/{name}"/></entry>' for name in names)
    body = f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>{entries}</feed>'
    return Reply(200, body.encode(), (("Content-Type", "application/atom+xml"),))


@pytest.mark.parametrize("documents", ["now", "later"])
def test_only_the_types_that_are_named_are_taken(voyage: Voyage, mock_web: MockWeb, documents: str) -> None:
    mock_web.page("http://a.test/", "<p>Home.", links=["/notes.txt", "/book.pdf", "/untold", "/paper"])
    mock_web.text("http://a.test/notes.txt", "Plain notes.")
    mock_web.text("http://a.test/book.pdf", b"%PDF-1.4 and so on", "application/pdf")
    mock_web.text("http://a.test/untold", b"<title>Untold</title><p>A page all the same.", "application/octet-stream")
    mock_web.text("http://a.test/paper", b"%PDF-1.4 and so on", "application/octet-stream")
    voyage.run(mock_web, "http://a.test/", types=("html",), documents=documents)
    refusals = dict(voyage.rows("SELECT url, refusal FROM urls"))
    assert refusals["http://a.test/"] == refusals["http://a.test/untold"] == ""
    assert refusals["http://a.test/notes.txt"] == refusals["http://a.test/book.pdf"] == "unwanted-type"
    assert refusals["http://a.test/paper"] != ""
