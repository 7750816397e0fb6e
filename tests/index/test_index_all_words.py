"""Documents that hold all of some words: lists of every kind and mixture, in segments of several sizes."""

import ctypes
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_world import PROPERTY, make_document, make_prior, prior_of_keys
from oracle import Oracle

from periplus.index import Filters, Group, IndexQuery, IndexStore, TermForm

# Words by the share of documents that have them: from nearly all of them to a few.
SHARES = {"tide": 0.9, "port": 0.5, "quay": 0.3, "crane": 0.2, "rope": 0.12, "buoy": 0.06, "keel": 0.03, "oar": 0.006}
SIZES = (1_500, 40, 700, 5)


def text_of(random):
    words = [word for word, share in SHARES.items() if random.random() < share for _ in range(random.integers(1, 5))]
    return " ".join([*words, *["wave"] * random.integers(0, 30)])


class Remembering(Oracle):
    """The oracle, with the values of each word worked out once."""

    def values(self, group):
        if group not in self.known:
            self.known[group] = super().values(group)
        return self.known[group]

    known: ClassVar = {}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    random = np.random.default_rng(7)
    every = [make_document(number, text_of(random), language="en") for number in range(sum(SIZES))]
    store = IndexStore(tmp_path_factory.mktemp("all"))
    for batch, size in enumerate(SIZES, 1):
        first = sum(SIZES[: batch - 1])
        store.update([(batch, every[first : first + size])], prior=prior_of_keys, merge=False)
    whole = store.open()
    gone = every[100:900:7]
    store.remove([document.key for document in gone])
    left = [document for document in every if document not in gone]
    with whole:
        yield store, Remembering(left, store.manifest().epoch, prior={d.key: make_prior(d) for d in left}), whole, every


@pytest.fixture(
    scope="module",
    params=[(0, 1 << 20), (0, 0), (0, 1_500), (100_000, 1 << 20)],
    ids=["pruned", "pruned without bits", "pruned with few bits", "counted"],
)
def world(stored, request):
    """A snapshot that counts so many documents, and whose lists may have so many bytes of bits; and the oracle."""
    store, oracle, *_ = stored
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("periplus.index.retrieval.retrieval.COUNT_LIMIT", request.param[0])
        patch.setattr("periplus.index.retrieval.terms.GIVEN_KEPT", request.param[1])
        patch.setattr("periplus.index.retrieval.terms.FIRST_CHUNK", 8)  # so that all memory is asked for apart
        patch.setattr("periplus.index.retrieval.terms.CHUNK", 8)
        with store.open() as snapshot:
            yield snapshot, oracle


def all_of(*words, filters=None):
    groups = tuple(Group(forms=(TermForm(word),)) for word in words)
    return IndexQuery(must=groups, filters=filters or Filters())


def compare(world, query, k, weight):
    snapshot, oracle = world
    hits = snapshot.top(query, k, prior_weight=weight)
    wanted = sorted(oracle.search(query, weight).items(), key=lambda pair: (-pair[1], pair[0]))
    assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in wanted[:k]]
    assert hits.scores.tolist() == [score for _, score in wanted[:k]]
    if hits.total.relation == "eq":
        assert hits.total.value == len(wanted)
    else:
        assert len(hits.numbers) <= hits.total.value <= len(wanted)


def tables(snapshot, word):
    """In how many segments a word has tables of windows."""
    from periplus.core.layout.lists import LIST_ROW, TABLES

    head = snapshot.known(word).address + 8 * LIST_ROW * snapshot.segments
    return ctypes.c_int64.from_address(head + 8 * TABLES).value


def test_the_world_has_lists_of_every_kind(world):
    snapshot, _ = world
    assert snapshot.segments == len(SIZES)
    assert tables(snapshot, "oar") == 0
    assert tables(snapshot, "buoy") == 1
    assert tables(snapshot, "port") == 2


words = st.lists(st.sampled_from([*SHARES, "wave"]), min_size=1, max_size=5, unique=True)


@PROPERTY
@given(words, st.sampled_from([1, 3, 10, 100, 3_000]), st.sampled_from([0.0, 1.0, 5.0]))
def test_all_of_some_words_are_found_as_the_oracle_says(world, some, k, weight):
    compare(world, all_of(*some), k, weight)


@PROPERTY
@given(words, st.sampled_from([1, 10, 100]), st.sampled_from([0.0, 1.0]))
def test_any_of_some_words_are_found_as_the_oracle_says(world, some, k, weight):
    compare(world, IndexQuery(should=all_of(*some).must), k, weight)


@PROPERTY
@given(words, st.sampled_from([3, 100]))
def test_with_filters(world, some, k):
    compare(world, all_of(*some, filters=Filters(sites=("a.example.org",))), k, 0.0)


def test_a_word_asked_for_twice_counts_twice(world):
    compare(world, all_of("keel", "keel", "port"), 10, 0.0)
    compare(world, all_of("port", "rope", "port"), 10, 0.0)


def test_so_many_words_that_the_memory_has_to_grow(world):
    compare(world, all_of(*["keel", "port", "tide"] * 80), 100, 0.0)
    compare(world, all_of(*["quay", "port", "tide"] * 80), 100, 0.0)


def test_matches_are_counted_when_nothing_was_deleted(stored, monkeypatch):
    monkeypatch.setattr("periplus.index.retrieval.retrieval.COUNT_LIMIT", 0)
    _, _, whole, every = stored
    for words in (("tide", "port"), ("tide", "port", "quay"), ("port", "buoy")):
        wanted = sum(all(word in document.text.split() for word in words) for document in every)
        total = whole.top(all_of(*words), 3, prior_weight=0.0).total
        assert (total.value, total.relation) == (wanted, "eq")
