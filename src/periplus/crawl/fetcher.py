"""One HTTP request: aiohttp without its conveniences (no redirects, cookies, decompression or own DNS).

Every request ends in a ``Fetched``: an exchange with the payload as it was sent, or a reason code. Bounds: time for
the connection and for the whole, bytes on the wire (the rest is cut and marked), bytes unpacked, least rate of a body.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct
from msgspec.structs import replace
from yarl import URL

from periplus.crawl.resolver import Mapping, PrivateAddress, Resolver, Route
from periplus.crawl.unpack import ACCEPTED, unpack
from periplus.errors import FetchError
from periplus.records import Exchange, Headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.settings import Settings

VERSION = "0.1"
SLOW_AFTER = 10.0  # seconds before the least rate counts
LEAST_RATE = 100.0  # bytes a second
STALL_SECONDS = 1.0  # after so long without a byte, the connection is looked at
HEAD_LIMIT = 32_768  # bytes of a header line
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/pdf;q=0.8,text/plain;q=0.8,*/*;q=0.5"


def user_agent(settings: Settings) -> str:
    contact = f" (+{settings.bot.contact})" if settings.bot.contact else ""
    return f"{settings.bot.name}/{VERSION}{contact}"


class Fetched(Struct, frozen=True):
    """How a request ended: ``exchange`` when a response came, otherwise ``reason``."""

    url: str
    started: float
    elapsed: float
    exchange: Exchange | None = None
    reason: str = ""
    detail: str = ""
    ip: str = ""

    @property
    def status(self) -> int:
        return self.exchange.status if self.exchange else 0


class Fetcher:
    """Holds the connections of one worker; ``async with`` it."""

    def __init__(self, settings: Settings, resolver: Resolver | None = None, tls: ssl.SSLContext | None = None) -> None:
        crawl = settings.crawl
        self._settings = crawl
        self._agent = user_agent(settings)
        self._languages = ",".join(crawl.languages)
        self.resolver = resolver or Resolver(Mapping(crawl.resolve), allow_private=crawl.allow_private)
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Fetcher:
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(self.resolver),
            use_dns_cache=False,
            limit=0,  # the worker counts its requests itself
            ssl=self._tls or True,
            happy_eyeballs_delay=None,
            socket_factory=self._socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._settings.connect_timeout),
            max_line_size=HEAD_LIMIT,
            max_field_size=HEAD_LIMIT,
            trust_env=False,
        )
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def route(self, url: str) -> Route:
        """Where the host of a canonical address is reached; raises ``FetchError``."""
        parts = URL(url, encoded=True)
        return await self.resolver.route(parts.raw_host or "", parts.port or 80)

    async def fetch(
        self,
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        limit: int = 0,
        wanted: Callable[[str], bool] | None = None,
    ) -> Fetched:
        """Ask once; never raises for the web's faults. ``wanted`` sees the Content-Type before the body is taken."""
        started, clock = time.time(), time.perf_counter()
        headers = self._headers(etag, last_modified)
        try:
            route = await self.route(url)  # refuses what must not be visited, also literal addresses
            async with asyncio.timeout(self._settings.timeout):
                exchange = await self._exchange(url, headers, limit or self._settings.max_body, wanted, started)
        except FetchError as error:
            return Fetched(url, started, time.perf_counter() - clock, None, error.reason, error.detail)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, EOFError) as error:
            reason = _reason(error)
            if reason in ("connection-refused", "timeout"):
                self.resolver.failed(URL(url, encoded=True).raw_host or "")
            return Fetched(url, started, time.perf_counter() - clock, None, reason, _detail(error))
        elapsed = time.perf_counter() - clock
        whole = replace(exchange, elapsed=elapsed, ip=exchange.ip or route.ip)
        return Fetched(url, started, elapsed, whole, ip=whole.ip)

    def _headers(self, etag: str, last_modified: str) -> dict[str, str]:
        headers = {"User-Agent": self._agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPTED}
        if self._languages:
            headers["Accept-Language"] = self._languages
        if etag:
            headers["If-None-Match"] = etag
        if last_modified:
            headers["If-Modified-Since"] = last_modified
        return headers

    async def _exchange(
        self,
        url: str,
        headers: dict[str, str],
        limit: int,
        wanted: Callable[[str], bool] | None,
        started: float,
    ) -> Exchange:
        assert self._session is not None, "the fetcher is not open"
        request = self._session.get(URL(url, encoded=True), headers=headers, allow_redirects=False)
        async with request as response:
            ip = self._peer(response)
            taken = _raw_headers(response)
            if wanted is not None and response.status == 200 and not wanted(response.headers.get("Content-Type", "")):
                response.close()  # the rest is not read, so the connection cannot be used again
                payload, truncated = b"", "length"
            else:
                payload, truncated = await _read(response, limit)
        encoding = response.headers.get("Content-Encoding", "")
        body = unpack(payload, encoding, self._settings.max_unpacked, cut=bool(truncated)) if encoding else payload
        sent = tuple((str(name), str(value)) for name, value in response.request_info.headers.items())
        return Exchange(
            url, "GET", sent, response.status, response.reason or "", taken, payload, body, ip, started, 0.0, truncated
        )

    def _peer(self, response: aiohttp.ClientResponse) -> str:
        """The address we are really connected to, checked; empty when the connection is done with already."""
        transport = response.connection.transport if response.connection else None
        peer = transport.get_extra_info("peername") if transport else None
        ip = str(peer[0]) if peer else ""
        if peer and self.resolver.forbids(ip, int(peer[1])):
            raise FetchError("private-address", ip)
        return ip

    def _socket(self, info: Any) -> socket.socket:
        family, kind, protocol, _, place = info
        if self.resolver.forbids(str(place[0]), int(place[1])):
            raise PrivateAddress(f"{place[0]} is a private address")
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)  # noqa: FBT003 - the system's own signature
        return made


class _Pinned(AbstractResolver):
    """Gives aiohttp the route that our resolver chose."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        route = await self._resolver.route(host, port)
        kind = socket.AF_INET6 if ":" in route.ip else socket.AF_INET
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [ResolveResult(hostname=host, host=route.ip, port=route.port, family=kind, proto=0, flags=flags)]

    async def close(self) -> None:
        pass


async def _read(response: aiohttp.ClientResponse, limit: int) -> tuple[bytes, str]:
    """The payload as sent, cut at ``limit``; and how it was cut."""
    chunks: list[bytes] = []
    size = 0
    clock = time.perf_counter()
    while chunk := await _next_chunk(response):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            response.close()
            return b"".join(chunks)[:limit], "length"
        spent = time.perf_counter() - clock
        if spent > SLOW_AFTER and size < spent * LEAST_RATE:
            raise FetchError("too-slow", f"{size} bytes in {spent:.0f} s")
    return b"".join(chunks), ""


async def _next_chunk(response: aiohttp.ClientResponse) -> bytes:
    """What arrives next, nothing at the end. A connection that broke the protocol and fell silent is noticed."""
    while True:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                return await response.content.readany()
        except TimeoutError:
            connection = response.connection
            if connection is None or connection.transport is None or connection.transport.is_closing():
                raise FetchError("bad-response", "the body broke the protocol") from None


def _raw_headers(response: aiohttp.ClientResponse) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers)


_BY_TYPE: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError, TimeoutError), "timeout"),
    ((aiohttp.ClientConnectorDNSError, socket.gaierror), "dns-failure"),
    ((aiohttp.ClientSSLError, ssl.SSLError, ssl.CertificateError), "tls-failure"),
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


def _detail(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return (text or type(error).__name__)[:200]
