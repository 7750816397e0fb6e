"""The search box for other sites: its script, and the page that shows how to put it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from periplus.web.api.api import is_known
from periplus.web.rendering.rendering import page
from periplus.web.requests.parameters import Form, Parameter, pairs_of
from periplus.web.requests.public import public_of

if TYPE_CHECKING:
    from starlette.requests import Request

_SITE = Form(Parameter("site", help="the site to search", maximum=255))
_HEADERS = {
    # The one file that pages of other origins may load; its name stays the same, so it is asked for anew each hour.
    "cross-origin-resource-policy": "cross-origin",
    "cache-control": "public, max-age=3600",
}


def routes() -> list[Route]:
    return [Route("/embed", how, name="embed"), Route("/embed.js", script)]


async def how(request: Request) -> Response:
    site = _SITE.read_lenient(pairs_of(request.scope["query_string"]))["site"]
    return page(request, "embed.html", {"site": site, "base": public_of(request).base(request)})


async def script(request: Request) -> Response:
    asset = request.app.state.assets.asset("embed.js")
    headers = {**_HEADERS, "etag": f'"{asset.tag}"'}
    if is_known(request.headers.get("if-none-match", ""), headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)
