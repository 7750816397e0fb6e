"""One walk over an HTML page: blocks of text with their zone, links, images, headings and all of the head.

The parser's tree arrives as events, so depth costs nothing and no node is ever an object. A *block* is the text
between two block-level tags; it remembers its zone, how much of it is link text, whether it lies inside the element
that the page marks as its main part, and its table row, so that cells can be joined again.

Bounds: elements and time (``Overrun`` ends the walk, what was gathered stays), characters of JSON-LD, images.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from turbohtml.saxparse import SaxHandler, sax_parse

from periplus.documents import bounds
from periplus.documents.html import zones
from periplus.documents.html.pieces import Block, RawLink
from periplus.documents.text import clean, clean_lines

if TYPE_CHECKING:
    from collections.abc import Callable

Attributes = tuple[tuple[str, str | None], ...]

_SELF_LINK_SIGNS: Final = frozenset({"¶", "#", "§", "🔗", "🔗︎", "\uf0c1"})
_NOTHING, _TITLE, _JSON_LD, _HIDDEN = range(4)  # what the text of an element that is left out is
_ATTRIBUTES: Final = 64  # attributes of one tag that are looked at


class Overrun(Exception):
    """A bound of the walk was reached."""


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
        self.truncated = False
        # Where the walk is
        self._zone = zones.CONTENT
        self._main = 0
        self._heading = 0
        self._row = 0
        self._rows = 0
        self._pre = 0
        self._depth = 0  # of open elements that are in _STARTS; the others do not matter
        self._skip = 0  # open elements from the one on whose text is not text
        self._skipped = _NOTHING  # what they are
        self._skipped_from = 0  # how many parts stood before them
        self._json_chars = 0
        self._restore: list[tuple[int, int, int, int]] = []  # depth, zone, main, row to go back to
        self._parts: list[str] = []  # texts since the last block ended
        self.characters = self._parts.append  # type: ignore[method-assign,assignment]  # no call of ours a text
        self._link_chars = 0
        self._anchor: RawLink | None = None
        self._anchor_start = 0  # how many parts of the block stood before it
        self._restore_depth = 0  # depth of the last of them
        self._elements = 0
        self._countdown = bounds.CLOCK_EVERY
        self._deadline = time.monotonic() + bounds.SECONDS

    # Events. These two run for every tag of every page: hence the few calls and the plain tests.

    def start_element(self, tag: str, attrs: Attributes) -> None:
        if self._skip:
            self._skip += 1
            return
        start = _STARTS.get(tag)
        if start is not None:
            self._depth += 1
            start(self, tag, attrs)
        elif attrs and (len(attrs) > 1 or attrs[0][0] != "class"):
            self._skip_hidden(attrs)
        self._countdown -= 1
        if not self._countdown:
            self._check()

    def end_element(self, tag: str) -> None:
        if self._skip:
            self._skip -= 1
            if not self._skip:
                self._end_skipped()
                if tag in _ENDS:
                    self._depth -= 1
            return
        if tag not in _ENDS:
            return
        end = _ENDS[tag]
        if end is not None:
            end(self)
        if self._depth == self._restore_depth:
            self._leave()
        self._depth -= 1

    def finish(self) -> None:
        """Take in what is still open when the page ends or a bound was reached."""
        if self._skip:
            self._end_skipped()
        self.end_anchor()
        self.end_block()

    # What the tags do

    def on_block(self, tag: str, attrs: Attributes) -> None:
        self.end_block()
        if attrs:
            self._hide(attrs)

    def on_body(self, tag: str, attrs: Attributes) -> None:
        """Many pages hide their body until a script shows it, so its own attributes do not count."""

    def on_container(self, tag: str, attrs: Attributes) -> None:
        self.end_block()
        zone = zones.TAGS.get(tag, zones.CONTENT)
        if tag == "header" and not self._main:
            zone = zones.ASIDE
        if attrs:
            zone = self._zone_by_attributes(tag, attrs, zone)
        if zone:
            self._enter(zone)

    def on_main(self, tag: str, attrs: Attributes) -> None:
        self.end_block()
        self._enter_main(tag)
        self._hide(attrs)

    def on_skipped(self, tag: str, attrs: Attributes) -> None:
        if self._parts:
            self._parts.append(" ")
        self._start_skipping(_TITLE if tag == "title" and not self.title else _NOTHING)

    def on_script(self, tag: str, attrs: Attributes) -> None:
        self.scripts += 1
        named = dict(attrs[:_ATTRIBUTES])
        source = named.get("src")
        if source:
            self.script_sources.append(source)
        is_data = (named.get("type") or "").strip().lower() == "application/ld+json"
        self._start_skipping(_JSON_LD if is_data else _NOTHING)

    def on_anchor(self, tag: str, attrs: Attributes) -> None:
        named = dict(attrs[:_ATTRIBUTES])
        self.end_anchor()
        href = named.get("href")
        if href is None:
            return
        if "style" in named or "hidden" in named:
            self._hide(attrs)
        link = RawLink(href, named.get("rel") or "", named.get("title") or "", len(self.blocks), self._zone)
        self._anchor = link
        self._anchor_start = len(self._parts)
        if len(self.links) < 4 * bounds.LINKS:
            self.links.append(link)

    def end_anchor(self) -> None:
        """Close the anchor; the signs that link a heading to itself are no text."""
        link = self._anchor
        if link is None:
            return
        text = "".join(self._parts[self._anchor_start :])
        self._anchor = None
        self._link_chars += len(text)
        link.text += text
        if len(link.text) < 3 and link.text.strip() in _SELF_LINK_SIGNS:
            del self._parts[self._anchor_start :]

    def on_heading(self, tag: str, attrs: Attributes) -> None:
        self.end_block()
        self._heading = int(tag[1])
        self._hide(attrs)

    def end_heading(self) -> None:
        self.end_block()
        self._heading = 0

    def on_break(self, tag: str, attrs: Attributes) -> None:
        self._parts.append("\n" if self._pre else " ")

    def on_image(self, tag: str, attrs: Attributes) -> None:
        named = dict(attrs[:_ATTRIBUTES])
        alt = clean(named.get("alt") or "")[: bounds.ALT_CHARS]
        if not alt:
            return
        if self._anchor is not None and not self._anchor.alt:
            self._anchor.alt = alt
        source = named.get("src") or named.get("data-src") or ""
        if source and len(self.images) < bounds.IMAGES:
            self.images.append((source, alt))

    def on_meta(self, tag: str, attrs: Attributes) -> None:
        if len(self.metas) < bounds.METADATA:
            self.metas.append(_named(attrs))

    def on_link_tag(self, tag: str, attrs: Attributes) -> None:
        if len(self.link_tags) < bounds.METADATA:
            self.link_tags.append(_named(attrs))

    def on_base(self, tag: str, attrs: Attributes) -> None:
        self.base = self.base or _named(attrs).get("href", "")

    def on_html(self, tag: str, attrs: Attributes) -> None:
        named = _named(attrs)
        self.language = named.get("lang") or named.get("xml:lang") or ""

    def on_time(self, tag: str, attrs: Attributes) -> None:
        if len(self.times) < bounds.TIMES:
            self.times.append({**_named(attrs), "in_main": "1" if self._main else ""})

    def on_frame(self, tag: str, attrs: Attributes) -> None:
        """A frame or an area of an image map: a link without text of its own."""
        named = _named(attrs)
        link = RawLink(named.get("src") or named.get("href", ""), "", "", len(self.blocks), self._zone)
        link.alt = clean(named.get("alt") or named.get("title") or "")
        if len(self.links) < 4 * bounds.LINKS:
            self.links.append(link)

    def on_row(self, tag: str, attrs: Attributes) -> None:
        self.end_block()
        self._rows += 1
        self._remember()
        self._row = self._rows

    def on_pre(self, tag: str, attrs: Attributes) -> None:
        self.end_block()
        self._pre += 1
        self._hide(attrs)

    def end_pre(self) -> None:
        self.end_block()
        self._pre = max(0, self._pre - 1)

    # Zones

    def _zone_by_attributes(self, tag: str, attrs: Attributes, zone: int) -> int:
        names = ""
        for name, value in attrs[:_ATTRIBUTES]:
            if name == "class" or (name == "id" and _is_name(tag, value)):
                names = f"{names} {value}" if names else value or ""
            elif name == "role" and value:
                if value in zones.MAIN_ROLES:
                    self._enter_main(value)
                    return zones.CONTENT
                zone = zones.ROLES.get(value, zone)
            elif _is_hiding(name, value):
                return zones.HIDDEN
        if zone or not names or tag == "li":
            return zone
        return zones.hinted(names[: zones.NAME_CHARS])

    def _hide(self, attrs: Attributes) -> None:
        for name, value in attrs:
            if _is_hiding(name, value):
                self.end_block()
                self._enter(zones.HIDDEN)
                return

    def _skip_hidden(self, attrs: Attributes) -> None:
        """Leave out an inline element that is hidden."""
        for name, value in attrs:
            if _is_hiding(name, value):
                self._start_skipping(_HIDDEN)
                return

    def _enter(self, zone: int) -> None:
        """Enter a zone: hidden wins over all, a firm zone over a hinted one, else the outer zone stays."""
        self._remember()
        current = self._zone
        if zone == zones.HIDDEN or current == zones.CONTENT or (current in zones.HINTED and zone not in zones.HINTED):
            self._zone = zone

    def _enter_main(self, name: str) -> None:
        self._remember()
        self._main = 2 if name == "main" else max(self._main, 1)

    def _remember(self) -> None:
        self._restore.append((self._depth, self._zone, self._main, self._row))
        self._restore_depth = self._depth

    def _leave(self) -> None:
        """Go back to where the walk was before the element that ends here; it may have entered two things at once."""
        self.end_block()
        restore = self._restore
        while restore and restore[-1][0] == self._restore_depth:
            _, self._zone, self._main, self._row = restore.pop()
        self._restore_depth = restore[-1][0] if restore else 0

    # Text

    def end_block(self) -> None:
        """Make a block of the text since the last one."""
        parts = self._parts
        if not parts:
            return
        if len(parts) == 1:
            joined = parts[0]
            if joined.isspace():
                parts.clear()
                self._anchor_start = 0
                return
        else:
            joined = "".join(parts)
        if self._anchor is not None:
            self._split_anchor(self._anchor)
        parts.clear()
        link_chars, self._link_chars = self._link_chars, 0
        text = clean_lines(joined) if self._pre else clean(joined)
        if not text:
            return
        if self._zone == zones.HIDDEN:
            self.hidden_chars += len(text)
            return
        self.blocks.append(Block(text, self._zone, min(link_chars, len(text)), self._main, self._heading, self._row))

    def _split_anchor(self, link: RawLink) -> None:
        """A block ends inside a link: the link takes its text of this block along."""
        text = "".join(self._parts[self._anchor_start :])
        self._link_chars += len(text)
        link.text = f"{link.text}{text} "
        self._anchor_start = 0

    def _start_skipping(self, what: int) -> None:
        self._skip = 1
        self._skipped = what
        self._skipped_from = len(self._parts)

    def _end_skipped(self) -> None:
        """Take the texts of the skipped element out of the block, and to where they belong."""
        text = "".join(self._parts[self._skipped_from :]) if self._skipped else ""
        del self._parts[self._skipped_from :]
        if self._skipped == _TITLE:
            self.title = clean(text)
        elif self._skipped == _HIDDEN:
            self.hidden_chars += len(text.strip())
        elif self._skipped == _JSON_LD and self._json_chars + len(text) <= bounds.JSON_CHARS:
            self._json_chars += len(text)
            self.json_ld.append(text)

    def _check(self) -> None:
        self._countdown = bounds.CLOCK_EVERY
        self._elements += bounds.CLOCK_EVERY
        if self._elements > bounds.ELEMENTS or time.monotonic() > self._deadline:
            raise Overrun


def _named(attrs: Attributes) -> dict[str, str]:
    return {name: value or "" for name, value in attrs[:_ATTRIBUTES]}


def _is_name(tag: str, value: str | None) -> bool:
    """Whether an id names a part of the layout; those of sections and long ones repeat the words of a heading."""
    return tag != "section" and value is not None and value.count("-") + value.count("_") < 2


def _is_hiding(name: str, value: str | None) -> bool:
    if name == "style":
        return value is not None and zones.hides(value[: zones.NAME_CHARS])
    return name == "hidden" and value != "until-found"


_BLOCKS: Final = (
    "p blockquote figcaption caption address dt dd summary legend center hr optgroup option tbody thead tfoot fieldset"
    " details td th"
)
_CONTAINERS: Final = (
    "div section ul ol dl li table form header footer nav aside menu dialog noscript button select datalist label"
    " figure"
)
_SKIPPED: Final = "style template svg math iframe object audio video canvas textarea title"
_HEADINGS: Final = "h1 h2 h3 h4 h5 h6"

_STARTS: Final[dict[str, Callable[[Walk, str, Attributes], None]]] = {
    **dict.fromkeys(_BLOCKS.split(), Walk.on_block),
    **dict.fromkeys(_CONTAINERS.split(), Walk.on_container),
    **dict.fromkeys(_SKIPPED.split(), Walk.on_skipped),
    **dict.fromkeys(_HEADINGS.split(), Walk.on_heading),
    "main": Walk.on_main,
    "article": Walk.on_main,
    "body": Walk.on_body,
    "script": Walk.on_script,
    "a": Walk.on_anchor,
    "br": Walk.on_break,
    "img": Walk.on_image,
    "meta": Walk.on_meta,
    "link": Walk.on_link_tag,
    "base": Walk.on_base,
    "html": Walk.on_html,
    "time": Walk.on_time,
    "frame": Walk.on_frame,
    "area": Walk.on_frame,
    "tr": Walk.on_row,
    "pre": Walk.on_pre,
}
# What the end of a tag does; None for nothing.
_ENDS: Final[dict[str, Callable[[Walk], None] | None]] = {
    **dict.fromkeys(_STARTS),
    **dict.fromkeys([*_BLOCKS.split(), *_CONTAINERS.split(), "main", "article", "body", "tr"], Walk.end_block),
    **dict.fromkeys(_HEADINGS.split(), Walk.end_heading),
    "pre": Walk.end_pre,
    "a": Walk.end_anchor,
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
