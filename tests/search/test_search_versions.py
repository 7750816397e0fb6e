"""Versions are compared as versions, where a query asks for what is new."""

from __future__ import annotations

import random
from contextlib import closing

import pytest
from search_samples import PATIENT, build, day, page

from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.ordering.versions import in_order, version_of

ARTICLE = {"@type": "NewsArticle", "datePublished": "2026-03-01"}


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("/docs/release-15-3.html", (15, 3)),
        ("/releaselog/3_40_1.html", (3, 40, 1)),
        ("Release 16", (16,)),
        ("What is new in 3.10", (3, 10)),
        ("/2019-11-19/", (2019, 11, 19)),
        ("/intro/tutorial05.html", ()),
        ("Chapter 7", ()),
    ],
)
def test_what_is_a_version(text, version):
    assert version_of(text) == version


def test_a_series_takes_its_places_newest_first():
    pages = [
        ("https://a.example/new-3.9.html", "What is new in 3.9"),
        ("https://b.example/", "Something else"),
        ("https://a.example/new-3.10.html", "What is new in 3.10"),
        ("https://a.example/old-4.0.html", "What was old in 4.0"),  # of no series with the others
        ("https://a.example/new-3.2.html", "What is new in 3.2"),
    ]
    assert in_order(pages) == [2, 1, 0, 3, 4]
    assert in_order([]) == []


def test_the_newest_release_is_first_only_for_those_who_ask(tmp_path):
    numbers = list(range(1, 13))
    random.Random(5).shuffle(numbers)
    notes = [
        page(f"https://a.example/notes-2.{n}.html", f"Release notes 2.{n}", f"notes of the release {'fix ' * n}")
        for n in numbers
    ]
    build(tmp_path, [*notes, page("https://b.example/", "Lanterns", "lanterns")])
    with closing(Engine(tmp_path, PATIENT)) as engine:

        def titles(query, **options):
            return [result.title for result in engine.search(SearchRequest(query, size=20, **options))]

        newest = [f"Release notes 2.{n}" for n in range(12, 0, -1)]
        assert titles("latest release notes") == newest
        assert titles("latest release notes", explain=True) == newest
        assert titles("release notes") != newest


def test_who_wants_nothing_but_news_gets_the_newest(tmp_path):
    news = [
        page(f"https://n{i}.example/", f"Story {i}", "storm", published=day(f"2026-0{i}-01"), structured=(ARTICLE,))
        for i in range(1, 6)
    ]
    build(tmp_path, [*news, page("https://b.example/", "News", "The news page, with news of today, latest news.")])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        for query in ("latest news", "news today", "the latest news of today", "Schlagzeilen heute"):
            found = [result.title for result in engine.search(SearchRequest(query))]
            assert found == [f"Story {i}" for i in range(5, 0, -1)], query
        assert engine.search(SearchRequest("news")).results[0].title == "News"
        assert engine.search(SearchRequest("latest storm")).results[0].title == "Story 5"


def test_news_are_listed_by_time_and_relevance(tmp_path):
    """An old article that says a word twice stands behind the one of yesterday."""
    old = page("https://a.example/", "Storm", "storm and storm", published=day("2026-01-01"), structured=(ARTICLE,))
    new = page("https://b.example/", "Storm", "a storm rose", published=day("2026-11-01"), structured=(ARTICLE,))
    build(tmp_path, [old, new, page("https://c.example/", "Storm", "storm")])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        answer, _ = engine.search_tab(SearchRequest("storm"), "news")
        assert [result.url for result in answer] == [new.url, old.url]
