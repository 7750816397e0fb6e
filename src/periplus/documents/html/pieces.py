"""The pieces that a walk over a page leaves behind: blocks of text, raw links, and what its head holds.

Structs without upkeep by the garbage collector where a page makes hundreds of them: they hold no cycles.
"""

from __future__ import annotations

from msgspec import Struct, field

from periplus.records import Heading


class Place(Struct, frozen=True, gc=False):
    """Where in the page a text stands; shared by all texts of one part."""

    zone: int = 0
    main: int = 0  # 2 inside ``main``, 1 inside an article
    heading: int = 0  # the level, where it stands in a heading
    row: int = 0  # number of the table row; 0 outside tables
    code: bool = False  # spacing matters
    in_text: bool = False  # a chapter or section is around it

    def in_zone(self, zone: int) -> Place:
        return Place(zone, self.main, self.heading, self.row, self.code, self.in_text)

    def in_main(self, mark: int) -> Place:
        return Place(self.zone, mark, self.heading, self.row, self.code, self.in_text)

    def in_heading(self, level: int) -> Place:
        return Place(self.zone, self.main, level, self.row, self.code, self.in_text)

    def in_row(self, row: int) -> Place:
        return Place(self.zone, self.main, self.heading, row, self.code, self.in_text)

    def in_code(self) -> Place:
        return Place(self.zone, self.main, self.heading, self.row, True, self.in_text)  # noqa: FBT003

    def within_text(self) -> Place:
        return Place(self.zone, self.main, self.heading, self.row, self.code, True)  # noqa: FBT003


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


class RawLink(Struct, gc=False):
    """An anchor as it stands in the page; ``block`` is where it began: the next one where no text is around it."""

    href: str
    text: str
    block: int
    zone: int
    rel: str = ""
    title: str = ""
    alt: str = ""


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
