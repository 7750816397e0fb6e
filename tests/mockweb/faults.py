"""Replies that break HTTP on purpose, each in one way. Give one to ``MockWeb.at`` as the answer of an address."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from concurrent.futures import Future
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache

from periplus.demo import Reply, Wire

HTML = (("Content-Type", "text/html; charset=utf-8"),)
BODY = b"<!doctype html><title>A page</title><p>" + b"The sea was calm that night. " * 40


@dataclass(frozen=True)
class Hang(Reply):
    """Says nothing more, until the client leaves or the server stops. ``after``: "request", "headers" or "part"."""

    after: str = "request"

    async def send(self, wire: Wire) -> None:
        if self.after != "request":
            await wire.head(200, (*HTML, ("Content-Length", str(len(BODY)))))
        if self.after == "part":
            await wire.write(BODY[: len(BODY) // 2])
        wire.keep_alive = False
        await wire.until_gone()


@dataclass(frozen=True)
class Drop(Reply):
    """Closes the connection; ``after`` as in ``Hang``; ``reset`` with RST instead of FIN."""

    after: str = "request"
    reset: bool = False

    async def send(self, wire: Wire) -> None:
        if self.after != "request":
            await wire.head(200, (*HTML, ("Content-Length", str(len(BODY)))))
        if self.after == "part":
            await wire.write(BODY[: len(BODY) // 2])
        if self.reset:
            wire.reset()
        else:
            wire.close()


@dataclass(frozen=True)
class WrongLength(Reply):
    """Sends ``body`` under a Content-Length that is ``off`` bytes more (or fewer, when negative), then closes."""

    body: bytes = BODY
    off: int = 100

    async def send(self, wire: Wire) -> None:
        wire.keep_alive = False
        await wire.head(200, (*HTML, ("Content-Length", str(len(self.body) + self.off))))
        await wire.write(self.body)


@dataclass(frozen=True)
class Chunked(Reply):
    """A correct chunked answer."""

    body: bytes = BODY
    size: int = 100

    async def send(self, wire: Wire) -> None:
        await wire.head(self.status, (*(self.headers or HTML), ("Transfer-Encoding", "chunked")))
        for start in range(0, len(self.body), self.size):
            await wire.write(chunk(self.body[start : start + self.size]))
        await wire.write(b"0\r\n\r\n")


@dataclass(frozen=True)
class BadChunks(Reply):
    """Chunking gone wrong. ``kind``: "size" (not a number), "end" (no last chunk), "long" (size larger than sent)."""

    kind: str = "size"

    async def send(self, wire: Wire) -> None:
        wire.keep_alive = False
        await wire.head(200, (*HTML, ("Transfer-Encoding", "chunked")))
        await wire.write(chunk(BODY[:100]))
        if self.kind == "size":
            await wire.write(b"herring\r\n" + BODY[100:200] + b"\r\n0\r\n\r\n")
        elif self.kind == "long":
            await wire.write(b"ffff\r\n" + BODY[100:200])


@dataclass(frozen=True)
class Endless(Reply):
    """A body that goes on and on: without length, in pieces, up to ``limit`` bytes so that tests end."""

    limit: int = 64_000_000
    piece: bytes = b"<p>and then another wave, and then " * 500

    async def send(self, wire: Wire) -> None:
        wire.keep_alive = False
        await wire.head(200, HTML)
        while wire.record.sent < self.limit:
            await wire.write(self.piece)


@dataclass(frozen=True)
class Drip(Reply):
    """Slow loris: ``body`` a few bytes at a time, ``pause`` seconds between them. ``head`` drips the head as well."""

    body: bytes = BODY
    pause: float = 0.05
    piece: int = 1
    head: bool = False

    async def send(self, wire: Wire) -> None:
        lines = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(self.body)}\r\n\r\n".encode()
        wire.record.status = 200
        if not self.head:
            await wire.write(lines)
        data = lines + self.body if self.head else self.body
        for start in range(0, len(data), self.piece):
            await wire.write(data[start : start + self.piece])
            await asyncio.sleep(self.pause)


@dataclass(frozen=True)
class Bomb(Reply):
    """A small body that unpacks to ``megabytes``; ``coding`` is gzip or deflate."""

    megabytes: int = 64
    coding: str = "gzip"

    async def send(self, wire: Wire) -> None:
        await wire.respond(200, (*HTML, ("Content-Encoding", self.coding)), bomb(self.megabytes, self.coding))


@dataclass(frozen=True)
class BadEncoding(Reply):
    """Says gzip. ``kind``: "plain" (is not), "cut" (the stream ends early), "flipped" (a byte in it is wrong)."""

    kind: str = "plain"

    async def send(self, wire: Wire) -> None:
        packed = bytearray(gzip.compress(BODY * 20, mtime=0))
        packed[len(packed) // 2] ^= 0xFF
        body = {"plain": BODY, "cut": gzip.compress(BODY, mtime=0)[:-30], "flipped": bytes(packed)}[self.kind]
        await wire.respond(200, (*HTML, ("Content-Encoding", "gzip")), body)


@dataclass(frozen=True)
class HugeHeaders(Reply):
    """``count`` headers of ``size`` bytes each."""

    count: int = 100
    size: int = 8_000

    async def send(self, wire: Wire) -> None:
        many = tuple((f"X-Cargo-{number}", "w" * self.size) for number in range(self.count))
        await wire.respond(200, HTML + many, BODY)


@dataclass(frozen=True)
class Garbage(Reply):
    """Bytes that are no HTTP at all."""

    data: bytes = b"\x00\xffSSH-2.0-harbour\r\nahoy there\r\n\r\n"

    async def send(self, wire: Wire) -> None:
        await wire.write(self.data)
        wire.close()


@dataclass(frozen=True)
class Raw(Reply):
    """Exactly these bytes as the whole answer; the connection stays open unless ``close``."""

    data: bytes = b""
    close: bool = True

    async def send(self, wire: Wire) -> None:
        wire.keep_alive = wire.keep_alive and not self.close
        await wire.write(self.data)


@dataclass(frozen=True)
class Informed(Reply):
    """A 103 Early Hints before the real answer."""

    body: bytes = BODY

    async def send(self, wire: Wire) -> None:
        await wire.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        await wire.respond(200, HTML, self.body)


@dataclass(frozen=True)
class Gate(Reply):
    """Holds every request until ``open`` is called (from any thread), then answers with ``reply``.

    For tests that must see several things under way at once, without sleeping.
    """

    reply: Reply = field(default_factory=lambda: Reply(200, BODY, HTML))
    passed: Future[None] = field(default_factory=Future)

    def open(self) -> None:
        if not self.passed.done():
            self.passed.set_result(None)

    async def send(self, wire: Wire) -> None:
        await asyncio.shield(asyncio.wrap_future(self.passed))
        await self.reply.send(wire)


def asked_to_wait(status: int = 503, seconds: int | None = None, at: float | None = None) -> Reply:
    """429 or 503 with Retry-After in ``seconds``, or as the HTTP date of the moment ``at``; bare with neither."""
    value = str(seconds) if seconds is not None else formatdate(at, usegmt=True) if at is not None else ""
    headers = (("Retry-After", value),) if value else ()
    return Reply(status, b"later", (("Content-Type", "text/plain"), *headers))


def with_cookie(body: bytes = BODY, cookie: str = "session=barnacle; Path=/") -> Reply:
    return Reply(200, body, (*HTML, ("Set-Cookie", cookie)))


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


@lru_cache(maxsize=8)
def bomb(megabytes: int, coding: str = "gzip") -> bytes:
    """Packed zeros, made piece by piece so that the maker needs no memory for them; once, since it takes a while."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if coding == "gzip" else 15)
    piece = b"\0" * 1_000_000
    return b"".join(packer.compress(piece) for _ in range(megabytes)) + packer.flush()
