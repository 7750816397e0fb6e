"""Which other sites' pages may read the API from a browser (``serve.cors``): none unless the operator says so.

Only the API is opened, only for reading, and never with cookies; a key in the Authorization header is let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware

from periplus.web.api.operations import PREFIX

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class OriginsMiddleware:
    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        self.app = app
        self.opened = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_headers=("Authorization", "If-None-Match", "X-Request-ID"),
            expose_headers=("ETag", "Retry-After", "X-Request-ID"),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_api = scope["type"] == "http" and scope["path"].startswith(f"{PREFIX}/")
        await (self.opened if is_api else self.app)(scope, receive, send)
