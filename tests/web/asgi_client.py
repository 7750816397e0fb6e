"""Calls an ASGI app directly: a request in, a whole answer out. No sockets, no client library."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any
from urllib.parse import urlsplit

import brotli
from msgspec import Struct


class Answer(Struct):
    status: int
    headers: dict[str, str]
    body: bytes
    raised: Exception | None = None

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0]


class Client:
    def __init__(self, app: Any, address: str = "127.0.0.1") -> None:
        self.app = app
        self.address = address

    def get(self, target: str, **headers: str) -> Answer:
        return self.call("GET", target, headers)

    def post(self, target: str, body: bytes = b"", **headers: str) -> Answer:
        return self.call("POST", target, headers, body)

    def call(self, method: str, target: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        return asyncio.run(self._call(method, target, headers or {}, body))

    async def _call(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        parts = urlsplit(target)
        given = {"host": "127.0.0.1:8080", **{name.replace("_", "-").lower(): text for name, text in headers.items()}}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(name.encode(), text.encode()) for name, text in given.items()],
            "client": (self.address, 50_000),
            "server": ("127.0.0.1", 8080),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        raised = None
        try:
            await self.app(scope, receive, send)
        except Exception as error:
            if not sent:
                raise
            raised = error
        return _assembled(sent, raised)


def _assembled(sent: list[dict[str, Any]], raised: Exception | None) -> Answer:
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    if headers.get("content-encoding") == "br":
        body = brotli.decompress(body)
    return Answer(sent[0]["status"], headers, body, raised)
