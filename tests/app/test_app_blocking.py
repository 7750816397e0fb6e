"""Blocking a host: hidden at once, not crawled, nothing deleted, and undone as a whole."""

from __future__ import annotations

import json

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import Collection, addresses
from periplus.app import doctor
from periplus.app.serving.backend import CollectionBackend
from periplus.documents import BatchLog
from periplus.errors import Corrupt, NotFound
from periplus.graph.link_texts import LEAST_SAID
from periplus.records import Document, Link, SearchRequest
from periplus.storage import Blocklist, LocalFiles
from periplus.web import create_app
from web.asgi_client import Client

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


@pytest.mark.parametrize("damage", [b'{"a.te', b"", b"\xff", b"missing", b"flipped"])
def test_a_list_that_cannot_be_read_stops_searches_and_is_said(backend, collection, damage):
    """What must not be shown is not shown by mistake."""
    backend.steer("block", "a.test")
    path = collection.folder / "blocked.json"
    if damage == b"missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes().replace(b"a.test", b"a.tesu") if damage == b"flipped" else damage)

    for ask in (found, lambda b: b.suggest("ti"), lambda b: b.cached("http://a.test/tide")):
        with pytest.raises(Corrupt, match=r"blocked\.json is (damaged|missing)"):
            ask(backend)
    assert [one for one in doctor.examine(collection) if one.state == "failed" and "blocked.json" in one.detail]
    client = Client(create_app(backend, collection.settings, operator_key=""))
    ready, searched = client.get("/readyz"), client.get("/api/v1/search?q=tide")
    assert (ready.status, searched.status) == (503, 503)
    assert "cannot be searched" in ready.text
    assert "blocked.json" in searched.text
    assert [line for line in backend.status()["damage"] if "blocked.json" in line]
    path.write_text("{}")
    assert found(backend) == ALL
    backend.steer("block", "b.test")
    assert found(backend) == {url for url in ALL if "b.test" not in url}


def test_a_list_of_an_earlier_version_is_read(backend, collection):
    (collection.folder / "blocked.json").write_text('{"a.test": 1.0}')
    assert found(backend) == ALL - OF_A


def test_nothing_is_blocked_where_nothing_ever_was(collection):
    blocklist = Blocklist(LocalFiles(collection.folder))
    assert not blocklist.discard("a.test")
    assert blocklist.targets() == frozenset()
    assert not list(collection.folder.glob("blocked*"))


def test_nothing_of_a_blocked_host_is_suggested(backend, collection):
    def suggested():
        typed = ("Ti", "Mo", "a.te", "b.te")
        return {one.text for text in typed for one in backend.suggest(text)}

    shown = {"Tide tables", "Moon and tide", "Tide of the bay", "Tide below", "a.test", "b.test"}
    assert shown <= suggested()
    backend.steer("block", "a.test")
    assert shown & suggested() == {"Tide of the bay", "Tide below", "a.test", "b.test"}  # of the site, since sub.a.test
    backend.steer("block", "sub.a.test")
    assert shown & suggested() == {"Tide of the bay", "b.test"}
    assert not {"Moon and tide"} & set(backend.search(SearchRequest("moo")).suggestions)
    backend.steer("unblock", "a.test")
    assert "Moon and tide" in suggested()


def test_what_links_to_a_blocked_host_say_is_not_suggested(tmp_path):
    links = [Link("http://a.test/", "Forbidden port"), Link("http://b.test/", "Open port")]
    pages = [Document(f"http://c.test/{n}", addresses.key(f"http://c.test/{n}"), 1.0, title=f"Page {n}",
                      text="words", links=tuple(links)) for n in range(LEAST_SAID)]  # fmt: skip
    with Collection(tmp_path / "c") as collection:
        collection.create()
        BatchLog(collection.files, collection.database).append(pages)
        collection.index()
        collection.rank()
        backend = CollectionBackend(collection)
        assert {one.text for one in backend.suggest("port")} == {"Forbidden port", "Open port"}
        backend.steer("block", "a.test")
        assert {one.text for one in backend.suggest("port")} == {"Open port"}


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
