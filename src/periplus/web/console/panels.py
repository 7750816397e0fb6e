"""What the operator sees: panels, each also as JSON with ``.json`` at the end of its path.

``PANELS`` is the menu, in its order; a panel is read by a function of the backend and the checked parameters, and shown
by the template of its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Route

from periplus.web.api.api import json_response
from periplus.web.backend import COMMANDS
from periplus.web.rendering.rendering import page
from periplus.web.requests.access import COOKIE
from periplus.web.requests.operator import session_of
from periplus.web.requests.parameters import Form, Parameter, pairs_of
from periplus.web.requests.public import redirect, set_cookie

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.web.backend import Backend

    Endpoint = Callable[[Request], Awaitable[Response]]

DAY = 86_400
GRADES = {"": "no judgement", "0": "0 not relevant", "1": "1 a little", "2": "2 relevant", "3": "3 just right"}
SENTENCES = {  # what an action did, told on the page that it leads back to
    "recrawl": "is visited again as soon as its gap allows",
    "boost": "comes before other hosts from now on",
    "block": "is hidden from results and not crawled any more; nothing was deleted, and unblocking brings it back",
    "unblock": "is in results again, as far as it is stored, and may be visited again",
    "remove": "is taken out of archive, documents and index, and is never asked for again",
    "start": "is where the crawl begins",
    "forget": "is no longer remembered: the settings file and variables say what it is",
    "change": "is changed; its row says when that comes into force",
    "same": "was that already: nothing is changed",
    "undo": "is again what it was before that change",
    "restart": "is the number of the worker that starts again",
    "pause": "is the number of the worker that rests after its requests under way",
    "resume": "is the number of the worker that goes on",
    "shutdown": "is the number of the worker that ends for good; others take its hosts",
    "drain-machine": "takes nothing any more; what runs there goes elsewhere",
    "work-machine": "takes its share again",
    "leave-machine": "leaves the cluster when what runs there has gone elsewhere",
    "stop-machine": "is told to end, with all that runs there, as all others are",
    "drain-server": "finishes what it has and ends, within seconds",
    "restart-server": "has ended and starts again",
}
LEVELS = ("info", "warning", "error")
MOST_EVENTS = 1_000  # that are looked through for those of one level
HOST_ORDERS = ("queue", "requests", "pages", "errors", "next", "name")


# What each panel reads


def read_overview(backend: Backend, _values: dict[str, Any]) -> Any:
    return {**backend.status(), **backend.panels.overview()}


def read_hosts(backend: Backend, values: dict[str, Any]) -> Any:
    return backend.panels.hosts(values["order"], values["text"], values["limit"])


def read_errors(backend: Backend, _values: dict[str, Any]) -> Any:
    return backend.panels.errors()


def read_inspection(backend: Backend, values: dict[str, Any]) -> Any:
    return backend.inspect(values["url"]) if values["url"] else None


def read_queries(backend: Backend, values: dict[str, Any]) -> Any:
    profiles = (values["profile"], *([values["beside"]] if values["beside"] else []))
    return backend.panels.queries(values["text"], profiles)


def read_index(backend: Backend, _values: dict[str, Any]) -> Any:
    return backend.panels.index()


def read_ranks(backend: Backend, _values: dict[str, Any]) -> Any:
    return backend.panels.ranks()


def read_shards(backend: Backend, _values: dict[str, Any]) -> Any:
    return {**backend.panels.shards(), "orders": backend.panels.shard_orders()}


def read_machines(backend: Backend, _values: dict[str, Any]) -> Any:
    return backend.panels.machines()


def read_settings(backend: Backend, _values: dict[str, Any]) -> Any:
    return backend.panels.settings()


def read_events(backend: Backend, values: dict[str, Any]) -> Any:
    found = backend.panels.events(MOST_EVENTS if values["level"] else values["limit"])
    wanted = LEVELS[LEVELS.index(values["level"]) :] if values["level"] else LEVELS
    kept = [row for row in found["events"] if row["level"] in wanted or not values["level"]]
    return {**found, "events": kept[: values["limit"]]}


class Panel(Struct, frozen=True):
    name: str
    title: str
    read: Any  # (backend, values) → what is shown
    parameters: tuple[Parameter, ...] = ()
    in_menu: bool = True

    @property
    def path(self) -> str:
        return "/console" if self.name == "overview" else f"/console/{self.name}"


_DONE = Form(Parameter("done", maximum=20), Parameter("target"))
SETTINGS = Panel("settings", "Settings", read_settings)
_LIMIT = Parameter("limit", "integer", "rows, at most", 100, minimum=1, maximum=1_000)

PANELS = (
    Panel("overview", "Overview", read_overview),
    Panel(
        "hosts",
        "Hosts",
        read_hosts,
        (
            Parameter("order", "choice", "which come first", "queue", choices=HOST_ORDERS),
            Parameter("text", help="part of a host's name", maximum=255),
            _LIMIT,
        ),
    ),
    Panel("errors", "Errors", read_errors),
    Panel("inspect", "Inspect", read_inspection, (Parameter("url"),)),
    Panel(
        "queries",
        "Queries",
        read_queries,
        (
            Parameter("text", help="a query"),
            Parameter("profile", help="ranking profile", maximum=60),
            Parameter("beside", help="a second profile", maximum=60),
        ),
    ),
    Panel("index", "Index", read_index),
    Panel("shards", "Shards", read_shards, in_menu=False),
    Panel("machines", "Machines", read_machines, in_menu=False),
    Panel("ranks", "Ranks", read_ranks),
    SETTINGS,
    Panel(
        "events",
        "Events",
        read_events,
        (_LIMIT, Parameter("level", "choice", "this level and what is worse", "", choices=("", *LEVELS))),
        in_menu=False,
    ),
)
MENU = tuple(panel for panel in PANELS if panel.in_menu)


def routes() -> list[Route]:
    return [
        *(Route(panel.path, _shown(panel), name=f"console-{panel.name}") for panel in PANELS),
        *(Route(f"{panel.path}.json", _as_json(panel)) for panel in PANELS),
    ]


def _shown(panel: Panel) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        if "key" in request.query_params:
            return _enter(request, request.query_params["key"])
        values, data = await _read(panel, request)
        return page(request, f"console-{panel.name}.html", context(panel, request, values, data))

    return endpoint


def context(panel: Panel, request: Request, values: dict[str, Any], data: Any) -> dict[str, Any]:
    done = _DONE.read_lenient(pairs_of(request.scope["query_string"]))
    return {
        "menu": MENU,
        "panel": panel,
        "values": values,
        "data": data,
        "commands": COMMANDS,
        "grades": GRADES,
        "done": {**done, "sentence": SENTENCES.get(done["done"], "")},
        "wrong": {},
    }


def _as_json(panel: Panel) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return json_response((await _read(panel, request))[1])

    return endpoint


async def _read(panel: Panel, request: Request) -> tuple[dict[str, Any], Any]:
    request.app.state.gate.check(request)
    values = Form(*panel.parameters).read_lenient(pairs_of(request.scope["query_string"]))
    return values, await run_in_threadpool(panel.read, request.app.state.backend, values)


def _enter(request: Request, key: str) -> Response:
    """The key in the address becomes a cookie, and the address loses it before it lands in a history."""
    if not request.app.state.gate.opens_with(request, key):
        raise HTTPException(401, "this is not the operator's key")
    response = redirect(request, request.url.path)
    set_cookie(request, response, COOKIE, session_of(key), 30 * DAY, samesite="strict")
    return response
