"""How a reader comes to the next page of a list: by its number, or by scrolling on; kept in a cookie of the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from periplus.web.requests.public import YEAR, redirect, set_cookie

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

COOKIE, ENDLESS = "scroll", "endless"


def is_endless(request: Request) -> bool:
    return request.cookies.get(COOKIE, "") == ENDLESS


async def choose(request: Request) -> Response:
    """POST /scroll with ``scroll``: ``endless``, or anything else for pages."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    chosen = ENDLESS if form.get("scroll", [""])[-1] == ENDLESS else ""
    response = redirect(request, "/preferences")
    # Read by the script that loads further pages, so not HttpOnly.
    set_cookie(request, response, COOKIE, chosen, YEAR, httponly=False)
    return response
