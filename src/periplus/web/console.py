"""The operator's console: what the collection is doing, and the buttons that change it.

Every panel is also JSON: add ``.json`` to its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Route

from periplus.web.access import COOKIE
from periplus.web.api import json_response
from periplus.web.backend import COMMANDS
from periplus.web.rendering import page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.web.access import Gate

DAY = 86_400


def routes() -> list[Route]:
    return [
        Route("/console", overview, name="console"),
        Route("/console.json", overview_json),
        Route("/console/crawl/{name}", command, methods=["POST"]),
    ]


def _gate(request: Request) -> Gate:
    gate: Gate = request.app.state.gate
    return gate


async def overview(request: Request) -> Response:
    if "key" in request.query_params:
        return _enter(request, request.query_params["key"])
    _gate(request).check(request)
    status = await run_in_threadpool(request.app.state.backend.status)
    return page(request, "console.html", {"status": status, "commands": COMMANDS})


async def overview_json(request: Request) -> Response:
    _gate(request).check(request)
    return json_response(await run_in_threadpool(request.app.state.backend.status))


def _enter(request: Request, key: str) -> Response:
    """The key in the address becomes a cookie, and the address loses it before it lands in a history."""
    gate = _gate(request)
    if not gate.opens_with(key):
        raise HTTPException(401, "this is not the operator's key")
    response = RedirectResponse("/console", 303)
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, gate.token, max_age=30 * DAY, httponly=True, samesite="strict", secure=secure)
    return response


async def command(request: Request) -> Response:
    _gate(request).check(request)
    name = request.path_params["name"]
    if name not in COMMANDS:
        raise HTTPException(404, f"no command {name!r}")
    await run_in_threadpool(request.app.state.backend.command, name)
    return RedirectResponse("/console", 303)
