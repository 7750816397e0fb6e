"""Markdown to a ``Reading``: headings, paragraphs without their marks, links, code as it stands.

Not a renderer: it takes the marks off line by line, which is all that indexing needs, in linear time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from periplus.documents import bounds
from periplus.documents.charset import decode
from periplus.documents.links import LinkSet
from periplus.documents.reading import Reading
from periplus.documents.text import clean, clean_lines
from periplus.records import Heading

if TYPE_CHECKING:
    from periplus.records import Page

_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})\s+(?=\S)")
_UNDERLINE: Final = re.compile(r"^ {0,3}(=+|-+)\s*$")
_FENCE: Final = re.compile(r"^ {0,3}(```|~~~)")
_PREFIX: Final = re.compile(r"^\s{0,8}(?:>\s?|[-*+]\s+|\d{1,9}[.)]\s+|\|)+")
_RULE: Final = re.compile(r"^\s*(?:[-*_|:]\s*){3,}$")
_LINK: Final = re.compile(
    r"(!?)\[([^\[\]]{0,500})\]\(\s*<?([^()\s<>]{1,2048})>?(?:\s+[\"'(][^\"')]{0,300}[\"')])?\s*\)"
)
_REFERENCE: Final = re.compile(r"^ {0,3}\[[^\]]{1,200}\]:\s*<?(\S{1,2048}?)>?(?:\s+.*)?$")
_REFERRED: Final = re.compile(r"!?\[([^\[\]]{0,500})\]\[[^\]]{0,200}\]")
_AUTOLINK: Final = re.compile(r"<(https?://[^<>\s]{1,2048})>")
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,500}>|<!--[^<>]{0,500}-->")
_MARKS: Final = re.compile(r"(\*\*|__|~~|`+|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|(?<!\w)_(?=\S)|(?<=\S)_(?!\w))")
_FRONT_TITLE: Final = re.compile(r"^title\s*:\s*[\"']?(.{1,500}?)[\"']?\s*$", re.MULTILINE | re.IGNORECASE)


class _MarkdownReader:
    def __init__(self, base: str) -> None:
        self.links = LinkSet(base)
        self.headings: list[Heading] = []
        self.lines: list[str] = []
        self._paragraph: list[str] = []
        self._code: list[str] | None = None

    def line(self, line: str) -> None:
        if _FENCE.match(line):
            self._toggle_code()
        elif self._code is not None:
            self._code.append(line)
        elif not line.strip():
            self._end_paragraph()
        elif heading := _HEADING.match(line):
            self._end_paragraph()
            self._heading(len(heading.group(1)), line[heading.end() :].rstrip().rstrip("#"))
        elif self._paragraph and (under := _UNDERLINE.match(line)):
            text = self._paragraph.pop()
            self._end_paragraph()
            self._heading(1 if under.group(1)[0] == "=" else 2, text)
        elif not _RULE.match(line):
            self._prose(line)

    def _prose(self, line: str) -> None:
        if reference := _REFERENCE.match(line):
            self.links.add(reference.group(1), "")
            return
        if _PREFIX.match(line):
            self._end_paragraph()
        self._paragraph.append(self._bare(_PREFIX.sub("", line)))

    def _heading(self, level: int, text: str) -> None:
        bare = clean(self._bare(text))[: bounds.HEADING_CHARS]
        if bare:
            self.lines.append(bare)
            if len(self.headings) < bounds.HEADINGS:
                self.headings.append(Heading(level, bare))

    def _bare(self, text: str) -> str:
        """The text without marks; its links are taken in."""
        text = _LINK.sub(self._take_link, text)
        text = _AUTOLINK.sub(self._take_address, text)
        text = _REFERRED.sub(r"\1", text)
        return _MARKS.sub("", _TAG.sub(" ", text)).replace("|", " ")

    def _take_link(self, match: re.Match[str]) -> str:
        image, text, target = match.groups()
        if not image:
            self.links.add(target, clean(_MARKS.sub("", text)))
        return text

    def _take_address(self, match: re.Match[str]) -> str:
        self.links.add(match.group(1), "")
        return match.group(1)

    def _toggle_code(self) -> None:
        if self._code is None:
            self._end_paragraph()
            self._code = []
        else:
            self.finish()

    def _end_paragraph(self) -> None:
        text = clean(" ".join(self._paragraph))
        self._paragraph.clear()
        if text:
            self.lines.append(text)

    def finish(self) -> None:
        self._end_paragraph()
        if self._code:
            code = clean_lines("\n".join(self._code))
            self.lines.extend([code] if code else [])
        self._code = None


def read(page: Page) -> Reading:
    """Read a Markdown text."""
    decoded = decode(page.body, page.content_type, markup=False)
    front, text = _front_matter(decoded.text[: bounds.MARKUP_CHARS])
    reader = _MarkdownReader(page.url)
    for line in text.splitlines():
        reader.line(line)
    reader.finish()
    titled = _FRONT_TITLE.search(front)
    reading = Reading(charset=decoded.charset, charset_sure=decoded.sure, headings=reader.headings)
    reading.text = "\n".join(reader.lines)[: bounds.TEXT_CHARS]
    reading.title = clean(titled.group(1)) if titled else (reader.headings[0].text if reader.headings else "")
    reading.links = reader.links.links()
    if len(decoded.text) > bounds.MARKUP_CHARS or reader.links.truncated:
        reading.signals["truncated"] = 1.0
    return reading


def _front_matter(text: str) -> tuple[str, str]:
    """The YAML block at the top, if there is one, and the rest."""
    if text.startswith("---\n"):
        end = text.find("\n---", 4, 20_000)
        if end > 0:
            return text[4:end], text[end + 4 :]
    return "", text
