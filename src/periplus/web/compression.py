"""Answers made smaller: brotli where the client takes it, else gzip; small answers and pictures go as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import brotli
from isal import igzip
from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import Message, Scope

LEAST = 1_000  # bytes that are worth it
BROTLI_QUALITY = 4  # smaller than gzip's best, in the time of its quickest levels
GZIP_LEVEL = 2
_PACKED = ("image/png", "image/webp", "font/")


def chosen(accepted: str) -> str:
    """The encoding for an Accept-Encoding header; empty when the client takes neither."""
    taken = set()
    for part in accepted.lower().split(","):
        name, _, quality = part.strip().replace(" ", "").partition(";q=")
        if quality.rstrip("0.") or not quality:
            taken.add(name)
    return next((name for name in ("br", "gzip") if name in taken), "")


def pack(scope: Scope, start: Message, message: Message) -> None:
    """Pack the body of ``message`` and say so in the headers of ``start``; an answer in parts goes as it is."""
    body: bytes = message.get("body", b"")
    if len(body) < LEAST or message.get("more_body", False):
        return
    headers = MutableHeaders(raw=start["headers"])
    if "content-encoding" in headers or headers.get("content-type", "").startswith(_PACKED):
        return
    headers.add_vary_header("Accept-Encoding")
    encoding = chosen(Headers(scope=scope).get("accept-encoding", ""))
    if not encoding:
        return
    packed = brotli.compress(body, quality=BROTLI_QUALITY) if encoding == "br" else igzip.compress(body, GZIP_LEVEL)
    message["body"] = packed
    headers["content-encoding"] = encoding
    headers["content-length"] = str(len(packed))
