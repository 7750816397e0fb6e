"""Links as pages wrote them, as they are published: who links to a page, which sites, and with which words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus import addresses
from periplus.documents import BatchLog
from periplus.graph import RankStore, VertexRanks, refresh_ranks, sorting
from periplus.graph.link_texts import LEAST_SAID, LONGEST
from periplus.graph.site_links import MOST
from periplus.records import Document, Link
from periplus.storage import Database, LocalFiles


def page(url: str, *targets: str | Link, refusal: str = "") -> Document:
    links = tuple(target if isinstance(target, Link) else Link(target) for target in targets)
    return Document(url=url, key=addresses.key(url), fetched=1.0, links=links, refusal=refusal)


@pytest.fixture
def log(tmp_path):
    with Database.open(tmp_path / "state.db") as database:
        yield BatchLog(LocalFiles(tmp_path), database)


@pytest.fixture
def ranks(tmp_path):
    return RankStore(tmp_path / "ranks")


def linking(table, url: str) -> set[int]:
    return set(table.backlinks.to(addresses.page_key(url)).tolist())


def keys(*urls: str) -> set[int]:
    return set(map(addresses.key, urls))


def test_every_link_of_the_newest_versions_counts(log, ranks):
    log.append([
        page("http://a.test/", "http://b.test/", "http://a.test/"),
        page("http://b.test/", "https://a.test/", Link("http://c.test/never-read", rel=("nofollow",))),
        page("http://c.test/", "http://a.test/"),
        page("http://d.test/", "http://a.test/", refusal="noindex"),
    ])  # fmt: skip
    log.append([page("http://c.test/", "http://b.test/")])
    log.append([page("http://d.test/", refusal="gone")])
    refresh_ranks(log, ranks)
    table = RankStore(ranks.files.root).current()
    assert linking(table, "https://a.test/") == keys("http://a.test/", "http://b.test/")  # itself too, as it wrote
    assert linking(table, "http://b.test/") == keys("http://a.test/", "http://c.test/")
    assert linking(table, "http://c.test/never-read") == keys("http://b.test/")
    assert linking(table, "http://nowhere.test/") == set()


def test_a_graph_of_nothing_has_no_links(log, ranks):
    table = refresh_ranks(log, ranks)
    assert linking(table, "http://a.test/") == set()
    assert table.site_links.of("a.test").inwards == ()
    assert table.link_texts.counts() == {}


def test_ranks_of_an_earlier_version_know_no_links(ranks):
    one = np.array([7], np.int64)
    table = ranks.publish(VertexRanks(one, np.ones(1)), VertexRanks(one, np.ones(1)), last_batch=1)
    assert (table.backlinks, table.site_links, table.link_texts) == (None, None, None)


hosts = st.sampled_from(["a", "b", "c", "d", "e"])
urls = st.builds("http://{}.test/{}".format, hosts, st.integers(0, 3))
batch = st.lists(st.tuples(urls, st.lists(urls, max_size=6)), max_size=8)


@pytest.mark.parametrize("budget", [sorting.BUDGET, 16])
@settings(max_examples=25)
@given(written=st.lists(batch, min_size=1, max_size=4))
def test_links_equal_the_obvious_way(tmp_path_factory, budget, written):
    folder = tmp_path_factory.mktemp("log")
    newest: dict[str, list[str]] = {}
    with Database.open(folder / "state.db") as database, pytest.MonkeyPatch.context() as patched:
        patched.setattr(sorting, "BUDGET", budget)  # the second one lets links wait on disk
        log = BatchLog(LocalFiles(folder), database)
        for rows in written:
            log.append([page(url, *targets) for url, targets in rows])
            newest.update(rows)
        table = refresh_ranks(log, RankStore(folder / "ranks"))
    for target in {target for targets in newest.values() for target in targets}:
        assert linking(table, target) == keys(*(url for url, targets in newest.items() if target in targets))
    for host in "abcde":
        name = f"{host}.test"
        inwards = Counter(
            addresses.host(u) for u, targets in newest.items() for t in targets if addresses.host(t) == name
        )
        outwards = Counter(
            addresses.host(t) for u, targets in newest.items() for t in targets if addresses.host(u) == name
        )
        found = table.site_links.of(name)
        for counted, told in ((inwards, found.inwards), (outwards, found.outwards)):
            counted.pop(name, None)
            assert [tuple(one) for one in told] == sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        assert (found.hosts_in, found.hosts_out) == (len(inwards), len(outwards))


def test_sites_are_told_with_their_ports_and_bounded(log, ranks):
    log.append([
        page("http://a.test/", *(f"http://h{number:02}.test/" for number in range(40)), "https://c.test:81/x"),
        page("http://a.test/2", "http://h33.test/", "http://a.test.evil.test/"),
    ])  # fmt: skip
    found = refresh_ranks(log, ranks).site_links.of("a.test")
    assert found.outwards[:3] == (("h33.test", 2), ("a.test.evil.test", 1), ("c.test:81", 1))
    assert (len(found.outwards), found.hosts_out) == (MOST, 42)


def test_texts_of_links_are_counted_in_the_newest_versions(log, ranks):
    def saying(url: str, *texts: str) -> Document:
        return page(url, *(Link("http://z.test/", text) for text in texts))

    log.append(
        [saying("http://a.test/", "tide tables", "rare"), saying("http://b.test/", "tide tables", "x" * (LONGEST + 1))]
    )
    log.append([saying("http://c.test/", *["tide tables", "old words"] * 3, *["x" * (LONGEST + 1), ""] * 3)])
    assert refresh_ranks(log, ranks).link_texts.counts() == {"tide tables": 5, "old words": 3}
    log.append([saying("http://c.test/", *["tide tables"] * (LEAST_SAID - 2))])
    assert refresh_ranks(log, ranks).link_texts.counts() == {"tide tables": 3}


def test_a_text_that_leads_everywhere_is_hardly_said(log, ranks):
    """``next`` of each page leads to another one: it is no name of any."""
    for number in range(9):
        onwards = Link(f"http://a.test/{number + 1}", "next")
        log.append([page(f"http://a.test/{number}", onwards, Link("http://a.test/t", "tides"))])
    assert refresh_ranks(log, ranks).link_texts.counts() == {"tides": 9, "next": 1}


def test_what_links_to_blocked_pages_say_is_not_counted(log, ranks):
    def link(url: str, text: str) -> Link:
        return Link(url, text)

    for number in range(4):
        log.append([
            page(f"http://a.test/{number}", link("http://b.test/x", "both"), link("https://c.test/y", "both"),
                 link("http://b.test/x", "only b"), link("http://b.test/z", "another of b")),
        ])  # fmt: skip
    texts = refresh_ranks(log, ranks).link_texts
    assert list(texts.counts().items()) == [("both", 4), ("another of b", 4), ("only b", 4)]
    assert texts.counts({"b.test"}) == {"both": 4}
    assert texts.counts({"https://b.test/x"}) == {"both": 4, "another of b": 4}
    assert texts.counts({"http://c.test/y", "b.test"}) == {}
    assert texts.counts({"nobody.test"}) == texts.counts()
