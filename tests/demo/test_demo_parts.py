"""The demo's small parts: markup, PDF, page files, calendar, and that the README tells the truth."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import periplus.demo
from periplus.demo import DemoWeb, endless_calendar
from periplus.demo.content import load, with_hosts
from periplus.demo.markup import plain, to_html
from periplus.demo.pdf import make_pdf

WORDS = st.text(st.characters(codec="windows-1252", categories=("L", "N")), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A *b*", "<h1>A <em>b</em></h1>"),
        ("one\ntwo", "<p>one two</p>"),
        ("a < b & c", "<p>a &lt; b &amp; c</p>"),
        ("- x\n  more\n- y", "<ul>\n<li>x more</li>\n<li>y</li>\n</ul>"),
        ("1. x\n2. y", "<ol>\n<li>x</li>\n<li>y</li>\n</ol>"),
        ("> said\n> she", "<blockquote><p>said she</p></blockquote>"),
        ("```\na <b>\n\nc\n```", "<pre><code>a &lt;b&gt;\n\nc</code></pre>"),
        ("[a](/b)", '<p><a href="/b">a</a></p>'),
        ("[a](/b){nofollow}", '<p><a href="/b" rel="nofollow">a</a></p>'),
        ("**x** `*y*`", "<p><strong>x</strong> <code>*y*</code></p>"),
        ("Term\n: meaning", "<dl>\n<dt>Term</dt>\n<dd>meaning</dd>\n</dl>"),
        ("<hr>", "<hr>"),
        ("## H\ntext", "<h2>H</h2>\n<p>text</p>"),
    ],
)
def test_markup(text, html):
    assert to_html(text) == html


def test_a_table_has_its_first_row_as_head():
    html = to_html("| a | b |\n| 1 | [x](/y) |")
    assert "<thead><tr><th>a</th><th>b</th></tr></thead>" in html
    assert '<td>1</td><td><a href="/y">x</a></td>' in html


def test_plain_takes_the_signs_away():
    assert plain("**a** *b* [c](/d) `e`") == "a b c e"


@given(st.text(max_size=300))
def test_markup_takes_any_text(text):
    assert isinstance(to_html(text), str)


@settings(max_examples=25, deadline=None)
@given(title=WORDS, paragraphs=st.lists(st.lists(WORDS, min_size=1, max_size=60), min_size=1, max_size=20))
def test_the_pdf_gives_back_its_words(title, paragraphs):
    data = make_pdf(title, "nobody (here)", [" ".join(words) for words in paragraphs])
    reader = pypdf.PdfReader(BytesIO(data), strict=True)
    assert reader.metadata.author == "nobody (here)"
    words = " ".join(sheet.extract_text() for sheet in reader.pages).split()
    assert words == [title, *(word for words in paragraphs for word in words)]


def test_a_long_pdf_has_several_pages():
    assert len(pypdf.PdfReader(BytesIO(make_pdf("t", "a", ["word " * 100] * 20))).pages) > 1


def test_host_marks_follow_the_port():
    assert with_hosts("{{a}}/x {{b-c}}", 8640) == "http://a.localhost:8640/x http://b-c.localhost:8640"
    assert with_hosts("{{a}}/x", 80) == "http://a.localhost/x"


def test_page_files_with_unknown_keys_are_refused(tmp_path):
    site = tmp_path / "x"
    site.mkdir()
    (site / "site.toml").write_text('title = "X"\nlang = "en"\nlayout = "reference"\n')
    (site / "index.md").write_text('+++\ntitel = "Y"\n+++\ntext\n')
    with pytest.raises(ValueError, match="unknown keys"):
        load(tmp_path)


@given(st.integers(1, 999_999), st.integers(1, 12))
def test_each_month_leads_to_the_next(year, month):
    after = (year + 1, 1) if month == 12 else (year, month + 1)
    address = f"/calendar/{after[0]}/{after[1]:02d}"
    assert f'<a href="{address}">Next month</a>' in endless_calendar.content(year, month, "/calendar")
    assert endless_calendar.month_of(address, "/calendar") == after


def test_the_readme_lists_every_host_and_special():
    text = (Path(periplus.demo.__file__).parent / "README.md").read_text(encoding="utf-8")
    web = DemoWeb(8640)
    for site in load():
        assert f"| `{site.name}` | {site.title} |" in text
        assert f"| {len(site.pages)} | {site.layout} |" in text
    for note in web.notes():
        assert f"| {note.note} |" in text
    assert f"{len(web.pages())} pages on {len(web.hosts())} hosts" in text
