"""``/api/v1/page``: one page for programs, as JSON or Markdown, in parts."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from asgi_client import Client
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from periplus.records import Link
from periplus.settings import ServeSettings, Settings
from periplus.web import create_app
from periplus.web.api.api import MAX_LINKS
from periplus.web.api.markdown import escaped
from periplus.web.api.parts import cuts

DUNSEY = "http://harbours.test/ports/dunsey"


def asked(client, url=DUNSEY, **values):
    return client.get(f"/api/v1/page?{urlencode({'url': url, **values})}")


def test_a_page_with_all_that_is_known_of_it(client, backend):
    backend.links_of[DUNSEY] = (Link("http://tides.test/", "Tides", rel=("nofollow",)),)
    answer = asked(client)

    assert (answer.status, answer.media_type) == (200, "application/json")
    page = answer.json
    assert page["title"] == "Dunsey: harbour notes"
    assert page["text"].startswith("Dunsey: harbour notes\nThe harbour of Dunsey lies")
    assert (page["part"], page["parts"], page["next"]) == (1, 1, None)
    assert page["characters"] == len(page["text"])
    assert page["links"] == [{"url": "http://tides.test/", "text": "Tides", "rel": ["nofollow"], "place": "content"}]
    assert page["structured"] == [{"@type": "Article"}]
    assert (page["author"], page["language"], page["fetched"]) == ("A. Pilot", "en", "2026-11-15T19:00:00Z")


def test_what_is_not_known_here_is_null(client):
    page = asked(client).json
    assert (page["links"], page["structured"], page["modified"]) == (None, None, None)


def test_following_next_gives_the_whole_text_once(client, backend):
    backend.long_texts[DUNSEY] = text = "\n".join(f"Paragraph {number}: {'tide ' * 40}" for number in range(60))
    backend.links_of[DUNSEY] = ()
    address, parts = f"/api/v1/page?{urlencode({'url': DUNSEY, 'size': 1_000})}", []
    while address:
        parts.append(client.get(address).json)
        address = parts[-1]["next"]

    assert "".join(part["text"] for part in parts) == text
    assert [part["part"] for part in parts] == list(range(1, len(parts) + 1))
    assert {part["parts"] for part in parts} == {len(parts)}
    assert [part["links"] for part in parts] == [[], *[None] * (len(parts) - 1)]


def test_a_part_beyond_the_last_is_not_found(client):
    answer = asked(client, part=2)
    assert answer.status == 404
    assert "the page has 1 parts" in answer.json["detail"]


def test_links_are_bounded_and_counted(client, backend):
    backend.links_of[DUNSEY] = tuple(Link(f"http://a.test/{number}") for number in range(MAX_LINKS + 5))
    page = asked(client).json
    assert (len(page["links"]), page["links_found"]) == (MAX_LINKS, MAX_LINKS + 5)


def test_an_unknown_page_is_not_found(client):
    assert asked(client, "http://nowhere.test/").status == 404


def test_links_to_the_next_part_stand_below_the_public_address(backend):
    backend.long_texts[DUNSEY] = "tide " * 1_000
    chosen = Settings(serve=ServeSettings(public_url="https://example.org/find"))
    found = Client(create_app(backend, chosen)).get(f"/find/api/v1/page?{urlencode({'url': DUNSEY, 'size': 1_000})}")
    assert found.json["next"].startswith("/find/api/v1/page?url=")


def test_a_page_as_markdown(client, backend):
    backend.links_of[DUNSEY] = (Link("http://tides.test/?a=<b>", "Tides & *times*"),)
    answer = asked(client, format="markdown")

    assert (answer.status, answer.media_type) == (200, "text/markdown")
    lines = answer.text.splitlines()
    assert lines[0] == "# Dunsey: harbour notes"
    assert f"- Address: <{DUNSEY}>" in lines
    assert "### A heading" in lines
    assert r"- [Tides \& \*times\*](<http://tides.test/?a=%3Cb%3E>)" in lines


@pytest.mark.parametrize(
    ("accepted", "form", "kind"),
    [
        ("text/markdown", "", "text/markdown"),
        ("text/html, Text/Markdown;q=0.9, application/json;q=0.1", "", "text/markdown"),
        ("application/json, text/markdown", "", "application/json"),
        ("text/markdown", "json", "application/json"),
        ("*/*", "", "application/json"),
        ("application/json", "markdown", "text/markdown"),
    ],
)
def test_the_form_of_a_page_is_what_is_asked_for_then_what_is_accepted(client, accepted, form, kind):
    values = {"url": DUNSEY, **({"format": form} if form else {})}
    answer = client.get(f"/api/v1/page?{urlencode(values)}", accept=accepted)
    assert (answer.status, answer.media_type) == (200, kind)


def test_markdown_of_a_part_leads_to_the_next_as_markdown(client, backend):
    backend.long_texts[DUNSEY] = "tide " * 1_000
    text = asked(client, format="markdown", size=1_000).text
    assert "- Part: 1 of 5" in text
    assert "part=2&size=1000&format=markdown>" in text


@given(text=st.text(alphabet="ab. \n", max_size=300), size=st.integers(1, 50))
def test_parts_are_the_text_in_pieces_that_fit(text, size):
    ends = cuts(text, size)
    starts = [0, *ends[:-1]]

    assert ends[-1] == len(text)
    assert all(end - start <= size for start, end in zip(starts, ends, strict=True))
    assert all(start < end for start, end in zip(starts, ends, strict=True)) or not text


def test_parts_end_with_paragraphs_where_they_can():
    assert cuts("one two\nthree four", 12) == [8, 18]
    assert cuts("one two three", 9) == [8, 13]


class Shown(HTMLParser):
    """What a browser shows of rendered Markdown, and which elements there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.tags = "", set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


@settings(max_examples=300)
@example("1. not a list")
@example("- # + = > not markup")
@example("<script>alert(1)</script> &amp; [a](javascript:b) ![c](d) `e` **f** ~~g~~ | h |")
@example("\\*already escaped\\*")
@given(text=st.text(alphabet="ab1 .)#+-=><&;[]()`*_~|\\!:/'\"", max_size=60))
def test_a_renderer_shows_escaped_text_as_it_is(text):
    shown = Shown(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(escaped(text)))

    assert shown.text.strip() == " ".join(text.split())
    assert shown.tags <= {"p"}


@pytest.mark.parametrize("size", [0, 999, 100_001])
def test_a_size_out_of_bounds_is_refused(client, size):
    assert asked(client, size=size).status == 400
