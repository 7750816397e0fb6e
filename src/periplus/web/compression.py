"""Answers made smaller: brotli where the client takes it, else gzip; small answers and pictures go as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import brotli
from isal import igzip
from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST = 1_000  # bytes that are worth it
BROTLI_QUALITY = 4  # smaller than gzip's best, in the time of its quickest levels
GZIP_LEVEL = 2
_PACKED = ("image/png", "image/webp", "font/")


class CompressionMiddleware:
    """All our answers have one body message; an answer in several parts goes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        encoding = chosen(Headers(scope=scope).get("accept-encoding", ""))
        start: Message | None = None

        async def send_packed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is not None:
                _pack(start, message, encoding)
                await send(start)
                start = None
            await send(message)

        await self.app(scope, receive, send_packed)


def chosen(accepted: str) -> str:
    """The encoding for an Accept-Encoding header; empty when the client takes neither."""
    taken = set()
    for part in accepted.lower().split(","):
        name, _, quality = part.strip().replace(" ", "").partition(";q=")
        if quality.rstrip("0.") or not quality:
            taken.add(name)
    return next((name for name in ("br", "gzip") if name in taken), "")


def _pack(start: Message, message: Message, encoding: str) -> None:
    headers = MutableHeaders(scope=start)
    body: bytes = message.get("body", b"")
    whole = not message.get("more_body", False)
    kind = headers.get("content-type", "")
    if len(body) < LEAST or not whole or "content-encoding" in headers or kind.startswith(_PACKED):
        return
    headers.add_vary_header("Accept-Encoding")
    if not encoding:
        return
    packed = brotli.compress(body, quality=BROTLI_QUALITY) if encoding == "br" else igzip.compress(body, GZIP_LEVEL)
    message["body"] = packed
    headers["content-encoding"] = encoding
    headers["content-length"] = str(len(packed))
