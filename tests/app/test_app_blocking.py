"""Blocking a host: hidden at once, not crawled, nothing deleted, and undone as a whole."""

from __future__ import annotations

import json

import pytest

from periplus import Collection
from periplus.app.backend import CollectionBackend
from periplus.errors import Corrupt, NotFound
from periplus.records import SearchRequest
from periplus.storage import Blocklist, LocalFiles
from web.fixtures import mock_web  # noqa: F401 (a fixture)

PAGES = [
    ("http://a.test/tide", "Tide tables", "The tide at the quay turns at six."),
    ("http://a.test/moon", "Moon and tide", "The moon draws the tide twice a day."),
    ("http://b.test/tide", "Tide of the bay", "The tide of the bay is low at noon."),
    ("http://sub.a.test/tide", "Tide below", "The tide of a host below the other."),
]


@pytest.fixture
def collection(tmp_path):
    lines = [json.dumps({"id": url, "url": url, "title": title, "text": text}) for url, title, text in PAGES]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    with Collection(tmp_path / "c") as made:
        from periplus.app.importing import import_paths

        made.create()
        import_paths(made, [tmp_path / "pages.jsonl"])
        made.index()
        yield made


@pytest.fixture
def backend(collection):
    return CollectionBackend(collection)


def found(backend, query="tide", **options):
    return {result.url for result in backend.search(SearchRequest(query, **options))}


ALL = {url for url, _, _ in PAGES}
OF_A = {url for url in ALL if url.startswith("http://a.test/")}


def test_a_blocked_host_is_hidden_at_once_and_comes_back(backend, collection):
    assert found(backend) == found(backend) == ALL  # the second time from the cache
    beside = CollectionBackend(Collection(collection.folder))  # as another server process has it
    assert found(beside) == ALL

    backend.steer("block", "a.test")
    assert found(backend) == found(beside) == ALL - OF_A
    assert backend.search(SearchRequest("tide")).total.value == 2
    assert found(backend, site="a.test") == {"http://sub.a.test/tide"}
    assert not found(backend, query="http://a.test/moon") & OF_A
    assert backend.cached("http://a.test/tide") is None
    assert {result.url for result in backend.similar("http://b.test/tide")} <= ALL - OF_A
    counts = backend.search(SearchRequest("tide", counts=True)).counts
    assert counts is not None
    assert sum(one.count for one in counts.site) == 2

    backend.steer("unblock", "a.test")
    assert found(backend) == found(beside) == ALL
    assert backend.cached("http://a.test/tide") is not None
    beside._collection.close()


def test_one_address_is_blocked_in_both_spellings(backend):
    backend.steer("block", "https://a.test/tide")

    assert found(backend) == ALL - {"http://a.test/tide"}
    backend.steer("unblock", "https://a.test/tide")
    assert found(backend) == ALL


def test_a_block_outlives_a_new_index(backend, collection):
    backend.steer("block", "a.test")
    collection.index(rebuild=True)

    assert found(backend) == ALL - OF_A
    backend.steer("unblock", "a.test")
    assert found(backend) == ALL


def test_the_inspector_says_that_a_page_is_blocked(backend):
    backend.steer("block", "a.test")
    inspection = backend.inspect("http://a.test/tide")

    assert "blocked" in inspection.verdict
    assert inspection.steps[-2].advice == "unblock it in the console"


def test_unblocking_what_is_not_blocked_is_said(backend):
    with pytest.raises(NotFound, match=r"a\.test is not blocked"):
        backend.steer("unblock", "a.test")


def test_a_damaged_list_is_said_and_searches_go_on(backend, collection):
    backend.steer("block", "a.test")
    (collection.folder / "blocked.json").write_bytes(b'{"a.te')

    assert found(backend) == ALL
    with pytest.raises(Corrupt, match=r"blocked\.json is damaged"):
        Blocklist(LocalFiles(collection.folder)).targets()


def test_a_blocked_host_is_not_crawled_and_nothing_of_it_is_lost(tmp_path, mock_web):  # noqa: F811
    for host in ("a.test", "b.test"):
        mock_web.site(host, 6)
    flags = {"crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.icons": False, "crawl.allow_private": True,
             "crawl.resolve": list(mock_web.resolve), "crawl.workers": 1}  # fmt: skip
    seeds = ["http://a.test/0", "http://b.test/0"]
    with Collection(tmp_path / "c", flags=flags) as collection:
        backend = CollectionBackend(collection.create())
        collection.crawl(seeds, max_pages=3)
        collection.index()
        stored = {result.url for result in backend.search(SearchRequest("", site="a.test"))}
        backend.steer("block", "a.test")
        asked = len(mock_web.requests("a.test"))
        collection.crawl(max_pages=0)

        assert len(mock_web.requests("a.test")) == asked
        collection.index()
        backend._starter.go_on = lambda: None
        backend.steer("unblock", "a.test")
        assert {result.url for result in backend.search(SearchRequest("", site="a.test"))} == stored
        collection.crawl(max_pages=0)
        assert len(mock_web.requests("a.test")) > asked
