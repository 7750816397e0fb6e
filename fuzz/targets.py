"""What is fuzzed: for each name how bytes become a page, seeds to begin with, and what must hold for the answer."""

from __future__ import annotations

import io
import unicodedata
import zipfile
from typing import TYPE_CHECKING

from fuzz import files
from periplus.addresses import try_canonical
from periplus.documents import parse, read_sitemap
from periplus.documents.kinds import ATOM, DOCX, EPUB, HTML, JSON_FEED, MARKDOWN, ODT, PDF, PLAIN, RSS, XML
from periplus.errors import ParseError
from periplus.records import Document, Page

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://example.org/a/b"
HTML_SEED = (
    b"<!doctype html><html lang=en><head><title>T</title><meta name=robots content=noindex><link rel=canonical href=/x>"
    b'<script type="application/ld+json">{"@type":"Article","datePublished":"2024-05-01"}</script><base href="/a/">'
    b"<body><nav><a href=../x>n</a></nav><main><h1>H<a href=#h>#</a></h1><p hidden>x<table><tr><td>a<td>b</table>"
    b"<pre>  c\n</pre><a href=y><div>z</div></a><img src=i alt=j><time datetime=2024-05-01>m</time>"
)
XML_SEED = (
    b"<?xml version='1.0'?><rss><channel><title>T &amp; &eacute;</title><item><link>/x</link></item></channel></rss>"
)
WORD_SEED = b'<w:document xmlns:w="w" xmlns:r="r"><w:body><w:p><w:r><w:t>words</w:t></w:r></w:p></w:body></w:document>'
TEXT_SEED = b'<o:d xmlns:text="t"><text:h text:outline-level="2">T</text:h><text:p>words<text:s/></text:p></o:d>'
BOOK_SEED = (
    b'<package xmlns:dc="d"><dc:title>T</dc:title><item id="a" href="c.xhtml" media-type="application/xhtml+xml"/>'
    b'<itemref idref="a"/></package>'
)
JSON_SEED = (
    b'{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"url":"/x","title":"t","content_html":"<p>w",'
    b'"date_published":"2024-05-01T00:00:00Z"}]}'
)


def _plain_page(kind: str) -> Callable[[bytes], Page]:
    return lambda data: Page(URL, data, kind, fetched=1.7e9)


def _container_page(kind: str, inner: str, others: dict[str, bytes]) -> Callable[[bytes], Page]:
    """A container that is whole, with the fuzzer's bytes as its main part."""

    def page(data: bytes) -> Page:
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as file:
            file.writestr("mimetype", kind)
            for name, content in {**others, inner: data}.items():
                file.writestr(name, content)
        return Page(URL, target.getvalue(), kind, fetched=1.7e9)

    return page


_BOOK = {
    "META-INF/container.xml": b'<container><rootfile full-path="b.opf"/></container>',
    "c.xhtml": b"<html><body><p>words</p></body></html>",
}
TARGETS: dict[str, tuple[Callable[[bytes], Page], bytes]] = {
    "html": (_plain_page(HTML), HTML_SEED),
    "unknown": (_plain_page(""), HTML_SEED),
    "plain": (_plain_page(PLAIN), b"Title\n\nwords https://example.org/x."),
    "markdown": (_plain_page(MARKDOWN), b'---\ntitle: T\n---\n# H\n[a](b "c") `d`\n```\ne\n```\n| f | g |\n'),
    "xml": (_plain_page(XML), XML_SEED),
    "rss": (_plain_page(RSS), XML_SEED),
    "atom": (_plain_page(ATOM), b"<feed><title>T</title><entry><link href='/x'/><summary>w</summary></entry></feed>"),
    "json-feed": (_plain_page(JSON_FEED), JSON_SEED),
    "pdf": (_plain_page(PDF), files.pdf()),
    "pdf-objects": (lambda data: Page(URL, files.pdf_of(data), PDF, fetched=1.7e9), b"".join(files.pdf_objects())),
    "docx": (_plain_page(DOCX), files.docx(WORD_SEED)),
    "docx-xml": (_container_page(DOCX, "word/document.xml", {}), WORD_SEED),
    "odt-xml": (_container_page(ODT, "content.xml", {}), TEXT_SEED),
    "epub-xml": (_container_page(EPUB, "b.opf", _BOOK), BOOK_SEED),
    "epub-html": (_container_page(EPUB, "c.xhtml", {**_BOOK, "b.opf": BOOK_SEED}), HTML_SEED),
}
SITEMAP = "sitemap"
SITEMAP_SEED = b"<urlset><url><loc>https://example.org/a</loc><lastmod>2024-05-01</lastmod></url></urlset>"
NAMES = (*TARGETS, SITEMAP)


def seeds(name: str) -> list[bytes]:
    return [SITEMAP_SEED if name == SITEMAP else TARGETS[name][1]]


def check(name: str, data: bytes) -> bool:
    """Parse and look whether all promises hold; an ``AssertionError`` or another exception is a finding.

    True where it was read, not refused.
    """
    if name == SITEMAP:
        return check_sitemap(data)
    page = TARGETS[name][0](data)
    try:
        document = parse(page)
    except ParseError as error:
        _check_reason(error)
        return False
    check_document(document)
    assert parse(page) == document, "parsing is not deterministic"
    return True


def check_sitemap(data: bytes) -> bool:
    try:
        found = read_sitemap(data, URL)
    except ParseError as error:
        _check_reason(error)
        return False
    for url in (*found.sitemaps, *(entry.url for entry in found.pages)):
        assert try_canonical(url) == url, url
    return True


def check_document(document: Document) -> None:
    for link in document.links:
        assert try_canonical(link.url) == link.url, link.url
        _check_line(link.text)
    for text in (document.title, document.description, document.author, document.site_name):
        _check_line(text)
    for line in f"{document.text}\n{document.boilerplate}".split("\n"):
        _check_line(line)


def _check_reason(error: ParseError) -> None:
    assert "internal fault" not in str(error), str(error)


def _check_line(line: str) -> None:
    assert not [char for char in line if unicodedata.category(char) in ("Cc", "Cs")], repr(line[:200])
