"""One picture of a page, where the operator wants that: polite, bounded, archived and never indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.crawl.rules import pictures

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb

PICTURE = b"\xff\xd8\xff" + b"picture" * 20
PAGE = (
    '<title>Front</title><img src="/logo.png" alt="Our fine logo"><img src="/one.jpg" alt="The mole at low water">'
    '<img src="/two.jpg" alt="Boats in the harbour"><p>Words of the front page of {}.</p>'
)


def test_the_first_picture_that_says_what_is_on_it(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.text("http://a.test/", PAGE.format("a"), "text/html")
    mock_web.text("http://a.test/one.jpg", PICTURE, "image/jpeg")
    status = voyage.run(mock_web, "http://a.test/", icons=False, pictures=True)
    assert sorted(mock_web.paths("a.test")) == ["/", "/one.jpg", "/robots.txt"]
    assert (status.pages, status.failed, status.refused) == (1, 0, 0)
    assert set(voyage.documents()) == {"http://a.test/"}
    assert voyage.rows("SELECT status, length > 0 FROM urls WHERE kind = 4") == [(200, 1)]
    voyage.prove_polite()


def test_none_where_it_is_off_forbidden_elsewhere_or_too_large(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.text("http://a.test/", PAGE.format("a"), "text/html")
    voyage.run(mock_web, "http://a.test/", icons=False)
    assert "/one.jpg" not in mock_web.paths("a.test")
    mock_web.text("http://b.test/", PAGE.format("boats and bells"), "text/html")
    mock_web.robots("b.test", "User-agent: *\nDisallow: /one.jpg\n")
    mock_web.text("http://c.test/", PAGE.format("cliffs").replace("/one.jpg", "http://far.test/one.jpg"), "text/html")
    mock_web.text("http://d.test/", PAGE.format("dunes under the moon"), "text/html")
    mock_web.text("http://d.test/one.jpg", b"\xff\xd8\xff" * pictures.MAX_BYTES, "image/jpeg")
    voyage.run(mock_web, "http://b.test/", "http://c.test/", "http://d.test/", icons=False, pictures=True, scope="site")
    assert "/one.jpg" not in mock_web.paths("b.test")
    assert mock_web.requests("far.test") == []
    assert voyage.rows("SELECT length FROM urls WHERE url = 'http://d.test/one.jpg'") == [(0,)]
