"""How often one client may ask: a token bucket for each address, for what costs a search.

A bucket holds ``burst`` tokens and gains ``rate`` of them a second; a request takes one. The table is bounded: the
client that was longest silent is forgotten, and its bucket would be full by then or it costs it nothing. This machine
itself is not limited: that is the operator, or a proxy that sees the clients better than we do.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING

from periplus.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Scope

    from periplus.web.requests.keys import KeyRing

CLIENTS = 10_000
LIMITED = ("/search", "/api/", "/explain", "/inspect", "/similar", "/cached", "/site/", "/panels", "/picture", "/click")
IPV6_PREFIX = 64  # one client has all addresses of such a network


class Buckets:
    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client → tokens, at that time

    def take(self, client: str) -> float:
        """Take a token; how many seconds to wait for one when there is none, else 0."""
        now = self._clock()
        tokens, at = self._held.pop(client, (float(self.burst), now))
        tokens = min(float(self.burst), tokens + (now - at) * self.rate)
        allowed = tokens >= 1
        self._held[client] = (tokens - 1 if allowed else tokens, now)
        if len(self._held) > CLIENTS:
            self._held.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self.rate

    def wait(self, client: str) -> float:
        """How many seconds until there is a token, which is not taken."""
        tokens, at = self._held.get(client, (float(self.burst), 0.0))
        return max(0.0, (1 - tokens) / self.rate - (self._clock() - at))

    def __len__(self) -> int:
        return len(self._held)


class Limits:
    """The buckets of all clients; a program with a key has one of its own, whatever address it comes from."""

    def __init__(self, buckets: Buckets, keys: KeyRing | None = None) -> None:
        self.buckets = buckets
        self.keys = keys

    def wait(self, scope: Scope) -> float:
        """Seconds to wait before this request may be answered; 0 for one that costs nothing or is in time."""
        if not scope["path"].startswith(LIMITED):
            return 0.0
        client = client_of((scope.get("client") or ("",))[0])
        return self.buckets.take(self._key(scope) or client) if client else 0.0

    def _key(self, scope: Scope) -> str:
        shown = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, text = shown.decode("latin-1").partition(" ")
        if not self.keys or scheme.lower() != "bearer":
            return ""
        try:
            key = self.keys.find(text.strip())
        except StorageError:  # whoever checks the key says so
            return ""
        return f"key {key.name}" if key else ""


@lru_cache(CLIENTS)
def client_of(text: str) -> str:
    """Who is asking from this address; empty for this machine itself."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "unknown"
    address = (address.ipv4_mapped or address) if address.version == 6 else address
    if address.is_loopback:
        return ""
    if address.version == 6:
        return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))
    return str(address)


@lru_cache(CLIENTS)
def is_loopback(text: str) -> bool:
    return client_of(text) == ""
