"""Addresses that stand for others: redirects, meta refresh, canonical pages; and what the log and the inspector say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawl.voyages import settings_for
from periplus.addresses import page_key
from periplus.crawl import inspect
from periplus.documents import BatchLog
from periplus.graph import LinkGraph
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.demo import DemoWeb
    from periplus.records import Document


def _rows(voyage: Voyage, url: str) -> list[Document]:
    log = BatchLog(LocalFiles(voyage.folder), voyage.database)
    return [doc for number in log.numbers() for doc in log.documents(number) if doc.url == url]


def _newest(voyage: Voyage, url: str) -> tuple[str, str]:
    newest = _rows(voyage, url)[-1]
    return newest.refusal, newest.canonical


def test_every_address_that_redirects_says_where_to(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    voyage = voyage_anywhere
    mock_web.page("http://a.test/", links=["/old", "/refresh", "/loop"])
    mock_web.redirect("http://a.test/old", "/older", 301)
    mock_web.redirect("http://a.test/older", "/new", 302)
    mock_web.page("http://a.test/new", "<p>At the new place there are words.")
    mock_web.text("http://a.test/refresh", '<meta http-equiv="refresh" content="0; url=/after"> moved', "text/html")
    mock_web.page("http://a.test/after", "<p>Behind the refresh there are words.")
    mock_web.redirect("http://a.test/loop", "/loop")
    voyage.run(mock_web, "http://a.test/")
    assert _newest(voyage, "http://a.test/old") == ("redirected", "http://a.test/older")
    assert _newest(voyage, "http://a.test/older") == ("redirected", "http://a.test/new")
    assert _newest(voyage, "http://a.test/refresh") == ("redirected", "http://a.test/after")
    assert _newest(voyage, "http://a.test/new") == _newest(voyage, "http://a.test/after") == ("", "")
    assert _rows(voyage, "http://a.test/loop") == []
    # said once; said again only when it changes
    voyage.run(mock_web, recrawl=True)
    assert len(_rows(voyage, "http://a.test/old")) == 1
    mock_web.redirect("http://a.test/old", "/new", 301)
    voyage.run(mock_web, recrawl=True)
    assert [doc.canonical for doc in _rows(voyage, "http://a.test/old")] == ["http://a.test/older", "http://a.test/new"]


def test_links_to_a_redirect_count_for_its_target(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["http://b.test/old"])
    mock_web.redirect("http://b.test/old", "http://b.test/new", 301)
    mock_web.page("http://b.test/new", "<p>The place that is meant.")
    voyage.run(mock_web, "http://a.test/")
    graph = LinkGraph.build(BatchLog(LocalFiles(voyage.folder), voyage.database))
    known = set(graph.page_keys.tolist())
    assert page_key("http://b.test/new") in known
    assert page_key("http://b.test/old") not in known


def test_a_redirect_that_was_not_in_a_batch_yet_is_stored_on_the_next_start(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["/old"])
    mock_web.redirect("http://a.test/old", "/new", 301)
    mock_web.page("http://a.test/new", "<p>At the new place.")
    voyage.run(mock_web, "http://a.test/")
    with voyage.database.write() as tx:  # as a crash between the commit and the batch leaves it
        tx.execute("UPDATE urls SET pending = 1, batch = 0 WHERE url = ?", ("http://a.test/old",))
    voyage.run(mock_web)
    assert [(doc.refusal, doc.canonical) for doc in _rows(voyage, "http://a.test/old")] == [
        ("redirected", "http://a.test/new")
    ] * 2


def test_canonical_pages_are_fetched_even_at_the_depth_limit_and_behind_nofollow(
    voyage: Voyage, mock_web: MockWeb
) -> None:
    mock_web.page("http://a.test/", links=["/print", "/quiet"])
    mock_web.text("http://a.test/print", "<link rel=canonical href='/whole'><p>The story for printers.", "text/html")
    quiet = "<meta name=robots content=nofollow><link rel=canonical href='/loud'><a href='/never'>n</a><p>Hush."
    mock_web.text("http://a.test/quiet", quiet, "text/html")
    for name in ("whole", "loud", "never"):
        mock_web.page(f"http://a.test/{name}", f"<p>All of the {name} story.")
    voyage.run(mock_web, "http://a.test/", max_depth=1)
    assert {"http://a.test/whole", "http://a.test/loud"} <= voyage.fetched()
    assert "/never" not in mock_web.paths("a.test")
    assert _newest(voyage, "http://a.test/print") == ("canonical-elsewhere", "http://a.test/whole")


def test_the_demo_web_knows_its_aliases(voyage: Voyage, demo_web: DemoWeb) -> None:
    voyage.run(demo_web, *demo_web.seeds(), seconds=60)
    redirected = dict(voyage.rows("SELECT url, detail FROM urls WHERE reason = 'redirected'"))
    assert redirected
    assert {url: _newest(voyage, url) for url in redirected} == {
        url: ("redirected", target) for url, target in redirected.items()
    }


def test_the_inspector_believes_what_the_crawl_decided(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["http://b.test/", "/deep", "/secret"])
    mock_web.page("http://b.test/", "<p>Words of another site.")
    mock_web.page("http://a.test/deep", "<p>Deeper words.")
    voyage.run(mock_web, "http://a.test/", exclude=("secret",))
    other = settings_for(mock_web.resolve, scope="host", max_depth=0, exclude=("deep", "b.test"))

    def scope(url: str) -> tuple[str, str]:
        step = inspect(voyage.database, url, other)[1]
        return step.state, step.reason

    assert scope("http://b.test/") == scope("http://a.test/deep") == ("ok", "")
    assert scope("http://a.test/secret") == ("refused", "excluded")
    assert scope("http://c.test/") == ("refused", "out-of-scope")
