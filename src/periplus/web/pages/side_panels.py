"""What stands beside a result list: panels that are there go into the page, those on their way follow it.

A page never waits for a service. With scripts it asks ``/panels`` for what was not there yet; without them a link leads
to the same page with ``panels=1``, which waits as long as a service has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from msgspec import structs
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from periplus.errors import NotFound
from periplus.verticals.hours import today
from periplus.web.api.beside import finished, picture_address
from periplus.web.api.operations import SEARCH_PARAMETERS, search_request
from periplus.web.api.paging import Links
from periplus.web.backend import TABS
from periplus.web.rendering.languages import reader_of
from periplus.web.rendering.rendering import day_in, precompiled_for
from periplus.web.requests.parameters import Form, Parameter, pairs_of
from periplus.web.requests.positions import NEAR, position_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from periplus.records import PanelCard, SidePanel
    from periplus.verticals import PendingPanels, Position
    from periplus.web.backend import Backend
    from periplus.web.rendering.precompiled import PrecompiledTemplates

WAIT = Parameter("panels", "flag", "wait for what outside services give beside the results", default=False)
TITLES = {**TABS, "weather": "Weather"}
KILOMETRE = 1_000.0  # metres
PICTURE_HEADERS = {"cache-control": "public, max-age=86400", "content-security-policy": "default-src 'none'; sandbox"}
_ASKED = Form(*SEARCH_PARAMETERS, NEAR)
_MAP = "https://www.openstreetmap.org/?mlat={0:.5f}&mlon={1:.5f}#map=17/{0:.5f}/{1:.5f}"


def routes() -> list[Route]:
    return [Route("/panels", panels, name="panels"), Route("/picture", picture, name="picture")]


async def panels(request: Request) -> Response:
    """GET /panels?q=…: the panels of a result list as a fragment of its page, as soon as services have answered."""
    values = _ASKED.read_lenient(pairs_of(request.scope["query_string"]))
    state = request.app.state
    if not values["q"]:
        return HTMLResponse("")
    reader = reader_of(request, state.catalogues)
    position = position_of(request, values["near"])
    pending = await state.pool.run(_begun, state.backend, values, position, reader, **state.patience)
    shown = await finished(pending)
    made = precompiled_for(request)
    return HTMLResponse(PanelColumn(made, Links(f"{made.root}/search", values)).all(shown))


def _begun(backend: Backend, values: dict[str, Any], position: Position | None, reader: str) -> PendingPanels:
    return backend.side_panels(structs.replace(search_request(values), reader=reader), position)


class PanelColumn:
    """Panels as markup."""

    def __init__(self, precompiled: PrecompiledTemplates, link: Links) -> None:
        self._precompiled = precompiled
        self._link = link

    def all(self, shown: tuple[SidePanel, ...]) -> Markup:
        return Markup("").join(self._one(panel) for panel in shown)

    def _one(self, panel: SidePanel) -> Markup:
        context = {
            "panel": panel,
            "title": self._precompiled.say(TITLES[panel.kind]),
            "more": self._link(tab=panel.more, page=1) if panel.more in TABS else "",
            "cards": [
                card_context(self._precompiled, card, with_picture=bool(panel.provider) or card.has_copy)
                for card in panel.cards
            ],
        }
        return self._precompiled.render("_panel.html", context)


def card_context(precompiled: PrecompiledTemplates, card: PanelCard, *, with_picture: bool = False) -> dict[str, Any]:
    """A card with what its template cannot work out by itself."""
    say = precompiled.say
    return {
        "card": card,
        "picture": picture_address(precompiled.root, card.image) if with_picture else "",
        "day": day_in(precompiled.language, card.published) if card.published else "",
        "distance": distance_text(card.distance),
        "map": _MAP.format(*card.position) if card.position and card.address else "",
        "today": today(card.hours, card.position) or (card.hours if len(card.hours) <= 60 else ""),
        "stock": say(card.stock) if card.stock else "",
        "services": [say(name) for name in card.services],
        "facts": [(say(name), text) for name, text in card.facts],
    }


async def picture(request: Request) -> Response:
    """GET /picture?url=…: a small copy, made here; of pictures that the crawl brought or a service showed only."""
    address = request.query_params.get("url", "")[:2_000]
    made = await run_in_threadpool(request.app.state.backend.picture, address) if address else b""
    if not made:
        raise NotFound("there is no copy of this picture here")
    return Response(made, media_type="image/jpeg", headers=PICTURE_HEADERS)


def distance_text(metres: float | None) -> str:
    if metres is None:
        return ""
    if metres < KILOMETRE:
        return f"{round(metres, -1):.0f} m"
    return f"{metres / KILOMETRE:.1f} km" if metres < 10 * KILOMETRE else f"{metres / KILOMETRE:,.0f} km"
