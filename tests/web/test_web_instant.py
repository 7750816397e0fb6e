"""Instant answers beside the results: in the API, on the page, for SearXNG's clients."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote_plus

import pytest

from periplus.records import InstantAnswer


def test_the_api_gives_answers_where_they_are_asked_for(client):
    found = client.get("/api/v1/search?q=sqrt(2)%5E3&answers=1&explain=1").json["answers"]

    assert [(one["kind"], one["question"], one["answer"], one["exact"]) for one in found] == [
        ("calculation", "sqrt(2)^3", "2.82842712475", False)
    ]
    assert found[0]["explain"]["value"] == found[0]["score"] == 1.0
    assert client.get("/api/v1/search?q=2%2B2").json["answers"] is None
    assert client.get("/api/v1/search?q=tide&answers=1").json["answers"] == []
    assert client.get("/api/v1/search?q=2%2B2&answers=1").json["answers"][0]["explain"] is None


def test_the_page_shows_an_answer_above_the_results(client):
    page = client.get("/search?q=10+miles+in+km").text
    box = page[page.index('class="instant"') :]

    assert "16.09344 km" in box
    assert "1 mi = 1.609344 km" in box
    assert page.index('class="instant"') < page.index('class="empty"' if 'class="empty"' in page else 'class="results"')


def test_where_an_answer_stands_the_page_does_not_say_that_nothing_helps(client):
    page = client.get("/search?q=teal+hex").text
    assert "No page here matches" in page
    assert "No port of call" not in page
    assert "No port of call" in client.get("/search?q=zzqqxx").text


@pytest.mark.parametrize("query", ["tide", "tide 2", "2+2&page=2", "2+2&tab=news"])
def test_plain_words_and_further_pages_have_none(client, query):
    address = "/search?q=" + (query if "&" in query else quote_plus(query))
    assert 'class="instant"' not in client.get(address.replace("2+2", "2%2B2")).text


def test_a_colour_is_drawn_without_a_style(client):
    page = client.get("/search?q=teal+hex").text
    assert 'fill="#008080"' in page
    assert "style=" not in page


def test_what_is_typed_is_never_markup(client):
    page = client.get(f"/search?q={quote_plus('1+1<script>alert(1)</script>')}").text
    assert "<script>alert" not in page


def test_a_definition_names_the_page_that_gives_it(client, backend):
    class Defined:
        def answers(self, query, *, explain=False):
            return (InstantAnswer("definition", "Ebb", "The <b> tide", "one.test", url="http://one.test/glossary"),)

    backend.answerer = Defined()
    page = client.get("/search?q=define+ebb").text
    assert '<p class="defined" dir="auto">The &lt;b&gt; tide</p>' in page
    assert '<a href="http://one.test/glossary">one.test</a>' in page


def test_searxngs_clients_get_it_too(client):
    found = client.get("/search?q=1%2F3&format=json").json["answers"]
    assert found == [{"answer": "1 / 3 ≈ 0.333333333333", "url": None, "engine": "periplus"}]


def test_the_tag_of_an_answer_changes_with_what_was_computed(client, backend):
    class At:
        now = datetime(2026, 11, 18, 0, 3, tzinfo=UTC)

        def answers(self, query, *, explain=False):
            from periplus.answers import Answerer

            return Answerer().answers(query, self.now, explain=explain)

    backend.answerer = At()
    first = client.get("/api/v1/search?q=time+in+tokyo&answers=1")
    again = client.get("/api/v1/search?q=time+in+tokyo&answers=1", if_none_match=first.headers["etag"])
    At.now = datetime(2026, 11, 18, 0, 4, tzinfo=UTC)
    later = client.get("/api/v1/search?q=time+in+tokyo&answers=1", if_none_match=first.headers["etag"])

    assert first.json["answers"][0]["answer"] == "09:03"
    assert (again.status, later.status) == (304, 200)
    assert later.json["answers"][0]["answer"] == "09:04"
