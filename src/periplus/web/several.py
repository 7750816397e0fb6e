"""Several collections in one server: each below ``/c/NAME/`` with its own pages, API, rules, keys and console.

    /             which collections there are
    /c/NAME/…     the app of that collection, as if it were alone
    /healthz      the process answers
    /readyz       all collections can be searched

What a visitor does in one collection is unknown to the others: cookies are bound to its path.
"""

from __future__ import annotations

import html
import os
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Route

from periplus.errors import PeriplusError, UsageError
from periplus.web.api.api import json_response
from periplus.web.rendering.problems import MEDIA_TYPE, is_program_path, problem
from periplus.web.requests.public import PublicAddress
from periplus.web.serving import headers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BELOW: Final = "/c/"
MOST: Final = 100  # collections of one server
_TOLD: Final = "there is nothing at this path; each collection of this server is below its own:"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")


def check_names(names: list[str]) -> None:
    """Raise ``UsageError`` unless every collection can have an address of its own."""
    if len(names) > MOST:
        raise UsageError(f"one server has at most {MOST} collections; start another one for the rest")
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(f"a folder named {name!r} has no address below {BELOW}; use letters, digits, . - and _")
        if names.count(name) > 1:
            raise UsageError(f"two folders are named {name}; rename one, its name is its address")


def address_of(public: PublicAddress, name: str) -> PublicAddress:
    """By which readers know one collection of a server."""
    return PublicAddress(public.origin, f"{public.root}{BELOW}{name}")


class Several:
    """The ASGI app that hands each request to the app of its collection."""

    def __init__(self, apps: Mapping[str, Starlette], public: PublicAddress) -> None:
        self._apps = dict(apps)
        self._public = public
        self._own: ASGIApp = Starlette(
            routes=[Route("/", self._index), Route("/healthz", _healthz), Route("/readyz", self._readyz)],
            exception_handlers={HTTPException: self._nothing_there},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._public.enter(scope)
        name, slash, rest = scope["path"].removeprefix(BELOW).partition("/")
        if not scope["path"].startswith(BELOW) or name not in self._apps:
            await self._own(scope, receive, _completed(send))
        elif not slash:
            await RedirectResponse(f"{self._public.root}{BELOW}{name}/", 308)(scope, receive, _completed(send))
        else:
            await self._apps[name]({**scope, "path": f"/{rest}"}, receive, send)

    async def _index(self, _request: Request) -> Response:
        return self._listed("Collections")

    async def _nothing_there(self, request: Request, error: Exception) -> Response:
        """Programs are told where the collections are, people can choose one."""
        status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
        if is_program_path(_within(request.url.path)):
            places = ", ".join(f"{self._public.root}{BELOW}{name}/" for name in self._apps)
            what = problem(status, HTTPStatus(status).phrase.lower().replace(" ", "-"), f"{_TOLD} {places}")
            return json_response(what, status, MEDIA_TYPE)
        return self._listed("There is nothing at this address.", status)

    def _listed(self, heading: str, status: int = HTTPStatus.OK) -> Response:
        root = self._public.root
        items = "".join(f'<li><a href="{root}{BELOW}{name}/">{html.escape(name)}</a></li>' for name in self._apps)
        return HTMLResponse(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Periplus</title>'
            '<meta name="viewport" content="width=device-width"></head>'
            f"<body><main><h1>{heading}</h1><ul>{items}</ul></main></body></html>",
            status,
        )

    async def _readyz(self, _request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool

        waiting = [name for name, app in self._apps.items() if not await run_in_threadpool(_is_ready, app)]
        if waiting:
            return PlainTextResponse(f"not ready: {', '.join(waiting)}\n", 503)
        return PlainTextResponse("ready\n")


def _within(path: str) -> str:
    """The path in a collection, whether there is one of that name or not."""
    return f"/{path.removeprefix(BELOW).partition('/')[2]}" if path.startswith(BELOW) else path


def _is_ready(app: Starlette) -> bool:
    try:
        return bool(app.state.backend.ready())
    except PeriplusError:
        return False


async def _healthz(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


def _completed(send: Send) -> Send:
    """With the headers that all our answers have."""

    async def completed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers.complete(message, os.urandom(8).hex().encode())
        await send(message)

    return completed
