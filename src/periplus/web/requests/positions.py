"""Where a visitor is: in the address (``near=``), in a cookie that the visitor set, else what the backend tells.

The server keeps none of it. The cookie is rounded to about a hundred metres, and set by a form of the preferences: by
hand, or by the position of the browser, which asks its user first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from periplus.verticals import read_position
from periplus.web.requests.access import require_own_page
from periplus.web.requests.parameters import Parameter
from periplus.web.requests.public import own_path, redirect, set_cookie

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.verticals import Position

COOKIE = "place"
MONTH = 30 * 86_400
DIGITS = 3
NEAR = Parameter("near", help="latitude,longitude of the visitor, such as 47.37,8.54; not kept", maximum=60)


def position_of(request: Request, near: str = "") -> Position | None:
    """As the address says, else this browser, else what is known of its IP address, else the operator's default."""
    given = read_position(near) or read_position(request.cookies.get(COOKIE, ""))
    if given is not None:
        return given
    address = (request.scope.get("client") or ("",))[0]
    found: Position | None = request.app.state.backend.whereabouts(address)
    return found


def place_kept(request: Request) -> str:
    """What this browser keeps, as people read it."""
    kept = read_position(request.cookies.get(COOKIE, ""))
    return f"{kept.latitude:g}, {kept.longitude:g}" if kept else ""


async def choose(request: Request) -> Response:
    """POST /place with ``place`` (latitude and longitude; empty forgets it) and ``back``."""
    require_own_page(request)
    form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
    found = read_position(form.get("place", [""])[-1])
    response = redirect(request, own_path(form.get("back", ["/preferences"])[-1]))
    text = f"{round(found.latitude, DIGITS):g},{round(found.longitude, DIGITS):g}" if found else ""
    set_cookie(request, response, COOKIE, text, MONTH)
    return response
