"""The pieces that a walk over a page leaves behind: blocks of text, raw links, and what its head holds.

Plain classes with slots where a page makes hundreds of them.
"""

from __future__ import annotations

from msgspec import Struct, field


class Place:
    """Where in the page a text stands; shared by all texts of one part, and never changed."""

    __slots__ = ("code", "heading", "in_text", "main", "row", "zone")

    def __init__(
        self,
        zone: int = 0,
        main: int = 0,
        heading: int = 0,
        row: int = 0,
        *,
        code: bool = False,
        in_text: bool = False,
    ) -> None:
        self.zone = zone
        self.main = main  # 2 inside ``main``, 1 inside an article
        self.heading = heading  # the level, where it stands in a heading
        self.row = row  # number of the table row; 0 outside tables
        self.code = code  # spacing matters
        self.in_text = in_text  # a chapter or section is around it

    def moved(
        self,
        zone: int | None = None,
        main: int | None = None,
        heading: int | None = None,
        row: int | None = None,
        *,
        code: bool = False,
        in_text: bool = False,
    ) -> Place:
        """A place that differs in what is given."""
        return Place(
            self.zone if zone is None else zone,
            self.main if main is None else main,
            self.heading if heading is None else heading,
            self.row if row is None else row,
            code=code or self.code,
            in_text=in_text or self.in_text,
        )


class Block:
    """The text between two block-level tags."""

    __slots__ = ("heading", "in_main", "in_text", "link_chars", "row", "size", "text", "zone")

    def __init__(self, text: str, link_chars: int, place: Place) -> None:
        self.text = text
        self.size = size = len(text)
        self.link_chars = min(size, link_chars)
        self.zone = place.zone
        self.in_main = place.main
        self.heading = place.heading
        self.row = place.row
        self.in_text = place.in_text


class RawLink:
    """An anchor as it stands in the page; ``block`` is where it began."""

    __slots__ = ("alt", "block", "href", "rel", "text", "title", "zone")

    def __init__(self, href: str, rel: str | None, title: str | None, text: str, block: int, zone: int) -> None:
        self.href = href
        self.rel = rel
        self.title = title
        self.text = text
        self.block = block
        self.zone = zone
        self.alt = ""


class Findings(Struct):
    """All that was found in one page, raw."""

    blocks: list[Block] = field(default_factory=list)
    links: list[RawLink] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)  # source, alt text
    metas: list[dict[str, str]] = field(default_factory=list)
    link_tags: list[dict[str, str]] = field(default_factory=list)
    times: list[dict[str, str]] = field(default_factory=list)
    json_ld: list[str] = field(default_factory=list)
    title: str = ""
    base: str = ""
    language: str = ""
    scripts: int = 0
    script_sources: list[str] = field(default_factory=list)  # addresses, or the beginning of scripts in the page
    hidden_chars: int = 0
    truncated: bool = False
