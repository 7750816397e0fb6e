"""One HTTP request: what is sent, what comes back, what may go wrong.

Every request ends in a ``Fetched``: an exchange with the payload as it was sent, or a reason code. Bounds: time for
the connection and for the whole, bytes on the wire (the rest is cut and marked), bytes unpacked, least rate of a body.
There is no HEAD before a GET: the type is looked at when the headers are in, and an unwanted body is never taken.
Headers and logins of own sites go out to their hosts only and are left out of the exchange.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from periplus import addresses
from periplus.crawl.fetching.access import HostHeaders, proxy_address
from periplus.crawl.fetching.connections import Connections, Destination, place_of
from periplus.crawl.fetching.heavy_lane import HeavyLane
from periplus.crawl.fetching.loop_lag import LoopLag
from periplus.crawl.fetching.pacing import Bandwidth
from periplus.crawl.fetching.resolver import Mapping, Resolver, Route
from periplus.crawl.fetching.unpack import ACCEPTED, unpack
from periplus.errors import FetchError
from periplus.records import Exchange, Headers
from periplus.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from periplus.crawl.fetching.proxied import Proxied
    from periplus.settings import Settings

VERSION = "0.1"
SLOW_AFTER = 10.0  # seconds before the least rate counts
LEAST_RATE = 100.0  # bytes a second
UNPACKED_IN_LOOP = 1_000_000  # bytes that may come out of a body before it is unpacked beside the event loop
UNVERIFIED_KEPT = 10_000  # hosts whose certificate failed, with ``tls = "note"``
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/pdf;q=0.8,text/plain;q=0.8,*/*;q=0.5"


def user_agent(settings: Settings) -> str:
    contact = f" (+{settings.bot.contact})" if settings.bot.contact else ""
    return f"{settings.bot.name}/{VERSION}{contact}"


class Fetched(Struct, frozen=True):
    """How a request ended: ``exchange`` when a response came, otherwise ``reason``."""

    url: str
    started: float
    elapsed: float  # to the end of the response
    exchange: Exchange | None = None
    reason: str = ""
    detail: str = ""
    ip: str = ""
    note: str = ""  # what the journal should say of it
    lag: float = 0.0  # seconds of ``elapsed`` in which our own loop was kept from looking

    @property
    def status(self) -> int:
        return self.exchange.status if self.exchange else 0


class NotSent(Exception):
    """The request did not leave: the time in which we may ask would have ended before it."""


class _Ask(NamedTuple):
    """One request to be sent."""

    url: str
    place: Destination
    headers: dict[str, str]
    limit: int
    wanted: Callable[[str], bool] | None
    may_send: Callable[[], bool] | None
    started: float
    is_direct: bool


class _Answer(NamedTuple):
    """A response as it came."""

    status: int
    reason: str
    headers: Headers
    payload: bytes
    truncated: str
    ip: str


def _told(fetched: Fetched) -> dict[str, str | int]:
    """What a trace tells of a request: the host, not the page."""
    size = len(fetched.exchange.payload) if fetched.exchange else 0
    return {"host": addresses.host(fetched.url), "status": fetched.status, "bytes": size, "reason": fetched.reason}


class Fetcher:
    """Holds the connections of one worker; ``async with`` it. It closes its ``bandwidth`` with them.

    A request ends with the last byte of its answer; unpacking takes our time and not the host's.
    """

    def __init__(
        self,
        settings: Settings,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
        *,
        bandwidth: Bandwidth | None = None,
        lane: HeavyLane | None = None,
        lag: LoopLag | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        crawl = settings.crawl
        self._lane = lane or HeavyLane()
        self._lag = lag or LoopLag()
        self._settings = crawl
        self._agent = user_agent(settings)
        self._languages = ",".join(crawl.languages)
        self.resolver = resolver or Resolver(Mapping(crawl.resolve), allow_private=crawl.allow_private)
        self._tls = tls
        self._access = HostHeaders(crawl)
        self._proxy = proxy_address(crawl.proxy)
        self._bandwidth = bandwidth or Bandwidth(crawl.max_bandwidth)
        self._unverified: dict[str, str] = {}  # host to what is wrong with its certificate
        self._connections = Connections(self.resolver, crawl.connect_timeout, tls)
        self._proxied: Proxied | None = None

    async def __aenter__(self) -> Fetcher:
        self._lag.start()
        if self._proxy is not None:
            from periplus.crawl.fetching.proxied import Proxied

            self._proxied = Proxied(self._proxy, self.resolver, self._settings.connect_timeout, self._tls)
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._proxied is not None:
            await self._proxied.close()
            self._proxied = None
        self._connections.close()
        self._lag.stop()
        await asyncio.sleep(0)  # the loop closes the sockets in its next round
        self._bandwidth.close()

    async def route(self, url: str) -> Route:
        """Where the host of a canonical address is reached; raises ``FetchError``."""
        place = place_of(url)
        if self._proxy is None or self._is_direct(place):
            return await self.resolver.route(place.name, place.port)
        self.resolver.guard_name(place.name)  # the proxy resolves names, and must guard its network itself
        return await self.resolver.trusted_route(self._proxy.raw_host or "", self._proxy.port or 80)

    def _is_direct(self, place: Destination) -> bool:
        return self._proxy is None or self.resolver.mapping.find(place.name) is not None

    @traced("fetch", _told)
    async def fetch(
        self,
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        limit: int = 0,
        wanted: Callable[[str], bool] | None = None,
        may_send: Callable[[], bool] | None = None,
    ) -> Fetched:
        """Ask once; never raises for the web's faults. ``wanted`` sees the Content-Type before the body is taken.

        ``may_send`` is asked when the connection is there; ``NotSent`` when it says no.
        """
        started = self._clock()
        clock, lag = time.perf_counter(), self._lag.seconds
        place = place_of(url)
        headers = self._headers(url, etag, last_modified)
        most = limit or self._settings.max_body
        ask = _Ask(url, place, headers, most, wanted, may_send, started, self._is_direct(place))
        try:
            route = await self.route(url)  # refuses what must not be visited, also literal addresses
            async with asyncio.timeout(self._settings.timeout) as deadline:
                answer, note = await self._answered(ask, route, deadline)
            elapsed, lag = time.perf_counter() - clock, self._lag.seconds - lag
            exchange = await self._exchange(ask, answer, elapsed, route)
        except (FetchError, OSError, ValueError, EOFError) as error:
            reason, detail = _fault(error)
            if reason in ("connection-refused", "timeout"):
                self.resolver.failed(place.name)
            return Fetched(url, started, time.perf_counter() - clock, None, reason, detail)
        return Fetched(url, started, elapsed, exchange, ip=answer.ip or route.ip, note=note, lag=min(lag, elapsed))

    def _headers(self, url: str, etag: str, last_modified: str) -> dict[str, str]:
        host = addresses.host(url)
        headers = {"Host": host, "User-Agent": self._agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPTED}
        if self._languages:
            headers["Accept-Language"] = self._languages
        if etag:
            headers["If-None-Match"] = etag
        if last_modified:
            headers["If-Modified-Since"] = last_modified
        return headers | self._access.of(host)

    async def _answered(self, ask: _Ask, route: Route, deadline: asyncio.Timeout) -> tuple[_Answer, str]:
        """The answer, and a note when the host's certificate failed and the settings say to go on all the same."""
        host = ask.headers["Host"]
        if host not in self._unverified:
            try:
                return await self._asked(ask, route, deadline, verify=True), ""
            except ssl.SSLError as error:
                if self._settings.tls != "note":
                    raise
                if len(self._unverified) >= UNVERIFIED_KEPT:
                    self._unverified.clear()
                self._unverified[host] = _detail(error)
        answer = await self._asked(ask, route, deadline, verify=False)
        return answer, f"certificate not verified: {self._unverified.get(host, '')}"

    async def _asked(self, ask: _Ask, route: Route, deadline: asyncio.Timeout, *, verify: bool) -> _Answer:
        if ask.is_direct:
            return await self._direct(ask, route, deadline, verify=verify)
        return await self._by_proxy(ask, deadline, verify=verify)

    async def _exchange(self, ask: _Ask, answer: _Answer, elapsed: float, route: Route) -> Exchange:
        ip = (answer.ip or route.ip) if ask.is_direct else ""
        return Exchange(
            ask.url, "GET", self._access.archived(ask.headers.items()), answer.status, answer.reason, answer.headers,
            answer.payload, await self._unpacked(answer), ip, ask.started, elapsed, answer.truncated,
        )  # fmt: skip

    async def _unpacked(self, answer: _Answer) -> bytes:
        """The body; one that is large, as those of bombs are, is unpacked where it keeps nobody waiting."""
        encoding = _header(answer.headers, "content-encoding")
        if not encoding:
            return answer.payload
        cut, most = bool(answer.truncated), self._settings.max_unpacked
        try:
            return unpack(answer.payload, encoding, min(most, UNPACKED_IN_LOOP), cut=cut)
        except FetchError as error:
            if error.reason != "decompression-bomb" or most <= UNPACKED_IN_LOOP:
                raise
        return await self._lane.run(partial(unpack, answer.payload, encoding, most, cut=cut))

    async def _direct(self, ask: _Ask, route: Route, deadline: asyncio.Timeout, *, verify: bool) -> _Answer:
        place = ask.place if verify else ask.place._replace(verify=False)
        request = _request(ask)
        connection = await self._connections.take(place, route)
        try:
            _check_time(ask)
            await connection.ask(request)
            status, headers = connection.status, _decoded(connection.headers)
            reason = connection.reason.decode("latin-1")
            payload, truncated = await self._body(ask, status, headers, connection.more, deadline)
            return _Answer(status, reason, headers, payload, truncated, connection.peer[0])
        finally:
            self._connections.give_back(place, connection)

    async def _by_proxy(self, ask: _Ask, deadline: asyncio.Timeout, *, verify: bool) -> _Answer:
        from periplus.crawl.fetching.proxied import more

        assert self._proxied is not None, "the fetcher is not open"
        _check_time(ask)
        async with self._proxied.ask(ask.url, ask.headers, verify=verify) as response:
            headers = _decoded(response.raw_headers)
            payload, truncated = await self._body(ask, response.status, headers, lambda: more(response), deadline)
            if truncated:
                response.close()  # the rest is not read, so the connection cannot be used again
            return _Answer(response.status, response.reason or "", headers, payload, truncated, "")

    async def _body(
        self,
        ask: _Ask,
        status: int,
        headers: Headers,
        more: Callable[[], Awaitable[bytes]],
        deadline: asyncio.Timeout,
    ) -> tuple[bytes, str]:
        """The body and how it was cut; nothing of one that is not wanted."""
        if ask.wanted is not None and status == 200 and not ask.wanted(_header(headers, "content-type")):
            return b"", "length"
        return await _read(more, ask.limit, self._bandwidth, deadline)


def _check_time(ask: _Ask) -> None:
    """The last look before a request leaves: names and connections may have taken long, or we slept."""
    if ask.may_send is not None and not ask.may_send():
        raise NotSent


async def _read(
    more: Callable[[], Awaitable[bytes]], limit: int, bandwidth: Bandwidth, deadline: asyncio.Timeout
) -> tuple[bytes, str]:
    """The payload as sent, cut at ``limit``, and how it was cut; waiting for our own cap is not the host's fault."""
    chunks: list[bytes] = []
    size = 0
    waited = 0.0
    clock = time.perf_counter()
    while chunk := await more():
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            return b"".join(chunks)[:limit], "length"
        if pause := bandwidth.claim(len(chunk)):
            waited += pause
            deadline.reschedule((deadline.when() or 0.0) + pause)
            await asyncio.sleep(pause)
        spent = time.perf_counter() - clock - waited
        if spent > SLOW_AFTER and size < spent * LEAST_RATE:
            raise FetchError("too-slow", f"{size} bytes in {spent:.0f} s")
    return chunks[0] if len(chunks) == 1 else b"".join(chunks), ""


def _request(ask: _Ask) -> bytes:
    target = ask.url[ask.url.index("/", 8) :]
    lines = "".join([f"{name}: {value}\r\n" for name, value in ask.headers.items()])
    request = f"GET {target} HTTP/1.1\r\n{lines}\r\n"
    if not request.count("\r") == request.count("\n") == len(ask.headers) + 2:
        raise ValueError("the request holds a line break where none may be")
    return request.encode()


def _decoded(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    return tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers])


def _header(headers: Headers, name: str) -> str:
    return next((value for key, value in headers if key.lower() == name), "")


def _fault(error: Exception) -> tuple[str, str]:
    """The reason code and the details of what kept an answer away."""
    if isinstance(error, FetchError):
        return error.reason, error.detail
    if isinstance(error, TimeoutError):
        return "timeout", _detail(error)
    if isinstance(error, ssl.SSLError):
        return "tls-failure", _detail(error)
    return "connection-lost" if isinstance(error, OSError | EOFError) else "bad-response", _detail(error)


def _detail(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return (text or type(error).__name__)[:200]
