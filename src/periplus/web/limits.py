"""How often one client may ask: a token bucket for each address, for what costs a search.

A bucket holds ``burst`` tokens and gains ``rate`` of them a second; a request takes one. The table is bounded: the
client that was longest silent is forgotten, and its bucket would be full by then or it costs it nothing. This machine
itself is not limited: that is the operator, or a proxy that sees the clients better than we do.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from periplus.web.problems import MEDIA_TYPE, problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

CLIENTS = 10_000
LIMITED = ("/search", "/api/", "/explain", "/inspect", "/cached", "/site/")
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

    def __len__(self) -> int:
        return len(self._held)


class LimitsMiddleware:
    def __init__(self, app: ASGIApp, buckets: Buckets) -> None:
        self.app = app
        self.buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = _client(scope) if scope["type"] == "http" and scope["path"].startswith(LIMITED) else ""
        wait = self.buckets.take(client) if client else 0.0
        if not wait:
            await self.app(scope, receive, send)
            return
        seconds = max(1, math.ceil(wait))
        told = problem(429, "too-many-requests", f"more requests than one client may send; wait {seconds} s")
        headers = {"retry-after": str(seconds)}
        await Response(msgspec.json.encode(told), 429, headers, MEDIA_TYPE)(scope, receive, send)


def _client(scope: Scope) -> str:
    """Who is asking; empty for this machine itself."""
    try:
        address = ipaddress.ip_address((scope.get("client") or ("",))[0])
    except ValueError:
        return "unknown"
    if address.is_loopback:
        return ""
    if address.version == 6:
        return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))
    return str(address)
