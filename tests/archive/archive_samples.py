"""Exchanges to put into archives."""

from __future__ import annotations

from typing import Any

from periplus.records import Exchange

SAMPLE: dict[str, Any] = {
    "url": "http://example.org/a?b=c",
    "method": "GET",
    "request_headers": (("Host", "example.org"), ("User-Agent", "Periplus")),
    "status": 200,
    "reason": "OK",
    "headers": (("Content-Type", "text/plain"), ("Transfer-Encoding", "chunked"), ("Set-Cookie", "a=b")),
    "payload": b"tides and currents " * 20,
    "body": b"tides and currents " * 20,
    "ip": "127.0.0.1",
    "started": 1_700_000_000.0,
    "elapsed": 0.25,
}


def exchange(**changes: Any) -> Exchange:
    return Exchange(**{**SAMPLE, **changes})
