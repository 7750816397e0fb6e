"""One HTTP request: aiohttp without its conveniences (no redirects, cookies, decompression or own DNS).

Every request ends in a ``Fetched``: an exchange with the payload as it was sent, or a reason code. Bounds: time for
the connection and for the whole, bytes on the wire (the rest is cut and marked), bytes unpacked, least rate of a body.
There is no HEAD before a GET: the type is looked at when the headers are in, and an unwanted body is never taken.
Headers and logins of own sites go out to their hosts only and are left out of the exchange.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct
from msgspec.structs import replace
from yarl import URL

from periplus import addresses
from periplus.crawl.access import HostHeaders, proxy_address
from periplus.crawl.pacing import Bandwidth
from periplus.crawl.resolver import Mapping, PrivateAddress, Resolver, Route
from periplus.crawl.unpack import ACCEPTED, unpack
from periplus.errors import FetchError
from periplus.records import Exchange, Headers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from periplus.settings import Settings

VERSION = "0.1"
SLOW_AFTER = 10.0  # seconds before the least rate counts
LEAST_RATE = 100.0  # bytes a second
STALL_SECONDS = 1.0  # after so long without a byte, the connection is looked at
HEAD_LIMIT = 32_768  # bytes of a header line
UNVERIFIED_KEPT = 10_000  # hosts whose certificate failed, with ``tls = "note"``
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
    note: str = ""  # what the journal should say of it

    @property
    def status(self) -> int:
        return self.exchange.status if self.exchange else 0


class _Ask(NamedTuple):
    """One request to be sent."""

    url: str
    headers: dict[str, str]
    limit: int
    wanted: Callable[[str], bool] | None
    started: float
    proxy: URL | None


class Fetcher:
    """Holds the connections of one worker; ``async with`` it. Those with one ``shared`` file share the bandwidth."""

    def __init__(
        self,
        settings: Settings,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
        *,
        shared: Path | None = None,
    ) -> None:
        crawl = settings.crawl
        self._settings = crawl
        self._agent = user_agent(settings)
        self._languages = ",".join(crawl.languages)
        self.resolver = resolver or Resolver(Mapping(crawl.resolve), allow_private=crawl.allow_private)
        self._tls = tls
        self._access = HostHeaders(crawl)
        self._proxy = proxy_address(crawl.proxy)
        self._bandwidth = Bandwidth(crawl.max_bandwidth, shared)
        self._unverified: dict[str, str] = {}  # host to what is wrong with its certificate
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Fetcher:
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(self.resolver, self._proxy),
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
        # A connection that breaks is asked again by the client itself, at once; our own retries keep the gap.
        self._session._retry_connection = False  # noqa: SLF001 - there is no public way
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
        self._bandwidth.close()

    async def route(self, url: str) -> Route:
        """Where the host of a canonical address is reached; raises ``FetchError``."""
        parts = URL(url, encoded=True)
        name = parts.raw_host or ""
        if self._proxy is None or self.resolver.mapping.find(name) is not None:
            return await self.resolver.route(name, parts.port or 80)
        self.resolver.guard_name(name)  # the proxy resolves names, and must guard its network itself
        return await self.resolver.trusted_route(self._proxy.raw_host or "", self._proxy.port or 80)

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
        headers = self._headers(etag, last_modified) | self._access.of(addresses.host(url))
        ask = _Ask(url, headers, limit or self._settings.max_body, wanted, started, self._proxy_for(url))
        try:
            route = await self.route(url)  # refuses what must not be visited, also literal addresses
            async with asyncio.timeout(self._settings.timeout) as deadline:
                exchange, note = await self._answered(ask, deadline)
        except FetchError as error:
            return Fetched(url, started, time.perf_counter() - clock, None, error.reason, error.detail)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, EOFError) as error:
            reason = _reason(error)
            if reason in ("connection-refused", "timeout"):
                self.resolver.failed(URL(url, encoded=True).raw_host or "")
            return Fetched(url, started, time.perf_counter() - clock, None, reason, _detail(error))
        elapsed = time.perf_counter() - clock
        ip = exchange.ip or route.ip
        whole = replace(exchange, elapsed=elapsed, ip="" if ask.proxy else ip)
        return Fetched(url, started, elapsed, whole, ip=ip, note=note)

    def _proxy_for(self, url: str) -> URL | None:
        return None if self.resolver.mapping.find(URL(url, encoded=True).raw_host or "") else self._proxy

    def _headers(self, etag: str, last_modified: str) -> dict[str, str]:
        headers = {"User-Agent": self._agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPTED}
        if self._languages:
            headers["Accept-Language"] = self._languages
        if etag:
            headers["If-None-Match"] = etag
        if last_modified:
            headers["If-Modified-Since"] = last_modified
        return headers

    async def _answered(self, ask: _Ask, deadline: asyncio.Timeout) -> tuple[Exchange, str]:
        """The answer, and a note when the host's certificate failed and the settings say to go on all the same."""
        host = addresses.host(ask.url)
        if host not in self._unverified:
            try:
                return await self._exchange(ask, deadline, verify=True), ""
            except (aiohttp.ClientSSLError, ssl.SSLError) as error:
                if self._settings.tls != "note":
                    raise
                if len(self._unverified) >= UNVERIFIED_KEPT:
                    self._unverified.clear()
                self._unverified[host] = _detail(error)
        exchange = await self._exchange(ask, deadline, verify=False)
        return exchange, f"certificate not verified: {self._unverified.get(host, '')}"

    async def _exchange(self, ask: _Ask, deadline: asyncio.Timeout, *, verify: bool) -> Exchange:
        assert self._session is not None, "the fetcher is not open"
        request = self._session.get(
            URL(ask.url, encoded=True),
            headers=ask.headers,
            allow_redirects=False,
            proxy=ask.proxy,
            ssl=verify and (self._tls or True),
        )
        async with request as response:
            ip = self._peer(response)
            taken = _raw_headers(response)
            if ask.proxy is not None and response.status == 407:
                raise FetchError("proxy-failure", "the proxy asks for a login (HTTP 407)")
            kind = response.headers.get("Content-Type", "")
            if ask.wanted is not None and response.status == 200 and not ask.wanted(kind):
                response.close()  # the rest is not read, so the connection cannot be used again
                payload, truncated = b"", "length"
            else:
                payload, truncated = await _read(response, ask.limit, self._bandwidth, deadline)
        encoding = response.headers.get("Content-Encoding", "")
        body = unpack(payload, encoding, self._settings.max_unpacked, cut=bool(truncated)) if encoding else payload
        sent = self._access.archived((str(name), str(value)) for name, value in response.request_info.headers.items())
        return Exchange(
            ask.url, "GET", sent, response.status, response.reason or "", taken, payload, body, ip, ask.started, 0.0,
            truncated,
        )  # fmt: skip

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

    def __init__(self, resolver: Resolver, proxy: URL | None) -> None:
        self._resolver = resolver
        self._proxy = (proxy.raw_host, proxy.port) if proxy is not None else None

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


async def _read(
    response: aiohttp.ClientResponse, limit: int, bandwidth: Bandwidth, deadline: asyncio.Timeout
) -> tuple[bytes, str]:
    """The payload as sent, cut at ``limit``, and how it was cut; waiting for our own cap is not the host's fault."""
    chunks: list[bytes] = []
    size = 0
    waited = 0.0
    clock = time.perf_counter()
    while chunk := await _next_chunk(response):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            response.close()
            return b"".join(chunks)[:limit], "length"
        if pause := bandwidth.claim(len(chunk)):
            waited += pause
            deadline.reschedule((deadline.when() or 0.0) + pause)
            await asyncio.sleep(pause)
        spent = time.perf_counter() - clock - waited
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
    ((aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError), "proxy-failure"),
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
