"""Queries of words only, put together from what is known of each word: the same plans and lists as the long way."""

from __future__ import annotations

from ctypes import c_double, c_int64

import pytest

from periplus.index import IndexStore
from periplus.search import plan, read, typed
from periplus.search.plan import stops
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
OTHERS = ["tide tide", '"tide tables"', "+tide", "foo::bar", "tide*", "site:example.org", "the the", "tide -moon"]
LANGUAGES = [("en",), ("",), ("en", "de"), ("de", "en", "fr")]


@pytest.fixture
def snapshot(collection):
    with IndexStore(collection / "index").open() as opened:
        yield opened


def planned(snapshot, query, languages):
    def frequent(word):
        return stops(word, languages[0] or "-") or is_frequent(snapshot, word)

    return plan(read(query), languages, frequent)


@pytest.mark.parametrize("languages", LANGUAGES)
@pytest.mark.parametrize("query", QUERIES)
def test_words_make_the_plan_that_the_planner_makes(snapshot, query, languages):
    words = TypedWords(Lexicon(snapshot))
    for _ in range(2):  # new words, then known ones
        found = words.query(read(query), languages)
        assert found.plan == planned(snapshot, query, languages)
        assert [word.text for word in found.words] == [
            word.text for word in found.plan.words if any(snapshot.frequency(form.term) for form in word.forms)
        ]


@pytest.mark.parametrize("languages", LANGUAGES)
@pytest.mark.parametrize("query", QUERIES)
def test_packed_lists_find_what_the_plan_finds(snapshot, query, languages):
    found = TypedWords(Lexicon(snapshot)).query(read(query), languages)
    terms = Terms.of(found.words, found.known)
    assert terms.sought == Terms(Lexicon(snapshot), found.plan.words).sought
    if not found.plan.empty:
        for k in (1, 3, 100):
            expected = snapshot.top(found.plan.query, k, prior_weight=1.0)
            hits = snapshot.top_of_lists(*terms.lists, k, 1.0)  # good until the next search
            assert list((c_int64 * hits.size).from_address(hits.numbers)) == expected.numbers.tolist()
            assert list((c_double * hits.size).from_address(hits.scores)) == expected.scores.tolist()
            assert hits.total == expected.total


@pytest.mark.parametrize("query", OTHERS)
def test_everything_else_is_left_to_the_planner(snapshot, query):
    assert TypedWords(Lexicon(snapshot)).query(read(query), ("en",)) is None


def test_too_many_lists_are_left_to_the_planner(snapshot):
    assert snapshot.top_of_lists(b"", [2_000], 10, 1.0) is None
    assert snapshot.top_of_lists(b"", [], 0, 1.0) is None


def test_words_are_forgotten_when_there_are_too_many(snapshot, monkeypatch):
    monkeypatch.setattr(typed, "WORDS_KEPT", 3)
    words = TypedWords(Lexicon(snapshot))
    for query in ("tide tables", "moon harbour", "light", "tide tables"):
        assert words.query(read(query), ("en",)).plan == planned(snapshot, query, ("en",))
    assert sum(map(len, words._tables.values())) <= 4
