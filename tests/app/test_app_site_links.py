"""The sites that link to a host and those that it links to: the newest version of a page counts."""

from __future__ import annotations

from collections import Counter

import pytest

from periplus import addresses
from periplus.app import site_links as module
from periplus.app.site_links import site_links
from periplus.documents import BatchLog
from periplus.records import Document, Link
from periplus.storage import Database, LocalFiles


def page(url: str, *targets: str, refusal: str = "") -> Document:
    links = tuple(Link(target) for target in targets)
    return Document(url=url, key=addresses.key(url), fetched=1.0, links=links, refusal=refusal)


@pytest.fixture
def log(tmp_path):
    with Database.open(tmp_path / "state.db") as database:
        yield BatchLog(LocalFiles(tmp_path), database)


@pytest.fixture(autouse=True)
def nothing_kept():
    site_links.cache_clear()


def told(links):
    return Counter({one.host: one.links for one in links})


def test_links_in_and_out_of_the_newest_versions(log, tmp_path):
    log.append(
        [
            page("http://a.test/", "http://b.test/", "http://b.test/2", "http://a.test/3", "https://c.test:81/x"),
            page("http://b.test/", "https://a.test/", "http://gone.test/"),
            page("http://z.test/", "http://a.test/", "http://a.test.evil.test/"),
        ]
    )
    log.append(
        [page("http://b.test/", "http://a.test/7", "http://a.test/8"), page("http://a.test/3", "http://z.test/")]
    )
    log.append([page("http://z.test/", refusal="gone")])
    found = site_links(tmp_path, "a.test", 3)
    assert told(found.outwards) == {"b.test": 2, "c.test:81": 1, "z.test": 1}
    assert told(found.inwards) == {"b.test": 2}
    assert (found.hosts_in, found.hosts_out, found.whole) == (1, 3, True)
    earlier = site_links(tmp_path, "a.test", 1)
    assert told(earlier.inwards) == {"b.test": 1, "z.test": 1}
    assert site_links(tmp_path, "nowhere.test", 3).inwards == ()


def test_only_so_many_links_are_looked_at(log, tmp_path, monkeypatch):
    for number in range(4):
        log.append([page(f"http://a.test/{number}", f"http://b{number}.test/", f"http://c{number}.test/")])
    monkeypatch.setattr(module, "MAX_ROWS", 4)
    found = site_links(tmp_path, "a.test", 4)
    assert set(told(found.outwards)) == {"b3.test", "c3.test", "b2.test", "c2.test"}
    assert not found.whole


def test_the_list_is_bounded(log, tmp_path):
    log.append([page("http://a.test/", *(f"http://h{number:02}.test/" for number in range(40)))])
    found = site_links(tmp_path, "a.test", 1)
    assert len(found.outwards) == module.SHOWN
    assert found.hosts_out == 40


def test_what_cannot_be_read_is_not_counted(log, tmp_path):
    log.append([page("http://a.test/", "http://b.test/")])
    log.append([page("http://a.test/2", "http://c.test/")])
    (tmp_path / "links" / "00000002.parquet").write_bytes(b"broken")
    assert told(site_links(tmp_path, "a.test", 2).outwards) == {"b.test": 1}
