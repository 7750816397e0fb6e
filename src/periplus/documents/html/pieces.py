"""The pieces that a walk over a page leaves behind: blocks of text and raw links.

Plain classes with slots, because a page makes hundreds of them.
"""

from __future__ import annotations


class Block:
    """The text between two block-level tags."""

    __slots__ = ("heading", "in_main", "link_chars", "row", "size", "text", "zone")

    def __init__(self, text: str, zone: int, link_chars: int, in_main: int, heading: int, row: int) -> None:
        self.text = text
        self.size = len(text)
        self.zone = zone
        self.link_chars = link_chars
        self.in_main = in_main
        self.heading = heading
        self.row = row


class RawLink:
    """An anchor as it stands in the page; ``block`` is where it began."""

    __slots__ = ("alt", "block", "href", "rel", "text", "title", "zone")

    def __init__(self, href: str, rel: str, title: str, block: int, zone: int) -> None:
        self.href = href
        self.rel = rel
        self.title = title
        self.block = block
        self.zone = zone
        self.text = ""
        self.alt = ""
