"""Connections that are kept alive, and one GET at a time on each: HTTP/1.1 by httptools, and nothing more.

A general client spends more on a request than the rest of the crawler does (decision 0019). What a crawler needs is
little: no redirects, cookies, uploads or unpacking. Bounds: bytes of a header line and of a whole head, bytes of a body
that wait to be read (then the peer must wait), connections without work and the seconds that they stay open.

Every fault is a ``FetchError`` with its reason; what the operating system says of TLS passes through.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple

import httptools

from periplus.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.crawl.fetching.resolver import Resolver, Route

LINE_LIMIT = 32_768  # bytes of one header
HEAD_LIMIT = 262_144  # bytes of all headers of a response, with interim ones; of its trailers; of a chunk's extensions
BODY_WAITING = 1 << 20  # bytes of a body that may wait to be read
IDLE_SECONDS = 15.0  # that a connection is kept without work
MOST_IDLE = 256  # places with such connections; many systems allow a process 1,024 open files
BODILESS = frozenset({204, 304})


class Destination(NamedTuple):
    """Where requests go: the key of the connections that can be used for them."""

    secure: bool
    name: str  # of the host, IPv6 in brackets
    port: int
    verify: bool = True


def place_of(url: str) -> Destination:
    """The place of a canonical address."""
    scheme, _, rest = url.partition("://")
    secure = scheme == "https"
    host = rest[: rest.index("/")]
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        return Destination(secure, host, 443 if secure else 80)
    return Destination(secure, name, int(port))


class Connection(asyncio.Protocol):
    """One connection; ``ask``, then ``more`` until it gives nothing. The parser calls the ``on_`` methods."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser: Any = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._waiter: asyncio.Future[None] | None = None
        self._error: FetchError | None = None
        self._under_way = False
        self._head_is_in = False
        self._bare_bytes = 0  # that came since the last piece of a body
        self._line: list[bytes] = []
        self._until_close = False
        self._chunks: list[bytes] = []
        self._waiting = 0  # bytes in the chunks
        self._is_paused = False
        self._is_kept = False
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.idle_since = 0.0
        self.peer: tuple[str, int] = ("", 0)

    # What a caller does

    async def ask(self, request: bytes) -> None:
        """Send a request; returns when ``status``, ``reason`` and ``headers`` of its answer are in."""
        if self._transport is None:
            raise FetchError("connection-lost", "closed by the server before it was asked")
        self._under_way = True
        self._head_is_in = self._until_close = self._is_kept = False
        self._bare_bytes = 0
        self._begin_head()
        self._transport.write(request)
        while not self._head_is_in:
            await self._news()

    async def more(self) -> bytes:
        """What has arrived of the body since the last time; nothing at its end."""
        while not self._chunks:
            if not self._under_way:
                return b""
            await self._news()
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._waiting = 0
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()
        return data

    @property
    def reason(self) -> bytes:
        return b"".join(self._line)

    @property
    def is_usable(self) -> bool:
        """Whether another request may be sent."""
        return self._is_kept and not self._under_way and self._error is None and not self._chunks

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def _news(self) -> None:
        """Wait until something has happened; raises when it was a fault."""
        if self._error is None:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self._error is not None and not self._chunks:
            raise self._error

    # What the network does

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        peer = transport.get_extra_info("peername")
        if peer:
            self.peer = (str(peer[0]), int(peer[1]))

    def data_received(self, data: bytes) -> None:
        if not self._under_way:
            self._fail("bad-response", "bytes that nobody asked for")
            return
        self._bare_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail("bad-response", "the protocol was changed")
        except httptools.HttpParserError as error:
            self._fail("bad-response", str(error.__context__ or error))
        if self._bare_bytes > HEAD_LIMIT and self._under_way:
            self._fail("bad-response", f"headers of more than {HEAD_LIMIT} bytes")
        if self._waiting > BODY_WAITING and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, exception: Exception | None) -> None:
        self._transport = None
        self._parser = None  # it holds us
        self._is_kept = False
        if self._under_way and self._until_close and self._head_is_in and exception is None:
            self._under_way = False
        elif self._under_way:
            where = "in the body" if self._head_is_in else "before an answer"
            self._fail("connection-lost", str(exception or f"closed by the server {where}"))
        self._wake()

    def _fail(self, reason: str, detail: str) -> None:
        self._error = self._error or FetchError(reason, detail)
        self._is_kept = False
        self.abort()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the parser does

    def on_message_begin(self) -> None:
        if not self._under_way:  # behind the end of the answer
            self._is_kept = False
        else:
            self._begin_head()

    def on_status(self, part: bytes) -> None:
        self._line.append(part)

    def on_header(self, name: bytes, value: bytes | None) -> None:
        value = (value or b"").rstrip(b" \t")
        if len(name) + len(value) > LINE_LIMIT:
            raise FetchError("bad-response", f"a header of more than {LINE_LIMIT} bytes")
        if not self._head_is_in:  # a trailer is no header
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200 or not self._under_way:
            return  # an interim answer, such as early hints; the real one follows
        self.status = status
        self._until_close = status not in BODILESS and not _is_framed(self.headers)
        self._head_is_in = True

    def on_body(self, part: bytes) -> None:
        if self._under_way:
            self._chunks.append(part)
            self._waiting += len(part)
            self._bare_bytes = 0

    def on_message_complete(self) -> None:
        if self._head_is_in and self._under_way:
            self._under_way = False
            self._is_kept = self._parser.should_keep_alive()

    def _begin_head(self) -> None:
        self._line = []
        self.headers = []


def _is_framed(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether the headers say where the body ends; otherwise the connection's end is its end."""
    for name, value in headers:
        lower = name.lower()
        if lower == b"content-length" or (lower == b"transfer-encoding" and b"chunked" in value.lower()):
            return True
    return False


class Connections:
    """The connections of one worker, those without work kept for a while."""

    def __init__(self, resolver: Resolver, connect_timeout: float, tls: ssl.SSLContext | None = None) -> None:
        self._resolver = resolver
        self._connect_timeout = connect_timeout
        self._contexts: dict[bool, ssl.SSLContext] = {True: tls} if tls is not None else {}
        self._idle: dict[Destination, list[Connection]] = {}
        self._sweeping: asyncio.TimerHandle | None = None

    async def take(self, place: Destination, route: Route) -> Connection:
        """A connection to ``place``, by ``route`` when it must be made; it is the caller's until it gives it back."""
        kept = self._idle.get(place)
        while kept:
            connection = kept.pop()
            if connection.is_usable:
                return connection
        self._idle.pop(place, None)
        return await self._connected(place, route)

    def give_back(self, place: Destination, connection: Connection) -> None:
        """Keep the connection for the next request if it can serve one; close it otherwise."""
        if not connection.is_usable:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle[place] = [*self._idle.pop(place, ()), connection]  # the last in line to be closed
        if len(self._idle) > MOST_IDLE:
            self._close(next(iter(self._idle)))
        if self._sweeping is None:
            self._sweeping = loop.call_later(IDLE_SECONDS, self._sweep)

    def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        for place in list(self._idle):
            self._close(place)

    def _close(self, place: Destination) -> None:
        for connection in self._idle.pop(place):
            connection.abort()

    def _sweep(self) -> None:
        """Close what had no work for long."""
        loop = asyncio.get_running_loop()
        limit = loop.time() - IDLE_SECONDS
        for place, kept in list(self._idle.items()):
            for connection in kept:
                if connection.idle_since <= limit:
                    connection.abort()
            kept[:] = [connection for connection in kept if connection.is_usable and connection.idle_since > limit]
            if not kept:
                del self._idle[place]
        self._sweeping = loop.call_later(IDLE_SECONDS, self._sweep) if self._idle else None

    async def _connected(self, place: Destination, route: Route) -> Connection:
        if self._resolver.forbids(route.ip, route.port):
            raise FetchError("private-address", route.ip)
        context = self._context(verify=place.verify) if place.secure else None
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_timeout):
                _, connection = await loop.create_connection(
                    Connection,
                    route.ip,
                    route.port,
                    ssl=context,
                    server_hostname=place.name.strip("[]").rstrip(".") if context else None,
                )
        except TimeoutError:
            raise FetchError("timeout", "no connection in time") from None
        except (ssl.SSLError, FetchError):
            raise
        except OSError as error:
            raise FetchError("connection-refused", str(error)) from error
        if self._resolver.forbids(*connection.peer):
            connection.abort()
            raise FetchError("private-address", connection.peer[0])
        return connection

    def _context(self, *, verify: bool) -> ssl.SSLContext:
        """Made when first needed: it reads the system's certificates."""
        context = self._contexts.get(verify)
        if context is None:
            context = ssl.create_default_context()
            if not verify:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            context.set_alpn_protocols(["http/1.1"])
            self._contexts[verify] = context
        return context
