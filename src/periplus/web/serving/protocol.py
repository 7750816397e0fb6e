"""HTTP/1.1 on one connection, with bounds on everything that a client can send, hold back or leave unread.

uvicorn's protocol does the work; this one counts and times what passes through it. A connection is always in one phase,
and each phase that waits for the client has its time, set when the phase begins and put off by nothing that is sent.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any

import httptools
from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from periplus.web.serving.connections import ClientConnection, ClientConnections

HEAD_BYTES = 32_768  # of a request line and its headers
URL_BYTES = 16_384
FIELDS = 100  # headers of a request; trailers of a body
PIPELINED = 64  # requests that wait for the answer to the one before
LINGER_BYTES = 512_000  # read and thrown away after a refusal, so that it can be read before the connection ends
SLOWEST_READER = 4_000  # bytes a second, beyond the time that every answer has
NEVER = math.inf


class Phase(Enum):
    """What a connection waits for, and for how many seconds at most."""

    HEAD = "the head of a request", 10.0
    BODY = "the rest of its body", 15.0
    WORK = "its answer, from us", NEVER
    SEND = "its answer to be taken", 20.0
    REST = "the next request", 15.0
    LINGER = "the end, after a refusal", 2.0

    def __init__(self, text: str, seconds: float) -> None:
        self.text = text
        self.seconds = seconds


_SLOW = {Phase.HEAD: "slow-head", Phase.BODY: "slow-body", Phase.SEND: "slow-reader"}


class Refusal(Struct, frozen=True):
    status: int
    kind: str  # of ``connections.SENTENCES``
    text: str


MALFORMED = Refusal(400, "malformed", "this is not HTTP/1.1")
NO_HOST = Refusal(400, "malformed", "a request names its host once")
TOO_MANY = Refusal(400, "pipelined", "too many requests before an answer was read")
SLOW = Refusal(408, "slow-head", "the request took too long")
LONG_BODY = Refusal(413, "body", "the body of this request is too long")
LONG_URL = Refusal(414, "head", "the address is too long")
LONG_HEAD = Refusal(431, "head", "the head of this request is too long")
FULL = Refusal(503, "connections", "too many connections; try again in a moment")


class Refused(Exception):
    """Raised inside the parser's callbacks, which turn it into an error of the parser."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why.text)
        self.why = why


class BoundedProtocol(HttpToolsProtocol):
    """One connection. ``held`` decides whether it may stay, and calls ``expire`` when its time is over."""

    def __init__(self, held: ClientConnections, **given: Any) -> None:
        super().__init__(**given)
        self._held = held
        self.host = ""
        self.predecessor: ClientConnection | None = None  # what stood for this connection before it was secure
        self.deadline = NEVER
        self._phase = Phase.HEAD
        self._in_head, self._in_body, self._is_refused = False, False, False
        self._began = False  # a message began within the piece of data that is being read
        self._bytes = self._fields = self._hosts = 0  # of the part of a message that is being read
        self._open = 0  # requests whose answers are not complete
        self._running: RequestResponseCycle | None = None

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.host = self.client[0] if self.client else ""
        if self.predecessor is not None:
            self._held.drop(self.predecessor)
        if not self._held.admit(self):
            self._refuse(FULL, noted=True)
            return
        self._begin(Phase.HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        self._held.drop(self)
        for cycle in (self._running, *(cycle for cycle, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            self._throw_away(len(data))
            return
        self._began = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Answered as if it had asked for nothing; whatever it speaks after that, we do not.
            self.cycle.keep_alive = False
        except httptools.HttpParserError as error:
            self._refuse(error.__context__.why if isinstance(error.__context__, Refused) else MALFORMED)
            return
        self._count(0 if self._began else len(data))

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._look()

    # The parser's callbacks; an exception here ends the connection

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = self._began = True
        self._bytes = self._fields = self._hosts = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > URL_BYTES:
            raise Refused(LONG_URL)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += 1
        if self._fields > FIELDS:
            raise Refused(LONG_HEAD)
        if not self._in_head:
            return  # a trailer, which would end up among the headers that proxies wrote
        self._bytes += len(name) + len(value) if self._began else 0
        if self._bytes > HEAD_BYTES:
            raise Refused(LONG_HEAD)
        super().on_header(name, value)
        self._hosts += self.headers[-1][0] == b"host"

    def on_headers_complete(self) -> None:
        if self._hosts > 1 or (not self._hosts and self.parser.get_http_version() == "1.1"):
            raise Refused(NO_HOST)
        if len(self.pipeline) >= PIPELINED:
            raise Refused(TOO_MANY)
        self._in_head, self._in_body = False, True
        self._bytes = self._fields = 0
        super().on_headers_complete()
        self._open += 1

    def on_message_complete(self) -> None:
        self._in_body = False
        self._bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        self._open -= 1
        unsent = self.unsent()
        if unsent:
            self._held.count_unsent(unsent)
        if not self.transport.is_closing():
            self._go_on()
        self._look()

    def _go_on(self) -> None:
        """With the next request that waits; only when none does, more is read."""
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        if not self.pipeline:
            self.flow.resume_reading()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    # Bounds

    def _count(self, size: int) -> None:
        """Bytes of a head or a body that are not the first of it: of those, only whole headers are counted."""
        self._bytes += size if self._in_head or self._in_body else 0
        if self._in_head and self._bytes > HEAD_BYTES:
            self._refuse(LONG_HEAD)
        elif self._in_body and self._bytes > self._held.body_bytes:
            self._refuse(LONG_BODY)
        else:
            self._look()

    def _look(self) -> None:
        """Which phase it is; its time begins with it."""
        phase = self._now_in()
        if phase is not self._phase:
            self._begin(phase)

    def _now_in(self) -> Phase:
        if self._is_refused:
            return Phase.LINGER
        if self.flow.write_paused or self.transport.is_closing():
            return Phase.SEND
        if self._open:
            return Phase.BODY if self._open == 1 and self._in_body else Phase.WORK
        if self._in_body:
            return Phase.LINGER  # answered before all of it was here: too long, or of no use
        return Phase.HEAD if self._in_head else Phase.REST

    def _begin(self, phase: Phase) -> None:
        self._phase = phase
        if phase is Phase.WORK:
            self.deadline = NEVER
            self._held.work(self)
            return
        longer = self.unsent() / SLOWEST_READER if phase is Phase.SEND else 0
        self.deadline = self.loop.time() + self._held.patience * (phase.seconds + longer)
        self._held.wait(self)

    def expire(self) -> None:
        """The client has kept us waiting for too long."""
        kind = _SLOW.get(self._phase)
        if kind and not self._is_fresh():
            self._held.refusals.note(kind, self.host)
        if self._phase in (Phase.HEAD, Phase.BODY) and not self._is_fresh():
            self._refuse(SLOW, noted=True)
        else:
            self._end()

    def _is_fresh(self) -> bool:
        """Nothing was ever sent on it: a browser opened it to be ready."""
        return self._phase is Phase.HEAD and not self._in_head

    def give_way(self) -> None:
        self.transport.abort()

    def unsent(self) -> int:
        return self.transport.get_write_buffer_size()

    def shutdown(self) -> None:
        if self._is_refused:
            self.transport.abort()
        else:
            super().shutdown()
            self._look()

    def _end(self) -> None:
        """``close`` would wait for what is unsent to be taken."""
        if self.unsent():
            self.transport.abort()
        else:
            self.transport.close()

    # Refusals

    def _refuse(self, why: Refusal, *, noted: bool = False) -> None:
        """Say why, where no answer is half written, and end; what still comes is not read as HTTP."""
        if not noted:
            self._held.refusals.note(why.kind, self.host)
        self._is_refused = True
        self._bytes = 0
        waits = self._open == 1 and self._in_body and self._running is not None and not self._running.response_started
        if self._open and not waits:
            self.transport.abort()
            return
        self.transport.write(_answer(why))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()
        self._begin(Phase.LINGER)

    def _throw_away(self, size: int) -> None:
        self._bytes += size
        if self._bytes > LINGER_BYTES:
            self.transport.abort()


def _answer(why: Refusal) -> bytes:
    text = f"{why.text}\n".encode()
    again = b"retry-after: 1\r\n" if why.status == FULL.status else b""
    return (
        STATUS_LINE[why.status] + b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n" + again
        + b"content-length: %d\r\n\r\n" % len(text) + text
    )  # fmt: skip
