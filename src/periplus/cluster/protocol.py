"""HTTP/1.1 on one connection of a broker: a request is read, answered, and the next one is read.

The answer is often made within the call that brought the end of its request, so a question costs few steps. Whatever a
client sends or holds back is bounded: the size of a request, the time that it takes to send it and to take the answer,
the connections. Requests that come before the answer to the one before end the connection.
"""

from __future__ import annotations

import asyncio
import math
from http import HTTPStatus
from typing import TYPE_CHECKING

import httptools

from periplus.cluster.application import ShardRequest, ShardResponse
from periplus.cluster.codec import MAX_QUESTION

if TYPE_CHECKING:
    from periplus.cluster.application import ShardApplication
    from periplus.web import ClientConnections

HEAD_BYTES = 16_384  # of a request line and its headers
READ_WITHIN = 15.0  # seconds for a request, from its first byte
REST = 15.0  # seconds that a connection may rest between two requests
SLOWEST_READER = 4_000  # bytes a second, beyond those seconds
LINGER = 2.0  # seconds in which a client may read why its request was not read
RETRY_AFTER = 1  # seconds
NEVER = math.inf

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class QuestionProtocol(asyncio.Protocol):
    """One connection; ``held`` decides whether it may stay, and calls ``expire`` when its time is over."""

    _transport: asyncio.Transport

    def __init__(self, application: ShardApplication, held: ClientConnections) -> None:
        self._application, self._held = application, held
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self.host = ""
        self.deadline = NEVER
        self._size = 0  # bytes of the request that is being read
        self._in_head = self._is_answering = self._is_refused = False
        self._keeps = True
        self._verb = self._target = self._authorization = b""
        self._body: list[bytes] = []

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self.host = peer[0] if peer else ""
        if self._held.admit(self):
            self._wait(REST)
        else:
            self._refuse("", ShardResponse(503, b"too many connections; try again in a moment\n", retry=True))

    def connection_lost(self, error: Exception | None) -> None:
        self._held.drop(self)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        if self._is_answering:
            self._refuse("pipelined")
            return
        if not self._size:
            self._wait(READ_WITHIN)
        self._size += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._refuse("malformed", ShardResponse(400, b"this is not HTTP/1.1\n"))
            return
        if self._in_head and self._size > HEAD_BYTES:
            self._refuse("head", ShardResponse(431, b"the head of this request is too long\n"))
        elif self._size > MAX_QUESTION + HEAD_BYTES:
            self._refuse("body", ShardResponse(413, b"a question has at most %d bytes\n" % MAX_QUESTION))

    # The parser's callbacks

    def on_message_begin(self) -> None:
        self._in_head = True
        self._target = self._authorization = b""
        self._body = []

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head and name.lower() == b"authorization":  # what follows a body says nothing of its sender
            self._authorization = value

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._verb = self._parser.get_method()

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._is_refused:
            return
        if self._is_answering:
            self._refuse("pipelined")
            return
        self._size = 0
        self._is_answering = True
        self._keeps = self._parser.should_keep_alive() and self._verb != b"HEAD"  # which nobody needs to ask with
        self.deadline = NEVER
        self._held.work(self)
        self._application.take(ShardRequest(self._verb, self._target, self._authorization, b"".join(self._body)), self)

    # Answers

    def is_waiting(self) -> bool:
        return not self._transport.is_closing()

    def reply(self, reply: ShardResponse) -> None:
        self._is_answering = False
        if self._transport.is_closing():
            return
        self._write(reply, keeps=self._keeps)
        unsent = self.unsent()
        if unsent:
            self._held.count_unsent(unsent)
        self._wait(REST + unsent / SLOWEST_READER)
        if not self._keeps:
            self._transport.close()

    def _write(self, reply: ShardResponse, *, keeps: bool) -> None:
        ends = b"" if keeps else b"connection: close\r\n"
        again = b"retry-after: %d\r\n" % RETRY_AFTER if reply.retry else b""
        phrase = _PHRASES[reply.status].encode()
        head = b"HTTP/1.1 %d %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n%b%b\r\n"
        # In one piece: a broker that is woken by the head alone would wait for the rest once more.
        self._transport.write(head % (reply.status, phrase, reply.kind, len(reply.body), again, ends) + reply.body)

    # Bounds

    def _wait(self, seconds: float) -> None:
        """It is the client's turn, for so long."""
        self.deadline = self._loop.time() + self._held.patience * seconds
        self._held.wait(self)

    def _refuse(self, kind: str, reply: ShardResponse | None = None) -> None:
        """Say why, and end; what still comes is not read as HTTP."""
        if kind:
            self._held.refusals.note(kind, self.host)
        self._is_refused = True
        if reply is None:
            self._transport.abort()
            return
        self._write(reply, keeps=False)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._loop.call_later(LINGER, self._transport.abort)

    def expire(self) -> None:
        """The client has kept us waiting for too long."""
        if self._size and not self._is_refused:
            self._held.refusals.note("slow-head" if self._in_head else "slow-body", self.host)
        self._transport.abort()

    def give_way(self) -> None:
        self._transport.abort()

    def unsent(self) -> int:
        return self._transport.get_write_buffer_size()
