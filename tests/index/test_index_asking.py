"""Words of any bytes, asked for by many threads at once, and answers that keep what they hold."""

import random
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_world import PROPERTY, make_document, make_prior, prior_of_keys
from oracle import Oracle

from periplus.index import Group, IndexQuery, IndexStore, TermForm
from periplus.index.retrieval.hits import TopHits
from periplus.index.retrieval.pages import HUGE, pages
from periplus.records import Total

ODD = ["x" * 31, "x" * 32, "x" * 33, "ä" * 15, "ä" * 16, "灯", "c++", "\ud800"]
SEED = 33


def plain(*terms):
    return tuple(Group(forms=(TermForm(term),)) for term in terms)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """More words than the first tables of hashes take, in two segments."""
    chance = random.Random(SEED)
    words = [f"w{number}" for number in chance.sample(range(10**6), 3_000)]
    texts = [" ".join(chance.choices(words[:40], k=8) + words[20 * n : 20 * n + 20] + [ODD[n % 7]]) for n in range(150)]
    every = [make_document(number, text, language="en") for number, text in enumerate(texts)]
    store = IndexStore(tmp_path_factory.mktemp("asking"))
    store.update([(1, every[:90])], prior=prior_of_keys, merge=False)
    store.update([(2, every[90:])], prior=prior_of_keys, merge=False)
    return store, words, Oracle(every, store.open().manifest.epoch, prior={d.key: make_prior(d) for d in every})


def same(one, other):
    assert (one.numbers.tolist(), one.scores.tolist(), one.total) == (
        other.numbers.tolist(),
        other.scores.tolist(),
        other.total,
    )


def test_terms_of_any_bytes_are_found(world):
    store, words, _ = world
    with store.open() as snapshot:
        for word in [*words, *ODD, "", "absent"]:
            hits = snapshot.top(IndexQuery(should=plain(word)), 10, prior_weight=0.0)
            assert hits.total == Total(snapshot.frequency(word))
            same(snapshot.top(IndexQuery(must=plain(word)), 10, prior_weight=0.0), hits)


def test_a_term_with_a_zero_is_not_taken_for_another(world):
    store, words, _ = world
    with store.open() as snapshot:
        assert snapshot.frequency(f"{words[0]}\0") == 0
        assert len(snapshot.top(IndexQuery(should=plain(words[0])), 10).numbers) > 0
        assert len(snapshot.top(IndexQuery(should=plain(f"{words[0]}\0")), 10).numbers) == 0


@PROPERTY
@given(st.data())
def test_answers_are_those_of_the_oracle(world, data):
    store, words, oracle = world
    some = data.draw(st.lists(st.sampled_from([*words[:60], *ODD, "absent"]), min_size=1, max_size=7))
    key = data.draw(st.sampled_from(["should", "must"]))
    k = data.draw(st.sampled_from([1, 3, 10, 100, 1000]))
    weight = data.draw(st.sampled_from([0.0, 0.0004, 0.0005, 0.3, 1.0, 7.77]))
    query = IndexQuery(**{key: plain(*some)})
    wanted = sorted(oracle.search(query, weight).items(), key=lambda pair: (-pair[1], pair[0]))[:k]
    with store.open() as snapshot:
        first = snapshot.top(query, k, prior_weight=weight)
        same(snapshot.top(query, k, prior_weight=weight), first)
        assert snapshot.column("key", first.numbers).tolist() == [key for key, _ in wanted]
        assert first.scores.tolist() == [score for _, score in wanted]


def test_more_than_is_done_at_once_is_done_all_the_same(world):
    store, words, _ = world
    with store.open() as snapshot:
        query = IndexQuery(should=plain(*words[:40]))
        all_of_them = snapshot.top(query, 20_000)
        assert len(all_of_them.numbers) == 150
        same(snapshot.top(query, 20_001), all_of_them)
        assert len(snapshot.top(query, 0).numbers) == 0


def test_threads_ask_while_others_bring_new_terms(world):
    store, words, _ = world
    with store.open() as snapshot, store.open() as other:
        wanted = {word: other.top(IndexQuery(should=plain(word)), 10).numbers.tolist() for word in words}
        wrong = []

        def ask(seed):
            order = words * 2
            random.Random(seed).shuffle(order)
            found = ((word, snapshot.top(IndexQuery(should=plain(word)), 10).numbers.tolist()) for word in order)
            wrong.extend(word for word, numbers in found if numbers != wanted[word])

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_answers_keep_what_they_hold(world):
    """Arrays of an answer are its own: the next one does not write to them."""
    store, words, _ = world
    with store.open() as snapshot:
        queries = [IndexQuery(should=plain(word)) for word in words[:40]]
        for query in queries:
            snapshot.top(query, 10)
        hits = [snapshot.top(query, 10) for query in queries]
        before = [(one.numbers.copy(), one.scores.copy()) for one in hits]
        for query in reversed(queries):
            snapshot.top(query, 10)
        for one, (numbers, scores) in zip(hits, before, strict=True):
            assert isinstance(one, TopHits)
            assert (one.numbers.dtype, one.scores.dtype) == (np.int64, np.float64)
            assert one.numbers.flags.owndata
            assert np.array_equal(one.numbers, numbers)
            assert np.array_equal(one.scores, scores)


def test_pages_are_empty_and_begin_where_they_should():
    memory = pages(1_000)
    assert len(memory) == 1_000
    assert memory.ctypes.data % HUGE == 0
    assert not memory.any()
    memory[:] = 7
    assert memory.sum() == 7_000
