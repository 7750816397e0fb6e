"""What machines ask for: health, metrics, descriptions of the API and of the search, robots.txt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from periplus.errors import PeriplusError
from periplus.web.api import openapi
from periplus.web.api.api import JSON, json_response
from periplus.web.rendering.problems import MEDIA_TYPE, problem
from periplus.web.rendering.rendering import page
from periplus.web.requests.public import public_of, redirect

if TYPE_CHECKING:
    from starlette.requests import Request

# Result lists are for people; a crawler in them would find no end.
_PRIVATE = ("/search", "/similar", "/cached", "/inspect", "/explain", "/preferences", "/console")


def routes() -> list[Route]:
    described = openapi.document()

    async def openapi_json(request: Request) -> Response:
        root = public_of(request).root
        description = msgspec.json.encode({**described, "servers": [{"url": root}]} if root else described)
        return Response(description, media_type=JSON, headers={"cache-control": "public, max-age=300"})

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/alive", alive),
        Route("/openapi.json", openapi_json),
        Route("/opensearch.xml", opensearch),
        Route("/robots.txt", robots),
        Route("/favicon.ico", favicon),
    ]


async def healthz(_request: Request) -> Response:
    """The process answers."""
    return PlainTextResponse("ok\n")


async def readyz(request: Request) -> Response:
    """A generation is open and warm, so queries are answered."""
    reason = "there is no generation to search yet, or shards are missing"
    try:
        if await run_in_threadpool(request.app.state.backend.ready):
            return PlainTextResponse("ready\n")
    except PeriplusError:  # whose text may name folders, which are nobody else's business
        reason = "the collection cannot be searched; on the server, periplus doctor says why"
    return json_response(problem(503, "not-ready", reason), 503, MEDIA_TYPE)


async def alive(request: Request) -> Response:
    status: dict[str, Any] = await run_in_threadpool(request.app.state.backend.status)
    return json_response({"alive": True, "last_write": status.get("last_write")})


async def opensearch(request: Request) -> Response:
    context = {"base": public_of(request).base(request)}
    return page(request, "opensearch.xml", context, media_type="application/opensearchdescription+xml")


async def robots(request: Request) -> Response:
    root = public_of(request).root
    rules = "User-agent: *\n" + "".join(f"Disallow: {root}{path}\n" for path in _PRIVATE)
    return PlainTextResponse(rules, headers={"cache-control": "public, max-age=3600"})


async def favicon(request: Request) -> Response:
    return redirect(request, request.app.state.assets.address("mark.svg"), 308)
