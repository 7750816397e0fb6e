"""One connection while it answers one request: orderly answers, and the means to break the protocol on purpose."""

from __future__ import annotations

import socket
import struct
from email.utils import formatdate
from typing import TYPE_CHECKING

from periplus.demo.messages import NO_BODY, phrase

if TYPE_CHECKING:
    import asyncio

    from periplus.demo.messages import Request
    from periplus.demo.request_log import Headers, RequestRecord

RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, for zero seconds: close() sends RST


class Wire:
    """``keep_alive`` is what the client asked for; set it to false and the connection ends after this answer."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        request: Request,
        record: RequestRecord,
        keep_alive: bool,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self.request = request
        self.record = record
        self.keep_alive = keep_alive

    async def respond(self, status: int, headers: Headers, body: bytes, reason: str = "") -> None:
        """A whole, correct answer; the body is left out where HTTP says so."""
        bodiless = status in NO_BODY or status < 200
        length = () if bodiless or _has(headers, "content-length") else (("Content-Length", str(len(body))),)
        silent = bodiless or self.request.method == "HEAD"
        await self.write(self._head(status, (*headers, *length), reason) + (b"" if silent else body))

    async def head(self, status: int, headers: Headers, reason: str = "") -> None:
        """Status line and headers exactly as given, with Date and Connection added; no length is made up."""
        await self.write(self._head(status, headers, reason))

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        self.record.sent += len(data)
        await self._writer.drain()

    async def until_gone(self) -> None:
        """Wait until the client closes its side."""
        while await self._reader.read(65_536):
            pass

    def close(self) -> None:
        """End the connection in order (FIN), after what has been written."""
        self.keep_alive = False
        self._writer.close()

    def reset(self) -> None:
        """End the connection at once, with RST where the transport is a plain socket."""
        self.keep_alive = False
        raw = self._writer.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self._writer.transport.abort()

    def _head(self, status: int, headers: Headers, reason: str) -> bytes:
        self.record.status = status
        own: Headers = () if _has(headers, "date") else (("Date", formatdate(usegmt=True)),)
        if not self.keep_alive and not _has(headers, "connection"):
            own += (("Connection", "close"),)
        lines = [
            f"HTTP/1.1 {status} {reason or phrase(status)}",
            *(f"{name}: {value}" for name, value in own + headers),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _has(headers: Headers, name: str) -> bool:
    return any(key.lower() == name for key, _ in headers)
