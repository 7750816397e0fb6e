"""An http or https URL taken apart exactly as the WHATWG URL standard says (by ada)."""

from __future__ import annotations

from typing import NamedTuple

import ada_url

from periplus.errors import InvalidAddress

MAX_TEXT = 16_384  # characters of a text that is looked at; longer ones are data, not addresses

_SHOWN = 120  # characters of a wrong text that an error repeats


class Address(NamedTuple):
    """The parts of a URL, in their normal spelling; ``port`` is empty when it is the scheme's own."""

    scheme: str
    username: str
    password: str
    hostname: str
    port: str
    path: str
    query: str  # without the question mark
    fragment: str  # without the number sign


def parse(text: str, base: str | None = None) -> Address:
    """``text``, seen from ``base``, in parts; raises ``InvalidAddress`` unless it is an http(s) URL."""
    href = normal(text, base)
    if href is None:
        raise refusal(text, "is not an http or https URL")
    return split(href)


def normal(text: str, base: str | None = None) -> str | None:
    """The WHATWG serialisation of ``text`` seen from ``base``, or None when it is not an http(s) URL."""
    if len(text) > MAX_TEXT:
        return None
    try:
        href: str = ada_url.normalize_url(text) if base is None else ada_url.join_url(base, text)
    except ValueError:
        mended = _without_surrogates(text), base and _without_surrogates(base)
        return None if mended == (text, base) else normal(*mended)
    return href if href.startswith(("https://", "http://")) else None


def split(href: str) -> Address:
    """Parts of a URL that is already in its normal spelling."""
    scheme, _, rest = href.partition("://")
    rest, _, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    userinfo, _, place = authority.rpartition("@")
    username, _, password = userinfo.partition(":")
    hostname, port = split_port(place)
    return Address(scheme, username, password, hostname, port, slash + path, query, fragment)


def split_port(place: str) -> tuple[str, str]:
    """``example.org:8080`` and ``[::1]:8080`` as name and port; no port is the empty text."""
    if place.endswith("]") or ":" not in place:
        return place, ""
    hostname, _, port = place.rpartition(":")
    return hostname, port


def refusal(text: str, why: str) -> InvalidAddress:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return InvalidAddress(f"{shown!r} {why}; give one such as https://example.org/")


def _without_surrogates(text: str) -> str:
    """Lone surrogates, which no encoding holds, become U+FFFD as in browsers; pairs become their character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
