"""The other readers: plain text, Markdown, feeds, XML, PDF, DOCX, ODT, EPUB; and the choice among them."""

from __future__ import annotations

import io
import time
import zipfile
from datetime import UTC, datetime

import pytest
from documents_files import pdf_with, zipped

from periplus.documents import READERS, parse
from periplus.documents.kinds import DOCX, EPUB, JSON_FEED, ODT, kind_of
from periplus.errors import ParseError
from periplus.records import Heading, Link, Page

URL = "https://example.org/files/log"
FETCHED = datetime(2025, 6, 1, tzinfo=UTC).timestamp()
MAY = datetime(2024, 5, 1, tzinfo=UTC).timestamp()
WORDS = "The harbour lies open to the west, and ships wait outside until the tide covers the bar."


def document(body, content_type, url=URL):
    return parse(Page(url, body.encode() if isinstance(body, str) else body, content_type, fetched=FETCHED))


# Kinds


@pytest.mark.parametrize(
    ("body", "declared", "kind"),
    [
        (b"<!DOCTYPE html><p>", "", "text/html"),
        (b"  <!-- c --><HTML>", "application/octet-stream", "text/html"),
        (b"<p>x", "application/xhtml+xml; charset=utf-8", "text/html"),
        (b"%PDF-1.7", "text/html", "application/pdf"),
        (b"%PDF-1.7", "", "application/pdf"),
        (b"words", "", "text/plain"),
        (b"<html>", "text/plain", "text/plain"),
        (b"words", "text/x-python", "text/plain"),
        (b"# t", "text/markdown", "text/markdown"),
        (b"<?xml version='1.0'?><rss version='2.0'>", "text/xml", "application/rss+xml"),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "application/xml", "application/atom+xml"),
        (b"<?xml version='1.0'?><html xmlns='x'>", "application/xml", "text/html"),
        (b"<data/>", "application/xml", "application/xml"),
        (b"<rss/>", "application/x-rss+xml", "application/rss+xml"),
        (b"\x89PNG\r\n", "text/html", "image/png"),
        (b"\x00\x01\x02", "", "application/octet-stream"),
        (b"PK\x03\x04...word/document.xml", "application/zip", DOCX),
        (zipped({"mimetype": "application/epub+zip"}), "application/octet-stream", EPUB),
        (zipped({"mimetype": ODT}), "", ODT),
        (zipped({"a.txt": "x"}), "", "application/zip"),
    ],
)
def test_kind_of_a_body(body, declared, kind):
    assert kind_of(Page(URL, body, declared)) == kind


@pytest.mark.parametrize(
    ("body", "declared"),
    [(b"\x89PNG\r\n", "image/png"), (b"x", "video/mp4"), (b"\x00\x01", ""), (zipped({"a": "b"}), "application/zip")],
)
def test_unknown_kinds_are_refused_with_the_reason(body, declared):
    with pytest.raises(ParseError) as caught:
        document(body, declared)
    assert caught.value.reason == "unsupported-type"


@pytest.mark.parametrize("kind", sorted(READERS))
def test_every_reader_takes_nothing_or_noise_without_harm(kind):
    for body in (b"", b"\x00\xff" * 50, b"<" * 50, b"PK\x03\x04" + b"\x00" * 40, b"%PDF-1.4\n%%EOF"):
        try:
            assert document(body, kind).url == URL
        except ParseError as error:
            assert "internal fault" not in str(error)  # noqa: PT017 (either way is right)


# Plain text and Markdown


def test_plain_text():
    found = document(
        f"Pilot notes\n===========\n\n{WORDS}\r\n second line\n\n\nSee https://gull.example/a.", "text/plain"
    )
    assert found.title == "Pilot notes"
    assert found.text == f"Pilot notes ===========\n{WORDS} second line\nSee https://gull.example/a."
    assert found.links == (Link("https://gull.example/a"),)
    assert found.language == "en"
    assert found.content_type == "text/plain"


def test_markdown():
    found = document(
        f"""---
title: "Tides"
---
# Tides of the *bar*

{WORDS} See the [pilot **book**](/book "The book") and <https://gull.example/>.
![chart](chart.png)

Under
-----
- one `code`
- two

> quoted

```python
if deep:
    enter()
```
| Port | Depth |
|------|-------|
| Gull | 7 m |

[ref]: https://ref.example/x
""",
        "text/markdown",
    )
    assert found.title == "Tides"
    assert found.headings == (Heading(1, "Tides of the bar"), Heading(2, "Under"))
    assert found.text.split("\n") == [
        "Tides of the bar",
        f"{WORDS} See the pilot book and https://gull.example/. chart",
        "Under",
        "one code",
        "two",
        "quoted",
        "if deep:",
        "    enter()",
        "Port Depth",
        "Gull 7 m",
    ]
    assert [link.url for link in found.links] == [
        "https://example.org/book",
        "https://gull.example/",
        "https://ref.example/x",
    ]
    assert found.links[0].text == "pilot book"


# Feeds and XML


def test_rss():
    found = document(
        f"""<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Harbour &amp; news</title>
        <link>https://example.org/</link><description>All about ports &eacute; & more</description>
        <item><title>Gull reopens</title><link>/gull</link><description><![CDATA[<p>{WORDS}</p>]]></description>
        <pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate></item></channel></rss>""",
        "application/rss+xml",
    )
    assert found.title == "Harbour & news"
    assert found.description == "All about ports é & more"
    assert found.text == f"All about ports é & more\nGull reopens\n{WORDS}"
    assert found.links == (
        Link("https://example.org/", "Harbour & news"),
        Link("https://example.org/gull", "Gull reopens"),
    )
    assert (found.modified, found.date_source) == (MAY, "feed")


def test_atom():
    found = document(
        """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Log</title>
        <author><name>P. Chart</name></author><entry><title type="html">Day &lt;b&gt;one&lt;/b&gt;</title>
        <link rel="self" href="/self"/><link href="/one"/>
        <summary>Wind west</summary><updated>2024-05-01T00:00:00Z</updated></entry></feed>""",
        "application/atom+xml",
    )
    assert found.title == "Log"
    assert found.author == "P. Chart"
    assert found.text == "Day one\nWind west"
    assert found.links == (Link("https://example.org/one", "Day one"),)


def test_other_xml_is_the_text_between_its_tags():
    found = document("<ports><port><name>Gull</name> <depth>7 m</depth></port></ports>", "application/xml")
    assert found.text == "Gull\n7 m"


def test_a_sitemap_is_links_without_text():
    found = document("<urlset><url><loc>https://example.org/a</loc></url></urlset>", "text/xml")
    assert found.refusal == "no-content"
    assert [link.url for link in found.links] == ["https://example.org/a"]


# PDF and containers


def test_pdf():
    found = document(pdf_with("Ships wait for the tide."), "application/pdf")
    assert found.title == "Pilot book"
    assert found.author == "P. Chart"
    assert found.text == "Ships wait for the tide."
    assert found.links == (Link("https://example.org/linked"),)
    assert (found.published, found.date_source) == (MAY, "file")


@pytest.mark.parametrize(
    "damage", [lambda data: data[:200], lambda data: data[:9], lambda _: b"%PDF-1.4\n" + b"x" * 999]
)
def test_a_damaged_pdf_is_unreadable(damage):
    with pytest.raises(ParseError) as caught:
        document(damage(pdf_with("Ships wait.")), "application/pdf")
    assert caught.value.reason == "unreadable"


def test_a_pdf_with_a_wrong_index_is_still_read():
    data = pdf_with("Ships wait.").replace(b"00000 n", b"00000 f")
    data = data[: data.index(b"startxref")] + b"startxref\n7\n%%EOF"
    assert document(data, "application/pdf").text == "Ships wait."


def test_a_bomb_in_a_pdf_stays_packed():
    began = time.process_time()
    with pytest.raises(ParseError) as caught:
        document(pdf_with("x", content=b"BT (deep) Tj ET " * 5_000_000), "application/pdf")
    assert caught.value.reason == "unreadable"
    assert time.process_time() - began < 20


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def docx(paragraphs):
    return zipped(
        {
            "word/document.xml": f'<w:document xmlns:w="{WORD}" xmlns:r="r"><w:body>{paragraphs}</w:body></w:document>',
            "word/_rels/document.xml.rels": '<Relationships><Relationship Id="r1" Target="https://gull.example/"'
            ' TargetMode="External"/></Relationships>',
            "docProps/core.xml": '<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:t="t"><dc:title>Pilot</dc:title>'
            "<dc:creator>P. Chart</dc:creator><t:modified>2024-05-01T00:00:00Z</t:modified></cp:coreProperties>",
        }
    )


def test_docx():
    found = document(
        docx(
            '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Tides</w:t></w:r></w:p>'
            '<w:p><w:r><w:t xml:space="preserve">See the </w:t></w:r><w:hyperlink r:id="r1"><w:r><w:t>book</w:t></w:r>'
            "</w:hyperlink><w:del><w:r><w:t>gone</w:t></w:r></w:del><w:r><w:tab/><w:t>now</w:t></w:r></w:p>"
        ),
        "application/octet-stream",
    )
    assert found.content_type == DOCX
    assert found.text == "Tides\nSee the book now"
    assert found.headings == (Heading(1, "Tides"),)
    assert found.links == (Link("https://gull.example/", "book"),)
    assert (found.title, found.author, found.modified) == ("Pilot", "P. Chart", MAY)


def test_odt():
    body = zipped(
        {
            "mimetype": ODT,
            "content.xml": '<o:d xmlns:o="o" xmlns:text="t" xmlns:xlink="x">'
            '<text:h text:outline-level="2">Tides</text:h>'
            '<text:p>See<text:s/>the <text:a xlink:href="/book">book</text:a></text:p></o:d>',
            "meta.xml": '<m xmlns:dc="d"><dc:title>Pilot</dc:title><dc:language>en-GB</dc:language></m>',
        }
    )
    found = document(body, ODT)
    assert found.text == "Tides\nSee the book"
    assert found.headings == (Heading(2, "Tides"),)
    assert found.links == (Link("https://example.org/book", "book"),)
    assert (found.title, found.declared_language) == ("Pilot", "en-gb")


def test_epub():
    chapter = (
        "<html><body><h1>{}</h1><p>{} <a href='two.xhtml'>n</a> <a href='https://gull.example/'>g</a></p></body></html>"
    )
    body = zipped(
        {
            "mimetype": EPUB,
            "META-INF/container.xml": '<container><rootfile full-path="in/book.opf"/></container>',
            "in/book.opf": '<package xmlns:dc="d"><m><dc:title>The Bar</dc:title><dc:creator>P. Chart</dc:creator>'
            '<dc:language>en</dc:language></m><manifest><item id="b" href="two.xhtml"'
            ' media-type="application/xhtml+xml"/><item id="a" href="one%20a.xhtml" media-type="text/html"/>'
            '<item id="c" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/>'
            '<itemref idref="b"/><itemref idref="c"/><itemref idref="zz"/></spine></package>',
            "in/one a.xhtml": chapter.format("One", WORDS),
            "in/two.xhtml": chapter.format("Two", WORDS),
        }
    )
    found = document(body, EPUB)
    assert (found.title, found.author) == ("The Bar", "P. Chart")
    assert [heading.text for heading in found.headings] == ["One", "Two"]
    assert found.text.index("One") < found.text.index("Two")
    assert found.links == (Link("https://gull.example/", "g"),)


def test_a_bomb_in_a_container_stays_packed():
    with pytest.raises(ParseError) as caught:
        document(docx("<w:p>" + " " * 80_000_000 + "</w:p>"), DOCX)
    assert caught.value.reason == "parse-bound"


@pytest.mark.parametrize("kind", [DOCX, ODT, EPUB])
def test_a_container_without_its_contents_is_unreadable(kind):
    with pytest.raises(ParseError) as caught:
        document(zipped({"mimetype": kind, "word/other": "x"}), kind)
    assert caught.value.reason == "unreadable"


def test_a_container_whose_parts_have_damaged_names_is_unreadable():
    """The name of a part stands twice; those before the parts are read when a part is."""
    data = bytearray(zipped({"mimetype": b"", "word/döcument.xml": b"", "word/document.xml": b"<w/>"}))
    flags = data.index(b"PK\x03\x04", data.index("word/döcument.xml".encode()))
    data[flags + 7] |= 8  # the name is UTF-8
    data[flags + 30 : flags + 34] = b"\xcerd/"
    with pytest.raises(ParseError) as caught:
        document(bytes(data), DOCX)
    assert caught.value.reason == "unreadable"
    assert "word/document.xml is damaged" in str(caught.value)


def test_a_container_is_packed_as_documents_are():
    """The packing is told by the file, and some may ask for gigabytes of memory."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("word/document.xml", "<w:p/>")
    with pytest.raises(ParseError, match="packed in a way that documents are not"):
        document(target.getvalue(), DOCX)


# JSON


def test_json_feed():
    found = document(
        """{"version": "https://jsonfeed.org/version/1.1", "title": "Harbour", "home_page_url": "/",
        "language": "en-GB", "authors": [{"name": "P. Chart"}], "favicon": "/f.png",
        "items": [{"id": "1", "url": "/gull", "title": "Gull",
        "content_html": "<p>Ships <b>wait</b></p>", "date_published": "2024-05-01T00:00:00Z"}, {"id": "2",
        "content_text": "No title"}]}""",
        "application/json",
    )
    assert found.content_type == JSON_FEED
    assert (found.title, found.author, found.declared_language) == ("Harbour", "P. Chart", "en-gb")
    assert found.text == "Harbour\nGull\nShips wait\nNo title"
    assert found.links == (Link("https://example.org/", "Harbour"), Link("https://example.org/gull", "Gull"))
    assert found.favicon == "https://example.org/f.png"
    assert (found.modified, found.date_source, found.date_confidence) == (MAY, "feed", 0.8)


def test_json_ld_file():
    found = document(
        """{"@context": "https://schema.org", "@type": "ItemList", "name": "Ports", "itemListElement": [
        {"@type": "ListItem", "item": {"@type": "Place", "name": "Gull", "url": "/gull", "description": "Seven metres",
        "geo": {"latitude": 1.5}}}]}""",
        "application/ld+json",
    )
    assert found.text == "Ports\nGull\nSeven metres"
    assert found.links == (Link("https://example.org/gull", "Gull"),)
    assert found.structured[0]["itemListElement"][0]["item"]["geo"] == {"latitude": 1.5}


@pytest.mark.parametrize("body", ["[" * 100_000, '{"items":' * 20_000, "{", '"text"', "[1, 2]"])
def test_broken_or_empty_json_is_unreadable(body):
    with pytest.raises(ParseError) as caught:
        document(body, "application/feed+json")
    assert caught.value.reason == "unreadable"


def test_other_json_is_no_document():
    with pytest.raises(ParseError) as caught:
        document('{"a": 1}', "application/json")
    assert caught.value.reason == "unsupported-type"
