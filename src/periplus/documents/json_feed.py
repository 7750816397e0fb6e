"""JSON Feed and JSON-LD files to a ``Reading``: items with their titles, texts, links and dates.

A JSON Feed (jsonfeed.org) has ``items``; a JSON-LD file is an object, a list or a graph of schema.org things, among
them feeds (``DataFeed``, ``ItemList``) whose members stand below ``dataFeedElement`` or ``itemListElement``. Both read
like an RSS feed. Bounds: characters read, items, and those of ``html.structured`` for
what is kept of the things themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from periplus.documents import bounds
from periplus.documents.charset import decode
from periplus.documents.dates import plausible
from periplus.documents.feed import plain_of
from periplus.documents.html import structured
from periplus.documents.links import LinkSet
from periplus.documents.reading import Dates, Reading
from periplus.errors import ParseError
from periplus.records import Heading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.records import Page

_ITEMS: Final = 1000
_MEMBERS: Final = ("items", "@graph", "dataFeedElement", "itemListElement", "hasPart", "blogPost")
_TITLES: Final = ("title", "headline", "name")
_TEXTS: Final = ("content_text", "content_html", "articleBody", "description", "summary", "abstract")
_LINKS: Final = ("url", "home_page_url", "external_url", "@id")
_DATES: Final = ("date_modified", "date_published", "dateModified", "datePublished", "uploadDate")


def read(page: Page) -> Reading:
    """Read a JSON Feed or a JSON-LD file."""
    decoded = decode(page.body, page.content_type, markup=False)
    if len(decoded.text) > bounds.MARKUP_CHARS:
        raise ParseError("parse-bound", f"more than {bounds.MARKUP_CHARS} characters of JSON")
    try:
        value = msgspec.json.decode(decoded.text.encode("utf-8", "replace"))
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise ParseError("unreadable", f"the JSON is damaged: {str(error)[:100]}") from error
    things = list(_things(value))
    if not things:
        raise ParseError("unreadable", "the JSON holds no feed and no JSON-LD")
    reading = Reading(charset=decoded.charset, charset_sure=decoded.sure)
    _take(reading, things, page)
    if "version" not in things[0]:
        reading.structured = structured.items([decoded.text[: bounds.JSON_CHARS]])
    return reading


def _things(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a file, each before its members; breadth first, so depth costs nothing."""
    waiting = [value]
    found = 0
    for item in waiting:  # grows while it is walked
        if isinstance(item, list):
            waiting.extend(item[:_ITEMS])
        elif isinstance(item, dict):
            found += 1
            yield item
            inner = item.get("item")  # a ListItem around the thing itself
            waiting.extend(member for member in (inner, *map(item.get, _MEMBERS)) if isinstance(member, (list, dict)))
        if found >= _ITEMS or len(waiting) > 10 * _ITEMS:
            return


def _take(reading: Reading, things: list[dict[str, Any]], page: Page) -> None:
    links = LinkSet(page.url)
    lines: list[str] = []
    for thing in things:
        title = plain_of(_first(thing, _TITLES))
        text = plain_of(_first(thing, _TEXTS))
        lines.extend(filter(None, (title, text)))
        address = _first(thing, _LINKS)
        if address:
            links.add(address.strip(), title)
        if title and thing is not things[0] and len(reading.headings) < bounds.HEADINGS:
            reading.headings.append(Heading(2, title[: bounds.HEADING_CHARS]))
    first = things[0]
    reading.title = plain_of(_first(first, _TITLES))
    reading.description = plain_of(_first(first, ("description", "summary")))[: bounds.DESCRIPTION_CHARS]
    reading.author = plain_of(structured.text_of(first.get("authors") or first.get("author")))[: bounds.TITLE_CHARS]
    reading.declared_language = _first(first, ("language", "inLanguage")).strip().lower()[:20]
    reading.favicon = links.address(_first(first, ("favicon", "icon"))) or ""
    reading.text = "\n".join(lines)[: bounds.TEXT_CHARS]
    reading.links = links.links()
    newest = max(plausible(_first(thing, _DATES), page.fetched) for thing in things)
    reading.dates = Dates(modified=newest, source="feed") if newest else Dates()


def _first(thing: dict[str, Any], names: tuple[str, ...]) -> str:
    values = (structured.text_of(thing.get(name)) for name in names)
    return next(filter(None, values), "")
