"""What the index can give back of a document, and how it is identified."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from periplus import addresses
from periplus.records import Heading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.records import Document

HOSTS_KEPT = 65_536
FIRST_HOST_END = len("http://h")
HTTP = ("http://", "https://")


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


class Places(NamedTuple):
    """Where some documents belong: hosts and sites are empty for those without an http address."""

    hosts: list[str]
    sites: list[str]
    page_keys: list[int]
    orders: list[str]  # sort a site's pages together


def places_of(urls: Sequence[str], keys: Sequence[int]) -> Places:
    hosts: list[str] = []
    sites: list[str] = []
    orders: list[str] = []
    strange: list[int] = []
    for row, url in enumerate(urls):
        end = url.find("/", FIRST_HOST_END) + 1
        if end and url.startswith(HTTP):
            host, site, order = _host_place(url[:end])
            order += url[end:]
        elif url.startswith(HTTP):
            host, site, order = _host_place(url)
        else:
            host, site, order = "", "", url
            strange.append(row)
        hosts.append(host)
        sites.append(site)
        orders.append(order)
    page_keys = addresses.page_keys(urls)
    for row in strange:
        page_keys[row] = keys[row]
    return Places(hosts, sites, page_keys, orders)


def page_key_of(document: Document) -> int:
    """The key of its page in the link graph; its own when it has no http address."""
    return addresses.page_key(document.url) if document.url.startswith(HTTP) else document.key


@lru_cache(maxsize=HOSTS_KEPT)
def _host_place(root: str) -> tuple[str, str, str]:
    return addresses.host(root), addresses.site(root), addresses.surt(root)


def hexadecimal(key: int) -> str:
    return f"{key & 0xFFFF_FFFF_FFFF_FFFF:016x}"
