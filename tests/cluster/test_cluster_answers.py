"""Over HTTP, any number of shards answers as one index does: every kind of request, the same to the last bit."""

from __future__ import annotations

import msgspec
import pytest
from cluster_samples import NOW, PATIENT, build, serving
from msgspec import structs

from periplus.ranking import PROFILES
from periplus.records import SearchRequest
from periplus.search import Engine

QUERIES = [
    *("tide", "tide tables moon", "the tables of the tide", "harbour tides tide", "nowhere", "storm lantern keeper"),
    *("moon -storm", '"tide tables"', "tid*", "-char* moon", "+moon tide", "+tide +storm +rope", "moon OR storm"),
    *("tide 2027 news", "lang:de tide", "intitle:moon", "intitle:tab*", "site:a.example", "site:a.example tide"),
    *("-site:b.example storm", "before:2026-01-01 tide", "after:2026-06-01 rope", "a.example", "https://a.example/"),
    *("tidez", "harbuor lihgt", "icecream", "moon nowhere", '"harbour light" OR "storm tide"', "tide " * 9, ""),
]
OPTIONS = [
    {},
    {"page": 2, "size": 7},
    {"page": 12, "size": 10},
    {"page": 10, "size": 100},
    {"sort": "date"},
    {"duplicates": True, "counts": True},
    {"explain": True, "size": 3},
    {"lens": "raise:a.example,lower:b.example,block:c.example"},
    {"lens": "pin:d.example"},
    {"safe": True, "reader": "de"},
    *({"profile": name, "size": 5, "explain": True} for name in PROFILES if name != "periplus"),
]


@pytest.fixture(scope="module", params=[1, 2, 4, 7])
def engines(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    build(folder, 1)
    whole = Engine(folder, PATIENT)
    whole.search(SearchRequest("tide"))  # opens it before it is parted
    apart = tmp_path_factory.mktemp("apart")
    build(apart, request.param)
    with serving(apart, [[number] for number in range(request.param)]) as (engine, _, _):
        yield whole, engine
    whole.close()


def plain(answer):
    return msgspec.to_builtins(structs.replace(answer, took_ms=0.0, generation=0))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_shards_over_http_answer_as_one_index(engines, options, monkeypatch):
    monkeypatch.setattr("time.time", lambda: NOW)
    whole, cut = engines
    for query in QUERIES:
        request = SearchRequest(query, **options)
        assert plain(cut.search(request)) == plain(whole.search(request)), query


def test_documents_suggestions_and_explanations_are_the_same(engines, monkeypatch):
    monkeypatch.setattr("time.time", lambda: NOW)
    whole, cut = engines
    urls = [result.url for result in whole.search(SearchRequest("tide", size=4)).results]
    for url in urls:
        assert cut.stored(url) == whole.stored(url)
        assert cut.similar(url, 5) == whole.similar(url, 5)
        for query in ("tide tables", "-tide moon", "site:nowhere.example tide", "lang:de moon"):
            assert cut.explain(query, url) == whole.explain(query, url)
    assert cut.ranking("tide tables", 50) == whole.ranking("tide tables", 50)
    assert cut.suggest("ti") == whole.suggest("ti")
    assert cut.tabs == whole.tabs
    assert cut.search_tab(SearchRequest("tide"), "news")[1] == whole.search_tab(SearchRequest("tide"), "news")[1]
