"""How many pages link to a page in their text, and what that adds to its prior."""

from __future__ import annotations

import numpy as np
import pytest
from graph_samples import page
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus import addresses
from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.graph import RankStore, VertexRanks, prior, refresh_ranks
from periplus.records import Link
from periplus.storage import Database, LocalFiles

A, B, C, D = (f"https://{name}.example/" for name in "abcd")


@pytest.fixture
def ranks(tmp_path):
    return RankStore(tmp_path / "ranks")


def counts(table, *urls: str) -> list[int]:
    return table.citations.of(np.array([addresses.page_key(url) for url in urls], np.int64)).tolist()


def test_a_page_counts_once_and_not_for_itself(log, ranks):
    log.append([page(A, B, B, A), page(B, A), page(C, B, f"{D}never-read")])
    table = refresh_ranks(log, ranks)
    assert counts(table, A, B, C, f"{D}never-read") == [1, 2, 0, 0]
    assert len(table.citations.cited_keys) == 2  # what nobody links to takes no room
    assert counts(RankStore(ranks.files.root).current(), A, B) == [1, 2]


def test_menus_footers_and_links_with_a_rel_say_nothing(log, ranks):
    said = [Link(B, place=place) for place in ("navigation", "footer")]
    log.append([page(A, *said), page(C, Link(B, rel=("nofollow",))), page(D, Link(B)), page(B)])
    assert counts(refresh_ranks(log, ranks), B) == [1]


def test_only_the_newest_version_of_a_page_counts(log, ranks):
    log.append([page(A, B), page(B), page(C, B), page(D, B)])
    log.append([page(A, C), page(D, refusal="gone")])
    assert counts(refresh_ranks(log, ranks), B, C) == [1, 1]


def test_a_page_that_stands_for_another_is_meant(log, ranks):
    log.append([page(A, C), page(B), page(C, refusal="redirected", canonical=B), page(B, C)])
    assert counts(refresh_ranks(log, ranks), B, C) == [1, 0]  # by A; B links to itself by way of C


def test_a_graph_of_nothing_cites_nothing(log, ranks):
    assert counts(refresh_ranks(log, ranks), A) == [0]


urls = st.builds("http://{}.test/{}".format, st.sampled_from("abc"), st.integers(0, 3))
links = st.builds(lambda url, place: Link(url, place=place), urls, st.sampled_from(["content", "navigation"]))
batch = st.lists(st.tuples(urls, st.lists(links, max_size=6)), max_size=8)


@settings(max_examples=25)
@given(written=st.lists(batch, min_size=1, max_size=4))
def test_citations_equal_the_obvious_way(tmp_path_factory, written):
    folder = tmp_path_factory.mktemp("log")
    newest: dict[str, list[Link]] = {}
    with Database.open(folder / "state.db") as database:
        log = BatchLog(LocalFiles(folder), database)
        for rows in written:
            log.append([page(url, *targets) for url, targets in rows])
            newest.update(rows)
        table = refresh_ranks(log, RankStore(folder / "ranks"))
    for read in newest:
        said = [url for url, made in newest.items() if read in {one.url for one in made if one.place == "content"}]
        assert counts(table, read) == [len(set(said) - {read})]


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=20), st.floats(0, 0.999))
def test_the_prior_with_citations_is_bounded_and_monotone(pages, linked):
    values = prior.with_citations(np.full(len(pages), linked), np.array(sorted(pages)))
    assert (np.diff(values) >= 0).all()
    assert values.max() <= linked + (1 - linked) * prior.CITED_SHARE
    assert prior.with_citations(np.array([linked]), np.array([0])).tolist() == [linked]


def test_a_farm_of_pages_adds_little(log, ranks):
    """A thousand pages that link to one are worth less than twice what ten are."""
    few, many = prior.with_citations(np.zeros(2), np.array([10, 1_000]))
    assert few == pytest.approx(prior.CITED_SHARE / 2)
    assert many < 2 * few


def test_ranks_of_an_earlier_version_have_the_prior_of_their_ranks(ranks):
    two, host = np.array([7, 8], np.int64), np.array([7, 7], np.int64)
    table = ranks.publish(VertexRanks(two, np.array([0.2, 0.8])), VertexRanks(host[:1], np.ones(1)), last_batch=1)
    assert table.citations is None
    assert table.prior(two, host)[0] == 0


def test_of_pages_alike_the_one_that_texts_point_to_is_found_first(tmp_path):
    names = ["first", "second", "third"]
    menu = [Link(f"{A}{name}", place="navigation") for name in names]
    said = {"first": "sort a container, first, and what the sort costs"}
    with Collection(tmp_path / "site").create() as collection:
        log = BatchLog(collection.files, collection.database)
        log.append([page(f"{A}{name}", *menu, text=said.get(name, f"sort a container, {name}")) for name in names])
        log.append([page(f"{A}{number}", *menu, text="an example") for number in range(12)])
        collection.index()
        assert first_of(collection) == f"{A}first"
        log.append([page(f"{A}{number}", Link(f"{A}third"), *menu, text="an example") for number in range(12)])
        collection.index()
        assert first_of(collection) == f"{A}third"


def first_of(collection):
    collection.rank()
    collection.index()
    return next(iter(collection.search("sort"))).url
