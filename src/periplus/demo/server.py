"""A small HTTP/1.1 server on asyncio streams: any number of host names on one loopback port.

It runs in a daemon thread with its own event loop. ``start`` returns when the port listens, ``stop`` when all
connections are closed and the thread has ended. The ``answer`` function maps a request to a reply; it is called in
the server's thread and must not block. Only 127.0.0.1 is ever bound. With a TLS context the same port speaks both
HTTP and HTTPS: the client's first byte tells which.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from periplus.demo.messages import Reply, Request
from periplus.demo.request_log import RequestLog
from periplus.demo.wire import Wire
from periplus.errors import CannotListen, PortInUse

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

    from periplus.demo.request_log import Headers

ADDRESS = "127.0.0.1"
HEAD_LIMIT = 65_536  # bytes of a request's head
BODY_LIMIT = 1_000_000  # bytes of a request's body
BACKLOG = 1_024
TLS_HANDSHAKE = b"\x16"  # the first byte of a TLS client


class MalformedRequest(Exception):
    """The client's bytes are no HTTP request; ``status`` is the answer to them."""

    def __init__(self, status: int) -> None:
        super().__init__(str(status))
        self.status = status


class DemoServer:
    def __init__(self, answer: Callable[[Request], Reply], port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self._answer = answer
        self._wanted_port = port
        self._tls = tls
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.log = RequestLog()
        self.port = port

    def start(self) -> Self:
        """Listen; raises ``PortInUse`` when another program has the port."""
        if self._thread is not None:
            return self
        listener = self._listener or self._bind()
        self._listener = None
        with _opening(self.port, listener):  # two may have bound the same port; only one of them may listen
            listener.listen(BACKLOG)
        self._closing = asyncio.Event()
        listening = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listener, listening), name="periplus-web", daemon=True)
        self._thread.start()
        listening.wait()
        return self

    def bind(self) -> int:
        """Take the port without listening yet, for those who must know its number first."""
        if self._thread is None and self._listener is None:
            self._listener = self._bind()
        return self.port

    def stop(self) -> None:
        """Close every connection and end the thread; harmless when not started."""
        if self._thread is None or self._loop is None:
            return
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()
        self._thread = self._loop = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _bind(self) -> socket.socket:
        listener = _listener(self._wanted_port)
        self.port = listener.getsockname()[1]
        return listener

    def _run(self, listener: socket.socket, listening: threading.Event) -> None:
        asyncio.run(self._serve(listener, listening))

    async def _serve(self, listener: socket.socket, listening: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        listener.setblocking(False)  # noqa: FBT003
        accepting = asyncio.ensure_future(self._accept(listener))
        listening.set()
        await self._closing.wait()
        tasks = [accepting, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        listener.close()

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listener)
            task = loop.create_task(self._connected(client))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connected(self, client: socket.socket) -> None:
        connection = self.log.connected()
        writer: asyncio.StreamWriter | None = None
        try:
            tls = self._tls if self._tls and await _first_byte(client) == TLS_HANDSHAKE else None
            reader, writer = await _streams(client, tls)
            await self._converse(reader, writer, connection, "https" if tls else "http")
        except (OSError, asyncio.CancelledError):  # the client went away or broke the handshake, or the server stops
            if writer is not None:
                writer.transport.abort()
        finally:
            if writer is not None:
                writer.close()
            else:
                client.close()
            self.log.disconnected(connection)

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int, scheme: str
    ) -> None:
        keep_alive = True
        while keep_alive and not writer.is_closing():
            try:
                request = await _read_request(reader, writer, scheme, connection)
            except MalformedRequest as problem:
                writer.write(f"HTTP/1.1 {problem.status} Refused\r\nContent-Length: 0\r\n\r\n".encode())
                return
            if request is None:
                return
            keep_alive = await self._reply(reader, writer, request)

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request) -> bool:
        record = self.log.began(
            request.scheme, request.host, request.method, request.target, request.headers, request.connection
        )
        wire = Wire(reader, writer, request, record, "close" not in request.header("connection").lower())
        try:
            await self._answer(request).send(wire)
        finally:
            self.log.ended(record)
        return wire.keep_alive


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with _opening(port, listener):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
    return listener


@contextmanager
def _opening(port: int, listener: socket.socket) -> Iterator[None]:
    """Errors of a port as people are told them; the socket is closed."""
    try:
        yield
    except (OSError, OverflowError) as error:
        listener.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} of {ADDRESS} is in use; stop the other program or choose another") from error
        raise CannotListen(f"port {port} of {ADDRESS} cannot be opened: {error}; choose another") from error


async def _first_byte(client: socket.socket) -> bytes:
    """The first byte that the client sends, left in the socket for whoever reads next; empty when it sends none."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(client, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(client)
    return client.recv(1, socket.MSG_PEEK)


async def _streams(
    client: socket.socket, tls: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=HEAD_LIMIT)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, client, ssl=tls)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _read_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, scheme: str, connection: int
) -> Request | None:
    """The next request of a connection, or none when the client is done."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise MalformedRequest(431) from None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise MalformedRequest(400)
    headers = tuple(_header(line) for line in lines)
    head = Request(scheme, words[0], *_target(words[1], headers), headers, connection=connection)
    body = await _read_body(reader, writer, head)
    return Request(scheme, head.method, head.target, head.host, headers, body, connection)


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise MalformedRequest(400)
    return name, value.strip()


def _target(word: str, headers: Headers) -> tuple[str, str]:
    """Path with query, and host; an absolute target (as proxies are sent) overrides the Host header."""
    host = next((value for name, value in headers if name.lower() == "host"), "")
    if "://" in word.partition("?")[0]:
        host, slash, rest = word.partition("://")[2].partition("/")
        word = slash + rest or "/"
    return word, host.lower().rsplit(":", 1)[0] if not host.endswith("]") else host.lower()


async def _read_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: Request) -> bytes:
    if head.header("transfer-encoding"):
        raise MalformedRequest(501)
    length = head.header("content-length") or "0"
    if not length.isdigit():
        raise MalformedRequest(400)
    if int(length) > BODY_LIMIT:
        raise MalformedRequest(413)
    if head.header("expect").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
    try:
        return await reader.readexactly(int(length))
    except asyncio.IncompleteReadError as error:
        return error.partial
