"""The pieces that a walk over a page leaves behind: blocks of text, raw links, and what its head holds.

Structs without upkeep by the garbage collector where a page makes hundreds of them: they hold no cycles.
"""

from __future__ import annotations

from msgspec import Struct, field

from periplus.records import Heading


class Place(Struct, frozen=True, gc=False):
    """Where in the page a text stands; shared by all texts of one part."""

    zone: int = 0
    margin: int = 0  # number of the innermost margin of an article around it; 0 for none
    main: int = 0  # 2 inside ``main``, 1 inside an article
    heading: int = 0  # the level, where it stands in a heading
    row: int = 0  # number of the table row; 0 outside tables
    code: bool = False  # spacing matters
    in_text: bool = False  # a chapter or section is around it

    def in_zone(self, zone: int) -> Place:
        return Place(zone, self.margin, self.main, self.heading, self.row, self.code, self.in_text)

    def in_margin(self, margin: int) -> Place:
        return Place(self.zone, margin, self.main, self.heading, self.row, self.code, self.in_text)

    def in_main(self, mark: int) -> Place:
        return Place(self.zone, self.margin, mark, self.heading, self.row, self.code, self.in_text)

    def in_heading(self, level: int) -> Place:
        return Place(self.zone, self.margin, self.main, level, self.row, self.code, self.in_text)

    def in_row(self, row: int) -> Place:
        return Place(self.zone, self.margin, self.main, self.heading, row, self.code, self.in_text)

    def in_code(self) -> Place:
        return Place(self.zone, self.margin, self.main, self.heading, self.row, True, self.in_text)  # noqa: FBT003

    def within_text(self) -> Place:
        return Place(self.zone, self.margin, self.main, self.heading, self.row, self.code, True)  # noqa: FBT003


class Block(Struct, gc=False):
    """The text between two block-level tags."""

    text: str
    size: int
    link_chars: int
    zone: int
    in_main: int
    heading: int
    row: int
    in_text: bool
    margin: int = 0  # as of its place
    frame: int = 0  # number of the innermost element around it that holds more than its text


class RawLink(Struct, gc=False):
    """An anchor as it stands in the page; ``block`` is where it began: the next one where no text is around it."""

    href: str
    text: str
    block: int
    zone: int
    rel: str = ""
    title: str = ""
    alt: str = ""


class Margin(Struct, gc=False):
    """A part of the page that calls itself a margin of an article."""

    kind: int  # as ``names`` knows them
    outer: int = 0  # number of the one around it


class Findings(Struct):
    """All that was found in one page, raw."""

    blocks: list[Block] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)  # for each frame the number of the one around it
    margins: list[Margin] = field(default_factory=lambda: [Margin(0)])  # by number; the first one is none
    links: list[RawLink] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)  # source, alt text
    definitions: list[tuple[str, str]] = field(default_factory=list)  # terms that the page defines, and how
    metas: list[dict[str, str]] = field(default_factory=list)
    link_tags: list[dict[str, str]] = field(default_factory=list)
    times: list[dict[str, str]] = field(default_factory=list)
    json_ld: list[str] = field(default_factory=list)
    article: bool = False  # the page says that it is one
    headline: int = -1  # the block that holds it, where it is not part of the text
    title: str = ""
    base: str = ""
    language: str = ""
    scripts: int = 0
    script_sources: list[str] = field(default_factory=list)  # addresses, or the beginning of scripts in the page
    hidden_chars: int = 0
    truncated: bool = False


class Body(Struct):
    """The text of a page, parted, and its links with clean texts."""

    text: str
    boilerplate: str
    headings: list[Heading]  # of the main text
    hrefs: list[str]
    texts: list[str]  # of the links, or what those without words are called
    places: list[str]
    relations: dict[int, str] = field(default_factory=dict)  # of those links that state some
    titles: dict[int, str] = field(default_factory=dict)
    visible: int = 0  # characters of all blocks
    linked: int = 0  # … of these in links
    hidden: int = 0  # out of sight
