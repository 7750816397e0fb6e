"""What a collection knows of the words of queries, and of its own statistics."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.index import IndexStore
from periplus.index.retrieval.query import STRONG_SHARE, TermForm
from periplus.index.retrieval.weights import idf
from periplus.search.query import lexicon as lexicons
from periplus.search.query.lexicon import lexicon_of
from periplus.search.query.plan import QueryWord

WORDS = st.text(alphabet="tidemon1~\u00e9", min_size=1, max_size=5)


@pytest.fixture(scope="module")
def snapshot(collection):
    with IndexStore(collection / "index").open() as opened:
        yield opened


def word(text, *forms, weight=1.0):
    return QueryWord(text, tuple(TermForm(*form) for form in forms), weight)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(st.tuples(WORDS, st.sampled_from([1.0, 0.9, 0.7, 0.3])), min_size=1, max_size=4), max_size=4))
def test_a_word_is_known_by_its_forms_that_occur(snapshot, several):
    words = [word(str(place), *{form[0]: form for form in forms}.values()) for place, forms in enumerate(several)]
    known = {one.text: one for one in lexicon_of(snapshot).known(words)}
    for asked in words:
        there = [form for form in asked.forms if snapshot.frequency(form.term)]
        assert (asked.text in known) == bool(there)
        if there:
            found = known[asked.text]
            assert found.forms == tuple(there)
            assert found.frequencies == tuple(snapshot.frequency(form.term) for form in there)
            strong = [snapshot.frequency(form.term) for form in there if form.share >= STRONG_SHARE]
            assert found.idf == idf(snapshot.live, max(strong, default=0))


def test_words_stay_in_their_order_with_their_weights(snapshot):
    asked = [word("tide", ("tide",), weight=2.0), word("nowhere", ("nowhere",)), word("moon", ("moon",))]
    assert [(one.text, one.weight) for one in lexicon_of(snapshot).known(asked)] == [("tide", 2.0), ("moon", 1.0)]


def test_a_word_has_at_most_so_many_forms(snapshot):
    forms = [("nowhere" + "x" * place,) for place in range(lexicons.MAX_FORMS)]
    assert lexicon_of(snapshot).known([word("tide", *forms, ("tide",))]) == ()
    (known,) = lexicon_of(snapshot).known([word("tide", *forms[1:], ("tide",))])
    assert [form.term for form in known.forms] == ["tide"]


def test_frequencies_are_those_of_the_index(snapshot):
    terms = ["tide", "nowhere", "~tide", "moon", "tide", "x" * 5_000, "\u00e9" * 40]
    lexicon = lexicon_of(snapshot)
    for _ in range(2):
        assert lexicon.frequencies(terms) == [snapshot.frequency(term) for term in terms]


@pytest.mark.parametrize("prefix", ["ti", "nowhere"])
def test_a_prefix_is_known_by_the_most_frequent_words_that_begin_so(snapshot, prefix):
    lexicon = lexicon_of(snapshot)
    terms = [term for term, _ in snapshot.prefix(prefix, lexicons.MAX_BEGINNING)]
    known = lexicon.known([QueryWord(f"{prefix}*", (), prefix=prefix)])
    assert [form.term for one in known for form in one.forms] == terms[: lexicons.MAX_FORMS]
    assert [form.term for form in lexicon.beginning(prefix)] == terms


def test_what_is_known_is_forgotten_when_it_is_too_much(snapshot, monkeypatch):
    monkeypatch.setattr(lexicons, "TERMS_KEPT", 10)
    monkeypatch.setattr(lexicons, "BEGINNINGS_KEPT", 3)
    lexicon = lexicon_of(snapshot)
    for number in range(50):
        assert lexicon.frequencies([f"word{number}", "tide"]) == [0, snapshot.frequency("tide")]
        assert len(lexicon.known([word("tide", ("tide",), (f"word{number}",))])) == 1
        lexicon.beginning(f"ti{number}")
        assert max(len(lexicon._frequencies), len(lexicon._words)) <= 10
        assert len(lexicon._beginnings) <= 3


def test_a_stop_word_that_is_rare_here_means_something(snapshot):
    lexicon = lexicon_of(snapshot)
    assert lexicon.is_frequent("tide")
    assert not lexicon.is_frequent("nowhere")
