"""Shards that are given the statistics and the epoch of the whole answer as one index does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_world import PROPERTY, make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus.index import Filters, Group, IndexQuery, IndexStore, TermForm
from periplus.index.retrieval.retrieval import COUNT_LIMIT
from periplus.index.retrieval.statistics import GivenStatistics

VOCABULARY = [f"w{number}" for number in range(300)]


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """An index of two segments with deleted documents, its statistics, and three shards of it."""
    random = np.random.default_rng(11)
    every = [random_document(random, number, VOCABULARY) for number in range(1_300)]
    folder = tmp_path_factory.mktemp("whole")
    store = IndexStore(folder / "index")
    store.update([(1, every[:800])], prior=prior_of_keys)
    gone = [make_document(number, refusal="gone") for number in range(0, 800, 11)]
    store.update([(2, [*every[800:], *gone])], prior=prior_of_keys)
    with store.open() as whole:
        words = [term for word in VOCABULARY for term in (word, f"~{word}")]
        known = dict(zip(words, whole.statistics.frequencies(words), strict=True))
        statistics = GivenStatistics(whole.statistics.documents, known, whole.statistics.average_lengths)
        store.reshard(3)
        shards = [store.open(shard=number) for number in range(3)]
        yield whole, shards, statistics


def rows_of(snapshot, hits, order):
    keys = snapshot.column("key", hits.numbers).tolist()
    if order == "score":
        return [(-score, key, score) for key, score in zip(keys, hits.scores.tolist(), strict=True)]
    published, fetched = (snapshot.column(name, hits.numbers) for name in ("published", "fetched"))
    dates = np.where(published > 0, published, fetched).tolist()
    return [(-date, key, score) for date, key, score in zip(dates, keys, hits.scores.tolist(), strict=True)]


def merged(shards, query, k, order, **more):
    rows, total, relation = [], 0, "eq"
    for one in shards:
        hits = one.top(query, k, order=order, **more)
        rows += rows_of(one, hits, order)
        total += hits.total.value
        relation = relation if hits.total.relation == "eq" else "gte"
    return sorted(rows)[:k], total, relation


def assert_as_one(cut, query, k, order="score", prior_weight=1.0):
    whole, shards, statistics = cut
    more = {"statistics": statistics, "prior_weight": prior_weight}
    hits = whole.top(query, k, order=order, **more)
    assert merged(shards, query, k, order, **more) == (
        rows_of(whole, hits, order),
        hits.total.value,
        hits.total.relation,
    )
    return hits


numbers = st.one_of(st.integers(0, 9), st.integers(0, 299))
words = st.builds(
    lambda number, share, weight, field: Group(
        (TermForm(f"w{number}"), TermForm(f"~w{number}", share)), weight=weight, field=field
    ),
    numbers,
    st.sampled_from([0.3, 0.7]),
    st.sampled_from([1.0, 2.5]),
    st.sampled_from(["", "", "", "title"]),
)
phrases = st.builds(
    lambda first, second, slop: Group(phrase=(f"w{first}", f"w{second}"), slop=slop),
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from([0, 0, 2]),
)
prefixes = st.builds(
    lambda prefix, last: Group(tuple(TermForm(f"w{prefix}{number}") for number in range(last)), prefix=f"w{prefix}"),
    st.integers(1, 9),
    st.integers(1, 10),
)
groups = st.one_of(words, words, phrases, prefixes)
filters = st.sampled_from(
    [Filters(), Filters(), Filters(languages=("de",)), Filters(sites=("a.example.org",)), Filters(after=1_500.0)]
)
queries = st.one_of(
    st.builds(lambda some: IndexQuery(should=tuple(some)), st.lists(words, min_size=1, max_size=4)),
    st.builds(lambda some: IndexQuery(must=tuple(some)), st.lists(words, min_size=1, max_size=3)),
    st.builds(lambda one: IndexQuery(must=(one,)), phrases),
    st.builds(
        IndexQuery,
        should=st.lists(groups, max_size=2).map(tuple),
        must=st.lists(groups, max_size=2).map(tuple),
        must_not=st.lists(groups, max_size=1).map(tuple),
        any_of=st.lists(st.lists(groups, min_size=1, max_size=2).map(tuple), max_size=1).map(tuple),
        filters=filters,
        excluded=filters,
    ),
)


@settings(PROPERTY, max_examples=150)
@given(queries, st.sampled_from([1, 10, 200]), st.sampled_from(["score", "score", "date"]), st.sampled_from([0.0, 1.0]))
def test_shards_answer_as_one_index(cut, query, k, order, prior_weight):
    assert_as_one(cut, query, k, order, prior_weight)


@settings(PROPERTY, max_examples=15)
@given(st.integers(0, 1 << 32), st.integers(2, 9), st.lists(queries, min_size=12, max_size=12))
def test_shards_with_the_files_of_their_generation_answer_as_the_oracle(tmp_path_factory, seed, shards, asked):
    """Random documents, some of them replaced or removed, in a random number of shards."""
    random = np.random.default_rng(seed)
    store = IndexStore(tmp_path_factory.mktemp("random") / "index", shards=int(random.integers(1, 4)))
    rows = [random_document(random, int(number), VOCABULARY[:60]) for number in random.integers(0, 90, 120)]
    rows += [make_document(int(number), refusal="gone") for number in random.integers(0, 90, 9)]
    half = int(random.integers(1, len(rows)))
    store.update([(1, rows[:half])], prior=prior_of_keys)
    store.reshard(shards)
    store.update([(2, rows[half:])], prior=prior_of_keys)
    documents = [row for row in {row.key: row for row in rows}.values() if row.indexable]
    with store.open_files() as files:
        oracle = Oracle(documents, files.manifest.epoch, None, {row.key: make_prior(row) for row in documents})
        assert (files.documents, files.words(1_000)) == (len(documents), words_of(oracle))
        parts = [store.open(shard=number) for number in range(shards)]
        for query in asked:
            found = oracle.search(query)
            expected = sorted((-score, key, score) for key, score in found.items())[:50]
            total = oracle.total(query, found, COUNT_LIMIT)
            assert merged(parts, query, 50, "score", statistics=files) == (expected, *total)
        for part in parts:
            part.close()


def words_of(oracle):
    """All words that documents have, as the spell checker is given them."""
    counts = [(term, oracle.frequency(term)) for term in oracle.postings if not term.startswith("~")]
    return sorted(counts, key=lambda pair: (-pair[1], pair[0]))


def test_own_statistics_are_those_of_the_whole(cut):
    """Without statistics a whole index scores as with its own given back; a shard does not."""
    whole, shards, statistics = cut
    query = IndexQuery(should=(Group((TermForm("w0"),)), Group((TermForm("w40"),))))
    alone, given = whole.top(query, 10), whole.top(query, 10, statistics=statistics)
    assert alone.scores.tolist() == given.scores.tolist()
    assert shards[0].top(query, 10).scores.tolist() != shards[0].top(query, 10, statistics=statistics).scores.tolist()


def test_a_word_that_only_another_shard_has_weighs_the_same(cut):
    """What does not occur here finds nothing here, and its frequency still counts in totals and weights."""
    _, shards, statistics = cut
    known = statistics.frequencies(VOCABULARY)
    lonely = next(
        word
        for word, one, count in zip(VOCABULARY, shards[0].statistics.frequencies(VOCABULARY), known, strict=True)
        if count and not one
    )
    for query in (
        IndexQuery(should=(Group((TermForm(lonely), TermForm("w50"))), Group((TermForm("w2"),)))),
        IndexQuery(must=(Group((TermForm(lonely),)), Group((TermForm("w0"),)))),
        IndexQuery(should=tuple(Group((TermForm(word),), weight=1e6) for word in ("w0", "w1", lonely, "w3") * 4)),
    ):
        assert len(assert_as_one(cut, query, 20).numbers) > 0


def test_the_most_frequent_form_is_a_lower_bound_over_all_shards(cut):
    query = IndexQuery(should=tuple(Group((TermForm(word),)) for word in ("w0", "w1", "w2")))
    whole, _, statistics = cut
    total = assert_as_one(cut, query, 10).total
    assert (total.value, total.relation) == (statistics.known["w0"], "gte")
    assert total.value <= whole.top(query, 10, order="date").total.value


@pytest.mark.parametrize("order", ["score", "date"])
def test_only_and_without(cut, order):
    whole, _, _ = cut
    query = IndexQuery(should=(Group((TermForm("w0"),)), Group((TermForm("w3"),))))
    every = whole.top(query, 2_000, order=order)
    chosen = np.sort(every.numbers[::3])
    only = whole.top(query, 2_000, order=order, only=chosen)
    left = whole.top(query, 2_000, order=order, without=chosen)
    assert only.numbers.tolist() == [number for number in every.numbers.tolist() if number in set(chosen.tolist())]
    assert left.numbers.tolist() == [number for number in every.numbers.tolist() if number not in set(chosen.tolist())]
    assert [one.total.relation for one in (only, left)] == ["eq", "eq"]
    assert only.total.value + left.total.value == len(every.numbers)
    both = whole.top(query, 5, order=order, only=chosen, without=chosen[:-1])
    assert both.numbers.tolist() == chosen[-1:].tolist()


def test_given_statistics_want_the_words_of_a_prefix(cut):
    """Nobody knows what a prefix stands for elsewhere, so that it stands for what comes with it."""
    whole, _, statistics = cut
    assert whole.top(IndexQuery(must=(Group(prefix="w1"),)), 5, statistics=statistics).total.value == 0
    assert whole.top(IndexQuery(must=(Group(prefix="w1"),)), 5).total.value > 0


def test_lists_of_terms_have_one_address_each(cut):
    whole, _, _ = cut
    held = whole.lists_of(["w0", "nowhere", "w0", "w1"])
    frequencies = [documents for documents, _ in held.lists]
    assert frequencies == whole.statistics.frequencies(["w0", "nowhere", "w0", "w1"])
    assert frequencies[1] == 0
    assert held.lists[0] == held.lists[2]
    assert len({address for _, address in held.lists}) == 3
