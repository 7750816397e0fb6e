"""One walk over an HTML page: blocks of text with their place, links, and what ``gather`` finds.

A *block* is the text between two block-level tags; it remembers its zone, how much of it is link text, whether it lies
inside the element that the page marks as its main part, and its table row, so that cells can be joined again.

The parser's tree stays in C. An element that holds nothing but text, inline tags and links is *plain* and gives its
text and its links in two calls; only the others are walked through, child by child. Which these are is found
beforehand: the ancestors of everything that ``tags.PARTING`` names. The walk keeps its own stack, so depth costs
nothing.

Bounds: elements and time (the walk ends early, what was gathered stays), links, characters of JSON-LD, images.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import turbohtml
from turbohtml import Element, Text

from periplus.documents import bounds
from periplus.documents.html import tags, zones
from periplus.documents.html.gather import gather
from periplus.documents.html.pieces import Block, Findings, Place, RawLink
from periplus.documents.text import clean, clean_lines

if TYPE_CHECKING:
    from turbohtml import Node

_SELF_LINK_SIGNS: Final = frozenset({"¶", "#", "§", "🔗", "🔗︎", "\uf0c1"})
_SIGN_CHARS: Final = 2  # of the longest of them
_LINKS: Final = 4 * bounds.LINKS  # many are repeated, or lead nowhere
_INLINE, _BLOCK, _ANCHOR = range(3)  # what ends with an element


def walk(markup: str) -> Findings:
    """Walk over ``markup``; a bound that is reached ends the walk early and marks it truncated."""
    found = Findings()
    document = turbohtml.parse(markup, positions=False, allow_declarative_shadow_roots=False)
    noticed = tags.NOTICED
    elements = [element for element in document.iter_elements() if element.tag in noticed]
    gather(elements, found)
    root = document.root
    if root is not None:
        found.language = root.attr("lang") or root.attr("xml:lang") or ""
        hidden = [element for element in document.select(tags.HIDING) if hides(element)]
        _Walker(found, _mixed(elements, hidden), frozenset(hidden)).run(root)
    return found


def _mixed(elements: list[Element], hidden: list[Element]) -> set[Node]:
    """The elements that are not plain."""
    parting = tags.PARTING
    found: set[Node] = set()
    parters = [element for element in elements if element.tag in parting]
    for element in (*parters, *hidden):
        parent: Node | None = element.parent
        while parent is not None and parent not in found:
            found.add(parent)
            parent = parent.parent
    return found


class _Frame:
    """An element that is being walked through: its children to come, and how it is left."""

    __slots__ = ("children", "ends", "place")

    def __init__(self, element: Element, place: Place, ends: int) -> None:
        self.children = iter(element.children)
        self.place = place
        self.ends = ends


class _Walker:
    """The state of a walk; ``run`` fills the findings."""

    def __init__(self, found: Findings, mixed: set[Node], hidden: frozenset[Node]) -> None:
        self._found = found
        self._mixed = mixed
        self._blocks = found.blocks
        self._hidden = hidden
        self._stack: list[_Frame] = []
        self._rows = 0
        self._parts: list[str] = []  # texts since the last block ended
        self._elements = 0
        self._next_look = bounds.CLOCK_EVERY
        self._deadline = time.monotonic() + bounds.SECONDS
        self._link_chars = 0
        self._anchor: RawLink | None = None
        self._anchor_start = 0  # how many parts of the block stood before it

    def run(self, root: Element) -> None:
        stack = self._stack
        stack.append(_Frame(root, Place(), _BLOCK))
        while stack and self._in_bounds():
            frame = stack[-1]
            if self._walk_through(frame):
                stack.pop()
                self._leave(frame)
        self._found.truncated = bool(stack)
        self._end_anchor()
        self._end_block(stack[-1].place if stack else Place())

    def _in_bounds(self) -> bool:
        """Looked at each time an element is entered or left, and every so often within one."""
        if self._elements < self._next_look:
            return True
        self._next_look = self._elements + bounds.CLOCK_EVERY
        return self._elements <= bounds.ELEMENTS and time.monotonic() <= self._deadline

    def _walk_through(self, frame: _Frame) -> bool:
        """Take the children of an element until one must be walked through itself; whether that was all."""
        place = frame.place
        parts = self._parts
        look = self._next_look
        for node in frame.children:
            kind = type(node)
            if kind is Text:
                text = node.data  # type: ignore[attr-defined]
                if parts or place.code or not text.isspace():
                    parts.append(text)
            elif kind is Element:
                self._elements += 1
                tag = node.tag  # type: ignore[attr-defined]
                if tag in tags.BLOCKS:
                    if parts:
                        self._end_block(place)
                    entered = self._take_block(node, tag, place)  # type: ignore[arg-type]
                else:
                    entered = self._take_inline(node, tag, place)  # type: ignore[arg-type]
                if entered or self._elements >= look:
                    return False
        return True

    def _leave(self, frame: _Frame) -> None:
        if frame.ends == _BLOCK:
            self._end_block(frame.place)
        elif frame.ends == _ANCHOR:
            self._end_anchor()

    # Elements: each answers whether it must be walked through

    def _take_block(self, element: Element, tag: str, place: Place) -> bool:
        if self._hidden and element in self._hidden and tag != "body":
            place = place.moved(zone=zones.HIDDEN)  # many pages hide their body until a script shows it
        elif tag in tags.CONTAINERS:
            place = self._container(element, tag, place)
        elif tag not in tags.PLAIN_BLOCKS:
            place = self._place_by_tag(tag, place)
        if element in self._mixed:
            self._stack.append(_Frame(element, place, _BLOCK))
            return True
        text = element.text
        if text:
            self._parts.append(text)
            if self._anchor is None:
                self._take_links(element, place)
            self._end_block(place)
        return False

    def _take_inline(self, element: Element, tag: str, place: Place) -> bool:
        if tag in tags.PARTING:
            self._take_parting(element, tag, place)
            return False
        if self._hidden and element in self._hidden:
            self._found.hidden_chars += len(element.text.strip())
            return False
        if element in self._mixed:
            ends = _ANCHOR if tag == "a" and self._begin_anchor(element, place) else _INLINE
            self._stack.append(_Frame(element, place, ends))
            return True
        self._parts.append(element.text)
        if tag == "a":
            self._take_link(element, place)
        elif self._anchor is None:
            self._take_links(element, place)
        return False

    def _take_parting(self, element: Element, tag: str, place: Place) -> None:
        if tag == "br":
            self._parts.append("\n" if place.code else " ")
        elif tag in tags.FRAMES:
            self._take_frame(element, place)
        elif self._parts:
            self._parts.append(" ")

    def _take_frame(self, element: Element, place: Place) -> None:
        """A frame or an area of an image map: a link without text of its own."""
        if len(self._found.links) >= _LINKS:
            return
        href = element.attr("src") or element.attr("href") or ""
        link = RawLink(href, None, None, "", len(self._blocks), place.zone)
        link.alt = clean(element.attr("alt") or element.attr("title") or "")
        self._found.links.append(link)

    # Places

    def _place_by_tag(self, tag: str, place: Place) -> Place:
        if tag == "tr":
            self._rows += 1
            return place.moved(row=self._rows)
        if tag in tags.HEADINGS:
            return place.moved(heading=tags.HEADINGS[tag])
        if tag in tags.CODE:
            return place.moved(code=True)
        return _in_main(place, tag)

    def _container(self, element: Element, tag: str, place: Place) -> Place:
        zone = zones.TAGS.get(tag, zones.CONTENT)
        if tag == "header" and not place.main:
            zone = zones.ASIDE
        role = element.attr("role")
        if role:
            if role in zones.MAIN_ROLES:
                return _in_main(place, role)
            zone = zones.ROLES.get(role, zone)
        names = "" if zone else _names(element, tag)
        if names:
            zone = zones.hinted(names, in_text=place.in_text)
        current = place.zone
        if zone and (current == zones.CONTENT or (current in zones.HINTED and zone not in zones.HINTED)):
            return place.moved(zone=zone)  # a firm zone wins over a hinted one, else the outer zone stays
        if not place.in_text and (tag == "section" or (names and zones.opens_text(names))):
            return place.moved(in_text=True)
        return place

    # Links

    def _take_links(self, element: Element, place: Place) -> None:
        """The links of an element that is plain: its text is the last part already."""
        for anchor in element.select("a[href]"):
            self._take_link(anchor, place)

    def _take_link(self, anchor: Element, place: Place) -> None:
        """A plain link, whose text stands in the last part."""
        text = anchor.text
        if len(text) <= _SIGN_CHARS and text.strip() in _SELF_LINK_SIGNS:
            self._parts[-1] = _without_sign(self._parts[-1], text)
        elif self._new_link(anchor, place, text) is not None:
            self._link_chars += len(text)

    def _new_link(self, anchor: Element, place: Place, text: str = "") -> RawLink | None:
        attribute = anchor.attr
        href = attribute("href")
        if href is None or len(self._found.links) >= _LINKS:
            return None
        link = RawLink(href, attribute("rel"), attribute("title"), text, len(self._blocks), place.zone)
        self._found.links.append(link)
        if not text or text.isspace():
            image = anchor.select_one("img[alt]")
            link.alt = clean(image.attr("alt") or "")[: bounds.ALT_CHARS] if image is not None else ""
        return link

    def _begin_anchor(self, anchor: Element, place: Place) -> bool:
        self._anchor = self._new_link(anchor, place)
        self._anchor_start = len(self._parts)
        return self._anchor is not None

    def _end_anchor(self) -> None:
        """Close the anchor; the signs that link a heading to itself are no text."""
        link = self._anchor
        if link is None:
            return
        text = "".join(self._parts[self._anchor_start :])
        self._anchor = None
        self._link_chars += len(text)
        link.text += text
        if len(link.text) <= _SIGN_CHARS and link.text.strip() in _SELF_LINK_SIGNS:
            del self._parts[self._anchor_start :]

    # Text

    def _end_block(self, place: Place) -> None:
        """Make a block of the text since the last one."""
        parts = self._parts
        if not parts:
            return
        joined = parts[0] if len(parts) == 1 else "".join(parts)
        if self._anchor is not None:
            self._split_anchor(self._anchor)
        parts.clear()
        if joined.isspace():
            return
        link_chars, self._link_chars = self._link_chars, 0
        text = clean_lines(joined) if place.code else clean(joined)
        if not text:
            return
        if place.zone == zones.HIDDEN:
            self._found.hidden_chars += len(text)
            return
        self._blocks.append(Block(text, link_chars, place))

    def _split_anchor(self, link: RawLink) -> None:
        """A block ends inside a link: the link takes its text of this block along."""
        text = "".join(self._parts[self._anchor_start :])
        self._link_chars += len(text)
        link.text = f"{link.text}{text} "
        self._anchor_start = 0


def _without_sign(text: str, sign: str) -> str:
    """A heading's text without the sign that links it to itself, which mostly stands at its end."""
    before, _, after = text.rpartition(sign)
    return before + after


def _in_main(place: Place, name: str) -> Place:
    return place.moved(main=2 if name == "main" else max(place.main, 1))


def _names(element: Element, tag: str) -> str:
    """The words by which an element names its part of the page."""
    names = element.attr("class") or ""
    identifier = element.attr("id")
    if identifier and _is_name(tag, identifier):
        names = f"{names} {identifier}" if names else identifier
    return names[: zones.NAME_CHARS]


def _is_name(tag: str, identifier: str) -> bool:
    """Whether an id names a part of the layout; those of sections and long ones repeat the words of a heading."""
    return tag != "section" and identifier.count("-") + identifier.count("_") < 2


def hides(element: Element) -> bool:
    """Whether a browser would not show the element, by its own attributes."""
    style = element.attr("style")
    if style and zones.hides(style[: zones.NAME_CHARS]):
        return True
    hidden = element.attr("hidden")
    return hidden is not None and hidden != "until-found"
