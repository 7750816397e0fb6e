"""Plain queries in one call: their text, the table of terms, and answers that are the same whichever way they take."""

import random
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_world import PROPERTY, make_document, make_prior, prior_of_keys
from msgspec.structs import replace
from oracle import Oracle

from periplus.index import Filters, Group, IndexQuery, IndexStore, TermForm
from periplus.index.pages import HUGE, pages
from periplus.index.rooms import SMALLEST, TopHits, found_at, free, free_room
from periplus.index.terms import FIRST_POWER, Terms
from periplus.records import Total

ODD = ["x" * 31, "x" * 32, "x" * 33, "ä" * 15, "ä" * 16, "灯", "c++", "\ud800"]
SEED = 33


def plain(*terms):
    return tuple(Group(forms=(TermForm(term),)) for term in terms)


def test_a_plain_query_has_a_text():
    assert IndexQuery(should=plain("tide", "pört")).text == "\2tide\0pört\0".encode()
    assert IndexQuery(must=plain("tide")).text == b"\x41tide\0"
    assert IndexQuery(must=plain("")).text == b"\x41\0"
    assert IndexQuery(should=plain(*["tide"] * 63)).text == b"\x3f" + b"tide\0" * 63


@pytest.mark.parametrize(
    "query",
    [
        IndexQuery(),
        IndexQuery(should=plain("tide"), filters=Filters(languages=("en",))),
        IndexQuery(should=plain("ti\0de")),
        IndexQuery(should=plain(*["tide"] * 64)),
        IndexQuery(should=plain("tide"), must_not=plain("port")),
    ],
    ids=["nothing", "filtered", "zero", "long", "mixed"],
)
def test_others_have_none(query):
    assert query.text == b""


def test_a_changed_query_has_another_text():
    query = IndexQuery(should=plain("tide"))
    assert replace(query, should=plain("port")).text == b"\1port\0"
    assert replace(query, filters=Filters(languages=("en",))).text == b""
    assert replace(query, should=plain("port")) == IndexQuery(should=plain("port"))


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


def answer(snapshot, query, k, weight=0.0):
    """By the kernel alone, if it knows all terms."""
    terms = snapshot._terms
    room = free.pop() if free else free_room()
    result = terms.ask(terms.address, room, weight, k, query.text)
    if result >= 0:
        return found_at(room, result, k)
    free.append(room)
    return None


def same(one, other):
    assert (one.numbers.tolist(), one.scores.tolist(), one.total) == (
        other.numbers.tolist(),
        other.scores.tolist(),
        other.total,
    )


def test_terms_are_known_from_the_second_time_on(world):
    store, words, _ = world
    with store.open() as snapshot:
        assert len(words) > 2 << FIRST_POWER
        for word in [*words, *ODD, "", "absent"]:
            query = IndexQuery(should=plain(word))
            assert answer(snapshot, query, 10) is None
            hits = snapshot.top(query, 10, prior_weight=0.0)
            assert hits.total == Total(snapshot.frequency(word))
            if len(word.encode("utf-8", "surrogatepass")) > 31:
                assert answer(snapshot, query, 10) is None
            else:
                same(answer(snapshot, query, 10), hits)
        for word in [*words, *ODD]:
            same(snapshot.top(IndexQuery(must=plain(word)), 10), snapshot.top(IndexQuery(should=plain(word)), 10))


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
        assert answer(snapshot, query, 0) is None
        assert answer(snapshot, query, 20_001) is None
        same(snapshot.top(query, 20_001), all_of_them)
        assert len(snapshot.top(query, 0).numbers) == 0


def test_a_room_that_is_too_small_becomes_larger(world):
    store, words, _ = world
    with store.open() as snapshot:
        query = IndexQuery(should=plain(*words[:40]))
        wanted = snapshot.top(query, 10)
        free[:] = [free_room()]
        assert answer(snapshot, query, 20_000) is None
        assert snapshot.top(query, 20_000).numbers.tolist()[:10] == wanted.numbers.tolist()
        assert answer(snapshot, query, 20_000) is not None
        assert SMALLEST < 10 * 20_000


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


def test_what_is_no_text_is_refused(world):
    store, words, _ = world
    with store.open() as snapshot:
        snapshot.top(IndexQuery(should=plain(words[0])), 10)
        terms = snapshot._terms
        with pytest.raises(TypeError):
            terms.ask(terms.address, free_room(), 0.0, 10, "tide")


def test_a_snapshot_that_knows_nothing_yet_has_no_answers():
    assert Terms().ask(0, 0, 0.0, 10, b"") < 0


def test_pages_are_empty_and_begin_where_they_should():
    memory = pages(1_000)
    assert len(memory) == 1_000
    assert memory.ctypes.data % HUGE == 0
    assert not memory.any()
    memory[:] = 7
    assert memory.sum() == 7_000
