"""EPUB to a ``Reading``: the chapters in the book's own order, read as HTML, and the book's metadata."""

from __future__ import annotations

import posixpath
import time
from typing import TYPE_CHECKING
from urllib.parse import unquote

from periplus.documents import bounds, xml
from periplus.documents.container import Container
from periplus.documents.html.reader import read_markup
from periplus.documents.office import describe
from periplus.documents.reading import Reading
from periplus.errors import ParseError

if TYPE_CHECKING:
    from periplus.records import Link, Page

_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html"})


class _Package:
    """The manifest and the spine of an OPF file, or the place of that file in container.xml."""

    def __init__(self) -> None:
        self.root = ""
        self.order: list[str] = []
        self._files: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "rootfile" and not self.root:
            self.root = attributes.get("full-path", "")
        elif tag == "item" and attributes.get("media-type") in _CHAPTER_TYPES:
            self._files[attributes.get("id", "")] = attributes.get("href", "")
        elif tag == "itemref" and attributes.get("idref") in self._files:
            self.order.append(self._files[attributes["idref"]])

    def data(self, text: str) -> None:
        pass

    def end(self, tag: str) -> None:
        pass


def read(page: Page) -> Reading:
    """Read an EPUB book."""
    container = Container(page.body)
    package = _Package()
    xml.walk(container.text("META-INF/container.xml"), package)
    if not package.root:
        raise ParseError("unreadable", "the book does not say where its contents are")
    markup = container.text(package.root)
    xml.walk(markup, package)
    reading = Reading()
    _read_chapters(reading, container, package, page)
    describe(reading, markup, page.fetched)
    return reading


def _read_chapters(reading: Reading, container: Container, package: _Package, page: Page) -> None:
    deadline = time.monotonic() + bounds.SECONDS
    texts: list[str] = []
    links: dict[tuple[str, str], Link] = {}
    size = 0
    for href in package.order[: bounds.EPUB_CHAPTERS]:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(package.root), unquote(href)))
        if name not in container:
            continue
        if time.monotonic() > deadline or size > bounds.TEXT_CHARS:
            reading.signals["truncated"] = 1.0
            break
        chapter = read_markup(container.text(name), page)
        texts.extend(filter(None, (chapter.text, chapter.boilerplate if not chapter.text else "")))
        size += len(chapter.text)
        reading.headings.extend(chapter.headings)
        links.update({(link.url, link.text): link for link in chapter.links})
    reading.text = "\n".join(texts)[: bounds.TEXT_CHARS]
    del reading.headings[bounds.HEADINGS :]
    # a book's links among its own chapters resolve to addresses that do not exist
    inside = page.url.rpartition("/")[0] + "/"
    reading.links = [link for link in links.values() if not link.url.startswith(inside)][: bounds.LINKS]
