"""Requests through a proxy: aiohttp without its conveniences (no redirects, cookies, decompression or own DNS).

It knows how proxies are asked, with tunnels and logins; it is loaded only where one is set.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from periplus.crawl.fetching.connections import LINE_LIMIT
from periplus.crawl.fetching.resolver import PrivateAddress
from periplus.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from periplus.crawl.fetching.resolver import Resolver

STALL_SECONDS = 1.0  # after so long without a byte, the connection is looked at


class Proxied:
    """The client of one worker for what goes through ``proxy``; faults are ``FetchError``, of TLS ``SSLError``."""

    def __init__(self, proxy: URL, resolver: Resolver, connect_timeout: float, tls: ssl.SSLContext | None) -> None:
        self._proxy = proxy
        self._resolver = resolver
        self._tls = tls
        connector = aiohttp.TCPConnector(
            resolver=_PinnedRoute(resolver, proxy),
            use_dns_cache=False,
            limit=0,  # the worker counts its requests itself
            ssl=tls or True,
            happy_eyeballs_delay=None,
            socket_factory=self._socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout),
            max_line_size=LINE_LIMIT,
            max_field_size=LINE_LIMIT,
            trust_env=False,
        )
        # A connection that breaks is asked again by the client itself, at once; our own retries keep the gap.
        self._session._retry_connection = False  # noqa: SLF001 - there is no public way

    async def close(self) -> None:
        await self._session.close()

    @asynccontextmanager
    async def ask(self, url: str, headers: dict[str, str], *, verify: bool) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer, its body still to be read by ``more``; closed with the block."""
        try:
            async with self._session.get(
                URL(url, encoded=True),
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy,
                ssl=verify and (self._tls or True),
            ) as response:
                self._check_peer(response)
                if response.status == 407:
                    raise FetchError("proxy-failure", "the proxy asks for a login (HTTP 407)")
                yield response
        except aiohttp.ClientSSLError as error:
            raise ssl.SSLError(str(error)) from error
        except (aiohttp.ClientError, OSError, ValueError, EOFError) as error:
            if isinstance(error, TimeoutError | ssl.SSLError):
                raise
            raise FetchError(_reason(error), detail_of(error)) from error

    def _check_peer(self, response: aiohttp.ClientResponse) -> None:
        transport = response.connection.transport if response.connection else None
        peer = transport.get_extra_info("peername") if transport else None
        if peer and self._resolver.forbids(str(peer[0]), int(peer[1])):
            raise FetchError("private-address", str(peer[0]))

    def _socket(self, info: Any) -> socket.socket:
        family, kind, protocol, _, place = info
        if self._resolver.forbids(str(place[0]), int(place[1])):
            raise PrivateAddress(f"{place[0]} is a private address")
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)  # noqa: FBT003 - the system's own signature
        return made


class _PinnedRoute(AbstractResolver):
    """Gives aiohttp the route that our resolver chose."""

    def __init__(self, resolver: Resolver, proxy: URL) -> None:
        self._resolver = resolver
        self._proxy = (proxy.raw_host, proxy.port)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        is_proxy = (host, port) == self._proxy
        find = self._resolver.trusted_route if is_proxy else self._resolver.route
        route = await find(host, port)
        kind = socket.AF_INET6 if ":" in route.ip else socket.AF_INET
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [ResolveResult(hostname=host, host=route.ip, port=route.port, family=kind, proto=0, flags=flags)]

    async def close(self) -> None:
        pass


async def more(response: aiohttp.ClientResponse) -> bytes:
    """What arrives next, nothing at the end. A connection that broke the protocol and fell silent is noticed."""
    while True:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                return await response.content.readany()
        except TimeoutError:
            connection = response.connection
            if connection is None or connection.transport is None or connection.transport.is_closing():
                raise FetchError("bad-response", "the body broke the protocol") from None


_BY_TYPE: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError), "proxy-failure"),
    ((aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError), "timeout"),
    ((aiohttp.ClientConnectorDNSError, socket.gaierror), "dns-failure"),
    ((aiohttp.ClientConnectorError, ConnectionRefusedError), "connection-refused"),
    ((aiohttp.ServerDisconnectedError, ConnectionError, EOFError), "connection-lost"),
    ((aiohttp.ClientPayloadError,), "connection-lost"),
    ((aiohttp.ClientResponseError, aiohttp.InvalidURL, ValueError), "bad-response"),
    ((aiohttp.ClientOSError, OSError), "connection-lost"),
)


def _reason(error: BaseException) -> str:
    """The reason code for an error of the HTTP library or the system."""
    for inner in _causes(error):
        if isinstance(inner, PrivateAddress):
            return "private-address"
        if isinstance(inner, FetchError):
            return inner.reason
        if isinstance(inner, aiohttp.ClientPayloadError) and "Not enough data" not in str(inner):
            return "bad-response" if "TransferEncodingError" in str(inner) else "connection-lost"
    return next((reason for kinds, reason in _BY_TYPE if isinstance(error, kinds)), "bad-response")


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(found) < 5:
        found.append(current)
        inner = getattr(current, "os_error", None)
        current = inner if isinstance(inner, BaseException) else current.__cause__
    return found


def detail_of(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return (text or type(error).__name__)[:200]
