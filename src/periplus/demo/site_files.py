"""The files beside a site's pages: robots.txt, sitemaps, the feed, the favicon. All are made from the pages."""

from __future__ import annotations

import gzip
from email.utils import format_datetime
from html import escape
from typing import TYPE_CHECKING

from periplus.demo import markup
from periplus.demo.content import origin, with_hosts
from periplus.demo.resource import DEFAULT_DATE, Resource, moment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.demo.content import PageSource, SiteSource

XML = "application/xml; charset=utf-8"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
SITEMAP_SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
FEED_ITEMS = 20


def site_files(site: SiteSource, port: int) -> dict[str, Resource]:
    """Path → resource."""
    files: dict[str, Resource] = {}
    if site.robots is not None:
        files["/robots.txt"] = Resource(with_hosts(site.robots, port).encode(), "text/plain; charset=utf-8")
    if site.sitemap:
        files.update(_sitemaps(site, port))
    if site.feed:
        files["/feed.xml"] = Resource(_feed(site, port).encode(), "application/rss+xml; charset=utf-8")
    if site.icon:
        files["/favicon.svg"] = Resource(_icon(site).encode(), "image/svg+xml")
    return files


def _sitemaps(site: SiteSource, port: int) -> dict[str, Resource]:
    home = origin(site.name, port)
    pages = [page for page in site.pages if page.listed]
    if site.sitemap == "single":
        return {"/sitemap.xml": Resource(_url_set(pages, home).encode(), XML)}
    half = len(pages) // 2
    return {
        "/sitemap.xml": Resource(_sitemap_index([f"{home}/sitemap-1.xml", f"{home}/sitemap-2.xml.gz"]).encode(), XML),
        "/sitemap-1.xml": Resource(_url_set(pages[:half], home).encode(), XML),
        "/sitemap-2.xml.gz": Resource(
            gzip.compress(_url_set(pages[half:], home).encode(), mtime=0), "application/gzip"
        ),
    }


def _url_set(pages: Iterable[PageSource], home: str) -> str:
    rows = "".join(
        f"<url><loc>{escape(home + page.path)}</loc><lastmod>{(page.date or DEFAULT_DATE)[:10]}</lastmod></url>\n"
        for page in pages
    )
    return f'{DECLARATION}<urlset xmlns="{SITEMAP_SPACE}">\n{rows}</urlset>\n'


def _sitemap_index(addresses: Iterable[str]) -> str:
    rows = "".join(f"<sitemap><loc>{escape(address)}</loc></sitemap>\n" for address in addresses)
    return f'{DECLARATION}<sitemapindex xmlns="{SITEMAP_SPACE}">\n{rows}</sitemapindex>\n'


def _feed(site: SiteSource, port: int) -> str:
    home = origin(site.name, port)
    dated = sorted((page for page in site.pages if page.date and page.listed), key=lambda page: page.date, reverse=True)
    items = "".join(_item(page, home) for page in dated[:FEED_ITEMS])
    return (
        f'{DECLARATION}<rss version="2.0"><channel><title>{escape(site.title)}</title><link>{home}/</link>'
        f"<description>{escape(site.tagline)}</description><language>{site.lang}</language>\n{items}</channel></rss>\n"
    )


def _item(page: PageSource, home: str) -> str:
    paragraphs = [part for part in page.text.split("\n\n") if part.strip() and not part.lstrip().startswith(("#", "<"))]
    summary = markup.plain(" ".join(paragraphs[0].split())) if paragraphs else page.title
    address = escape(home + page.path)
    return (
        f"<item><title>{escape(page.title)}</title><link>{address}</link><guid>{address}</guid>"
        f"<pubDate>{format_datetime(moment(page.date), usegmt=True)}</pubDate>"
        f"<description>{escape(summary)}</description></item>\n"
    )


def _icon(site: SiteSource) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="6" fill="{site.colour}"/>'
        '<text x="16" y="23" font-size="20" font-family="serif" text-anchor="middle" fill="#fff">'
        f"{escape(site.icon)}</text></svg>\n"
    )
