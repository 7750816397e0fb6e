"""One page for programs, from a collection that was really crawled, in one shard and in two, and from imports."""

from __future__ import annotations

import json

import pytest

from periplus import Collection
from periplus.addresses import host, host_key
from periplus.app.importing import import_paths
from periplus.app.serving.backend import CollectionBackend
from periplus.demo import DemoWeb
from periplus.errors import NotFound
from periplus.graph import RankStore

PAGE = """<html lang="en"><head><title>Bars</title>{robots}
<script type="application/ld+json">{{"@type": "Article", "headline": "Bars"}}</script></head>
<body><main><h1>Bars</h1><p>A bar is a bank of sand across the mouth of a river or a harbour, and it breaks at low
water. Cross it near the top of the tide, and <a href="/tides">read the tables</a> before.</p></main></body></html>"""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    with DemoWeb() as web:
        flags = {"crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.workers": 1, "crawl.scope": "any"}
        flags |= {"crawl.allow_private": True, "crawl.resolve": [f"*.localhost=127.0.0.1:{web.port}"]}
        with Collection(tmp_path_factory.mktemp("crawled") / "c", flags=flags) as collection:
            collection.crawl(web.seeds(), max_pages=40)
            collection.index()
            yield collection


def imported(folder, files, **options):
    source = folder / "source"
    source.mkdir()
    for name, text in files.items():
        (source / name).write_text(text)
    paths = [source / name for name in files] if not options else [source]
    collection = Collection(folder / "c")
    import_paths(collection, paths, **options)
    collection.index()
    return collection


def test_a_crawled_page_has_its_links_and_structured_data(crawled):
    stored = {document.url: document for batch in (1,) for document in _documents(crawled) if not document.refusal}
    backend = CollectionBackend(crawled)
    pages = [backend.page(url) for url in stored]

    for page in pages:
        assert page.text == stored[page.url].text
        assert page.links == stored[page.url].links
        assert page.structured == stored[page.url].structured
    assert sum(len(page.links) for page in pages) > 50
    assert any(page.structured for page in pages)


def _documents(collection):
    from periplus.documents import BatchLog

    log = BatchLog(collection.files, collection.database)
    return [document for number in log.numbers() for document in log.documents(number, links=True)]


def test_the_same_over_shards(crawled):
    backend = CollectionBackend(crawled)
    urls = [result.url for result in crawled.search("tide", 5)]
    before = [backend.page(url) for url in urls]
    crawled.reshard(2)

    assert len(before) == 5
    assert [backend.page(url) for url in urls] == before


def test_where_the_archive_is_not_at_hand_the_text_is_given_all_the_same(crawled):
    backend = CollectionBackend(crawled)
    url = next(iter(crawled.search("tide", 1))).url
    whole = backend.page(url)
    crawled.folder.joinpath("archive").rename(crawled.folder / "away")
    try:
        without = backend.page(url)
    finally:
        crawled.folder.joinpath("away").rename(crawled.folder / "archive")

    assert (whole.links, without.links, without.structured) != (None, None, None)
    assert whole.links is not None
    assert (without.links, without.text) == (None, whole.text)


def test_an_imported_page_has_its_links(tmp_path):
    with imported(tmp_path, {"bars.html": PAGE.format(robots="")}, base_url="http://bars.test/") as collection:
        page = CollectionBackend(collection).page("http://bars.test/bars.html")

    assert page.structured == ({"@type": "Article", "headline": "Bars"},)
    assert [link.url for link in page.links] == ["http://bars.test/tides"]


def test_a_page_that_asks_not_to_be_kept_is_not_given(tmp_path):
    robots = '<meta name="robots" content="noarchive">'
    with imported(tmp_path, {"bars.html": PAGE.format(robots=robots)}, base_url="http://bars.test/") as collection:
        assert collection.search("sand").total.value == 1
        with pytest.raises(NotFound, match="noarchive"):
            CollectionBackend(collection).page("http://bars.test/bars.html")


def test_a_document_without_an_address_is_known_by_its_id(tmp_path):
    line = json.dumps({"id": "doc-7", "title": "Bars", "text": "A bar is a bank of sand."})
    with imported(tmp_path, {"records.jsonl": line}) as collection:
        page = CollectionBackend(collection).page("doc-7")
        with pytest.raises(NotFound, match="doc-8 is not in the index"):
            CollectionBackend(collection).page("doc-8")

    assert (page.id, page.text, page.links) == ("doc-7", "A bar is a bank of sand.", None)


def test_sites_are_all_hosts_with_documents(crawled):
    listed = CollectionBackend(crawled).sites("", 1)
    hosts = {host(document.url) for document in _documents(crawled) if not document.refusal}

    assert set(listed["hosts"]) == hosts
    assert (listed["total"], listed["pages"], listed["first"]) == (len(hosts), 1, 1)
    one = min(hosts)
    found = CollectionBackend(crawled).sites(one.upper(), 1)
    assert found["hosts"] == [name for name in listed["hosts"] if one in name]


def test_sites_come_by_rank_once_there_are_ranks(crawled):
    crawled.rank()
    table = RankStore(crawled.folder / "ranks").current()
    listed = CollectionBackend(crawled).sites("", 1)["hosts"]
    ranks = [table.host_rank(host_key(name)) for name in listed]

    assert ranks == sorted(ranks, reverse=True)
    assert len(set(ranks)) > 1
