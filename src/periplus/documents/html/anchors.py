"""The links of a page as they stand in it: which plain element holds which, their texts and attributes.

All anchors are asked of the parser at once, and so are those that have more than an address: most have not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from periplus.documents import bounds
from periplus.documents.html.pieces import Findings, RawLink
from periplus.documents.text import clean

if TYPE_CHECKING:
    from turbohtml import Document, Element, Node

_SELF_LINK_SIGNS: Final = frozenset({"¶", "#", "§", "🔗", "🔗︎", "\uf0c1"})
_SIGN_CHARS: Final = 2  # of the longest of them
_LINKS: Final = 4 * bounds.LINKS  # many are repeated, or lead nowhere


class Anchors:
    """Knows the links of each plain element, in order (``holders``), and notes them in the findings."""

    def __init__(self, document: Document, mixed: set[Node], found: Findings) -> None:
        self._links = found.links
        self._described: set[Node] = set(document.select("a[rel],a[title]"))
        self.holders = _by_holder(document.select("a[href]"), mixed)

    def take(self, anchors: list[Element], text: str, block: int, zone: int) -> tuple[str, int]:
        """Note plain links whose words stand in ``text``: the text without signs that link to themselves, and how
        many of its characters are link text."""
        linked = 0
        for anchor in anchors:
            words = anchor.text
            if len(words) <= _SIGN_CHARS and words.strip() in _SELF_LINK_SIGNS:
                text = _without_sign(text, words)
            elif self.add(anchor, words, block, zone) is not None:
                linked += len(words.strip())
        return text, linked

    def add(self, anchor: Element, text: str, block: int, zone: int) -> RawLink | None:
        """Note a link; None for what has no address, and past the bound."""
        href = anchor.attr("href")
        if href is None or len(self._links) >= _LINKS:
            return None
        link = RawLink(href, text, block, zone)
        self._links.append(link)
        if anchor in self._described:
            link.rel, link.title = anchor.attr("rel") or "", anchor.attr("title") or ""
        if not text or text.isspace():
            link.alt = _name_of(anchor)
        return link

    def add_frame(self, element: Element, block: int, zone: int) -> None:
        """A frame or an area of an image map: a link without text of its own."""
        if len(self._links) >= _LINKS:
            return
        link = RawLink(element.attr("src") or element.attr("href") or "", "", block, zone)
        link.alt = clean(element.attr("alt") or element.attr("title") or "")
        self._links.append(link)

    @staticmethod
    def is_sign(text: str) -> bool:
        """Whether a link's text is only the sign by which a heading links to itself."""
        return len(text) <= _SIGN_CHARS and text.strip() in _SELF_LINK_SIGNS


def _by_holder(anchors: list[Element], mixed: set[Node]) -> dict[Node, list[Element]]:
    """Anchors by the outermost plain element around them, and by all elements on the way there."""
    found: dict[Node, list[Element]] = {}
    for anchor in anchors:
        parent = anchor.parent
        held = found.get(parent)  # type: ignore[arg-type]
        if held is None and parent is not None:
            held = _shared(parent, mixed, found)
        if held is not None:
            held.append(anchor)
    return found


def _shared(element: Node, mixed: set[Node], found: dict[Node, list[Element]]) -> list[Element]:
    """The list of the outermost plain element around ``element``; no way up is climbed twice."""
    held: list[Element] | None = None
    parent = element.parent
    if parent is None or parent in mixed:  # as mostly
        held = found[element] = []
        return held
    path: list[Node] = [element]
    while held is None and parent is not None and parent not in mixed:
        path.append(parent)
        held = found.get(parent)
        parent = parent.parent
    held = [] if held is None else held
    found.update(dict.fromkeys(path, held))
    return held


def _name_of(anchor: Element) -> str:
    """What a link without words is called: the text of its image, or its own label."""
    image = anchor.select_one("img[alt]")
    name = clean(image.attr("alt") or "") if image is not None else ""
    return (name or clean(anchor.attr("aria-label") or ""))[: bounds.ALT_CHARS]


def _without_sign(text: str, sign: str) -> str:
    """A heading's text without the sign that links it to itself, which mostly stands at its end."""
    before, _, after = text.rpartition(sign)
    return before + after
