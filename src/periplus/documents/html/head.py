"""The head of a page: what its meta, link and time tags and its JSON-LD say about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from periplus.documents import bounds, robots
from periplus.documents.dates import plausible
from periplus.documents.html import structured
from periplus.documents.reading import Dates
from periplus.documents.text import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.documents.html.pieces import Findings
    from periplus.documents.links import LinkSet
    from periplus.documents.reading import Reading

_FEED_TYPES: Final = ("application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml")
_ARTICLE_TYPES: Final = (
    "Article",
    "NewsArticle",
    "BlogPosting",
    "TechArticle",
    "Report",
    "WebPage",
    "ScholarlyArticle",
)
_LINKING: Final = frozenset({"canonical", "icon", "alternate"})  # relations of link tags that are read
_PUBLISHED_METAS: Final = (
    "article:published_time", "og:published_time", "datepublished", "dc.date.issued", "dcterms.issued", "dc.date",
    "dcterms.created", "dcterms.date", "citation_publication_date", "citation_date", "pubdate", "date",
)  # fmt: skip
_MODIFIED_METAS: Final = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "last-modified",
)
_AUTHOR_METAS: Final = (
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "citation_author",
    "parsely-author",
)
_REFRESH: Final = re.compile(r"""^\s*([\d.]+)\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']*)""", re.IGNORECASE)
_IMMEDIATE: Final = 1.0  # seconds: a refresh this quick is a redirect
_LANGUAGE: Final = re.compile(r"^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*$")


def describe(reading: Reading, walk: Findings, links: LinkSet, fetched: float) -> None:
    """Fill ``reading`` with everything the head says."""
    named = _by_name(walk.metas)
    routes(reading, walk, links, fetched)
    reading.structured = structured.items(walk.json_ld)
    defined = [{"@type": "DefinedTerm", "name": term, "description": text} for term, text in walk.definitions]
    reading.structured += defined
    _describe_texts(reading, walk, named)
    reading.dates = _dates(walk, named, reading.structured, fetched)
    if graph := structured.open_graph(walk.metas):
        reading.structured.append(graph)


def routes(reading: Reading, walk: Findings, links: LinkSet, fetched: float) -> None:
    """Only what a crawl goes by: robots directives, related addresses, an immediate refresh."""
    _describe_robots(reading, walk, fetched)
    _describe_links(reading, walk, links)
    reading.redirect = _redirect(walk, links)


def _by_name(metas: list[dict[str, str]]) -> dict[str, str]:
    """Contents by name, property or itemprop in lower case; the first that says something wins."""
    found: dict[str, str] = {}
    for meta in metas:
        name = meta.get("name") or meta.get("property") or meta.get("itemprop")
        content = meta.get("content")
        if name and content:
            found.setdefault(name.strip().lower(), content[: bounds.METADATA_CHARS])
    return found


def _describe_robots(reading: Reading, walk: Findings, fetched: float) -> None:
    for meta in walk.metas:
        if meta.get("name", "").strip().lower() in robots.NAMES:
            reading.robots |= robots.directives(meta.get("content", ""), fetched)


def _describe_texts(reading: Reading, walk: Findings, named: dict[str, str]) -> None:
    reading.title = walk.title or clean(named.get("og:title", "") or named.get("twitter:title", ""))
    description = named.get("description") or named.get("og:description") or named.get("twitter:description") or ""
    reading.description = shorten(clean(description), bounds.DESCRIPTION_CHARS)
    reading.site_name = clean(named.get("og:site_name") or named.get("application-name") or "")[: bounds.TITLE_CHARS]
    reading.author = _author(named, reading.structured)
    declared = walk.language or _http_equiv(walk, "content-language") or named.get("og:locale", "")
    declared = declared.split(",")[0].strip()
    reading.declared_language = declared.replace("_", "-").lower() if _LANGUAGE.match(declared) else ""


def _author(named: dict[str, str], items: list[dict[str, Any]]) -> str:
    by_meta = next((named[name] for name in _AUTHOR_METAS if name in named), "")
    if not by_meta or by_meta.startswith(("http://", "https://")):
        by_item = (structured.text_of(item.get("author")) for item in items)
        by_meta = next(filter(None, by_item), "")
    return clean(by_meta)[: bounds.TITLE_CHARS]


def _describe_links(reading: Reading, walk: Findings, links: LinkSet) -> None:
    canonicals: list[str] = []
    for tag in walk.link_tags:
        relations = _LINKING.intersection(tag.get("rel", "").lower().split())
        url = links.address(tag.get("href", "").strip()) if relations else None
        if url is None:
            continue
        if "canonical" in relations:
            canonicals.append(url)
        if "icon" in relations and not reading.favicon:
            reading.favicon = url
        if "alternate" in relations:
            _add_alternate(reading, tag, url)
    if len(set(canonicals)) == 1:  # pages that name several mean none
        reading.canonical = canonicals[0]


def _add_alternate(reading: Reading, tag: dict[str, str], url: str) -> None:
    kind = tag.get("type", "").split(";")[0].strip().lower()
    language = tag.get("hreflang", "").strip().lower()
    if kind in _FEED_TYPES:
        if url not in reading.feeds and len(reading.feeds) < bounds.FEEDS:
            reading.feeds.append(url)
    elif (language == "x-default" or _LANGUAGE.match(language)) and len(reading.hreflang) < bounds.ALTERNATES:
        reading.hreflang.setdefault(language, url)


def _http_equiv(walk: Findings, name: str) -> str:
    matching = (meta.get("content", "") for meta in walk.metas if meta.get("http-equiv", "").lower() == name)
    return next(filter(None, matching), "")


def _redirect(walk: Findings, links: LinkSet) -> str:
    refresh = _REFRESH.match(_http_equiv(walk, "refresh"))
    if not refresh or not refresh.group(2).strip():
        return ""
    try:
        delay = float(refresh.group(1))
    except ValueError:
        return ""
    return (links.address(refresh.group(2).strip()) or "") if delay <= _IMMEDIATE else ""


# Dates: JSON-LD is believed over meta tags, those over the first time element


def _dates(walk: Findings, named: dict[str, str], items: list[dict[str, Any]], fetched: float) -> Dates:
    by_item = _item_dates(items, fetched)
    if by_item.published:
        return by_item
    published = _first(map(named.get, _PUBLISHED_METAS), fetched)
    modified = by_item.modified or _first(map(named.get, _MODIFIED_METAS), fetched)
    if published or modified:
        return Dates(published, modified, "json-ld" if by_item.modified and not published else "meta")
    return _time_dates(walk, fetched)


def _item_dates(items: list[dict[str, Any]], fetched: float) -> Dates:
    dated = [item for item in items if set(structured.types(item)) & set(_ARTICLE_TYPES)]
    published = _first((structured.text_of(item.get("datePublished")) for item in dated), fetched)
    modified = _first((structured.text_of(item.get("dateModified")) for item in dated), fetched)
    return Dates(published, modified, "json-ld") if published or modified else Dates()


def _time_dates(walk: Findings, fetched: float) -> Dates:
    times = [time for time in walk.times if time.get("datetime")]
    marked = [time for time in times if time.get("itemprop", "").lower() == "datepublished" or "pubdate" in time]
    changed = [time for time in times if time.get("itemprop", "").lower() == "datemodified"]
    inside = [time for time in times if time.get("in_main")]
    published = _first((time["datetime"] for time in marked or inside[:1]), fetched)
    modified = _first((time["datetime"] for time in changed), fetched)
    sure = 0.8 if marked or changed else 0.5  # the first time of an article may be about anything
    return Dates(published, modified, "time", sure) if published or modified else Dates()


def _first(texts: Iterable[str | None], fetched: float) -> float:
    return next(filter(None, (plausible(text, fetched) for text in texts if text)), 0.0)
