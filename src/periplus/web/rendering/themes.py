"""Light, dark, or as the system says: a choice kept in a cookie, made with a plain form."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from periplus.web.requests.public import YEAR, own_path, redirect, set_cookie

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

THEMES = ("auto", "light", "dark")
COOKIE = "theme"


def theme_of(request: Request) -> str:
    chosen = request.cookies.get(COOKIE, "auto")
    return chosen if chosen in THEMES else "auto"


async def choose(request: Request) -> Response:
    """POST /theme with ``theme`` and ``back``, the path to return to."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    theme = form.get("theme", ["auto"])[-1]
    response = redirect(request, own_path(form.get("back", ["/"])[-1]))
    # Read by our script too, which switches without loading the page again; so not HttpOnly.
    set_cookie(request, response, COOKIE, theme if theme in THEMES else "auto", YEAR, httponly=False)
    return response
