"""One walk over an HTML page: blocks of text with their zone, links, images, headings and all of the head.

The parser's tree arrives as events, so depth costs nothing and no node is ever an object. A *block* is the text
between two block-level tags; it remembers its zone, how much of it is link text, whether it lies inside the element
that the page marks as its main part, and its table row, so that cells can be joined again.

Bounds: elements and time (``Overrun`` ends the walk, what was gathered stays), characters of JSON-LD, images.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final

from turbohtml.saxparse import SaxHandler, sax_parse

from periplus.documents import bounds
from periplus.documents.html import zones
from periplus.documents.text import clean, clean_lines

if TYPE_CHECKING:
    from collections.abc import Callable

Attributes = tuple[tuple[str, str | None], ...]

# What a tag does to the walk.
_INLINE, _BLOCK, _CONTAINER, _SKIPPED, _ANCHOR, _HEADING, _BREAK, _IMAGE, _META, _MAIN, _SPECIAL, _ROW, _CELL, _PRE = (
    range(14)
)
_KINDS: Final[dict[str, int]] = {
    tag: kind
    for kind, tags in (
        (
            _BLOCK,
            (
                "p blockquote figcaption caption address dt dd summary legend center hr optgroup option tbody thead tfoot"
                " fieldset details body"
            ),
        ),
        (
            _CONTAINER,
            (
                "div section ul ol dl li table form header footer nav aside menu dialog noscript button select datalist"
                " label figure"
            ),
        ),
        (_SKIPPED, "script style template svg math iframe object audio video canvas textarea title"),
        (_HEADING, "h1 h2 h3 h4 h5 h6"),
        (_META, "meta link base html frame area time"),
        (_MAIN, "main article"),
        (_ANCHOR, "a"),
        (_BREAK, "br"),
        (_IMAGE, "img"),
        (_ROW, "tr"),
        (_CELL, "td th"),
        (_PRE, "pre"),
    )
    for tag in tags.split()
}

_NO_BREAK_AT_END: Final = frozenset({_INLINE, _ANCHOR, _BREAK, _IMAGE, _META})
_SELF_LINK_SIGNS: Final = frozenset({"¶", "#", "§", "🔗", "🔗︎", "\uf0c1"})


class Overrun(Exception):
    """A bound of the walk was reached."""


class Block:
    """The text between two block-level tags."""

    __slots__ = ("heading", "in_main", "link_chars", "row", "text", "zone")

    def __init__(self, text: str, zone: int, link_chars: int, in_main: int, heading: int, row: int) -> None:
        self.text = text
        self.zone = zone
        self.link_chars = link_chars
        self.in_main = in_main
        self.heading = heading
        self.row = row


class RawLink:
    """An anchor as it stands in the page; ``block`` is where it began."""

    __slots__ = ("alt", "block", "href", "parts", "rel", "title", "zone")

    def __init__(self, href: str, rel: str, title: str, block: int, zone: int) -> None:
        self.href = href
        self.rel = rel
        self.title = title
        self.block = block
        self.zone = zone
        self.parts: list[str] = []
        self.alt = ""


class Walk(SaxHandler):
    """The handler of the parser's events; its fields are what it found."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.links: list[RawLink] = []
        self.images: list[tuple[str, str]] = []
        self.metas: list[dict[str, str]] = []
        self.link_tags: list[dict[str, str]] = []
        self.times: list[dict[str, str]] = []
        self.json_ld: list[str] = []
        self.title = ""
        self.base = ""
        self.language = ""
        self.scripts = 0
        self.script_sources: list[str] = []
        self.hidden_chars = 0
        self.main_seen = False
        self.truncated = False
        # Where the walk is
        self._zone = zones.CONTENT
        self._main = 0
        self._heading = 0
        self._row = 0
        self._rows = 0
        self._pre = 0
        self._depth = 0
        self._skip_until = 0  # depth of the element whose text is not text
        self._skipped: list[str] | None = None  # gathers a title or JSON-LD
        self._json_chars = 0
        self._restore: list[tuple[int, int, int, int]] = []  # depth, zone, main, row to go back to
        self._parts: list[str] = []
        self._link_chars = 0
        self._anchor: RawLink | None = None
        self._anchor_start = 0  # how many parts stood before it
        self._elements = 0
        self._deadline = time.monotonic() + bounds.SECONDS

    # Events

    def start_element(self, tag: str, attrs: Attributes) -> None:
        self._depth += 1
        if self._skip_until:
            return
        self._elements += 1
        if not self._elements % bounds.CLOCK_EVERY:
            self._check()
        kind = _KINDS.get(tag, _INLINE)
        if kind == _INLINE:
            if attrs and len(attrs) < 64:
                self._maybe_hidden(attrs)
            return
        self._starts[kind](self, tag, attrs)

    def characters(self, data: str) -> None:
        if self._skip_until:
            if self._skipped is not None:
                self._skipped.append(data)
            return
        self._parts.append(data)
        if self._anchor is not None:
            self._anchor.parts.append(data)
            self._link_chars += len(data)

    def end_element(self, tag: str) -> None:
        depth = self._depth
        self._depth = depth - 1
        if self._skip_until:
            if depth == self._skip_until:
                self._skip_until = 0
                self._end_skipped(tag)
            return
        kind = _KINDS.get(tag, _INLINE)
        if kind == _ANCHOR:
            self._end_anchor()
        elif kind not in _NO_BREAK_AT_END:
            self._flush()
            if kind == _HEADING:
                self._heading = 0
            elif kind == _PRE:
                self._pre = max(0, self._pre - 1)
        restore = self._restore
        if restore and restore[-1][0] == depth:
            if self._parts and kind == _INLINE:
                self._flush()
            _, self._zone, self._main, self._row = restore.pop()

    def finish(self) -> None:
        self._flush()
        if self._skip_until and self._skipped:
            self._end_skipped("")

    # Starts, by kind of tag

    def _start_block(self, tag: str, attrs: Attributes) -> None:
        self._flush()
        if attrs and tag != "body":
            self._maybe_hidden(attrs)

    def _start_container(self, tag: str, attrs: Attributes) -> None:
        self._flush()
        zone = zones.TAGS.get(tag, zones.CONTENT)
        if tag == "header" and not self._main:
            zone = zones.ASIDE
        if attrs:
            zone = self._zone_by_attributes(tag, attrs, zone)
        if zone:
            self._enter(zone)

    def _zone_by_attributes(self, tag: str, attrs: Attributes, zone: int) -> int:
        names = ""
        for name, value in attrs[:64]:
            if name in ("class", "id"):
                names = f"{names} {value}" if names else value or ""
            elif name == "role" and value:
                if value in zones.MAIN_ROLES:
                    self._enter_main(value)
                    return zones.CONTENT
                zone = zones.ROLES.get(value, zone)
            elif self._is_hiding(name, value):
                return zones.HIDDEN
        if zone or not names or tag == "li":
            return zone
        return zones.hinted(names)

    def _start_main(self, tag: str, attrs: Attributes) -> None:
        self._flush()
        self._enter_main(tag)
        self._maybe_hidden(attrs)

    def _enter_main(self, name: str) -> None:
        self._restore.append((self._depth, self._zone, self._main, self._row))
        self._main = 2 if name == "main" else max(self._main, 1)
        self.main_seen = True

    def _start_skipped(self, tag: str, attrs: Attributes) -> None:
        self._skip_until = self._depth
        if tag == "title" and not self.title:
            self._skipped = []
        elif tag == "script":
            self.scripts += 1
            named = dict(attrs)
            if named.get("src"):
                self.script_sources.append(named["src"] or "")
            if (named.get("type") or "").strip().lower() == "application/ld+json":
                self._skipped = []
        elif tag in ("iframe", "textarea", "object"):
            self._parts.append(" ")

    def _end_skipped(self, tag: str) -> None:
        if self._skipped is None:
            return
        text = "".join(self._skipped)
        self._skipped = None
        if tag == "title":
            self.title = clean(text)
        elif tag == "script" and self._json_chars + len(text) <= bounds.JSON_CHARS:
            self._json_chars += len(text)
            self.json_ld.append(text)

    def _start_anchor(self, tag: str, attrs: Attributes) -> None:
        named = dict(attrs)
        href = named.get("href")
        if href is None:
            self._anchor = None
            return
        link = RawLink(href, named.get("rel") or "", named.get("title") or "", len(self.blocks), self._zone)
        self._anchor = link
        self._anchor_start = len(self._parts)
        if len(self.links) < 4 * bounds.LINKS:
            self.links.append(link)
        self._maybe_hidden(attrs)

    def _end_anchor(self) -> None:
        """Close the anchor; the signs that link a heading to itself are no text."""
        link = self._anchor
        self._anchor = None
        if link is not None and len(link.parts) == 1 and link.parts[0].strip() in _SELF_LINK_SIGNS:
            del self._parts[self._anchor_start :]

    def _start_heading(self, tag: str, attrs: Attributes) -> None:
        self._flush()
        self._heading = int(tag[1])
        self._maybe_hidden(attrs)

    def _start_break(self, tag: str, attrs: Attributes) -> None:
        self._parts.append("\n" if self._pre else " ")

    def _start_image(self, tag: str, attrs: Attributes) -> None:
        named = dict(attrs)
        alt = clean(named.get("alt") or "")[: bounds.ALT_CHARS]
        if not alt:
            return
        if self._anchor is not None and not self._anchor.alt:
            self._anchor.alt = alt
        source = named.get("src") or named.get("data-src") or ""
        if source and len(self.images) < bounds.IMAGES:
            self.images.append((source, alt))

    def _start_meta(self, tag: str, attrs: Attributes) -> None:
        named = {name: value or "" for name, value in attrs[:64]}
        if tag == "meta" and len(self.metas) < bounds.METADATA:
            self.metas.append(named)
        elif tag == "link" and len(self.link_tags) < bounds.METADATA:
            self.link_tags.append(named)
        elif tag == "base" and not self.base:
            self.base = named.get("href", "")
        elif tag == "html":
            self.language = named.get("lang") or named.get("xml:lang") or ""
        elif tag == "time" and len(self.times) < 50:
            self.times.append({**named, "in_main": "1" if self._main else ""})
        elif tag in ("frame", "area"):
            link = RawLink(named.get("src") or named.get("href", ""), "", "", len(self.blocks), self._zone)
            link.alt = clean(named.get("alt") or named.get("title") or "")
            self.links.append(link)

    def _start_row(self, tag: str, attrs: Attributes) -> None:
        self._flush()
        self._rows += 1
        self._restore.append((self._depth, self._zone, self._main, self._row))
        self._row = self._rows

    def _start_pre(self, tag: str, attrs: Attributes) -> None:
        self._flush()
        self._pre += 1
        self._maybe_hidden(attrs)

    # Helpers

    def _maybe_hidden(self, attrs: Attributes) -> None:
        for name, value in attrs:
            if self._is_hiding(name, value):
                self._flush()
                self._enter(zones.HIDDEN)
                return

    @staticmethod
    def _is_hiding(name: str, value: str | None) -> bool:
        if name == "style":
            return value is not None and zones.hides(value)
        return name == "hidden" and value != "until-found"

    def _enter(self, zone: int) -> None:
        self._restore.append((self._depth, self._zone, self._main, self._row))
        current = self._zone
        if zone == zones.HIDDEN or current == zones.CONTENT or (current in zones.HINTED and zone not in zones.HINTED):
            self._zone = zone

    def _flush(self) -> None:
        parts = self._parts
        if not parts:
            return
        joined = "".join(parts)
        parts.clear()
        link_chars, self._link_chars = self._link_chars, 0
        text = clean_lines(joined) if self._pre else clean(joined)
        if not text:
            return
        if self._zone == zones.HIDDEN:
            self.hidden_chars += len(text)
            return
        self.blocks.append(Block(text, self._zone, min(link_chars, len(text)), self._main, self._heading, self._row))

    def _check(self) -> None:
        if self._elements > bounds.ELEMENTS or time.monotonic() > self._deadline:
            raise Overrun

    _starts: ClassVar[dict[int, Callable[[Walk, str, Attributes], None]]] = {
        _BLOCK: _start_block,
        _CONTAINER: _start_container,
        _SKIPPED: _start_skipped,
        _ANCHOR: _start_anchor,
        _HEADING: _start_heading,
        _BREAK: _start_break,
        _IMAGE: _start_image,
        _META: _start_meta,
        _MAIN: _start_main,
        _ROW: _start_row,
        _CELL: _start_block,
        _PRE: _start_pre,
    }


def walk(markup: str) -> Walk:
    """Walk over ``markup``; a bound that is reached ends the walk early and marks it truncated."""
    found = Walk()
    try:
        sax_parse(markup, found)
    except Overrun:
        found.truncated = True
    found.finish()
    return found
