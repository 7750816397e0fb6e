"""Sitemaps: XML urlset and index, gzip, plain text, RSS and Atom, read leniently and within the protocol's bounds.

Namespaces and case do not matter; an entry without an address of ours is left out; at most 50,000 entries of at most
50 MB unpacked. Addresses are canonical. What is no sitemap at all raises ``ParseError("unreadable")``.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from periplus.addresses import try_canonical
from periplus.documents import bounds, xml
from periplus.documents.charset import decode
from periplus.documents.dates import instant
from periplus.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable

_GZIP: Final = b"\x1f\x8b"
_HEAD: Final = 4_096  # bytes in which the first element of a sitemap begins
_FIRST: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->).)*-->\s*)*"  # each comment ends in one place only
    rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>]",
    re.DOTALL,
)
_ENTRIES: Final = frozenset({"url", "sitemap", "item", "entry"})
_DATES: Final = frozenset({"lastmod", "pubdate", "updated", "published", "publication_date"})


class SitemapEntry(Struct, frozen=True):
    url: str
    modified: float = 0.0


class Sitemap(Struct, frozen=True):
    """Pages that a sitemap lists, and further sitemaps when it is an index."""

    pages: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[str, ...] = ()


def looks_like_sitemap(body: bytes) -> bool:
    """Whether these bytes begin as an XML sitemap or an index of sitemaps."""
    return _FIRST.match(body[:_HEAD]) is not None


class _SitemapReader:
    """Gathers entries from XML events."""

    def __init__(self) -> None:
        self.root = ""
        self.pages: list[tuple[str, str]] = []
        self.sitemaps: list[tuple[str, str]] = []
        self._kind = ""
        self._location = ""
        self._modified = ""
        self._text: list[str] = []
        self._inner = 0  # levels below a url's own children, such as an image's loc

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.root = self.root or tag
        self._text.clear()
        if tag in _ENTRIES and not self._kind:
            self._kind, self._location, self._modified, self._inner = tag, "", "", 0
            return
        self._inner += 1
        if tag == "link" and attributes.get("href") and attributes.get("rel", "alternate") == "alternate":
            self._location = self._location or attributes["href"]

    def data(self, text: str) -> None:
        self._text.append(text)

    def end(self, tag: str) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        if tag == self._kind:
            self._close(text)
            return
        if self._kind and text and self._inner == 1 and tag in ("loc", "link"):
            self._location = self._location or text
        elif self._kind and text and tag in _DATES:
            self._modified = self._modified or text
        self._inner -= 1

    def _close(self, text: str) -> None:
        """End an entry; ``text`` is what stood bare in it, where some write the address without a ``loc``."""
        location = self._location or (text if text.startswith("http") else "")
        if location:
            (self.sitemaps if self._kind == "sitemap" else self.pages).append((location, self._modified))
        self._kind = ""


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """The entries of the sitemap at ``url``."""
    text = decode(_unpacked(body)).text
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return _from_lines(text, url)
    reader = _SitemapReader()
    xml.walk(text, reader)
    if not reader.root:
        raise ParseError("unreadable", "not a sitemap: no XML element could be read")
    return Sitemap(
        pages=tuple(SitemapEntry(page, instant(modified)) for page, modified in _canonical(reader.pages, url)),
        sitemaps=tuple(address for address, _ in _canonical(reader.sitemaps, url)),
    )


def _canonical(found: Iterable[tuple[str, str]], base: str) -> list[tuple[str, str]]:
    """Distinct addresses of ours among ``found``, the first of each, within the bound."""
    kept: dict[str, str] = {}
    for text, modified in found:
        if len(kept) >= bounds.SITEMAP_ENTRIES:
            break
        address = try_canonical(text, base) if len(text) <= bounds.ADDRESS_CHARS else None
        if address is not None:
            kept.setdefault(address, modified)
    return list(kept.items())


def _from_lines(text: str, url: str) -> Sitemap:
    lines = (line.strip() for line in text.splitlines())
    found = _canonical(((line, "") for line in lines if line.lower().startswith(("http://", "https://"))), url)
    if not found:
        raise ParseError("unreadable", "not a sitemap: neither XML nor a list of addresses")
    return Sitemap(pages=tuple(SitemapEntry(page) for page, _ in found))


def _unpacked(body: bytes) -> bytes:
    """The body without gzip (once or twice, as servers do it), never more than the bound."""
    for _ in range(2):
        if not body.startswith(_GZIP):
            break
        unpacker = zlib.decompressobj(wbits=31)
        try:
            body = unpacker.decompress(body, bounds.SITEMAP_BYTES + 1)
        except zlib.error as error:
            raise ParseError("unreadable", f"the gzip data is damaged: {error}") from error
    if len(body) > bounds.SITEMAP_BYTES:
        raise ParseError("parse-bound", f"the sitemap is larger than {bounds.SITEMAP_BYTES} bytes unpacked")
    return body
