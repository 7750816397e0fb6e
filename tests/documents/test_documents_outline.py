"""The outline of a page agrees with its document."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from documents.test_documents_properties import markup, page
from periplus.documents import Outline, outline, outline_of, parse
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable

BASE = "http://a.test/dir/page"
ASKED = ("noindex", "redirected", "canonical-elsewhere")


def both(text: str, **more) -> tuple[Outline, Outline]:
    given_page = Page(BASE, text.encode(), "text/html; charset=utf-8", fetched=1.7e9, **more)
    found = outline(given_page)
    assert found is not None
    return found, outline_of(parse(given_page))


@settings(max_examples=300, deadline=None)
@given(markup)
def test_the_outline_misses_nothing_that_the_document_has(source):
    given_page = page(source.encode("utf-8", "surrogatepass"))
    found, whole = outline(given_page), outline_of(parse(given_page))
    if not given_page.body:
        assert found is None
        return
    assert set(whole.followed) <= set(found.followed)
    assert (found.alternates, found.feeds, found.canonical) == (whole.alternates, whole.feeds, whole.canonical)
    assert found.refusal == (whole.refusal if whole.refusal in ASKED else "")


@pytest.mark.parametrize(
    ("text", "followed"),
    [
        ('<p><a href="a#x">one</a> <a href="a#y">two</a> <a href="../b?q=1">three</a>', ["dir/a", "b?q=1"]),
        ('<base href="/other/"><p><a href="a">one</a>', ["other/a"]),
        ('<p><a href="a" rel="nofollow">one</a> <a href="b" rel="noopener UGC">two</a> <a href="c">c</a>', ["dir/c"]),
        ('<p><a href="a" rel="nofollow">one</a> <a href="a">the same, followed</a>', ["dir/a"]),
        ('<meta name="robots" content="nofollow"><p><a href="a">one</a>', []),
        ('<p>text <a href="mailto:a@b.test">post</a> <a href="#top">top</a> <a href="">self</a> <a href=" "> </a>', []),
        ('<p>text <span style="display:none"><a href="a">a</a></span><div hidden><a href="b">b</a></div>', ["dir/b"]),
        ('<p>text <object><a href="a">a</a></object><svg><a href="b">b</a></svg><a href="c">c</a>', ["dir/c"]),
        (
            '<p><object><span hidden><a href="a">a</a></span><svg><a href="b">b</a></svg></object><a href="e">e</a>',
            ["dir/e"],
        ),
        ('<map><area href="a" alt="A place"></map><p>text', ["dir/a"]),
        ('<frameset><frame src="menu.html"><frame src="text.html"></frameset>', ["dir/menu.html", "dir/text.html"]),
        ('<meta http-equiv="refresh" content="0; url=/new"><p>moved', ["new"]),
    ],
)  # fmt: skip
def test_links(text, followed):
    found, whole = both(text)
    assert list(found.followed) == [f"http://a.test/{path}" for path in followed]
    assert set(whole.followed) == set(found.followed)


@pytest.mark.parametrize("tag", ["<svg>", "<object>", "<template>", "<span hidden>", "<svg><a href=x>y</a>"])
def test_what_is_left_out_is_searched_once_however_deep_it_lies(tag):
    """An outline is what is read at once, in the crawl's own loop: it may not cost many times the whole document."""
    nested = Page(BASE, f"<p>text{tag * (400_000 // len(tag))}".encode(), "text/html")

    def spent(read: Callable[[Page], object]) -> float:
        began = time.process_time()
        read(nested)
        return time.process_time() - began

    assert min(spent(outline) for _ in range(3)) < 8 * max(spent(parse) for _ in range(2))


def test_the_head_decides_as_in_the_document():
    for text in (
        '<link rel="canonical" href="/right"><p>text',
        '<meta name="robots" content="noindex"><link rel="canonical" href="/right"><p>text',
        '<link rel="alternate" hreflang="fr" href="/fr"><link rel="alternate" type="application/rss+xml" href="/f">x',
        '<meta http-equiv="refresh" content="0; url=/new"><p>moved',
    ):
        found, whole = both(text)
        assert (found.canonical, found.refusal) == (whole.canonical, whole.refusal)
        assert (found.alternates, found.feeds) == (whole.alternates, whole.feeds)
    found, whole = both("<p>text", headers=(("X-Robots-Tag", "noindex"), ("Link", '</right>; rel="canonical"')))
    assert (found.canonical, found.refusal) == (whole.canonical, whole.refusal) == ("http://a.test/right", "noindex")


@pytest.mark.parametrize(
    ("kind", "body"), [("application/pdf", b"%PDF-1.4"), ("text/plain", b"words"), ("text/html", b"")]
)
def test_only_pages_of_html_have_one(kind, body):
    assert outline(Page(BASE, body, kind)) is None
