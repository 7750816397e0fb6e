"""Plain text to a ``Reading``: paragraphs by empty lines, the first line as title where it looks like one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from periplus.documents import bounds
from periplus.documents.charset import decode
from periplus.documents.links import LinkSet
from periplus.documents.reading import Reading
from periplus.documents.text import clean

if TYPE_CHECKING:
    from periplus.records import Link, Page

_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`{}|\\^\[\]]{3,2000}")
_PARTING: Final = re.compile(r"\n[ \t]*\n")
_LINE: Final = re.compile(r"\r\n?|\n")
_TITLE_WORDS: Final = 20


def read(page: Page) -> Reading:
    """Read a plain text."""
    decoded = decode(page.body, page.content_type, markup=False)
    reading = reading_of(decoded.text)
    reading.charset, reading.charset_sure = decoded.charset, decoded.sure
    text = decoded.text[: bounds.MARKUP_CHARS]
    reading.title = title_of(text)
    reading.links = found_links(text, page.url)
    return reading


def reading_of(whole: str) -> Reading:
    """The paragraphs of a text, and nothing else."""
    text = whole[: bounds.MARKUP_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    paragraphs = [paragraph for part in _PARTING.split(text) if (paragraph := clean(part))]
    reading = Reading(text="\n".join(paragraphs)[: bounds.TEXT_CHARS])
    if len(whole) > bounds.MARKUP_CHARS or len(reading.text) == bounds.TEXT_CHARS:
        reading.signals["truncated"] = 1.0
    return reading


def title_of(text: str) -> str:
    """The first line that says something, when it is short enough for a title."""
    first = next((line for line in _LINE.split(text[:4000]) if line.strip(" \t=-*#_~")), "")
    line = clean(first).strip("=-*#_~ ")
    return line if 0 < len(line.split()) <= _TITLE_WORDS else ""


def found_links(text: str, base: str) -> list[Link]:
    """Addresses written out in a text; the address is its own anchor text, so it is left empty."""
    links = LinkSet(base)
    for match in _ADDRESS.finditer(text):
        if links.truncated:
            break
        links.add(match.group().rstrip(".,;:!?)'*"), "")
    return links.links()
