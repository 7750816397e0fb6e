"""What the index can give back of a document, and how it is identified."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus import addresses
from periplus.records import Heading

if TYPE_CHECKING:
    from periplus.records import Document

HOSTS_KEPT = 65_536
FIRST_HOST_END = len("http://h")


class StoredDocument(Struct, frozen=True, array_like=True, gc=False):
    """A document as results, snippets and the cached view need it."""

    url: str
    id: str
    title: str
    description: str
    text: str
    headings: tuple[Heading, ...]
    language: str
    content_type: str
    published: float
    fetched: float
    host: str
    site: str
    author: str
    noarchive: bool


class Place(Struct, frozen=True, gc=False):
    """Where a document belongs; all empty for one without an http address."""

    host: str
    site: str
    page_key: int
    order: str  # sorts a site's pages together


def place_of(document: Document) -> Place:
    url = document.url
    if not url.startswith(("http://", "https://")):
        return Place("", "", document.key, url)
    end = url.find("/", FIRST_HOST_END) + 1
    if not end:
        return Place(addresses.host(url), addresses.site(url), addresses.page_key(url), addresses.surt(url))
    host, site, order = _host_place(url[:end])
    return Place(host, site, addresses.page_key(url), order + url[end:])


@lru_cache(maxsize=HOSTS_KEPT)
def _host_place(root: str) -> tuple[str, str, str]:
    return addresses.host(root), addresses.site(root), addresses.surt(root)


def identifier(document: Document) -> str:
    """The id it was imported under, else its key in hexadecimal."""
    return document.id or hexadecimal(document.key)


def hexadecimal(key: int) -> str:
    return f"{key & 0xFFFF_FFFF_FFFF_FFFF:016x}"
