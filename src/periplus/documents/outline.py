"""The outline of a page: where it leads and whether it may be found, which is all that a crawl must know at once.

Reading an outline costs about a quarter of the complete document: the tree is built and asked for a few tags, no text
is weighed. It agrees with the document that ``parse`` makes of the same page: every address that the document would
follow is in it, with the same canonical address, and the same refusal where that stands in the page's head or headers.
A page of more than ``bounds.ELEMENTS`` elements may give a few links more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import turbohtml
from msgspec import Struct
from turbohtml import Element

from periplus.addresses import try_canonical
from periplus.documents import bounds, robots
from periplus.documents.charset import decode
from periplus.documents.html import head, tags
from periplus.documents.html.gather import gather
from periplus.documents.html.pieces import Findings
from periplus.documents.html.walk import hides
from periplus.documents.kinds import HTML, kind_of
from periplus.documents.links import LinkSet
from periplus.documents.parse import head_refusal, trusted_canonical
from periplus.documents.reading import Reading

if TYPE_CHECKING:
    from turbohtml import Node

    from periplus.records import Document, Page

_HEAD: Final = frozenset({"meta", "link", "base"})
_LINKS: Final = "a[href],area,frame"
_UNREAD: Final = frozenset(
    {"svg", "math", "iframe", "object", "audio", "video", "canvas", "textarea", "noembed", "noframes", "template"}
)
_NOTICED: Final = _HEAD | _UNREAD | tags.FRAMES
_MOST: Final = 4 * bounds.LINKS  # links that are looked at
_UNFOLLOWED: Final = frozenset({"nofollow", "ugc", "sponsored"})


class Outline(Struct, frozen=True):
    """What a page leads to; nothing where it asks not to be followed."""

    followed: tuple[str, ...] = ()  # addresses of links, each once
    alternates: tuple[str, ...] = ()  # the page in other languages
    feeds: tuple[str, ...] = ()
    canonical: str = ""  # the page under its right name, or where it redirects to
    refusal: str = ""  # noindex, redirected or canonical-elsewhere; other refusals show only in the document
    links: int = 0  # in the page, followed or not
    favicon: str = ""  # the picture of the site that the page names


def outline(page: Page) -> Outline | None:
    """The outline of an HTML page; None for all other bodies, and for those without a document."""
    if not page.body or len(page.body) > bounds.BODY_BYTES or kind_of(page) != HTML:
        return None
    markup = decode(page.body, page.content_type).text[: bounds.MARKUP_CHARS]
    document = turbohtml.parse(markup, positions=False, allow_declarative_shadow_roots=False)
    found = Findings()
    noticed = list(document.iter_elements(_NOTICED))
    gather([element for element in noticed if element.tag in _HEAD], found)
    links = LinkSet((try_canonical(found.base, page.url) if found.base else None) or page.url)
    reading = Reading()
    head.routes(reading, found, links, page.fetched)
    return _judged(page, reading, links, _hrefs(document, noticed))


def outline_of(document: Document) -> Outline:
    """The outline of what was read completely."""
    followed = dict.fromkeys(link.url for link in document.links if link.followed)
    return Outline(
        tuple(followed),
        () if document.nofollow else tuple(document.hreflang.values()),
        () if document.nofollow else document.feeds,
        document.canonical,
        document.refusal,
        len(document.links),
        document.favicon,
    )


def _judged(page: Page, reading: Reading, links: LinkSet, hrefs: list[str]) -> Outline:
    directives = reading.robots | robots.from_headers(page.headers, page.fetched)
    canonical = trusted_canonical(page, reading)
    refusal = head_refusal(page, reading, directives, canonical)
    itself = reading.redirect if refusal == "redirected" else canonical
    if "nofollow" in directives:
        return Outline((), (), (), itself, refusal, len(hrefs), reading.favicon)
    followed = dict.fromkeys([reading.redirect] if reading.redirect else [])
    for href in dict.fromkeys([href.partition("#")[0].strip() for href in dict.fromkeys(hrefs)]):
        url = links.address(href) if href else None
        if url is not None:
            followed[url] = None
            if len(followed) >= bounds.LINKS:
                break
    alternates = tuple(reading.hreflang.values())
    return Outline(tuple(followed), alternates, tuple(reading.feeds), itself, refusal, len(hrefs), reading.favicon)


def _hrefs(document: turbohtml.Document, noticed: list[Element]) -> list[str]:
    """What the links name that the complete reading would take; nothing for those that are not to be followed.

    Left out are those inside objects and pictures, and those hidden in a line. Hidden blocks are read for their links,
    as the complete reading does. Most pages have no such link, and then the parser gives all addresses in one call.
    """
    hidden = [element for element in document.select(tags.HIDING) if element.tag not in tags.BLOCKS and hides(element)]
    apart = [element for element in noticed if element.tag not in _HEAD]
    framed = any(element.tag in tags.FRAMES for element in apart)
    unread = [*hidden, *(element for element in apart if element.tag in _UNREAD)]
    inside = {*hidden, *(anchor for element in _outermost(unread) for anchor in element.select(_LINKS))}
    if not inside and not framed and not any(map(_is_unfollowed, set(_texts(document, "//a/@rel")))):
        return _texts(document, "//a/@href")[:_MOST]
    return [_href(anchor) for anchor in document.select(_LINKS) if anchor not in inside][:_MOST]


def _outermost(elements: list[Element]) -> list[Element]:
    """Those that lie in no other one, so that nothing is searched twice; no way up is climbed twice either."""
    chosen: set[Node] = set(elements)
    free: set[Node] = set()  # neither chosen nor inside one that is
    outermost: list[Element] = []
    for element in elements:
        way: list[Node] = []
        parent = element.parent
        while parent is not None and parent not in chosen and parent not in free:
            way.append(parent)
            parent = parent.parent
        if parent is None or parent in free:
            free.update(way)
            outermost.append(element)
        else:
            chosen.update(way)
    return outermost


def _texts(document: turbohtml.Document, path: str) -> list[str]:
    return cast("list[str]", document.xpath(path))  # of attributes


def _is_unfollowed(relations: str) -> bool:
    return not _UNFOLLOWED.isdisjoint(relations.lower().split())


def _href(anchor: Element) -> str:
    """What a link names; nothing where it is not to be followed."""
    attribute = anchor.attr
    relations = attribute("rel")
    if relations and _is_unfollowed(relations):
        return ""
    return (attribute("href") if anchor.tag == "a" else attribute("src") or attribute("href")) or ""
