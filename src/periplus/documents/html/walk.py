"""One walk over an HTML page: blocks of text with their place, links, and what ``gather`` finds.

A *block* is the text between two block-level tags; it remembers its zone, how much of it is link text, whether it lies
inside the element that the page marks as its main part, and its table row, so that cells can be joined again.

The parser's tree stays in C. An element that holds nothing but text, inline tags and links is *plain* and gives its
text in one call; only the others are walked through, child by child. Which these are is found beforehand: the
ancestors of everything that ``tags.PARTING`` names. So are the links of each plain element (``anchors``). The walk
keeps its own stack, so depth costs nothing.

Bounds: elements and time (the walk ends early, what was gathered stays), links, characters of JSON-LD, images.
"""

from __future__ import annotations

import time
from itertools import chain
from typing import TYPE_CHECKING, Final

import turbohtml
from turbohtml import Element, Text

from periplus.documents import bounds
from periplus.documents.html import article, tags, zones
from periplus.documents.html.anchors import Anchors
from periplus.documents.html.gather import gather
from periplus.documents.html.names import COMMENT_IDS, FIRM, MARGINAL, NO_MARGIN, named
from periplus.documents.html.pieces import Block, Findings, Margin, Place, RawLink
from periplus.documents.text import clean, clean_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from turbohtml import Document, Node

_INLINE, _BLOCK, _ANCHOR = range(3)  # what ends with an element
_IN_LINE: Final = tags.INLINE
# An element that is walked through: children to come, place, what ends, its number.
_Frame = tuple["Iterator[Node]", Place, int, int]


def walk(markup: str) -> Findings:
    """Parse ``markup`` and walk over it."""
    document = turbohtml.parse(markup, positions=False, allow_declarative_shadow_roots=False)
    found = Findings()
    gather(document.iter_elements(tags.GATHERED), found)
    root = document.root
    if root is not None:
        found.article = article.declared(found) or document.select_one(article.MARKS) is not None
        found.language = root.attr("lang") or root.attr("xml:lang") or ""
        _walk_through(document, root, found)
    return found


def _walk_through(document: Document, root: Element, found: Findings) -> None:
    """Add blocks and links; a bound that is reached ends the walk early and marks it truncated."""
    hidden = [element for element in document.select(tags.HIDING) if hides(element)]
    mixed = _mixed(document.iter_elements(tags.PARTING), hidden)
    _Walker(found, mixed, frozenset(hidden), Anchors(document, mixed, found)).run(root)


def _mixed(parting: Iterable[Element], hidden: list[Element]) -> set[Node]:
    """The elements that are not plain."""
    found: set[Node] = set()
    for element in chain(parting, hidden):
        parent: Node | None = element.parent
        while parent is not None and parent not in found:
            found.add(parent)
            parent = parent.parent
    return found


class _Walker:
    """The state of a walk; ``run`` fills the findings."""

    def __init__(self, found: Findings, mixed: set[Node], hidden: frozenset[Node], anchors: Anchors) -> None:
        self._found = found
        self._mixed = mixed
        self._blocks = found.blocks
        self._hidden = hidden
        self._anchors = anchors
        self._holders = anchors.holders
        self._stack: list[_Frame] = []
        self._frame = 0  # the number of the element whose children are looked at
        self._frames = found.frames
        self._rows = 0
        self._parts: list[str] = []  # texts since the last block ended
        self._next_look = bounds.CLOCK_EVERY
        self._deadline = time.monotonic() + bounds.SECONDS
        self._link_chars = 0
        self._anchor: RawLink | None = None
        self._anchor_start = 0  # how many parts of the block stood before it

    def run(self, root: Element) -> None:
        """The whole walk: one loop over the children of what is open, by tag to those who take them."""
        stack, parts, kinds = self._stack, self._parts, tags.KINDS
        takers = (self._take_block, self._take_block, self._take_block, self._take_apart, self._take_inline)
        elements = 0
        self._open(root, Place(), _BLOCK)
        while stack:
            children, place, ends, self._frame = stack[-1]
            code = place.code
            for node in children:
                if type(node) is Text:
                    text = node.data
                    if parts or code or not text.isspace():
                        parts.append(text)
                elif type(node) is Element:
                    elements += 1
                    kind = kinds.get(node.tag, _IN_LINE)
                    if takers[kind](node, kind, place) or elements >= self._next_look:
                        break
            else:
                stack.pop()
                self._leave(place, ends)
            if elements >= self._next_look and not self._in_bounds(elements):
                break
        self._found.truncated = bool(stack)
        self._end_anchor()
        self._end_block(stack[-1][1] if stack else Place())

    def _open(self, element: Element, place: Place, ends: int) -> None:
        """Walk through an element next."""
        self._stack.append((iter(element.children), place, ends, len(self._frames)))
        self._frames.append(self._frame)

    def _in_bounds(self, elements: int) -> bool:
        """Looked at every so many elements."""
        self._next_look = elements + bounds.CLOCK_EVERY
        return elements <= bounds.ELEMENTS and time.monotonic() <= self._deadline

    def _leave(self, place: Place, ends: int) -> None:
        if ends == _BLOCK:
            if self._parts:
                self._end_block(place)
        elif ends == _ANCHOR:
            self._end_anchor()

    # Elements: each answers whether it must be walked through

    def _take_block(self, element: Element, kind: int, place: Place) -> bool:
        if self._parts:
            self._end_block(place)
        if element in self._mixed:
            if kind or self._hidden:
                place = self._place_of(element, kind, place)
            self._open(element, place, _BLOCK)
            return True
        text = element.text
        anchors = self._holders.get(element)
        if anchors is None and (not text or text.isspace()):
            return False
        if kind or self._hidden:
            place = self._place_of(element, kind, place)
        if self._anchor is not None:  # the block stands inside a link
            if text:
                self._parts.append(text)
                self._end_block(place)
            return False
        if anchors is not None:
            text, chars = self._anchors.take(anchors, text, len(self._blocks), place.zone)
            self._link_chars += chars
        self._add_block(text, place)
        return False

    def _take_inline(self, element: Element, _kind: int, place: Place) -> bool:
        if self._hidden and element in self._hidden:
            self._found.hidden_chars += len(element.text.strip())
            return False
        if element in self._mixed:
            ends = _ANCHOR if element.tag == "a" and self._begin_anchor(element, place) else _INLINE
            self._open(element, place, ends)
            return True
        text = element.text
        if element.tag == "a":
            text = self._take_links([element], text, place)
        elif self._anchor is None and (anchors := self._holders.get(element)):
            text = self._take_links(anchors, text, place)
        self._parts.append(text)
        return False

    def _take_apart(self, element: Element, _kind: int, place: Place) -> bool:
        tag = element.tag
        if tag == "br":
            self._parts.append("\n" if place.code else " ")
        elif tag in tags.FRAMES:
            self._anchors.add_frame(element, len(self._blocks), place.zone)
        elif self._parts:
            self._parts.append(" ")
        return False

    # Places

    def _place_of(self, element: Element, kind: int, place: Place) -> Place:
        """Where the text of a block-level element stands, when the element itself stands in ``place``."""
        tag = element.tag
        if self._hidden and element in self._hidden and tag != "body":
            return place.in_zone(zones.HIDDEN)  # many pages hide their body until a script shows it
        if kind == tags.CONTAINER:
            return self._in_container(element, tag, place)
        if tag == "tr":
            self._rows += 1
            return place.in_row(self._rows)
        if tag == "figcaption":
            return self._in_margin(MARGINAL, place)
        return place if kind == tags.PLAIN else _place_by_tag(tag, place)

    def _in_container(self, element: Element, tag: str, place: Place) -> Place:
        """The place inside an element whose tag, role or class names may say which part of the page it is."""
        zone = zones.TAGS.get(tag, zones.CONTENT)
        if tag == "header" and not place.main:
            zone = zones.ASIDE
        role = element.attr("role")
        if role:
            if role in zones.MAIN_ROLES:
                return _in_main(place, role)
            zone = zones.ROLES.get(role, zone)
        opens, margin = False, FIRM if zone else NO_MARGIN
        if not zone and (names := _names(element, tag)):
            zone, opens, margin = named(names, place.in_text)
        if margin:
            place = self._in_margin(margin, place)
        if zone and zones.wins(zone, place.zone):
            return place.in_zone(zone)
        if not place.in_text and (opens or tag == "section"):
            return place.within_text()
        return place

    def _in_margin(self, kind: int, place: Place) -> Place:
        margins = self._found.margins
        margins.append(Margin(kind, place.margin))
        return place.in_margin(len(margins) - 1)

    # Links

    def _take_links(self, anchors: list[Element], text: str, place: Place) -> str:
        """Take plain links whose words stand in ``text``; answers the text without signs that link to themselves."""
        taken, chars = self._anchors.take(anchors, text, len(self._blocks), place.zone)
        self._link_chars += chars
        return taken

    def _begin_anchor(self, anchor: Element, place: Place) -> bool:
        self._anchor = self._anchors.add(anchor, "", len(self._blocks), place.zone)
        self._anchor_start = len(self._parts)
        return self._anchor is not None

    def _end_anchor(self) -> None:
        """Close the anchor; the signs that link a heading to itself are no text."""
        link = self._anchor
        if link is None:
            return
        text = "".join(self._parts[self._anchor_start :])
        self._anchor = None
        self._link_chars += len(text.strip())
        link.text += text
        if Anchors.is_sign(link.text):
            del self._parts[self._anchor_start :]

    # Text

    def _end_block(self, place: Place) -> None:
        """Make a block of the text since the last one."""
        parts = self._parts
        joined = parts[0] if len(parts) == 1 else "".join(parts)
        if self._anchor is not None:
            self._split_anchor(self._anchor)
        parts.clear()
        self._add_block(joined, place)

    def _add_block(self, text: str, place: Place) -> None:
        linked, self._link_chars = self._link_chars, 0
        if not text or text.isspace():
            return  # links without words count for no block
        text = clean_lines(text) if place.code else clean(text)
        if not text:
            return
        zone = place.zone
        size = len(text)
        if zone == zones.HIDDEN:
            self._found.hidden_chars += size
            return
        linked = min(linked, size)
        self._blocks.append(
            Block(
                text, size, linked, zone, place.main, place.heading, place.row, place.in_text, place.margin, self._frame
            )
        )

    def _split_anchor(self, link: RawLink) -> None:
        """A block ends inside a link: the link takes its text of this block along."""
        text = "".join(self._parts[self._anchor_start :])
        self._link_chars += len(text)
        link.text = f"{link.text}{text} "
        self._anchor_start = 0


def _place_by_tag(tag: str, place: Place) -> Place:
    if tag in tags.HEADINGS:
        return place.in_heading(tags.HEADINGS[tag])
    return place.in_code() if tag in tags.CODE else _in_main(place, tag)


def _in_main(place: Place, name: str) -> Place:
    return place.in_main(2 if name == "main" else max(place.main, 1))


def _names(element: Element, tag: str) -> str:
    """The words by which an element names its part of the page."""
    names = element.attr("class") or ""
    identifier = element.attr("id")
    if identifier and _is_name(tag, identifier):
        names = f"{names} {identifier}" if names else identifier
    return names[: zones.NAME_CHARS]


def _is_name(tag: str, identifier: str) -> bool:
    """Whether an id names a part of the layout; those of sections and long ones repeat the words of a heading."""
    if tag == "section":
        return identifier in COMMENT_IDS
    return identifier.count("-") + identifier.count("_") < 2


def hides(element: Element) -> bool:
    """Whether a browser would not show the element, by its own attributes."""
    style = element.attr("style")
    if style and zones.hides(style[: zones.NAME_CHARS]):
        return True
    hidden = element.attr("hidden")
    return hidden is not None and hidden != "until-found"
