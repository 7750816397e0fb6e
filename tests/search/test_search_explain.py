"""Explanations: of scores, and of pages that were not found."""

from __future__ import annotations

import pytest

from periplus.ranking import PROFILES, check
from periplus.records import SearchRequest

TIDES = "https://harbour.example/tides"


def reasons(explanation):
    return [part.name for part in explanation.parts]


@pytest.mark.parametrize("name", PROFILES)
def test_it_equals_the_score_of_the_search(engine, name):
    answer = engine.search(SearchRequest("tide tables", profile=name))
    first = answer.results[0]
    explanation = engine.explain("tide tables", first.url, name)
    assert check(explanation) == ""
    assert explanation.value == pytest.approx(first.score)
    assert "rank 1 of 11" in explanation.formula


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("walrus", ["missing: walrus"]),
        ("+starfish tide", ["missing: starfish"]),
        ('"high moon"', ['missing: "high moon"']),
        ("starfish OR walrus", ["missing: starfish OR walrus"]),
        ("tide -moon", ["excluded: moon"]),
        ("tide site:charts.example", ["filtered: site"]),
        ("tide lang:de", ["filtered: lang"]),
        ("tide filetype:pdf", ["filtered: filetype"]),
        ("tide before:2020", ["filtered: before"]),
        ("tide after:2026", ["filtered: after"]),
        ("tide -site:harbour.example", ["filtered: -site"]),
        ("intitle:moon", ["missing: intitle:moon"]),
        ("walr*", ["missing: walr*"]),
    ],
)
def test_why_a_page_is_not_found(engine, query, said):
    explanation = engine.explain(query, TIDES)
    assert explanation.name == "not found"
    assert explanation.value == 0
    assert reasons(explanation) == said


def test_a_page_that_is_not_in_the_index(engine):
    explanation = engine.explain("tide", "https://nowhere.example/")
    assert explanation.name == "not found"
    assert "not in the index" in explanation.formula


@pytest.mark.parametrize("url", ["", "\ud800", "not an address", "doc-1"])
def test_any_text_may_be_given_as_address(engine, url):
    engine.explain("tide", url)


def test_a_query_for_nothing(engine):
    assert "asks for nothing" in engine.explain("", TIDES).formula
