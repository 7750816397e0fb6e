"""HTML to a ``Reading``: decode, walk once, choose the main text, then read the head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from periplus.addresses import try_canonical
from periplus.documents import bounds
from periplus.documents.charset import decode
from periplus.documents.html import blocks, head, zones
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
    chosen = blocks.choose(found.blocks)
    links = LinkSet((try_canonical(found.base, page.url) if found.base else None) or page.url)
    reading = Reading()
    _read_body(reading, found, chosen)
    head.describe(reading, found, links, page.fetched)
    _read_links(reading, found, chosen, links)
    _measure(reading, found, len(markup))
    if cut or found.truncated or links.truncated:
        reading.signals["truncated"] = 1.0
    return reading


def _read_body(reading: Reading, found: Findings, chosen: list[bool]) -> None:
    main: list[Block] = []
    rest: list[Block] = []
    for block, kept in zip(found.blocks, chosen, strict=True):
        (main if kept else rest).append(block)
    reading.text = blocks.joined(main, bounds.TEXT_CHARS)
    reading.boilerplate = blocks.joined(rest, bounds.TEXT_CHARS)
    headings = [block for block in main if block.heading][: bounds.HEADINGS]
    reading.headings = [Heading(block.heading, block.text[: bounds.HEADING_CHARS]) for block in headings]


def _read_links(reading: Reading, found: Findings, chosen: list[bool], links: LinkSet) -> None:
    if reading.redirect:
        links.add(reading.redirect, "")
    for link in found.links:
        href = link.href.strip()
        if not href or href[0] == "#":
            continue
        rel = link.rel.lower().split() if link.rel else ()
        title = clean(link.title) if link.title else ""
        links.add(href, clean(link.text) or link.alt, title, rel, _place(link, chosen))
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


def _measure(reading: Reading, found: Findings, markup_chars: int) -> None:
    visible = sum([block.size for block in found.blocks])
    linked = sum([block.link_chars for block in found.blocks])
    reading.signals.update(
        text_ratio=visible / max(1, markup_chars),
        link_density=linked / max(1, visible),
        hidden_text=found.hidden_chars / max(1, visible + found.hidden_chars),
        scripts=float(found.scripts),
        trackers=_count(found.script_sources, _TRACKERS),
        ads=_count(found.script_sources, _ADS),
    )
    reading.needs_javascript = _needs_javascript(reading, found, visible)


def _count(scripts: list[str], names: tuple[str, ...]) -> float:
    return float(sum(any(name in script for name in names) for script in scripts))


def _needs_javascript(reading: Reading, found: Findings, visible: int) -> bool:
    """Whether an empty page is drawn by its scripts: there are several, or it says so to those who run none."""
    if reading.text or not found.scripts:
        return False
    if not visible:
        return found.scripts >= _SCRIPTED
    return visible < _NOTICE and "javascript" in reading.boilerplate.lower()
