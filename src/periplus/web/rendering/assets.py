"""The static files: read once, served from memory, named with a hash of their content so that they never go stale."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request

FOLDER = Path(__file__).parent.parent / "static"

_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_EVER = "public, max-age=31536000, immutable"


class Asset(Struct, frozen=True):
    content: bytes
    media_type: str
    tag: str


class Assets:
    def __init__(self) -> None:
        self._assets = {path.name: _read(path) for path in sorted(FOLDER.iterdir()) if path.suffix in _TYPES}

    def asset(self, name: str) -> Asset:
        return self._assets[name]

    def address(self, name: str) -> str:
        return f"/static/{name}?v={self._assets[name].tag}"

    async def endpoint(self, request: Request) -> Response:
        asset = self._assets.get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404, "no such file")
        headers = {"etag": f'"{asset.tag}"', "cache-control": _caching(request, asset)}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(asset.content, media_type=asset.media_type, headers=headers)


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, _TYPES[path.suffix], hashlib.blake2b(content, digest_size=6).hexdigest())


def _caching(request: Request, asset: Asset) -> str:
    return _FOR_EVER if request.query_params.get("v") == asset.tag else "no-cache"
