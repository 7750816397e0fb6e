"""Sitemaps of every shape, others' samples, and hostile ones."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.documents import Sitemap, SitemapEntry, looks_like_sitemap, read_sitemap
from periplus.errors import ParseError

HERE = "https://example.org/sitemap.xml"


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "pages", "sitemaps", "first"),
    [
        ("atom.xml", 1, 0, "http://example.org/2003/12/13/atom03"),
        ("sitemap-news.xml", 2, 0, "http://www.example.org/business/article55.html"),
        ("sitemap-with-bom.txt", 2, 0, "http://www.domain.com/page1.html"),
        ("sitemap.badns.xml", 2, 0, "http://www.example.com/1"),
        ("sitemap.index.xml", 0, 15, "https://example.com/sitemap.jss?portalCode=10260&lang=en"),
        ("sitemap.ns.xml", 2, 0, "http://www.example.com/1"),
        ("sitemap.txt", 2, 0, "http://www.domain.com/page1.html"),
        ("sitemap.txt.gz", 5, 0, "http://www.example.com/"),
        ("xmlSitemap.gz", 5, 0, "http://www.example.com/"),
    ],
)
def test_samples_of_others(shared_data, name, pages, sitemaps, first):
    found = read_sitemap((shared_data / "sitemaps" / name).read_bytes(), HERE)
    assert (len(found.pages), len(found.sitemaps)) == (pages, sitemaps)
    assert first in (*(entry.url for entry in found.pages[:1]), *found.sitemaps[:1])


def test_urlset_with_dates_images_and_odd_entries():
    body = b"""<?xml version="1.0"?><urlset xmlns:image="i">
      <url><image:image><image:loc>https://example.org/pic.jpg</image:loc></image:image>
           <loc> https://EXAMPLE.org/a </loc><lastmod>2024-05-01</lastmod></url>
      <url><loc>/relative?a=1&b=2</loc><lastmod>never</lastmod></url>
      <url><loc>ftp://example.org/no</loc></url><url></url>
      <url><loc>https://example.org/a</loc></url>"""
    found = read_sitemap(body, HERE)
    assert found.pages == (
        SitemapEntry("https://example.org/a", 1714521600.0),
        SitemapEntry("https://example.org/relative?a=1&b=2"),
    )


def test_rss_lists_pages():
    body = b"<rss><channel><link>https://example.org/</link><item><link>https://example.org/one</link>"
    body += b"<pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate></item></channel></rss>"
    assert read_sitemap(body, HERE) == Sitemap((SitemapEntry("https://example.org/one", 1714521600.0),))


def test_entries_are_capped():
    body = "".join(f"<url><loc>https://example.org/{number}</loc></url>" for number in range(50_100))
    assert len(read_sitemap(f"<urlset>{body}</urlset>".encode(), HERE).pages) == 50_000


def test_a_bomb_stays_packed():
    with pytest.raises(ParseError) as caught:
        read_sitemap(gzip.compress(b"<urlset>" + b" " * 60_000_000), HERE)
    assert caught.value.reason == "parse-bound"


@pytest.mark.parametrize("body", [b"", b"just words", b"\x1f\x8bbroken", b"\x00\x01\x02"])
def test_what_is_no_sitemap_is_unreadable(body):
    with pytest.raises(ParseError) as caught:
        read_sitemap(body, HERE)
    assert caught.value.reason == "unreadable"


def test_entities_of_its_own_are_not_expanded():
    body = b'<!DOCTYPE x [<!ENTITY a "https://example.org/x">]><urlset><url><loc>&a;</loc></url></urlset>'
    with pytest.raises(ParseError):
        read_sitemap(body, HERE)


@given(st.binary(max_size=400))
def test_any_bytes_give_a_sitemap_or_a_parse_error(body):
    try:
        found = read_sitemap(body, HERE)
    except ParseError:
        return
    assert all(entry.url.startswith(("http://", "https://")) for entry in found.pages)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (b"<urlset>", True),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- a -- b -->\n<s:sitemapindex xmlns:s="x">', True),
        (b"<!----><!-- --><urlset \n>", True),
        (b"<urlsets>", False),
        (b"<rss><urlset>", False),
        (b"<html><p>&lt;urlset&gt;", False),
        (b"<!-- <urlset> -->", False),
        (b"", False),
    ],
)
def test_the_beginning_of_a_sitemap(body, answer):
    assert looks_like_sitemap(body) is answer


def test_the_beginning_is_looked_at_in_bounded_time():
    """A pattern that could match comments in several ways would never end here."""
    assert not looks_like_sitemap(b"<!---->" * 100_000)
    assert not looks_like_sitemap(b"<!--" * 100_000)
    assert not looks_like_sitemap(b"<?" * 100_000)
