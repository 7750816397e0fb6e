"""Answers made smaller: brotli where the client takes it, else gzip; small answers and pictures go as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import brotli
from isal import igzip

if TYPE_CHECKING:
    from starlette.types import Message, Scope

LEAST = 1_000  # bytes that are worth it
BROTLI_QUALITY = 4  # smaller than gzip's best, in the time of its quickest levels
GZIP_LEVEL = 2
_PACKED = (b"image/png", b"image/webp", b"font/")


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
    headers: list[tuple[bytes, bytes]] = start["headers"]
    told = dict(headers)
    if b"content-encoding" in told or told.get(b"content-type", b"").startswith(_PACKED):
        return
    _vary(headers, told.get(b"vary", b""))
    accepted = [value for name, value in scope["headers"] if name == b"accept-encoding"]
    encoding = chosen(b",".join(accepted).decode("latin-1")) if accepted else ""
    if not encoding:
        return
    packed = brotli.compress(body, quality=BROTLI_QUALITY) if encoding == "br" else igzip.compress(body, GZIP_LEVEL)
    message["body"] = packed
    headers[:] = [pair for pair in headers if pair[0] != b"content-length"]
    headers += [(b"content-encoding", encoding.encode()), (b"content-length", str(len(packed)).encode())]


def _vary(headers: list[tuple[bytes, bytes]], known: bytes) -> None:
    """What the answer depends on: also on what the client can unpack."""
    if not known:
        headers.append((b"vary", b"Accept-Encoding"))
        return
    headers[:] = [pair for pair in headers if pair[0] != b"vary"]
    headers.append((b"vary", known + b", Accept-Encoding"))
