"""Phrases and words near each other against the oracle, where bounds decide what is looked at."""

import itertools
import threading

import numpy as np
import pytest
from index_world import make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus.core.retrieval.nearness import PLACES
from periplus.errors import UsageError
from periplus.index import Filters, Group, IndexQuery, IndexStore, TermForm
from periplus.index.retrieval.scratch import scratch_of

PHRASES = [
    ("w0", "w0"),
    ("w0", "w1"),
    ("w1", "w0", "w1"),
    ("w0", "w1", "w0", "w0"),
    ("w2", "w0"),
    ("w0", "w40"),
    ("w90", "w0", "w1"),
    ("w60", "w61"),
    ("w0", "nowhere"),
    ("w3",),
]
NEAR = [(0, True), (2, True), (7, True), (0, False), (3, False), (7, False)]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Three segments: one with many windows, one with deletes, a small one whose terms are all rare."""
    random = np.random.default_rng(23)
    vocabulary = [f"w{number}" for number in range(120)]
    every = [random_document(random, number, vocabulary) for number in range(800)]
    store = IndexStore(tmp_path_factory.mktemp("phrases"))
    store.update([(1, every[:600])], prior=prior_of_keys)
    store.update([(2, every[600:770])], prior=prior_of_keys)
    gone = [make_document(number, refusal="gone") for number in range(0, 600, 11)]
    store.update([(3, [*every[770:], *gone])], prior=prior_of_keys)
    live = [document for number, document in enumerate(every) if number >= 600 or number % 11]
    with store.open() as snapshot:
        assert snapshot.segments == 3
        yield snapshot, Oracle(live, snapshot.manifest.epoch, None, {row.key: make_prior(row) for row in live})


def assert_same(snapshot, oracle, query, k, prior_weight):
    expected = oracle.search(query, prior_weight)
    ranked = sorted(expected.items(), key=lambda pair: (-pair[1], pair[0]))[:k]
    hits = snapshot.top(query, k, prior_weight=prior_weight)
    assert hits.scores.tolist() == [score for _, score in ranked]
    assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in ranked]
    is_all = hits.total.value == len(expected)
    assert is_all if hits.total.relation == "eq" else hits.total.value <= len(expected)


@pytest.mark.parametrize(("slop", "ordered"), NEAR)
@pytest.mark.parametrize("limit", [0, 1000])
def test_phrases_equal_the_oracle(world, slop, ordered, limit, monkeypatch):
    monkeypatch.setattr("periplus.index.retrieval.retrieval.COUNT_LIMIT", limit)
    snapshot, oracle = world
    for phrase, field in itertools.product(PHRASES, ("", "headings")):
        group = Group(phrase=phrase, field=field, slop=slop, ordered=ordered)
        for k, prior_weight in ((1, 0.0), (10, 30.0)):
            assert_same(snapshot, oracle, IndexQuery(must=(group,)), k, prior_weight)


@pytest.mark.parametrize(("slop", "ordered"), NEAR)
def test_phrases_among_other_words(world, slop, ordered, monkeypatch):
    monkeypatch.setattr("periplus.index.retrieval.retrieval.COUNT_LIMIT", 0)
    snapshot, oracle = world
    word = Group(forms=(TermForm("w5"),))
    for phrase in PHRASES:
        group = Group(phrase=phrase, slop=slop, ordered=ordered)
        for query in (
            IndexQuery(must=(word,), must_not=(group,)),
            IndexQuery(should=(word, group)),
            IndexQuery(any_of=((group, Group(forms=(TermForm("w70"),))),)),
            IndexQuery(should=(group,), filters=Filters(languages=("de",))),
        ):
            assert_same(snapshot, oracle, query, 10, 1.0)


def test_nothing_is_a_phrase_of_nothing(tmp_path):
    store = IndexStore(tmp_path)
    store.update([(1, [])])
    with store.open() as snapshot:
        assert snapshot.top(IndexQuery(must=(Group(phrase=("a", "b")),)), 10).total.value == 0


def test_a_phrase_does_not_reach_into_the_next_piece(tmp_path):
    store = IndexStore(tmp_path)
    store.update([(1, [make_document(1, "port wide", title="tide")])])
    with store.open() as snapshot:
        for slop, ordered in NEAR:
            for phrase in (("tide", "port"), ("port", "tide"), ("tide", "port", "wide")):
                query = IndexQuery(must=(Group(phrase=phrase, slop=slop, ordered=ordered),))
                assert snapshot.top(query, 10).total.value == 0


@pytest.mark.parametrize("slop", [-1, 8])
def test_slop_is_bounded(world, slop):
    with pytest.raises(UsageError, match="from 0 to 7"):
        world[0].top(IndexQuery(must=(Group(phrase=("w0", "w1"), slop=slop),)), 10)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A page with nothing but one word and another one at its very end."""
    pages = [make_document(1, "tide " * 400_000 + "port"), make_document(2, "tide port")]
    store = IndexStore(tmp_path_factory.mktemp("hostile"))
    store.update([(1, pages)])
    with store.open() as snapshot:
        yield snapshot, [page.key for page in pages]


@pytest.mark.parametrize(
    ("phrase", "slop", "ordered", "found"),
    [
        (("tide", "port"), 0, True, [0, 1]),
        (("tide",) * 1000, 0, True, [0]),
        (("tide",) * 1000, 5, True, [0]),
        (("tide",) * 200, 0, False, [0]),
        (("tide", "port"), 3, False, [0, 1]),
        (("tide",) * 7 + ("port",), 3, True, []),  # of eight words, the first 262,144 places of each count
    ],
)
def test_memory_is_bounded_however_often_a_page_holds_a_word(hostile, phrase, slop, ordered, found):
    snapshot, keys = hostile
    asked = []

    def ask():  # in a thread of its own, whose scratch buffer begins at its smallest
        hits = snapshot.top(IndexQuery(must=(Group(phrase=phrase, slop=slop, ordered=ordered),)), 10)
        asked.extend([sorted(snapshot.column("key", hits.numbers).tolist()), scratch_of(0).words])

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    matching, words = asked
    assert matching == sorted(keys[place] for place in found)
    assert words < 3 * PLACES  # 50 MB of address space; of 1,000 words times 400,000 places it would be 6 GB
