"""Connections of a broker to shard servers: HTTP/1.1, kept alive, read without waiting.

The answers come from our own server, so this reads no more of HTTP than that sends: a status, a length, a body. All
else is a failure, which ends the connection.
"""

from __future__ import annotations

import re
import select
import socket
import threading
import time
from typing import NamedTuple

from periplus.cluster.codec import MAX_ANSWER
from periplus.errors import PeriplusError

CONNECT_WITHIN = 0.5  # seconds
KEPT = 32  # idle connections to one server
PIECE = 262_144  # bytes read at once
MAX_HEAD = 8_192  # bytes
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,12})\r\n", re.IGNORECASE)
_CLOSED = re.compile(rb"\r\nconnection: *close\r\n", re.IGNORECASE)


class Broken(PeriplusError):
    """A connection that gave no answer; ``is_late`` where that is all that is wrong with it."""

    code = "broken-connection"

    def __init__(self, message: str, *, is_late: bool = False) -> None:
        super().__init__(message)
        self.is_late = is_late


class ShardReply(NamedTuple):
    status: int
    body: bytes


class ShardConnection:
    """One question at a time; used by one thread at a time."""

    def __init__(self, address: tuple[str, int]) -> None:
        try:
            self.socket = socket.create_connection(address, CONNECT_WITHIN)
        except OSError as error:
            raise Broken(f"{address[0]}:{address[1]} cannot be reached: {error}") from error
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)  # noqa: FBT003 (with a timeout, Python asks the system twice for each call)
        self.number = self.socket.fileno()
        self.is_used = False  # has answered before, so that its other end may have closed it meanwhile
        self.is_reusable = False
        self._data = bytearray()
        self._need = 0  # bytes of head and body together, once the head is there
        self._head = 0

    @property
    def has_begun(self) -> bool:
        """Whether some of the answer is there."""
        return bool(self._data)

    def send(self, request: bytes, within: float) -> None:
        self._data.clear()
        self._need = self._head = 0
        self.is_reusable = False
        try:
            sent = self.socket.send(request)
            if sent < len(request):
                self._send_rest(request[sent:], within)
        except OSError as error:
            raise Broken(f"a question could not be sent: {error}") from error

    def _send_rest(self, rest: bytes, within: float) -> None:
        """More than the system takes at once."""
        self.socket.settimeout(within)
        self.socket.sendall(rest)
        self.socket.setblocking(False)  # noqa: FBT003

    def read(self) -> ShardReply | None:
        """What there is to read; the reply once it is whole."""
        try:
            piece = self.socket.recv(PIECE)
        except BlockingIOError:
            return None  # nothing is there after all
        except OSError as error:
            raise Broken(f"an answer could not be read: {error}") from error
        if not piece:
            raise Broken("a server ended the connection")
        self._data += piece
        if not self._need:
            self._measure()
        if not self._need or len(self._data) < self._need:
            return None
        if len(self._data) > self._need:
            raise Broken("a server said more than it was asked")
        return self._whole()

    def _measure(self) -> None:
        """Find the end of the head, and how long the body is."""
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            if len(self._data) > MAX_HEAD:
                raise Broken("the head of an answer is too long")
            return
        length = _LENGTH.search(self._data, 0, end + 2)
        if not self._data.startswith(b"HTTP/1.1 ") or length is None or int(length[1]) > MAX_ANSWER:
            raise Broken("a server does not speak as a shard server does")
        self._head = end + 4
        self._need = self._head + int(length[1])

    def _whole(self) -> ShardReply:
        head = bytes(self._data[: self._head])
        body = bytes(memoryview(self._data)[self._head :])
        try:
            status = int(head[9:12])
        except ValueError as error:
            raise Broken("a server does not speak as a shard server does") from error
        self.is_used, self.is_reusable = True, not _CLOSED.search(head)
        return ShardReply(status, body)

    def ask(self, request: bytes, within: float) -> ShardReply:
        """Send one question and wait for its reply."""
        latest = time.monotonic() + within
        self.send(request, within)
        arriving = select.poll()
        arriving.register(self.number, select.POLLIN)
        while (left := latest - time.monotonic()) > 0:
            if arriving.poll(1000 * left) and (reply := self.read()) is not None:
                return reply
        raise Broken("it does not answer", is_late=True)

    def close(self) -> None:
        self.socket.close()


class ConnectionPool:
    """Idle connections to one server; the last one that was used is used first."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._idle: list[ShardConnection] = []

    def take(self, *, fresh: bool = False) -> ShardConnection:
        if not fresh:
            with self._lock:
                if self._idle:
                    return self._idle.pop()
        return ShardConnection(self.address)

    def give(self, connection: ShardConnection) -> None:
        """Back for the next question, if it can be used for one."""
        if connection.is_reusable:
            with self._lock:
                if len(self._idle) < KEPT:
                    self._idle.append(connection)
                    return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
