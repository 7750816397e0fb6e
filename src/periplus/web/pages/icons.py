"""The small picture of a site: the one that our own store holds, else a tile with its first letter.

Nothing is asked of the site or of anybody else while a page is shown. A stored picture is passed on only when it is
small and its first bytes are those of a kind of image that cannot carry a script; a drawing (SVG) is drawn again from
what we know of it (``drawings.py``). The answer may run nothing, wherever it is opened.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from periplus.web.api.api import is_known
from periplus.web.pages.drawings import redrawn

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_BYTES = 64_000
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
)
_HEADERS = {
    "cache-control": "public, max-age=86400",
    "content-security-policy": "default-src 'none'; sandbox",
}
_INKS = ("#0b5d7a", "#5a4680", "#8a3b22", "#2f6b3c", "#7a5a0b", "#14303f")
_TILE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="{ink}"/>'
    '<text x="16" y="23" font-family="Georgia,serif" font-size="21" text-anchor="middle" fill="#fffdf7">{letter}</text>'
    "</svg>"
)


def routes() -> list[Route]:
    return [Route("/icon/{host}", icon)]


async def icon(request: Request) -> Response:
    host = request.path_params["host"][:255].lower()
    stored: bytes | None = await run_in_threadpool(request.app.state.backend.icon, host)
    content, kind = shown(stored or b"") or (tile(host), "image/svg+xml")
    tag = f'"{hashlib.blake2b(content, digest_size=8).hexdigest()}"'
    headers = {**_HEADERS, "etag": tag}
    if is_known(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


def shown(stored: bytes) -> tuple[bytes, str] | None:
    """What may be passed on of a stored picture, and its media type; nothing when it is none."""
    kind = kind_of(stored)
    if kind:
        return stored, kind
    drawing = redrawn(stored) if b"<svg" in stored[:MAX_BYTES] else b""
    return (drawing, "image/svg+xml") if drawing else None


def kind_of(content: bytes) -> str:
    """The media type of a picture that may be passed on; empty for everything else."""
    if len(content) > MAX_BYTES:
        return ""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _KINDS if content.startswith(magic)), "")


def tile(host: str) -> bytes:
    name = host.removeprefix("www.")
    letter = next((letter for letter in name if letter.isalnum()), "·").upper()
    ink = _INKS[hashlib.blake2b(host.encode("utf-8", "replace"), digest_size=1).digest()[0] % len(_INKS)]
    return _TILE.format(ink=ink, letter=escape(letter)).encode("utf-8", "replace")
