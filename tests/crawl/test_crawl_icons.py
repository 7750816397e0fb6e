"""The small pictures of hosts: asked for once, politely, bounded, archived and never indexed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from periplus import archive
from periplus.crawl.rules import icons
from periplus.demo import Reply
from periplus.records import ArchiveLocation

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb

PICTURE = b"\x89PNG\r\n\x1a\n" + b"picture" * 20
FRONT = '<link rel="icon" href="{}"><title>Front</title><p>Words of the front page. <a href="/two">two</a>'


def state(voyage: Voyage, url: str) -> tuple[int, int, int, float]:
    """State, status, bytes in the archive, and seconds until the next visit."""
    found = voyage.rows("SELECT state, status, length, next_at - tried_at FROM urls WHERE url = ? AND kind = 3", url)
    assert len(found) == 1
    return found[0]  # type: ignore[return-value]


def test_the_icon_that_the_front_page_names(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.text("http://a.test/", FRONT.format("/look/small.png"), "text/html")
    mock_web.text("http://a.test/two", FRONT.format("/another.png"), "text/html")
    mock_web.text("http://a.test/look/small.png", PICTURE, "image/png")
    status = voyage.run(mock_web, "http://a.test/", icons=True)
    assert sorted(mock_web.paths("a.test")) == ["/", "/look/small.png", "/robots.txt", "/two"]
    assert status.pages == 2
    assert status.failed == status.refused == 0
    assert set(voyage.documents()) == {"http://a.test/", "http://a.test/two"}
    fetched, code, length, wait = state(voyage, "http://a.test/look/small.png")
    assert (fetched, code, length > 0, wait) == (1, 200, True, pytest.approx(icons.AGAIN))
    (place,) = voyage.rows("SELECT file, place, length FROM urls WHERE kind = 3")
    assert archive.read(voyage.folder / "archive", ArchiveLocation(*place)).body == PICTURE
    voyage.prove_polite()


@pytest.mark.parametrize(
    "named", ["", "http://b.test/foreign.png", "data:image/png;base64,AAAA", "javascript:alert(1)"]
)
def test_without_one_of_its_own_the_usual_place_is_asked(voyage: Voyage, mock_web: MockWeb, named: str) -> None:
    mock_web.text("http://a.test/", FRONT.format(named), "text/html")
    status = voyage.run(mock_web, "http://a.test/", icons=True)
    assert mock_web.paths("a.test").count("/favicon.ico") == 1
    assert mock_web.requests("b.test") == []
    assert state(voyage, "http://a.test/favicon.ico")[:3] == (1, 404, 0)
    assert status.failed == 1  # /two; that a host has no picture is no failure


def test_a_host_is_asked_again_after_a_month_only(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", "<p>Words of the front page.")
    mock_web.text("http://a.test/favicon.ico", PICTURE, "image/x-icon")
    voyage.run(mock_web, "http://a.test/", icons=True)
    voyage.run(mock_web, "http://a.test/", icons=True)
    assert mock_web.paths("a.test").count("/favicon.ico") == 1
    with voyage.database.write() as tx:
        tx.execute("UPDATE urls SET next_at = ? WHERE kind = 3", (time.time() - 1,))
        tx.execute("UPDATE hosts SET next_at = 0")
    before = state(voyage, "http://a.test/favicon.ico")
    voyage.run(mock_web, "http://a.test/", icons=True)
    assert mock_web.paths("a.test").count("/favicon.ico") == 2
    assert state(voyage, "http://a.test/favicon.ico")[:3] == before[:3]  # the same picture stays where it is


def test_robots_decide(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", "<p>Words of the front page.")
    mock_web.robots("a.test", "User-agent: *\nDisallow: /favicon.ico\n")
    voyage.run(mock_web, "http://a.test/", icons=True)
    assert "/favicon.ico" not in mock_web.paths("a.test")


def test_it_can_be_switched_off(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", "<p>Words of the front page.")
    voyage.run(mock_web, "http://a.test/", icons=False)
    assert sorted(mock_web.paths("a.test")) == ["/", "/robots.txt"]


def test_what_is_no_small_picture_is_not_kept(voyage: Voyage, mock_web: MockWeb) -> None:
    for host in ("page", "large", "empty"):
        mock_web.page(f"http://{host}.test/", f"<p>Words of the front page of {host}.")
    mock_web.page("http://page.test/favicon.ico", "<p>Nothing here.")
    mock_web.text("http://large.test/favicon.ico", PICTURE * 10_000, "image/png")
    mock_web.text("http://empty.test/favicon.ico", b"", "image/png")
    voyage.run(mock_web, *(f"http://{host}.test/" for host in ("page", "large", "empty")), icons=True)
    for host in ("page", "large", "empty"):
        assert state(voyage, f"http://{host}.test/favicon.ico")[2] == 0
    assert state(voyage, "http://large.test/favicon.ico")[1] == 200
    (taken,) = voyage.rows("SELECT bytes FROM journal WHERE url = 'http://large.test/favicon.ico'")
    assert taken[0] <= icons.MAX_BYTES + 1
    assert all(not url.endswith(".ico") for url in voyage.documents())


def test_redirects_and_passing_failures_take_the_usual_way(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", "<p>Words of the front page.")
    mock_web.redirect("http://a.test/favicon.ico", "http://a.test/static/icon.png")
    mock_web.text("http://a.test/static/icon.png", PICTURE, "image/png")
    mock_web.page("http://b.test/", "<p>Words of the other front page.")
    mock_web.at("http://b.test/favicon.ico", Reply(500, b"broken"))
    voyage.run(mock_web, "http://a.test/", "http://b.test/", icons=True, retries=0)
    assert state(voyage, "http://a.test/static/icon.png")[:2] == (1, 200)
    assert state(voyage, "http://b.test/favicon.ico")[:2] == (2, 500)
    assert voyage.rows("SELECT COUNT(*) FROM seeds") == [(2,)]
    assert all(not url.endswith((".ico", ".png")) for url in voyage.documents())
