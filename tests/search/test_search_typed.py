"""Queries of words only, put together from what is known of each word: the same plans and lists as the long way."""

from __future__ import annotations

from ctypes import c_double, c_int64
from struct import iter_unpack

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.index import IndexStore
from periplus.index.plan import form_weights
from periplus.index.query import STRONG_SHARE, Group, TermForm
from periplus.index.weights import idf
from periplus.search import plan, read
from periplus.search import terms as search_terms
from periplus.search.generations import Generations
from periplus.search.highlighter import sought_word
from periplus.search.plan import QueryWord, Single, each_once, stops
from periplus.search.reading import understand
from periplus.search.terms import Lexicon, Terms
from periplus.search.typed import TypedWords, is_frequent

QUERIES = [
    "tide",
    "tide tables",
    "the tide",
    "the of",
    "of the tide tables",
    "nowhere",
    "tide nowhere",
    "Tide TABLES",
    "",
]
TWICE = [
    "tide tide",
    "tide tables tide",
    "tide the the",
    "the the",
    "Tide TIDE moon",
    "nowhere nowhere tide",
    "tide " * 9,
]
SILENT = ["tide & moon", "&", "& tide - tide", "the & of"]
OTHERS = ["foo::bar", "tide foo::bar", '"tide tables"', "+tide", "tide*", "site:example.org", "tide -moon"]
LANGUAGES = [("en",), ("",), ("en", "de"), ("de", "en", "fr")]


@pytest.fixture
def snapshot(collection):
    with IndexStore(collection / "index").open() as opened:
        yield opened


def texts(query):
    return [node.text for node in read(query).nodes]


def planned(snapshot, query, languages):
    def frequent(word):
        return stops(word, languages[0] or "-") or is_frequent(Lexicon(snapshot), word)

    return plan(read(query), languages, frequent)


@pytest.mark.parametrize("languages", LANGUAGES)
@pytest.mark.parametrize("query", [*QUERIES, *TWICE, *SILENT])
def test_words_make_the_plan_that_the_planner_makes(snapshot, query, languages):
    words = TypedWords(Lexicon(snapshot))
    for _ in range(2):  # new words, then known ones
        found = words.query(texts(query), languages)
        assert found.plan == planned(snapshot, query, languages)
        assert [word.text for word in found.words] == [
            word.text for word in found.plan.words if any(snapshot.frequency(form.term) for form in word.forms)
        ]


@pytest.mark.parametrize("languages", LANGUAGES)
@pytest.mark.parametrize("query", [*QUERIES, *TWICE, *SILENT])
def test_packed_lists_find_what_the_plan_finds(snapshot, query, languages):
    lexicon = Lexicon(snapshot)
    found = TypedWords(lexicon).query(texts(query), languages)
    terms = Terms.of(found.words, found.known)
    assert terms.sought == Terms(lexicon, found.plan.words).sought
    if not found.plan.empty:
        for k in (1, 3, 100):
            expected = snapshot.top(found.plan.query, k, prior_weight=1.0)
            hits = snapshot.top_of_lists(*terms.lists, k, 1.0)  # good until the next search
            assert list((c_int64 * hits.size).from_address(hits.numbers)) == expected.numbers.tolist()
            assert list((c_double * hits.size).from_address(hits.scores)) == expected.scores.tolist()
            assert hits.total == expected.total


@pytest.mark.parametrize("query", ["foo::bar", "tide foo::bar tide"])
def test_words_that_are_several_are_left_to_the_planner(snapshot, query):
    assert TypedWords(Lexicon(snapshot)).query(texts(query), ("en",)) is None


def test_a_word_that_comes_again_with_other_forms_is_left_to_the_planner():
    forms = [(TermForm("tide"),), (TermForm("tide"), TermForm("~tid", 0.7))]
    singles = [Single("tide", means=True, group=Group(own), word=QueryWord("tide", own)) for own in forms]
    assert each_once(singles) is None
    assert each_once(singles[1:] * 2)[0].group.weight == 2.0


@pytest.mark.parametrize("query", OTHERS)
def test_everything_else_is_left_to_the_planner(collection, query):
    generations = Generations(collection)
    with generations.use() as generation:
        assert understand(generation, query).words is None
    generations.close()


WORDS = st.text(alphabet="tidemon1~é", min_size=1, max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(st.tuples(WORDS, st.sampled_from([1.0, 0.9, 0.7, 0.3])), min_size=1, max_size=4), max_size=4))
def test_words_are_known_as_their_terms_are(snapshot, several):
    """The kernel finds, weighs and packs what the index's own way does, to the last bit, whatever was asked before."""
    words = [QueryWord("", tuple(TermForm(*form) for form in {f[0]: f for f in forms}.values())) for forms in several]
    lexicon = Lexicon(snapshot)
    lexicon.known_all(words[:1])
    addresses = {}
    for word, known in zip(words, lexicon.known_all(words), strict=True):
        terms = [snapshot.known(form.term) for form in word.forms]
        weights = form_weights(word.forms, terms)
        there = [one for one in zip(word.forms, terms, weights, strict=True) if one[1].frequency]
        if not there:
            assert known is None
            continue
        assert known.forms == tuple(form for form, _, _ in there)
        assert known.frequencies == [term.frequency for _, term, _ in there]
        strong = max((term.frequency for form, term, _ in there if form.share >= STRONG_SHARE), default=0)
        assert known.weight == idf(snapshot.live, strong)
        packed, formed = list(iter_unpack("3q", known.packed)), list(iter_unpack("2q2d", known.forms_packed))
        assert [(weight, count) for weight, _, count in packed] == [(w, term.frequency) for _, term, w in there]
        assert [row[0] for row in formed] == [row[1] for row in packed]
        assert [row[1:] for row in formed] == [
            (form.share >= STRONG_SHARE, form.share, term.frequency) for form, term, _ in there
        ]
        assert known.sought == sought_word(known.forms)
        for form, (_, address, _) in zip(known.forms, packed, strict=True):
            assert addresses.setdefault(form.term, address) == address


def test_frequencies_are_those_of_the_index(snapshot):
    terms = ["tide", "nowhere", "~tide", "moon", "tide", "x" * 5_000, "é" * 40]
    for _ in range(2):
        assert Lexicon(snapshot).frequencies(terms) == [snapshot.frequency(term) for term in terms]


def test_lists_take_more_memory_when_there_is_no_room(snapshot, monkeypatch):
    monkeypatch.setattr(search_terms, "CHUNK", 1)
    lexicon, usual = Lexicon(snapshot), TypedWords(Lexicon(snapshot))
    for query in ("tide tables", "moon harbour", "light"):
        found = TypedWords(lexicon).query(texts(query), ("en",))
        expected = usual.query(texts(query), ("en",))
        hits = [snapshot.top_of_lists(*Terms.of(one.words, one.known).lists, 10, 1.0) for one in (found, expected)]
        assert hits[0].size == hits[1].size > 0
        assert hits[0].total == hits[1].total
    assert len(lexicon.kept.chunks) > 2


def test_terms_are_forgotten_when_their_lists_take_too_much(snapshot, monkeypatch):
    monkeypatch.setattr(search_terms, "CHUNKS_KEPT", 0)
    lexicon = Lexicon(snapshot)
    first = lexicon.known(QueryWord("tide", (TermForm("tide"),)))
    before = lexicon.kept
    lexicon.known(QueryWord("moon", (TermForm("moon"),)))
    assert lexicon.kept is not before
    assert list(lexicon.kept.words) == [(TermForm("moon"),)]
    assert first.frequencies == [snapshot.frequency("tide")]


def test_terms_are_forgotten_when_there_are_too_many(snapshot, monkeypatch):
    monkeypatch.setattr(search_terms, "TERMS_KEPT", 100)
    monkeypatch.setattr(search_terms, "SLOTS", 256)
    lexicon = Lexicon(snapshot)
    for number in range(500):
        assert lexicon.frequencies([f"word{number}", "tide"]) == [0, snapshot.frequency("tide")]
        assert 0 < lexicon.kept.terms <= 100


@pytest.mark.parametrize("prefix", ["ti", "nowhere"])
def test_a_prefix_is_known_by_the_words_that_begin_so(snapshot, prefix):
    known = Lexicon(snapshot).known(QueryWord(f"{prefix}*", (), prefix=prefix))
    terms = [term for term, _ in snapshot.prefix(prefix, search_terms.MAX_FORMS)]
    assert (known.terms if known else []) == terms
    if known:
        assert known.sought == sought_word(known.forms, prefix)


def test_too_many_lists_are_left_to_the_planner(snapshot):
    assert snapshot.top_of_lists(b"", [2_000], 10, 1.0) is None
    assert snapshot.top_of_lists(b"", [], 0, 1.0) is None


def test_words_are_forgotten_when_there_are_too_many(snapshot, monkeypatch):
    monkeypatch.setattr(search_terms, "WORDS_KEPT", 3)
    lexicon = Lexicon(snapshot)
    words = TypedWords(lexicon)
    for query in ("tide tables", "moon harbour", "light", "tide tables"):
        assert words.query(texts(query), ("en",)).plan == planned(snapshot, query, ("en",))
        assert sum(map(len, lexicon.kept.typed.values())) <= 3


def test_words_of_a_query_are_known_from_one_memory(snapshot, monkeypatch):
    """However often all is forgotten, words that share a term have one address of it."""
    monkeypatch.setattr(search_terms, "WORDS_KEPT", 3)
    words = TypedWords(Lexicon(snapshot))
    for query in ("tides moon", "tide tides", "light tide", "tides tide"):
        addresses = {}
        for known in words.query(texts(query), ("en",)).known:
            for form, (_, address, _) in zip(known.forms, iter_unpack("3q", known.packed), strict=True):
                assert addresses.setdefault(form.term, address) == address
