"""The time budget holds for everything that a query may ask: explanations, counts, deep pages of a hundred results."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from types import SimpleNamespace

import pytest
from search_samples import PATIENT, build, page

from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.shards.broker import Broker
from support.own_time import own_seconds

LATE = SimpleNamespace(perf_counter=lambda: 1e12, time=time.time)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("budget")
    build(folder, [page(f"https://h{i}.example/", f"Walrus {i}", "walrus tusk " * (i % 7 + 1)) for i in range(1_500)])
    opened = Engine(folder, PATIENT)
    opened.search(SearchRequest("the first answer has more time"))
    yield opened
    opened.close()


def asked_of_shards(engine, monkeypatch, **options) -> Counter[str]:
    """How often a search asks shards for something."""
    counts: Counter[str] = Counter()
    for name in ("top", "known", "show"):
        whole = getattr(Broker, name, None)
        if whole is None:
            continue

        def counted(self, *given, name=name, whole=whole, **named):
            counts[name] += 1
            return whole(self, *given, **named)

        monkeypatch.setattr(Broker, name, counted)
    answer = engine.search(SearchRequest("walrus", **options))
    monkeypatch.undo()
    assert len(answer.results) == options.get("size", 10)
    return counts


def test_explanations_of_a_page_are_made_from_one_look_at_the_candidates(engine, monkeypatch):
    ten = asked_of_shards(engine, monkeypatch, explain=True)
    hundred = asked_of_shards(engine, monkeypatch, explain=True, size=100)

    assert ten["top"]
    assert hundred == ten


def test_every_explanation_is_that_of_its_result(engine):
    answer = engine.search(SearchRequest("walrus tusk", explain=True, size=100))

    assert all(result.explain is not None for result in answer.results)
    assert all(abs(result.explain.value - result.score) < 1e-6 for result in answer.results if result.rank <= 50)


def test_after_the_deadline_a_page_has_its_results_without_explanations(engine, monkeypatch):
    request = SearchRequest("walrus", explain=True, size=100)
    monkeypatch.setattr("periplus.search.answering.answers.time", LATE)
    answer = engine.search(request)
    monkeypatch.undo()

    assert len(answer.results) == 100
    assert {result.explain for result in answer.results} == {None}
    assert all(result.title and result.snippet for result in answer.results)
    assert "budget" in answer.degraded
    whole = engine.search(request)
    assert [result.id for result in whole.results] == [result.id for result in answer.results]
    assert "budget" not in whole.degraded


def test_after_the_deadline_matches_are_not_counted_by_filter(engine, monkeypatch):
    request = SearchRequest("walrus", counts=True)
    monkeypatch.setattr("periplus.search.answering.searching.time", LATE)
    answer = engine.search(request)
    monkeypatch.undo()

    assert answer.counts is None
    assert "budget" in answer.degraded
    assert engine.search(request).counts is not None


def test_after_the_deadline_no_more_hits_are_asked_for(engine, monkeypatch):
    """A deep page is asked for in steps, since hosts and near-duplicates take from what was found."""
    request = SearchRequest("walrus", page=10, size=100, sort="date")
    monkeypatch.setattr("periplus.search.ordering.listing.time", LATE)
    monkeypatch.setattr("periplus.search.ordering.listing.arranged", _half())
    answer = engine.search(request)
    monkeypatch.undo()

    assert "budget" in answer.degraded
    assert answer.total.value == 1_500
    assert len(engine.search(request).results) == 100


def _half():
    """Near-duplicates that take half of every list, as a collection of copies would have it."""
    from msgspec import structs

    from periplus.search.ordering import listing

    whole = listing.arranged

    def arranged(task, ranking, wanted):
        found = whole(task, ranking, wanted)
        return structs.replace(found, numbers=found.numbers[::2], scores=found.scores[::2])

    return arranged


def test_the_slowest_questions_keep_within_the_budget_of_processor_time(engine):
    """By the clock of this thread, so that a busy machine does not count."""
    limit = 0.5
    for options in ({"explain": True, "size": 100}, {"counts": True}, {"page": 10, "size": 100, "explain": True}):
        for query in ("walrus", "wal* tus* h*", '"walrus tusk"', "-walrus tusk", "site:h7.example walrus"):
            assert own_seconds(partial(engine.search, SearchRequest(query, **options))) < limit, (query, options)
