"""HTML to a ``Reading``: decode, walk once, choose the main text, then read the head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from periplus.addresses import try_canonical
from periplus.documents import bounds
from periplus.documents.charset import decode
from periplus.documents.html import blocks, head, zones
from periplus.documents.html.pieces import Body
from periplus.documents.html.walk import walk
from periplus.documents.links import LinkSet
from periplus.documents.reading import Reading
from periplus.documents.text import clean
from periplus.records import Heading

if TYPE_CHECKING:
    from periplus.documents.html.pieces import Block, Findings, RawLink
    from periplus.records import Page

_SCRIPTED: Final = 3  # scripts from which an empty page is taken to be drawn by them
_NOTICE: Final = 300  # characters of the notice that asks for JavaScript, at most
# What scripts that watch readers, or show advertisements, have in their address or their code.
_TRACKERS: Final = (
    "google-analytics", "googletagmanager", "facebook.net", "fbq(", "hotjar", "matomo", "piwik", "_paq", "mixpanel",
    "segment.com", "scorecardresearch", "quantserve", "clarity.ms", "mc.yandex",
)  # fmt: skip
_ADS: Final = (
    "doubleclick", "googlesyndication", "adsbygoogle", "googletag.", "adservice", "amazon-adsystem", "taboola",
    "outbrain", "criteo", "adnxs", "pubmatic", "rubiconproject", "prebid", "popads",
)  # fmt: skip


def read(page: Page) -> Reading:
    """Read an HTML page."""
    decoded = decode(page.body, page.content_type)
    reading = read_markup(decoded.text, page)
    reading.charset, reading.charset_sure = decoded.charset, decoded.sure
    return reading


def read_markup(markup: str, page: Page) -> Reading:
    """Read HTML that is text already (a chapter of a book, the body of a feed's item)."""
    cut = len(markup) > bounds.MARKUP_CHARS
    found = walk(markup[: bounds.MARKUP_CHARS] if cut else markup)
    body = _body_of(found)
    links = LinkSet((try_canonical(found.base, page.url) if found.base else None) or page.url)
    reading = Reading(text=body.text, boilerplate=body.boilerplate, headings=body.headings)
    head.describe(reading, found, links, page.fetched)
    _read_links(reading, found, body, links)
    _measure(reading, found, body, len(markup))
    if cut or found.truncated or links.truncated:
        reading.signals["truncated"] = 1.0
    return reading


def _body_of(found: Findings) -> Body:
    """Main text, boilerplate and links of what a walk found."""
    chosen = blocks.choose(found)
    main: list[Block] = []
    rest: list[Block] = []
    for block, kept in zip(found.blocks, chosen, strict=True):
        (main if kept else rest).append(block)
    headings = found.blocks[found.headline : found.headline + 1] if found.headline >= 0 else []
    headings += [block for block in main if block.heading]
    return Body(
        blocks.joined(main, bounds.TEXT_CHARS),
        blocks.joined(rest, bounds.TEXT_CHARS),
        [Heading(block.heading, clean(block.text)[: bounds.HEADING_CHARS]) for block in headings[: bounds.HEADINGS]],
        [link.href for link in found.links],
        [clean(link.text) or link.alt for link in found.links],
        [_place(link, chosen) for link in found.links],
        {number: link.rel for number, link in enumerate(found.links) if link.rel},
        {number: link.title for number, link in enumerate(found.links) if link.title},
        visible=sum([block.size for block in found.blocks]),
        linked=sum([block.link_chars for block in found.blocks]),
        hidden=found.hidden_chars,
    )


def _read_links(reading: Reading, found: Findings, body: Body, links: LinkSet) -> None:
    if reading.redirect:
        links.add(reading.redirect, "")
    links.add_all(body.hrefs, body.texts, body.places, body.relations, body.titles)
    reading.links = links.links()
    addresses = ((links.address(source.strip()), alt) for source, alt in found.images)
    reading.images = [(url, alt) for url, alt in addresses if url]


def _place(link: RawLink, chosen: list[bool]) -> str:
    zone = link.zone
    if zone in zones.FOOTERS:
        return "footer"
    if zone == zones.CONTENT:
        # past the last block there is none that the link could stand in
        return "content" if link.block >= len(chosen) or chosen[link.block] else "navigation"
    if zone not in zones.HINTED or not link.text.strip():
        return "navigation"  # without text it has no block of its own
    return "content" if link.block < len(chosen) and chosen[link.block] else "navigation"


def _measure(reading: Reading, found: Findings, body: Body, markup_chars: int) -> None:
    reading.signals.update(
        text_ratio=body.visible / max(1, markup_chars),
        link_density=body.linked / max(1, body.visible),
        hidden_text=body.hidden / max(1, body.visible + body.hidden),
        scripts=float(found.scripts),
        trackers=_count(found.script_sources, _TRACKERS),
        ads=_count(found.script_sources, _ADS),
    )
    reading.needs_javascript = _needs_javascript(reading, found, body.visible)


def _count(scripts: list[str], names: tuple[str, ...]) -> float:
    return float(sum(any(name in script for name in names) for script in scripts))


def _needs_javascript(reading: Reading, found: Findings, visible: int) -> bool:
    """Whether an empty page is drawn by its scripts: there are several, or it says so to those who run none."""
    if reading.text or not found.scripts:
        return False
    if not visible:
        return found.scripts >= _SCRIPTED
    return visible < _NOTICE and "javascript" in reading.boilerplate.lower()
