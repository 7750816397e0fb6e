"""Signed 64-bit keys (XXH3) of addresses and hosts; all take canonical spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Iterable

_SIGN = 1 << 63
_WRAP = 1 << 64


def _signed(text: str) -> int:
    digest = xxh3_64_intdigest(text.encode())
    return digest - _WRAP if digest >= _SIGN else digest


def key(url: str) -> int:
    """The key of one address."""
    return _signed(url)


def page_key(url: str) -> int:
    """The key of a page, whether it is reached by http or by https: a vertex of the link graph.

    A document that came without an address has a name of another kind; it is its own key.
    """
    return _signed(url[url.find("://") + 1 :])


def page_keys(urls: Iterable[str]) -> list[int]:
    """The page keys of many addresses, as ``page_key`` gives them one by one."""
    digests = [xxh3_64_intdigest(url[url.find("://") + 1 :].encode()) for url in urls]
    return [digest - _WRAP if digest >= _SIGN else digest for digest in digests]


def host_key(host: str) -> int:
    """The key of a host as ``addresses.host`` gives it."""
    return _signed(host)
