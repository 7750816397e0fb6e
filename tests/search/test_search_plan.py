"""From readings to what the index is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.index.retrieval.query import Filters
from periplus.search import plan, read
from periplus.search.query.conditions import timestamp
from periplus.search.query.plan import COMPOUND_WEIGHT, MAX_CHOICES, MAX_SCORING


def made(text, **options):
    return plan(read(text), **options)


def exact(groups):
    return [group.forms[0].term for group in groups if group.forms]


def test_words_are_optional_and_stemmed():
    query = made("tides tables").query
    assert exact(query.should) == ["tides", "tables"]
    assert {form.term for form in query.should[0].forms} == {"tides", "~tide"}
    assert not query.must
    assert not query.any_of


def test_a_phrase_is_required_in_its_exact_words():
    query = made('"tide tables" moon').query
    assert query.must[0].phrase == ("tide", "tables")
    assert exact(query.should) == ["moon"]


def test_a_phrase_of_one_word_is_that_word_exactly():
    query = made('"tides"').query
    assert [form.term for form in query.must[0].forms] == ["tides"]


def test_signs():
    query = made("+tides -moons x").query
    assert {form.term for form in query.must[0].forms} == {"tides", "~tide"}
    assert [form.term for form in query.must_not[0].forms] == ["moons"]  # not the stem: moon may stay
    assert exact(query.should) == ["x"]


def test_choices():
    query = made("(tide OR flood) harbour").query
    assert [exact(choice) for choice in query.any_of] == [["tide", "flood"]]
    assert exact(query.should) == ["harbour"]


def test_a_choice_of_brackets_is_distributed():
    query = made("(+a +b) OR c").query
    assert [exact(choice) for choice in query.any_of] == [["a", "c"], ["b", "c"]]


def test_a_choice_of_plain_brackets_is_one_choice():
    assert [exact(choice) for choice in made("(aa bb) OR cc").query.any_of] == [["aa", "bb", "cc"]]


def test_required_brackets():
    assert [exact(choice) for choice in made("+(aa bb) cc").query.any_of] == [["aa", "bb"]]


def test_forbidden_brackets():
    assert exact(made("tide -(aa bb)").query.must_not) == ["aa", "bb"]


def test_too_many_choices_become_one():
    text = " OR ".join(f"(+a{i} +b{i})" for i in range(6))
    query = made(text).query
    assert len(query.any_of) == 1
    assert len(query.any_of[0]) == 12
    assert len(made("(+a +b) OR (+c +d)").query.any_of) <= MAX_CHOICES


def test_fields_are_required():
    query = made('intitle:tide inurl:"old log"').query
    assert query.must[0].field == "title"
    assert query.must[1].field == "address"
    assert query.must[1].phrase == ("old", "log")


def test_prefix():
    made_plan = made("tide port*")
    assert made_plan.query.should[1].prefix == "port"
    assert made_plan.words[1].prefix == "port"


def test_compound_words_also_count_as_a_phrase():
    query = made("std::sort").query
    assert exact(query.should) == ["std", "sort"]
    assert query.should[2].phrase == ("std", "sort")
    assert query.should[2].weight == COMPOUND_WEIGHT


def test_a_word_asked_twice_weighs_double():
    made_plan = made("tide tide moon")
    assert [group.weight for group in made_plan.query.should] == [2.0, 1.0]
    assert [word.weight for word in made_plan.words] == [2.0, 1.0]


def test_stop_words_go_when_there_are_others():
    made_plan = made("how is the tide related to the moon")
    assert exact(made_plan.query.should) == ["tide", "related", "moon"]
    assert made_plan.ignored == ("how", "is", "the", "to", "the")


@pytest.mark.parametrize("text", ["to be or not to be", "the", "the -moon", "the site:harbour.example"])
def test_stop_words_stay_when_there_is_nothing_else(text):
    assert made(text).query.should


def test_stop_words_stay_in_phrases_and_under_a_sign():
    assert made('"the tide"').query.must[0].phrase == ("the", "tide")
    assert exact(made("+the tide").query.must) == ["the"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("std::vector::at", ["std", "vector", "at"]),
        ("where is the std::ops::Not described in detail", ["std", "ops", "not", "described", "detail"]),
        ("C++ keywords: for", ["c++", "keywords", "for"]),
        ("From in std::convert", ["from", "in", "std", "convert"]),
    ],
)
def test_stop_words_count_in_names_and_among_few_words(text, words):
    assert [word.text for word in made(text).words] == words


def test_signs_count_where_documents_have_them():
    assert exact(made("fn main()").query.should) == ["fn", "main()"]
    plain = plan(read('main() "fn main()" -main()'), occurs=lambda term: "(" not in term).query
    assert exact(plain.should) == ["main"]
    assert plain.must[0].phrase == ("fn", "main")
    assert exact(plain.must_not) == ["main"]


def test_a_stop_word_that_is_rare_here_means_something():
    assert exact(made("die hard", frequent=lambda word: word != "die").query.should) == ["die", "hard"]


def test_of_a_long_query_the_most_telling_words_stay():
    text = " ".join(f"w{i}" for i in range(MAX_SCORING + 20))
    made_plan = plan(read(text), telling=lambda word: float(word.text[1:]))
    assert made_plan.cut
    assert [word.text for word in made_plan.words] == [f"w{i}" for i in range(20, MAX_SCORING + 20)]
    assert exact(made_plan.query.should) == [f"w{i}" for i in range(20, MAX_SCORING + 20)]
    assert not made("tide tables").cut


@pytest.mark.parametrize("joint", [" ", " +", " -", " OR ", '" "', "* ", " intitle:", "-"])
def test_no_query_asks_the_index_for_too_much(joint):
    text = joint.join(f"w{i}" for i in range(300))
    query = made(text).query
    for groups in (query.should, query.must, query.must_not, [g for choice in query.any_of for g in choice]):
        assert len(groups) <= MAX_SCORING


def test_filters():
    filters = made("x site:a.example site:b.example lang:de filetype:pdf before:2025 after:2024-06").query.filters
    assert filters == Filters(
        ("a.example", "b.example"), ("de",), ("application/pdf",), timestamp("2025-01-01"), timestamp("2024-06-01")
    )


def test_filters_in_a_choice_are_taken_together():
    assert made("site:a.example OR site:b.example").query.filters.sites == ("a.example", "b.example")


def test_excluded_filters_stand_apart():
    made_plan = made("tide -site:a.example -lang:de")
    assert made_plan.query.excluded == Filters(("a.example",), ("de",))
    assert made_plan.query.filters == Filters()


def test_only_filters_browse_and_nothing_is_empty():
    assert made("lang:de").browses
    assert made("link:a.example").browses
    assert made("").empty
    assert made("-tide").empty
    assert not made("tide").empty


def test_stems_of_several_languages():
    forms = {form.term for form in made("Häfen", languages=("de", "en")).query.should[0].forms}
    assert "häfen" in forms
    assert len({term for term in forms if term.startswith("~")}) == 2


def test_scripts_without_spaces_are_pairs_without_a_loose_tail():
    query = made("日本語").query
    assert exact(query.should) == ["日本", "本語"]
    assert query.should[-1].phrase == ("日本", "本語")


@given(st.text(max_size=120))
def test_any_text_can_be_planned(text):
    made_plan = made(text)
    assert all(word.forms or word.prefix for word in made_plan.words)
    assert len(made_plan.query.any_of) <= MAX_CHOICES
