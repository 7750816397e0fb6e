"""DOCX and ODT to a ``Reading``: paragraphs, headings, links and the properties of the file.

Both are XML in a ZIP; one handler gathers paragraphs, and each format says which tags open what.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from periplus.documents import bounds, xml
from periplus.documents.container import Container
from periplus.documents.dates import plausible
from periplus.documents.links import LinkSet
from periplus.documents.reading import Dates, Reading
from periplus.documents.text import clean
from periplus.errors import ParseError
from periplus.records import Heading

if TYPE_CHECKING:
    from periplus.records import Page

_STYLE_LEVEL: Final = re.compile(r"heading\s*(\d)", re.IGNORECASE)
_DELETED: Final = frozenset({"del", "instrtext", "tracked-changes", "annotation"})  # not part of what is read


class _Text:
    """Gathers paragraphs from the events of document.xml or content.xml."""

    def __init__(self, links: LinkSet, targets: dict[str, str]) -> None:
        self.lines: list[str] = []
        self.headings: list[Heading] = []
        self._links = links
        self._targets = targets
        self._parts: list[str] = []
        self._level = 0
        self._anchor: str = ""
        self._anchor_parts: list[str] = []
        self._ignored = 0
        self._cell = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _DELETED or self._ignored:
            self._ignored += 1
        elif tag in ("p", "h"):
            self._level = _level(xml.attribute(attributes, "outline-level")) if tag == "h" else 0
        elif tag == "pstyle":
            self._level = _style_level(xml.attribute(attributes, "val"))
        elif tag in ("tab", "br", "cr", "s", "line-break"):
            self._parts.append(" ")
        elif tag in ("hyperlink", "a"):
            target = xml.attribute(attributes, "href") or self._targets.get(xml.attribute(attributes, "id"), "")
            self._anchor, self._anchor_parts = target, []
        elif tag in ("tc", "table-cell"):
            self._cell += 1

    def data(self, text: str) -> None:
        if not self._ignored:
            self._parts.append(text)
            if self._anchor:
                self._anchor_parts.append(text)

    def end(self, tag: str) -> None:
        if self._ignored:
            self._ignored -= 1
        elif tag in ("p", "h"):
            self._end_paragraph()
        elif tag in ("hyperlink", "a") and self._anchor:
            self._links.add(self._anchor, clean("".join(self._anchor_parts)))
            self._anchor = ""
        elif tag in ("tc", "table-cell"):
            self._cell -= 1

    def _end_paragraph(self) -> None:
        text = clean("".join(self._parts))
        self._parts.clear()
        if not text:
            return
        self.lines.append(text)
        if self._level and not self._cell and len(self.headings) < bounds.HEADINGS:
            self.headings.append(Heading(self._level, text[: bounds.HEADING_CHARS]))


class _Properties:
    """The text of each element of a metadata file, by local name; the first one wins."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self._parts: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._parts.clear()

    def data(self, text: str) -> None:
        self._parts.append(text)

    def end(self, tag: str) -> None:
        text = clean("".join(self._parts))
        self._parts.clear()
        if text:
            self.values.setdefault(tag, text[: bounds.METADATA_CHARS])


class _Relations:
    """Targets of a DOCX's links by their id."""

    def __init__(self) -> None:
        self.targets: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "relationship" and attributes.get("TargetMode") == "External":
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")

    def data(self, text: str) -> None:
        pass

    def end(self, tag: str) -> None:
        pass


def read_docx(page: Page) -> Reading:
    """Read a DOCX file."""
    container = Container(page.body)
    relations = _Relations()
    if "word/_rels/document.xml.rels" in container:
        xml.walk(container.text("word/_rels/document.xml.rels"), relations)
    return _read(page, container, "word/document.xml", "docProps/core.xml", relations.targets)


def read_odt(page: Page) -> Reading:
    """Read an ODT file."""
    return _read(page, Container(page.body), "content.xml", "meta.xml", {})


def _read(page: Page, container: Container, content: str, meta: str, targets: dict[str, str]) -> Reading:
    links = LinkSet(page.url)
    text = _Text(links, targets)
    whole = xml.walk(container.text(content)[: 4 * bounds.MARKUP_CHARS], text)
    if not whole and not text.lines:
        raise ParseError("unreadable", f"{content} is no XML")
    reading = Reading(text="\n".join(text.lines)[: bounds.TEXT_CHARS], headings=text.headings, links=links.links())
    if not whole or len(reading.text) == bounds.TEXT_CHARS:
        reading.signals["truncated"] = 1.0
    if meta in container:
        describe(reading, container.text(meta), page.fetched)
    return reading


def describe(reading: Reading, markup: str, fetched: float) -> None:
    """Fill in what Dublin Core elements of a metadata file say."""
    properties = _Properties()
    xml.walk(markup, properties)
    values = properties.values
    reading.title = values.get("title", "")[: bounds.TITLE_CHARS]
    reading.author = (values.get("creator") or values.get("initial-creator") or "")[: bounds.TITLE_CHARS]
    reading.description = values.get("description", "")[: bounds.DESCRIPTION_CHARS]
    reading.declared_language = values.get("language", "").lower()[:20]
    created = plausible(values.get("created") or values.get("creation-date") or "", fetched)
    modified = plausible(values.get("modified") or values.get("date") or "", fetched)
    if created or modified:
        reading.dates = Dates(created, modified, "file")


def _level(text: str) -> int:
    return min(int(text), 6) if text.isdecimal() and text != "0" else 1


def _style_level(style: str) -> int:
    if style.lower() == "title":
        return 1
    found = _STYLE_LEVEL.match(style)
    return _level(found.group(1)) if found else 0
