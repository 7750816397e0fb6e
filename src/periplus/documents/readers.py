"""The readers by media type. A reader takes a page and gives a ``Reading``, or raises ``ParseError``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from periplus.documents import epub, feed, html, json_feed, kinds, markdown, office, pdf, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.documents.reading import Reading
    from periplus.records import Page

READERS: Final[dict[str, Callable[[Page], Reading]]] = {
    kinds.HTML: html.read,
    kinds.PLAIN: plain.read,
    kinds.MARKDOWN: markdown.read,
    kinds.XML: feed.read,
    kinds.RSS: feed.read,
    kinds.ATOM: feed.read,
    kinds.JSON_FEED: json_feed.read,
    kinds.JSON_LD: json_feed.read,
    kinds.PDF: pdf.read,
    kinds.DOCX: office.read_docx,
    kinds.ODT: office.read_odt,
    kinds.EPUB: epub.read,
}
