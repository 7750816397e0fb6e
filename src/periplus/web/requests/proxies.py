"""Who is really asking: behind a proxy that we trust, what it says of the client; else the other end of the connection.

Only ``X-Forwarded-For`` and ``X-Forwarded-Proto`` are read, and only from an address in ``serve.trusted_proxies``. Of
the addresses in the first, the rightmost that is no trusted proxy is the client: everything left of it was written by
the client itself. ``Forwarded`` is not read: a proxy that writes one of the two passes the other on as it came, and to
believe both is to believe the client.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TYPE_CHECKING

from periplus.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Scope

MOST_HOPS = 32  # addresses of X-Forwarded-For that are looked at, from the right
REMEMBERED = 4_096
SCHEMES = ("http", "https")


class Proxies:
    def __init__(self, trusted: Iterable[str] = ()) -> None:
        self._networks = tuple(_network(text) for text in trusted)
        self.trust = lru_cache(REMEMBERED)(self._trust)

    def _trust(self, host: str) -> bool:
        address = _address(host)
        return address is not None and any(address in network for network in self._networks)

    def apply(self, scope: Scope) -> None:
        """Put the real client and scheme into the scope of a request."""
        client = scope.get("client")
        if not self._networks or client is None or not self.trust(client[0]):
            return
        hops = [hop for value in _values(scope, b"x-forwarded-for") for hop in value.split(",")]
        scope["client"] = (self._farthest(client[0], hops), 0)
        scheme = next(reversed(_values(scope, b"x-forwarded-proto")), "").strip().lower()
        if scheme in SCHEMES:
            scope["scheme"] = scheme

    def _farthest(self, host: str, hops: list[str]) -> str:
        """The first from the right that is not trusted; what is no address ends the walk."""
        for hop in reversed(hops[-MOST_HOPS:]):
            address = _address(_without_port(hop.strip()))
            if address is None:
                return host
            host = str(address)
            if not self.trust(host):
                return host
        return host


def _values(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise SettingError(
            f"serve.trusted_proxies: {text!r} is no address or network; write 127.0.0.1 or 10.0.0.0/8"
        ) from error


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    inside = address.ipv4_mapped if address.version == 6 else None
    return inside or address


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
