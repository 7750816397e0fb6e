"""Explanations: of scores, and of pages that were not found."""

from __future__ import annotations

import pytest
from search_samples import PATIENT, build, page

from periplus.ranking import PROFILES
from periplus.records import SearchRequest
from periplus.search import Engine
from support.explanations import check

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


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """More pages with a word than are re-ranked, and one that says it worst."""
    folder = tmp_path_factory.mktemp("crowded")
    pages = [page(f"https://h{i}.example/", f"Walrus {i}", "walrus " * 3) for i in range(300)]
    last = page("https://last.example/", "Other", "nothing " * 400 + "walrus")
    build(folder, [*pages, last])
    engine = Engine(folder, PATIENT)
    yield engine
    engine.close()


def test_a_page_behind_the_re_ranked_ones_says_its_rank(crowded):
    found = crowded.explain("walrus", "https://last.example/")
    assert found.value > 0
    assert "rank 301, ordered by the first pass" in found.formula
    answer = crowded.search(SearchRequest("walrus"))
    first = crowded.explain("walrus", answer.results[0].url)
    assert f"rank 1 of {answer.total.value}" in first.formula


def test_reasons_add_up(engine):
    found = engine.explain("+starfish lang:de -moon tide", "https://harbour.example/tides")
    names = [part.name for part in found.parts]
    assert "filtered: lang" in names
    assert "missing: starfish" in names
    assert "excluded: moon" in names
