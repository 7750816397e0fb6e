"""Page sources to what is served: layouts around HTML pages, PDF, text; charsets as the page asks for."""

from __future__ import annotations

import calendar
import json
import re
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from periplus.demo import markup
from periplus.demo.content import direction, origin, with_hosts
from periplus.demo.pdf import make_pdf
from periplus.demo.resource import DEFAULT_DATE, Resource

if TYPE_CHECKING:
    from periplus.demo.content import PageSource, SiteSource

LAYOUTS = Path(__file__).parent / "layouts"
_TYPES = {"txt": "text/plain", "xml": "application/xml", "html": "text/html", "md": "text/html"}


def render(site: SiteSource, page: PageSource, port: int) -> Resource:
    if page.kind == "pdf":
        body, content_type = _pdf(page, port), "application/pdf"
    else:
        text = _page_html(site, page, port) if page.kind == "md" else with_hosts(page.text, port)
        body, content_type = text.encode(page.charset, "xmlcharrefreplace"), _content_type(page)
    return Resource(
        body=body,
        content_type=content_type,
        date=page.date or DEFAULT_DATE,
        headers=(("X-Robots-Tag", page.x_robots),) if page.x_robots else (),
        status=page.status,
        gzip=page.gzip,
        delay=page.delay,
        fails=page.fails,
    )


def dress(site: SiteSource, page: PageSource, content: str, port: int) -> str:
    """``content`` in the layout of its site."""
    values = {
        "lang": page.lang,
        "dir": direction(page.lang),
        "title": escape(page.title),
        "site": escape(site.title),
        "site_suffix": "" if page.title == site.title else f" – {escape(site.title)}",  # a front page says it once
        "tagline": escape(site.tagline),
        "footer": markup.inline(site.footer),
        "colour": site.colour,
        "head": _head(site, page, port),
        "navigation": _navigation(site),
        "byline": _byline(page),
        "content": content,
    }
    return with_hosts(_layout(page.layout or site.layout).substitute(values), port)


def written_date(date: str) -> str:
    """``2025-03-01`` as people write it."""
    year, month, day = date[:10].split("-")
    return f"{int(day)} {calendar.month_name[int(month)]} {year}"


@cache
def _layout(name: str) -> Template:
    return Template((LAYOUTS / f"{name}.html").read_text(encoding="utf-8"))


def _page_html(site: SiteSource, page: PageSource, port: int) -> str:
    return dress(site, page, markup.to_html(page.text), port)


def _pdf(page: PageSource, port: int) -> bytes:
    paragraphs = re.split(r"\n\s*\n", with_hosts(page.text, port).strip())
    return make_pdf(page.title, page.author, [markup.plain(" ".join(text.split())) for text in paragraphs])


def _content_type(page: PageSource) -> str:
    base = _TYPES.get(page.kind, "application/octet-stream")
    return f"{base}; charset={page.charset}" if page.charset_in == "header" else base


def _head(site: SiteSource, page: PageSource, port: int) -> str:
    home = origin(site.name, port)
    lines = [
        f'<meta charset="{page.charset}">' if page.charset_in == "meta" else "",
        f'<meta name="description" content="{escape(page.description)}">' if page.description else "",
        f'<meta name="robots" content="{page.robots}">' if page.robots else "",
        f'<link rel="canonical" href="{page.canonical or home + page.path}">' if page.status == 200 else "",
        '<link rel="icon" type="image/svg+xml" href="/favicon.svg">' if site.icon else "",
        f'<link rel="alternate" type="application/rss+xml" title="{escape(site.title)}" href="/feed.xml">'
        if site.feed
        else "",
        *(
            f'<link rel="alternate" hreflang="{lang}" href="{address}">'
            for lang, address in sorted(page.alternates.items())
        ),
        _structured(site, page, home),
    ]
    return "\n".join(line for line in lines if line)


def _structured(site: SiteSource, page: PageSource, home: str) -> str:
    """JSON-LD for dated articles by a named author; other pages carry none."""
    if not (page.date and page.author):
        return ""
    data = {
        "@context": "https://schema.org",
        "@type": "Article",
        "headline": page.title,
        "datePublished": page.date,
        "author": {"@type": "Person", "name": page.author},
        "publisher": {"@type": "Organization", "name": site.title},
        "inLanguage": page.lang,
        "url": home + page.path,
    }
    return f'<script type="application/ld+json">{json.dumps(data, ensure_ascii=False)}</script>'


def _navigation(site: SiteSource) -> str:
    return "\n".join(f'<li><a href="{target}">{escape(label)}</a></li>' for label, target in site.navigation)


def _byline(page: PageSource) -> str:
    if not page.date:
        return ""
    shown = written_date(page.date) if page.lang == "en" else page.date[:10]
    author = f'<span class="author">{escape(page.author)}</span>, ' if page.author else ""
    return f'<p class="byline">{author}<time datetime="{page.date}">{shown}</time></p>'
