"""Pages made to hurt: each ends soon, with a document or with a ParseError that says why."""

from __future__ import annotations

import json
import time

import pytest

from periplus.documents import READERS, bounds, parse
from periplus.documents.html import walk
from periplus.errors import ParseError
from periplus.records import Page

URL = "https://example.org/"
# Far above what any of these takes here, far below a hang; the bound of the room itself is bounds.SECONDS.
PATIENCE = 20.0

PAGES = {
    "200,000 nested tags": "<div>" * 200_000 + "deep words",
    "200,000 nested inline tags": "<b>" * 200_000 + "deep words",
    "nested formatting and blocks": "<a><b><p>" * 20_000 + "</a></b></p>" * 20_000 + "deep words",
    "nested tables": "<table>" * 50_000 + "deep words",
    "100,000 attributes": "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">deep words",
    "one attribute 200,000 times": "<p " + "class=nav " * 200_000 + ">deep words",
    "a class of one megabyte": f'<div class="{"menu-" * 200_000}">deep words</div><p>deep words',
    "5 MB of one line": "deep words " * 500_000,
    "5 MB of one word": "<p>deep words</p>" + "x" * 5_000_000,
    "a million angle brackets": "deep words" + "<" * 1_000_000,
    "a million ampersands": "deep words" + "&" * 1_000_000,
    "comments that never end": "deep words" + "<!--" * 300_000,
    "50,000 headings": "<h1>deep words</h1>" * 50_000,
    "100,000 links": '<a href="/deep">deep words</a>' * 100_000,
    "30,000 areas": '<p>deep words<area href="/x">' * 30_000,
    "10,000 metas": '<meta name="robots" content="index">' * 10_000 + "deep words",
    "nulls": "<p>deep\x00 words\x00</p>" * 1000,
    "nested JSON-LD": f'<script type="application/ld+json">{"[" * 100_000}</script>deep words',
    "deep JSON-LD": '<script type="application/ld+json">' + '{"a":' * 900 + "1" + "}" * 900 + "</script>deep words",
    "wide JSON-LD": f'<script type="application/ld+json">[{"{},".rstrip() * 100_000}{{}}]</script>deep words',
    "unpaired surrogates": '<script type="application/ld+json">{"name": "\\ud800x"}</script>deep words &#xD800;',
    "wrapped JSON-LD": '<script type="application/ld+json">{} -->' + " " * 300_000 + "x</script>deep words",
    "a style of spaces": f'<p style="{" " * 500_000}">deep words',
    "a refresh of nonsense": f'<meta http-equiv=refresh content="{"9" * 5000}; url={"x" * 5000}">deep words',
    "hidden upon hidden": "<p hidden>" * 50_000 + "</p>" * 50_000 + "<div>deep words",
    "anchors without end": "<a href=x>" * 100_000 + "deep words",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_ends_soon(name):
    began = time.process_time()
    found = parse(Page(URL, PAGES[name].encode(), "text/html; charset=utf-8", fetched=1.7e9))
    assert time.process_time() - began < PATIENCE
    assert "deep" in found.text + found.boilerplate
    assert "\x00" not in found.text
    assert len(found.text) <= bounds.TEXT_CHARS
    assert len(found.links) <= bounds.LINKS
    json.dumps(found.structured).encode("utf-8")


def test_a_page_of_50_megabytes_is_cut_and_says_so():
    found = parse(Page(URL, b"deep words " * 4_800_000, "text/html; charset=utf-8"))
    assert found.signals["truncated"] == 1.0
    assert len(found.text) == bounds.TEXT_CHARS


def test_long_headers_do_not_hurt():
    headers = (("Link", "<a>" + "; " * 50_000), ("X-Robots-Tag", "a:" * 50_000), ("Last-Modified", " " * 100_000))
    began = time.process_time()
    parse(Page(URL, b"<p>deep words", "text/html; charset=" + " " * 100_000, headers))
    assert time.process_time() - began < PATIENCE


def test_a_body_beyond_the_bound_is_refused():
    with pytest.raises(ParseError) as caught:
        parse(Page(URL, bytes(bounds.BODY_BYTES + 1), "text/html"))
    assert caught.value.reason == "parse-bound"


def test_the_walk_stops_at_its_bound_of_elements(monkeypatch):
    monkeypatch.setattr(bounds, "ELEMENTS", 10_000)
    found = parse(Page(URL, b"<p>deep words</p>" * 50_000, "text/html"))
    assert found.signals["truncated"] == 1.0
    assert 0 < found.text.count("deep") < 20_000


def test_the_walk_stops_at_its_bound_of_time(monkeypatch):
    monkeypatch.setattr(bounds, "SECONDS", 0.0)
    found = walk.walk("<p>deep words</p>" * 50_000)
    assert found.truncated


def test_structured_data_is_cut_to_size():
    value = '{"@type": "Article", "name": "' + "x" * 5000 + '", "parts": [' + ",".join(["1"] * 5000) + "]}"
    page = f'<script type="application/ld+json">{value}</script>' * 3
    found = parse(Page(URL, page.encode(), "text/html"))
    assert len(found.structured[0]["name"]) == bounds.JSON_STRING_CHARS
    assert sum(len(item.get("parts", ())) for item in found.structured) <= bounds.JSON_VALUES


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<a>" * 300_000, "application/xml"),
        (b"<rss><channel>" + b"<item><title>deep</title></item>" * 50_000, "application/rss+xml"),
        (b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><rss>&b;</rss>', "application/rss+xml"),
        (b"[" * 500_000, "text/markdown"),
        (b"![](" * 200_000, "text/markdown"),
        (b"*_`" * 300_000, "text/markdown"),
        (b"<!--" * 200_000, "text/markdown"),
        (b"# a" + b" " * 500_000 + b"b", "text/markdown"),
        (b"[a](" + b"b" * 500_000, "text/markdown"),
        (b"- " * 500_000 + b"x", "text/markdown"),
        (b"<rss>&" + b"<![CDATA[" * 100_000, "application/rss+xml"),
        (b"<rss>" + b"&" * 1_000_000, "application/rss+xml"),
        (b"<!---->" * 140 + b"x", ""),
        (b"http://" * 200_000, "text/plain"),
        (b"x\n\n" * 500_000, "text/plain"),
    ],
)
def test_other_readers_end_soon_too(body, content_type):
    began = time.process_time()
    try:
        parse(Page(URL, body, content_type))
    except ParseError as error:
        assert "internal fault" not in str(error)  # noqa: PT017 (either way is right)
    assert time.process_time() - began < PATIENCE


@pytest.mark.parametrize(("fault", "reason"), [(MemoryError, "parse-bound"), (ZeroDivisionError, "unreadable")])
def test_a_fault_of_ours_costs_one_page(monkeypatch, fault, reason):
    def broken(_):
        raise fault

    monkeypatch.setitem(READERS, "text/html", broken)
    with pytest.raises(ParseError) as caught:
        parse(Page(URL, b"<p>x", "text/html"))
    assert caught.value.reason == reason


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown", "application/xml"])
def test_fifty_megabytes_of_one_line_in_other_texts(kind):
    began = time.process_time()
    found = parse(Page(URL, b"<p>" + b"deep words " * 4_600_000, kind))
    assert len(found.text) <= bounds.TEXT_CHARS
    assert found.signals["truncated"] == 1.0
    assert time.process_time() - began < PATIENCE
