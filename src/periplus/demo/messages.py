"""A request as it was read and a reply as it will be sent.

``Reply.send`` is the only thing the server calls, so a subclass may put anything on the wire, broken protocol
included; the tests' mock web is made of such subclasses.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from periplus.demo.request_log import Headers
    from periplus.demo.wire import Wire

NO_BODY = frozenset({204, 304})


@dataclass(frozen=True)
class Request:
    scheme: str
    method: str
    target: str  # path with query, as sent
    host: str  # lower case, without port
    headers: Headers
    body: bytes = b""
    connection: int = 0

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def header(self, name: str) -> str:
        """The first header of that name, whatever its case; empty when there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: Headers = ()
    delay: float = 0.0  # seconds before the first byte
    reason: str = ""

    async def send(self, wire: Wire) -> None:
        if self.delay:
            await asyncio.sleep(self.delay)
        await wire.respond(self.status, self.headers, self.body, self.reason)


def html(text: str, status: int = 200, headers: Headers = ()) -> Reply:
    return Reply(status, text.encode(), (("Content-Type", "text/html; charset=utf-8"), *headers))


def redirect(location: str, status: int = 302) -> Reply:
    return Reply(status, f"Moved to {location}\n".encode(), (("Location", location), ("Content-Type", "text/plain")))


def phrase(status: int) -> str:
    """The usual reason phrase of a status, or ``Unknown``."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
