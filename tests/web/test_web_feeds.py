"""Result lists in other programs' shapes."""

from __future__ import annotations

import datetime
from xml.etree import ElementTree

import pytest
from fake_backend import Note

ATOM = "{http://www.w3.org/2005/Atom}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"


def test_searxng_shape(client):
    content = client.get("/search?q=tide&format=json").json

    assert {"query", "number_of_results", "results", "answers", "corrections", "infoboxes", "suggestions"} <= set(
        content
    )
    assert content["number_of_results"] == 33
    assert {"url", "title", "content", "engine", "score", "parsed_url", "publishedDate"} <= set(content["results"][0])
    assert content["results"][0]["parsed_url"][1] == "tides.test"


def test_searxng_parameters_are_understood_and_others_ignored(client, backend):
    client.get("/search?q=tide&format=json&pageno=2&language=de-DE&safesearch=1&time_range=month&categories=general")
    asked = backend.requests[-1]

    assert (asked.page, asked.language, asked.safe) == (2, "de", True)
    assert datetime.date.fromisoformat(asked.after) < datetime.datetime.now(datetime.UTC).date()
    client.get("/search?q=tide&format=json&pageno=zero&language=all&time_range=aeon")
    assert (backend.requests[-1].page, backend.requests[-1].language, backend.requests[-1].after) == (1, "", "")


def test_rss(client):
    answer = client.get("/search?q=tide&format=rss")
    channel = ElementTree.fromstring(answer.text).find("channel")

    assert answer.media_type == "application/rss+xml"
    assert channel.findtext("title") == "tide · Periplus"
    assert channel.findtext("link") == "http://127.0.0.1:8080/search?q=tide&sort=date"
    assert channel.findtext(f"{OPENSEARCH}totalResults") == "33"
    assert len(channel.findall("item")) == 10
    assert channel.find("item").findtext("link") == "http://tides.test/tables/"
    assert channel.find("item").findtext("pubDate") == "Sat, 02 Nov 2024 00:00:00 +0000"


def test_atom(client):
    answer = client.get("/search?q=tide&format=atom")
    feed = ElementTree.fromstring(answer.text)

    assert answer.media_type == "application/atom+xml"
    assert len(feed.findall(f"{ATOM}entry")) == 10
    assert all(entry.findtext(f"{ATOM}updated").endswith("+00:00") for entry in feed.findall(f"{ATOM}entry"))


@pytest.mark.parametrize("kind", ["rss", "atom"])
def test_feeds_stay_well_formed_whatever_was_indexed(client, backend, kind):
    backend.notes = [Note("http://x.test/\x07?a=1&b=<", "]]> & \x00\x08\x0b\ufffe <b>", "tide \x1b <script> &amp;")]
    root = ElementTree.fromstring(client.get(f"/search?q=tide%00&format={kind}").text)

    assert "<script>" in "".join(root.itertext())


def test_opensearch_description(client):
    answer = client.get("/opensearch.xml", host="search.test")
    addresses = {
        url.get("type"): url.get("template") for url in ElementTree.fromstring(answer.text).iter(f"{OPENSEARCH}Url")
    }

    assert answer.media_type == "application/opensearchdescription+xml"
    assert addresses["text/html"] == "http://search.test/search?q={searchTerms}&page={startPage?}"
    assert addresses["application/x-suggestions+json"].endswith("/api/v1/suggest?q={searchTerms}&format=opensearch")


def test_robots_and_favicon(client):
    assert "Disallow: /search" in client.get("/robots.txt").text
    answer = client.get("/favicon.ico")
    assert answer.status == 308
    assert client.get(answer.headers["location"]).media_type == "image/svg+xml"


def test_static_files_are_kept_for_ever_under_their_hash(client):
    named = client.get("/").text.split('rel="stylesheet" href="')[1].split('"')[0]
    answer = client.get(named)

    assert "immutable" in answer.headers["cache-control"]
    assert client.get("/static/style.css").headers["cache-control"] == "no-cache"
    assert client.get(named, if_none_match=answer.headers["etag"]).status == 304
    assert client.get("/static/..%2fapi.py").status == 404
