"""RSS, Atom and other XML to a ``Reading``.

A feed reads as a document of its items: their titles and summaries are the text, their links carry the titles as
anchor text. Other XML reads as the text between its tags; a sitemap has no text, only links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from periplus.documents import bounds, xml
from periplus.documents.charset import decode
from periplus.documents.dates import plausible
from periplus.documents.html.walk import walk
from periplus.documents.links import LinkSet
from periplus.documents.reading import Dates, Reading
from periplus.documents.sitemaps import read_sitemap
from periplus.documents.text import clean
from periplus.errors import ParseError
from periplus.records import Heading

if TYPE_CHECKING:
    from periplus.records import Page

_ITEMS: Final = 1000
_SITEMAP_ROOTS: Final = frozenset({"urlset", "sitemapindex"})
_TEXTS: Final = {"description": "summary", "summary": "summary", "subtitle": "summary", "encoded": "content"}
_DATES: Final = {"pubdate", "published", "updated", "date", "lastbuilddate", "modified"}
_AUTHORS: Final = {"author", "creator", "name", "managingeditor"}


class Entry(Struct):
    """A feed's item, or the feed itself."""

    title: str = ""
    link: str = ""
    summary: str = ""
    content: str = ""
    date: str = ""
    author: str = ""
    language: str = ""


class _Feed(Struct):
    """Gathers a feed from XML events."""

    root: str = ""
    channel: Entry = field(default_factory=Entry)
    items: list[Entry] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # all text, for XML that is no feed
    _path: list[str] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _inside: bool = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.root = self.root or tag
        self.channel.language = self.channel.language or attributes.get("xml:lang", "")
        if tag in ("item", "entry"):
            self._inside = True
            if len(self.items) < _ITEMS:
                self.items.append(Entry())
        elif tag == "link" and attributes.get("href"):
            self._take_link(attributes)
        self._path.append(tag)
        self._text.clear()

    def data(self, text: str) -> None:
        self._text.append(text)
        if text.strip():
            self.words.append(text)

    def end(self, tag: str) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        self._path.pop()
        if tag in ("item", "entry"):
            self._inside = False
        elif text and "image" not in self._path:
            self._take(tag, text)

    def _current(self) -> Entry:
        return self.items[-1] if self._inside and self.items else self.channel

    def _take_link(self, attributes: dict[str, str]) -> None:
        entry = self._current()
        if attributes.get("rel", "alternate") == "alternate" and not entry.link:
            entry.link = attributes["href"]

    def _take(self, tag: str, text: str) -> None:
        entry = self._current()
        name = _TEXTS.get(tag, tag)
        if tag in _DATES:
            name = "date"
        elif tag in _AUTHORS:
            name = "author"
        if name in Entry.__struct_fields__ and not getattr(entry, name):
            setattr(entry, name, text)


def read(page: Page) -> Reading:
    """Read RSS, Atom or any other XML."""
    decoded = decode(page.body, page.content_type)
    feed = _Feed()
    whole = xml.walk(decoded.text[: bounds.MARKUP_CHARS], feed)
    if not feed.root:
        raise ParseError("unreadable", "no XML element could be read")
    reading = Reading(charset=decoded.charset, charset_sure=decoded.sure)
    if feed.root in _SITEMAP_ROOTS:
        _read_sitemap(reading, page)
    elif feed.root in ("rss", "feed", "rdf"):
        _read_feed(reading, feed, page)
    else:
        _read_words(reading, feed)
    if not whole:
        reading.signals["truncated"] = 1.0
    return reading


def _read_feed(reading: Reading, feed: _Feed, page: Page) -> None:
    links = LinkSet(page.url)
    channel = feed.channel
    reading.title = plain_of(channel.title)
    reading.description = plain_of(channel.summary)[: bounds.DESCRIPTION_CHARS]
    reading.declared_language = channel.language.strip().lower()
    reading.author = plain_of(channel.author)[: bounds.TITLE_CHARS]
    if channel.link:
        links.add(channel.link, reading.title)
    lines = [reading.description] if reading.description else []
    for entry in feed.items:
        title = plain_of(entry.title)
        summary = plain_of(entry.summary or entry.content)
        lines.extend(filter(None, (title, summary)))
        if entry.link:
            links.add(entry.link.strip(), title)
        if title and len(reading.headings) < bounds.HEADINGS:
            reading.headings.append(Heading(2, title[: bounds.HEADING_CHARS]))
    reading.text = "\n".join(lines)[: bounds.TEXT_CHARS]
    reading.links = links.links()
    reading.dates = _newest(feed, page.fetched)


def _newest(feed: _Feed, fetched: float) -> Dates:
    moments = [plausible(entry.date, fetched) for entry in (feed.channel, *feed.items)]
    newest = max(moments, default=0.0)
    return Dates(modified=newest, source="feed") if newest else Dates()


def _read_words(reading: Reading, feed: _Feed) -> None:
    lines = (clean(words) for words in feed.words)
    reading.text = "\n".join(line for line in lines if line)[: bounds.TEXT_CHARS]
    reading.title = plain_of(feed.channel.title)


def _read_sitemap(reading: Reading, page: Page) -> None:
    links = LinkSet(page.url)
    sitemap = read_sitemap(page.body, page.url)
    for url in (*sitemap.sitemaps, *(entry.url for entry in sitemap.pages)):
        links.add(url, "", place="navigation")
    reading.links = links.links()


def plain_of(text: str) -> str:
    """The plain text of a title or summary, which may be HTML."""
    if "<" not in text and "&" not in text:
        return clean(text)
    return " ".join(block.text.replace("\n", " ") for block in walk(text[: bounds.MARKUP_CHARS]).blocks)
