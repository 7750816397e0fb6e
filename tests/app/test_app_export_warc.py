"""``export warc``: what a query finds or a site has, in a file that others read and that can be imported again."""

from __future__ import annotations

import json

import pytest
from warcio.archiveiterator import ArchiveIterator

from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app.importing import import_paths
from periplus.cli.main import run

TEXT = "The keeper of the light writes down wind and weather, every evening of the year, in a book with a red cover. "


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    with MockWeb() as web:
        for host, name in (("a.test", "tide"), ("www.a.test", "harbour"), ("b.test", "tide"), ("aa.test", "beacon")):
            links = "".join(f'<a href="/{number}">{number}</a>' for number in range(4))
            web.page(f"http://{host}/", f"<main><h1>{name}</h1>{links}</main>", title=host)
            for number in range(4):
                text = f"<main><h1>{name} {number}</h1><p>{TEXT * 3} {name} {host} {number}</p></main>"
                web.page(f"http://{host}/{number}", text, title=f"{name} {number}")
        flags = {"crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.allow_private": True, "crawl.workers": 1}
        flags |= {"crawl.resolve": list(web.resolve), "crawl.scope": "host"}
        with Collection(tmp_path_factory.mktemp("warc") / "c", flags=flags) as collection:
            seeds = ["http://a.test/", "http://www.a.test/", "http://b.test/", "http://aa.test/"]
            collection.crawl(seeds)
            collection.crawl(seeds, recrawl=True)  # the same bodies once more: references in the archive
            collection.index()
            yield collection


def exported(collection, target, *words):
    return run(["export", "warc", "--out", str(target), "--dir", str(collection.folder), *words])


def responses(path):
    with path.open("rb") as file:
        records = [(one.rec_type, one.rec_headers.get_header("WARC-Target-URI"), one.content_stream().read())
                   for one in ArchiveIterator(file, check_digests="raise")]  # fmt: skip
    assert [kind for kind, _, _ in records[:1]] == ["warcinfo"]
    kinds = [kind for kind, _, _ in records]
    assert kinds.count("response") == kinds.count("request")
    return {url: body for kind, url, body in records if kind == "response"}


def test_a_site_is_a_host_or_a_domain_and_bodies_are_whole(crawled, tmp_path, capsys):
    assert exported(crawled, tmp_path / "a.warc.gz", "--site", "a.test", "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 10
    found = responses(tmp_path / "a.warc.gz")

    wanted = {f"http://{host}/{page}" for host in ("a.test", "www.a.test") for page in ("", 0, 1, 2, 3)}
    assert set(found) == wanted
    assert all(b"<h1>" in body for body in found.values())
    assert exported(crawled, tmp_path / "www.warc.gz", "--site", "WWW.a.test") == 0
    assert len(responses(tmp_path / "www.warc.gz")) == 5


def test_a_query_brings_what_it_finds_and_its_operators_hold(crawled, tmp_path):
    assert exported(crawled, tmp_path / "q.warc.gz", "--query", "intitle:tide") == 0
    found = set(responses(tmp_path / "q.warc.gz"))
    assert found == {f"http://{host}/{number}" for host in ("a.test", "b.test") for number in range(4)}
    assert exported(crawled, tmp_path / "both.warc.gz", "--query", "intitle:tide", "--site", "b.test") == 0
    assert set(responses(tmp_path / "both.warc.gz")) == {url for url in found if "b.test" in url}


def test_what_was_exported_can_be_imported(crawled, tmp_path):
    assert exported(crawled, tmp_path / "b.warc.gz", "--site", "b.test") == 0
    with Collection(tmp_path / "again") as again:
        report = import_paths(again, [tmp_path / "b.warc.gz"])
        again.index()
        assert {result.url for result in again.search("keeper of the light")} == {
            f"http://b.test/{number}" for number in range(4)
        }
    assert "damaged" not in report.left_out


def test_what_cannot_be_read_is_counted_and_nothing_is_left_when_there_is_nothing(crawled, tmp_path, capsys):
    assert exported(crawled, tmp_path / "none.warc.gz", "--site", "nowhere.test") == 1
    assert "no page that was asked for" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    with crawled.database.write() as tx:
        tx.execute("UPDATE urls SET place = place + 1 WHERE url = 'http://b.test/1'")
    try:
        assert exported(crawled, tmp_path / "b.warc.gz", "--site", "b.test") == 0
    finally:
        with crawled.database.write() as tx:
            tx.execute("UPDATE urls SET place = place - 1 WHERE url = 'http://b.test/1'")
    assert "1 could not be read" in capsys.readouterr().err
    assert len(responses(tmp_path / "b.warc.gz")) == 4


@pytest.mark.parametrize("words", [["export", "warc"], ["export", "wacz", "--site", "a.test"]])
def test_a_part_is_named_for_a_warc_file_and_for_nothing_else(crawled, words, capsys):
    assert run([*words, "--dir", str(crawled.folder)]) == 2
    assert "export warc --query TEXT" in capsys.readouterr().err
