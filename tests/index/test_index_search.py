"""Every kind of query against the oracle: any set of documents, segments, deletes, filters and priors."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_world import PROPERTY, make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus.index import FIELDS, Filters, Group, IndexQuery, IndexStore, TermForm
from periplus.records import Anchor, Heading
from periplus.text import analyze

WORDS = [
    "tide",
    "tides",
    "tidal",
    "port",
    "ports",
    "chart",
    "café",
    "cafe",
    "C++",
    "node.js",
    "the",
    "of",
    "東京",
    "run",
]

words = st.sampled_from(WORDS)
texts = st.lists(words, max_size=8).map(" ".join)


@st.composite
def documents(draw):
    return [
        make_document(
            number,
            draw(texts),
            title=draw(texts),
            headings=tuple(Heading(2, text) for text in draw(st.lists(texts, max_size=2))),
            boilerplate=draw(texts),
            language=draw(st.sampled_from(["en", "de", ""])),
            content_type=draw(st.sampled_from(["text/html", "application/pdf"])),
            published=draw(st.sampled_from([0.0, 500.0, 1500.0])),
        )
        for number in draw(st.lists(st.integers(0, 12), max_size=14))
    ]


fields = st.sampled_from(["", "", "", *FIELDS])
weights = st.sampled_from([1.0, 1.0, 0.5, 3.0])


def word_group(word, field, weight):
    return Group(
        forms=tuple(form for token in analyze(word, "en")[:1] for form in token.forms), field=field, weight=weight
    )


def phrase_group(chosen, field, weight, slop, ordered):
    terms = tuple(token.text for token in analyze(" ".join(chosen), "en"))
    return Group(phrase=terms, field=field, weight=weight, slop=slop, ordered=ordered)


groups = st.one_of(
    st.builds(word_group, words, fields, weights),
    st.builds(
        phrase_group,
        st.lists(words, min_size=1, max_size=3),
        fields,
        weights,
        st.sampled_from([0, 0, 0, 1, 4]),
        st.sampled_from([True, True, False]),
    ),
    st.builds(
        lambda text, field: Group(prefix=text, field=field), st.sampled_from(["t", "ti", "p", "c", "zz"]), fields
    ),
    st.builds(lambda word: Group(forms=(TermForm(word, 1.0), TermForm("port", 0.3))), words),
)
some_groups = st.lists(groups, max_size=3).map(tuple)
filters = st.one_of(
    st.just(Filters()),
    st.builds(
        Filters,
        sites=st.sampled_from([(), ("a.example.org",), ("example.org",), ("b.example.org", "c.example.org")]),
        languages=st.sampled_from([(), ("en",), ("en", "de")]),
        types=st.sampled_from([(), ("application/pdf",)]),
        before=st.sampled_from([0.0, 1005.0]),
        after=st.sampled_from([0.0, 900.0]),
    ),
)
queries = st.builds(
    IndexQuery,
    should=some_groups,
    must=st.lists(groups, max_size=2).map(tuple),
    must_not=st.lists(groups, max_size=1).map(tuple),
    any_of=st.lists(st.lists(groups, min_size=1, max_size=2).map(tuple), max_size=1).map(tuple),
    filters=filters,
    excluded=filters,
)


def anchors_of(page_key):
    return (Anchor("tide port", 1 + page_key % 5), Anchor("the chart", 1)) if page_key % 2 else ()


def assert_same(snapshot, oracle, query, k, prior_weight=1.0, limit=1_000):
    expected = oracle.search(query, prior_weight)
    ranked = sorted(expected.items(), key=lambda pair: (-pair[1], pair[0]))[:k]
    hits = snapshot.top(query, k, prior_weight=prior_weight)
    assert (hits.total.value, hits.total.relation) == oracle.total(query, expected, limit)
    assert hits.total.value <= len(expected)
    assert_ranked(snapshot, hits, ranked)
    late = snapshot.top(query, k, prior_weight=prior_weight, deadline=0.0)  # nothing is counted: bounds decide
    assert late.total.value <= len(expected)
    assert_ranked(snapshot, late, ranked)


def assert_ranked(snapshot, hits, ranked):
    assert hits.scores.tolist() == [score for _, score in ranked]
    assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in ranked]


@settings(PROPERTY, max_examples=20)
@given(
    st.lists(documents(), min_size=1, max_size=4),
    st.sets(st.integers(0, 12), max_size=4),
    st.lists(queries, min_size=4, max_size=12),
    st.sampled_from([1, 3, 10]),
    st.sampled_from([0.0, 1.0]),
)
def test_equals_the_oracle(batches, refused, asked, k, prior_weight):
    live = {}
    with tempfile.TemporaryDirectory() as folder:
        store = IndexStore(Path(folder))
        for number, batch in enumerate(batches, 1):
            rows = list(batch)
            if number == len(batches):
                rows += [make_document(gone, refusal="gone") for gone in refused]
            store.update([(number, rows)], anchors=anchors_of, prior=prior_of_keys)
            live.update((row.key, row) for row in rows)
        kept = [row for row in live.values() if not row.refusal]
        with store.open() as snapshot:
            oracle = Oracle(kept, snapshot.manifest.epoch, anchors_of, {row.key: make_prior(row) for row in kept})
            assert snapshot.live == len(kept)
            for query in asked:
                assert_same(snapshot, oracle, query, k, prior_weight)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Enough documents for many windows, frequent and rare terms, two segments and some deletes."""
    random = np.random.default_rng(7)
    vocabulary = [f"w{number}" for number in range(400)]
    every = [random_document(random, number, vocabulary) for number in range(1600)]
    store = IndexStore(tmp_path_factory.mktemp("large"))
    store.update([(1, every[:1000])], prior=prior_of_keys)
    store.update(
        [(2, [*every[1000:], *(make_document(gone, refusal="gone") for gone in range(0, 1000, 9))])],
        prior=prior_of_keys,
    )
    live = [document for number, document in enumerate(every) if number >= 1000 or number % 9]
    with store.open() as snapshot:
        yield snapshot, Oracle(live, snapshot.manifest.epoch, None, {row.key: make_prior(row) for row in live})


def plain(*chosen, field=""):
    return tuple(Group(forms=(TermForm(word), TermForm("~" + word, 0.7)), field=field) for word in chosen)


QUERIES = {
    "one frequent": IndexQuery(should=plain("w0")),
    "one rare": IndexQuery(should=plain("w390")),
    "any": IndexQuery(should=plain("w0", "w1", "w7", "w300")),
    "any of frequent": IndexQuery(should=plain("w0", "w1", "w2", "w3", "w4")),
    "all": IndexQuery(must=plain("w0", "w5")),
    "all with a rare one": IndexQuery(must=plain("w0", "w120")),
    "all and should": IndexQuery(must=plain("w1"), should=plain("w3", "w50")),
    "not": IndexQuery(should=plain("w1", "w9"), must_not=plain("w0")),
    "or groups": IndexQuery(any_of=(plain("w40", "w41"), plain("w2", "w3"))),
    "or groups and must": IndexQuery(must=plain("w0"), any_of=(plain("w40", "w41"),), should=plain("w5")),
    "prefix": IndexQuery(should=(Group(prefix="w3"), *plain("w1"))),
    "phrase": IndexQuery(must=(Group(phrase=("w0", "w1")),)),
    "long phrase": IndexQuery(should=(Group(phrase=("w0", "w0", "w1")), *plain("w8"))),
    "title": IndexQuery(should=plain("w0", "w1", field="title")),
    "phrase in a field": IndexQuery(should=(Group(phrase=("w0", "w0"), field="headings"),)),
    "site": IndexQuery(should=plain("w0", "w30"), filters=Filters(sites=("a.example.org",))),
    "language and date": IndexQuery(must=plain("w0"), filters=Filters(languages=("de",), after=2000.0)),
    "not on a site": IndexQuery(should=plain("w0", "w30"), excluded=Filters(sites=("a.example.org",), types=("x/y",))),
    "not of a language": IndexQuery(must=plain("w0", "w3"), excluded=Filters(languages=("de",), before=300.0)),
    "phrase elsewhere": IndexQuery(must=(Group(phrase=("w0", "w1")),), excluded=Filters(types=("text/html",))),
    "given words of a prefix": IndexQuery(must=(Group(forms=plain("w1", "w2")[0].forms, prefix="w"), *plain("w3"))),
    "everything": IndexQuery(),
    "everything but": IndexQuery(must_not=plain("w0"), filters=Filters(types=("application/pdf",))),
    "unknown": IndexQuery(should=plain("nowhere")),
    "unknown must": IndexQuery(must=plain("w0", "nowhere")),
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("k", [10, 1000])
def test_large_equals_the_oracle(large, name, k):
    snapshot, oracle = large
    assert_same(snapshot, oracle, QUERIES[name], k)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("prior_weight", [0.0, 30.0])
def test_pruning_changes_nothing(large, name, prior_weight, monkeypatch):
    """With no limit below which everything is counted, bounds and thresholds decide; the answer stays the same."""
    monkeypatch.setattr("periplus.index.retrieval.retrieval.COUNT_LIMIT", 0)
    snapshot, oracle = large
    for k in (1, 10, 50, 70, 300):  # few are kept sorted, many in a buffer
        assert_same(snapshot, oracle, QUERIES[name], k, prior_weight, limit=0)


numbers = st.one_of(st.integers(0, 9), st.integers(0, 399))  # frequent words as often as all others
several_forms = st.builds(
    lambda shares, weight: Group(tuple(TermForm(f"w{word}", share) for word, share in shares.items()), weight=weight),
    st.dictionaries(numbers, st.sampled_from([1.0, 0.9, 0.7, 0.3]), min_size=1, max_size=4),
    st.sampled_from([0.5, 1.0, 3.0]),
)


@settings(PROPERTY)
@given(
    st.lists(several_forms, min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([1, 10, 70, 300]),
    st.sampled_from([0.0, 1.0]),
)
def test_words_of_any_forms_equal_the_oracle(large, groups, required, k, prior_weight):
    """Forms that share some documents or none, of which the heaviest need not be the best."""
    snapshot, oracle = large
    query = IndexQuery(must=tuple(groups)) if required else IndexQuery(should=tuple(groups))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("periplus.index.retrieval.retrieval.COUNT_LIMIT", 0)
        assert_same(snapshot, oracle, query, k, prior_weight, limit=0)


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    """Most documents score the same, so that keys decide; the best come last."""
    every = [make_document(number, "tide chart" if number < 1300 else "tide tide chart") for number in range(1400)]
    store = IndexStore(tmp_path_factory.mktemp("alike"))
    store.update([(1, every[:700])])
    store.update([(2, every[700:])])
    with store.open() as snapshot:
        yield snapshot, Oracle(every, snapshot.manifest.epoch)


@pytest.mark.parametrize("k", [1, 10, 64, 65, 90, 150, 1000])
def test_equal_scores_are_ordered_by_key(alike, k, monkeypatch):
    snapshot, oracle = alike
    for limit in (0, 10_000):
        monkeypatch.setattr("periplus.index.retrieval.retrieval.COUNT_LIMIT", limit)
        assert_same(snapshot, oracle, IndexQuery(should=plain("tide")), k, limit=limit)
        assert_same(snapshot, oracle, IndexQuery(should=plain("tide", "chart")), k, limit=limit)
        assert_same(snapshot, oracle, IndexQuery(must=plain("chart", "tide")), k)


def test_a_query_too_heavy_for_whole_numbers_is_scaled(large):
    snapshot, _ = large
    heavy = tuple(Group(forms=(TermForm(word),), weight=1e6) for word in ("w0", "w1", "w7", "w300") * 4)
    light = tuple(Group(forms=(TermForm(word),)) for word in ("w0", "w1", "w7", "w300") * 4)
    found = snapshot.top(IndexQuery(should=heavy), 10, prior_weight=0.0)
    assert set(found.numbers.tolist()) & set(
        snapshot.top(IndexQuery(should=light), 10, prior_weight=0.0).numbers.tolist()
    )


def test_threads_do_not_share_working_memory(large):
    snapshot, _ = large
    names = [name for name in QUERIES if name not in ("phrase", "long phrase")] * 8
    alone = {name: snapshot.top(QUERIES[name], 10).numbers.tolist() for name in names}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda name: snapshot.top(QUERIES[name], 10).numbers.tolist(), names))
    assert found == [alone[name] for name in names]


@pytest.mark.parametrize("name", QUERIES)
def test_newest_first(large, name):
    snapshot, oracle = large
    found = oracle.search(QUERIES[name])

    def newest(key):
        document = oracle.documents[key]
        return -(document.published or document.fetched), key

    hits = snapshot.top(QUERIES[name], 20, order="date")
    ranked = sorted(found, key=newest)[:20]
    assert snapshot.column("key", hits.numbers).tolist() == ranked
    assert hits.scores.tolist() == [found[key] for key in ranked]
    assert hits.total.value == len(found)


@pytest.mark.parametrize("name", QUERIES)
def test_matches_one_document(large, name):
    snapshot, oracle = large
    found = oracle.search(QUERIES[name])
    for number in snapshot.numbers()[::97].tolist():
        key = int(snapshot.column("key", np.array([number]))[0])
        assert snapshot.matches(QUERIES[name], number) == (key in found)
