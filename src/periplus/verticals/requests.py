"""One JSON request to an outside service: bounded in time and size, over a connection of its own.

Redirects are not followed: an address that moved is the operator's to know. What comes back is data of strangers; the
readers in ``reading.py`` take from it only texts and numbers of known places.
"""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlencode, urlsplit

from msgspec import Struct

from periplus.verticals.provider import ServiceFailed

MAX_BYTES = 1_000_000
PIECE = 65_536
LEAST_SECONDS = 0.05  # that a connection is given
LONGEST_WAIT = 3_600.0  # that a service may ask for
_AGENT = "Periplus"


class ServiceReply(Struct, frozen=True):
    status: int
    body: bytes
    content_type: str
    retry_after: float = 0.0


def get_json(base: str, parameters: dict[str, Any], deadline: float, headers: dict[str, str] | None = None) -> Any:
    """The JSON that a service answers with; ``ServiceFailed`` for anything else."""
    given = {name: value for name, value in parameters.items() if value not in ("", None)}
    return _decoded(send("GET", f"{base}?{urlencode(given)}" if given else base, deadline, headers or {}))


def post_json(base: str, body: Any, deadline: float, headers: dict[str, str] | None = None) -> Any:
    sent = {"content-type": "application/json", **(headers or {})}
    return _decoded(send("POST", base, deadline, sent, json.dumps(body).encode()))


def send(
    method: str, url: str, deadline: float, headers: dict[str, str], body: bytes | None = None, most: int = MAX_BYTES
) -> ServiceReply:
    """The reply as it came, whatever its status."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    left = deadline - time.monotonic()
    if left < LEAST_SECONDS:
        raise ServiceFailed("no time was left to ask")
    connection = kind(parts.hostname or "", parts.port, timeout=left)
    target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    try:
        connection.request(method, target, body, {"user-agent": _AGENT, "accept": "*/*", **headers})
        response = connection.getresponse()
        return ServiceReply(
            response.status,
            _read(response, connection, deadline, most),
            response.getheader("content-type", ""),
            _seconds(response.getheader("retry-after", "")),
        )
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ServiceFailed(f"{parts.hostname} did not answer: {type(error).__name__}") from error
    finally:
        connection.close()


def _read(
    response: http.client.HTTPResponse, connection: http.client.HTTPConnection, deadline: float, most: int
) -> bytes:
    """The body, read in pieces so that one that comes drop by drop ends with the deadline as well."""
    pieces, size = [], 0
    while piece := response.read1(PIECE):
        pieces.append(piece)
        size += len(piece)
        left = deadline - time.monotonic()
        if size > most or left <= 0:
            raise ServiceFailed("the answer was too long" if size > most else "the answer took too long")
        if connection.sock is not None:
            connection.sock.settimeout(left)
    return b"".join(pieces)


def _decoded(reply: ServiceReply) -> Any:
    if reply.status in (401, 403):
        raise ServiceFailed(f"the key was refused ({reply.status}); see to the setting", is_refusal=True)
    if reply.status == 429:
        raise ServiceFailed("too many requests (429)", reply.retry_after)
    if reply.status != 200:
        raise ServiceFailed(f"status {reply.status}", reply.retry_after if reply.status == 503 else 0.0)
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise ServiceFailed("the answer is not JSON") from error


def _seconds(text: str) -> float:
    return min(float(text), LONGEST_WAIT) if text.isascii() and text.isdigit() else 0.0
