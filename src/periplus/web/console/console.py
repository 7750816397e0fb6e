"""The operator's console: what the collection is doing, and the buttons that change it.

Every panel is also JSON: add ``.json`` to its path. ``PANELS`` is the menu, in its order; a panel is read by a function
of the backend and the checked parameters, and shown by the template of its name.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response as Plain
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.web.api.api import json_response
from periplus.web.backend import ACTIONS, COMMANDS, MACHINE_ORDERS, SHARD_ORDERS, WORKER_ORDERS
from periplus.web.rendering.rendering import page
from periplus.web.requests.access import COOKIE
from periplus.web.requests.operator import session_of
from periplus.web.requests.parameters import Form, Parameter, pairs_of
from periplus.web.requests.public import own_path, redirect, set_cookie

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.web.backend import Backend
    from periplus.web.requests.access import Gate

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
MAX_SEEDS = 1_000
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
        Route("/console/crawl/start", start, methods=["POST"]),
        Route("/console/crawl/workers/{number:int}/{order}", order_worker, methods=["POST"]),
        Route("/console/crawl/{name}", command, methods=["POST"]),
        Route("/console/steer/{action}", steer, methods=["POST"]),
        Route("/console/shards/{order}", order_shard, methods=["POST"]),
        Route("/console/machines/{order}", order_machine, methods=["POST"]),
        Route("/console/settings/change", change, methods=["POST"]),
        Route("/console/settings/undo", undo, methods=["POST"]),
        Route("/console/settings/forget", forget, methods=["POST"]),
        Route("/console/judge", judge, methods=["POST"]),
        Route("/console/qrels.tsv", qrels),
        Route("/console/queries.tsv", judged_queries),
        Route("/console/searches.csv", searches_by_day),
        Route("/console/asked.csv", asked_queries),
    ]


def _gate(request: Request) -> Gate:
    gate: Gate = request.app.state.gate
    return gate


def _shown(panel: Panel) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        if "key" in request.query_params:
            return _enter(request, request.query_params["key"])
        values, data = await _read(panel, request)
        return page(request, f"console-{panel.name}.html", _context(panel, request, values, data))

    return endpoint


def _context(panel: Panel, request: Request, values: dict[str, Any], data: Any) -> dict[str, Any]:
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
    _gate(request).check(request)
    values = Form(*panel.parameters).read_lenient(pairs_of(request.scope["query_string"]))
    return values, await run_in_threadpool(panel.read, request.app.state.backend, values)


def _enter(request: Request, key: str) -> Response:
    """The key in the address becomes a cookie, and the address loses it before it lands in a history."""
    gate = _gate(request)
    if not gate.opens_with(request, key):
        raise HTTPException(401, "this is not the operator's key")
    response = redirect(request, request.url.path)
    set_cookie(request, response, COOKIE, session_of(key), 30 * DAY, samesite="strict")
    return response


async def command(request: Request) -> Response:
    _gate(request).check(request)
    name = request.path_params["name"]
    if name not in COMMANDS:
        raise HTTPException(404, f"no command {name!r}")
    await run_in_threadpool(request.app.state.backend.command, name)
    return redirect(request, "/console")


async def _form(request: Request) -> dict[str, str]:
    """The operator's form: the last value of every field."""
    _gate(request).check(request)
    given = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[-1].strip() for name, values in given.items()}


def client_host(request: Request) -> str:
    """Who asks, for the log of changes: the address of a client, or of the one that a trusted proxy names."""
    return request.client.host if request.client else ""


def _back(request: Request, path: str, done: str, target: str) -> Response:
    """To a panel of the console, which tells what was done."""
    parts = urlsplit(own_path(path))
    known = parts.path if parts.path.startswith("/console") else "/console"
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("done", "target")]
    return redirect(request, f"{known}?{urlencode([*kept, ('done', done), ('target', target[:500])])}")


async def steer(request: Request) -> Response:
    """POST with ``target``, a host or an address, and ``back``, the panel to return to."""
    form = await _form(request)
    action = request.path_params["action"]
    if action not in ACTIONS:
        raise HTTPException(404, f"no action {action!r}")
    target = form.get("target", "")
    if not target:
        raise UsageError("say which host or address is meant")
    await run_in_threadpool(request.app.state.backend.steer, action, target)
    return _back(request, form.get("back", "/console"), action, target)


async def order_shard(request: Request) -> Response:
    """POST with ``target``, the address of a shard server."""
    form = await _form(request)
    order, server = request.path_params["order"], form.get("target", "")
    if order not in SHARD_ORDERS:
        raise HTTPException(404, f"no order {order!r}")
    await run_in_threadpool(request.app.state.backend.order_shard, order, server)
    return _back(request, "/console/shards", f"{order}-server", server)


async def change(request: Request) -> Response:
    """POST with ``target``, a setting, and ``value``, as it is typed: of a list an item a line."""
    form = await _form(request)
    setting, text = form.get("target", ""), form.get("value", "")
    try:
        is_new = await run_in_threadpool(request.app.state.backend.change_setting, setting, text, client_host(request))
    except UsageError as error:
        return await _refused(request, {"key": setting, "text": text, "told": str(error)})
    return _back(request, SETTINGS.path, "change" if is_new else "same", setting)


async def _refused(request: Request, wrong: dict[str, str]) -> Response:
    """The panel of settings again, with what was typed and what is wrong with it."""
    data = await run_in_threadpool(SETTINGS.read, request.app.state.backend, {})
    context = {**_context(SETTINGS, request, {}, data), "wrong": wrong, "here": SETTINGS.path}
    return page(request, "console-settings.html", context, status=400)


async def undo(request: Request) -> Response:
    """POST with ``number``, that of a change of settings."""
    form = await _form(request)
    number = Parameter("number", "integer", minimum=1, maximum=10**9).read_named(form.get("number", ""))
    setting = await run_in_threadpool(request.app.state.backend.undo_setting, number, client_host(request))
    return _back(request, SETTINGS.path, "undo", setting)


async def forget(request: Request) -> Response:
    """POST with ``target``, a setting of which something is remembered."""
    form = await _form(request)
    setting = form.get("target", "")
    await run_in_threadpool(request.app.state.backend.forget, setting, client_host(request))
    return _back(request, SETTINGS.path, "forget", setting)


async def order_worker(request: Request) -> Response:
    _gate(request).check(request)
    number, order = request.path_params["number"], request.path_params["order"]
    if order not in WORKER_ORDERS:
        raise HTTPException(404, f"no order {order!r}")
    await run_in_threadpool(request.app.state.backend.command, f"{order} {number}")
    return _back(request, "/console", order, str(number))


async def order_machine(request: Request) -> Response:
    """POST with ``target``, the name of a node."""
    form = await _form(request)
    order, node = request.path_params["order"], form.get("target", "")
    if order not in MACHINE_ORDERS:
        raise HTTPException(404, f"no order {order!r}")
    await run_in_threadpool(request.app.state.backend.order_machine, order, node)
    return _back(request, "/console/machines", f"{order}-machine", node)


async def start(request: Request) -> Response:
    """POST with ``seeds``, an address a line, and optionally ``scope``, ``max_pages`` and ``max_depth``."""
    form = await _form(request)
    seeds = form.get("seeds", "").split()
    if not 1 <= len(seeds) <= MAX_SEEDS:
        raise UsageError(f"give 1 to {MAX_SEEDS} addresses to start from, one a line")
    options: dict[str, Any] = {"scope": form["scope"]} if form.get("scope") else {}
    for name in ("max_pages", "max_depth"):
        if form.get(name):
            options[name] = Parameter(name, "integer", maximum=10**9).read_named(form[name])
    listed = await run_in_threadpool(request.app.state.backend.start, seeds, options)
    return _back(
        request, "/console", "start", listed[0] if len(listed) == 1 else f"{listed[0]} and {len(listed) - 1} more"
    )


# Judgements


async def judge(request: Request) -> Response:
    """POST with ``text`` (the query), ``profile``, ``beside``, and a grade for each ``grade:ID`` of the form."""
    _gate(request).check(request)
    form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
    given = {name: values[-1] for name, values in form.items()}
    query = given.get("text", "")
    if not query:
        raise UsageError("judgements need the query that they are for")
    grades = {name.removeprefix("grade:"): _grade(text) for name, text in given.items() if name.startswith("grade:")}
    await run_in_threadpool(_keep, request.app.state.backend, query, grades)
    kept = {name: given[name] for name in ("text", "profile", "beside") if given.get(name)}
    return redirect(request, f"/console/queries?{urlencode(kept)}")


def _grade(text: str) -> int | None:
    if text not in GRADES:
        raise UsageError(f"a grade is 0 to 3 or nothing, not {text!r}")
    return int(text) if text else None


def _keep(backend: Backend, query: str, grades: dict[str, int | None]) -> None:
    before = backend.panels.judgements().get(query, {})
    for document, grade in grades.items():
        if before.get(document) != grade:
            backend.panels.judge(query, document, grade)


async def qrels(request: Request) -> Response:
    """The judgements as ``evaluate --qrels`` reads them; queries are numbered as in ``queries.tsv``."""
    judged = await _judged(request)
    rows = (
        f"{number}\t{document}\t{grade}"
        for number, grades in enumerate(judged.values(), 1)
        for document, grade in grades.items()
    )
    return _download("qrels.tsv", rows)


async def judged_queries(request: Request) -> Response:
    texts = enumerate(await _judged(request), 1)
    return _download("queries.tsv", (f"{number}\t{' '.join(text.split())}" for number, text in texts))


async def searches_by_day(request: Request) -> Response:
    """The last days: searches, those without a result, clicks."""
    _gate(request).check(request)
    known = await run_in_threadpool(request.app.state.backend.panels.queries, "")
    return _csv("searches.csv", ("day", "searches", "without_result", "clicks"), known["counts"]["days"])


async def asked_queries(request: Request) -> Response:
    """Queries that were asked more than once, with their counts."""
    _gate(request).check(request)
    rows = await run_in_threadpool(request.app.state.backend.panels.asked)
    return _csv("asked.csv", ("query", "asked", "without_result", "clicks"), rows)


def _csv(name: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> Response:
    """RFC 4180; a text that a spreadsheet would take for a formula is given as text."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(columns)
    for row in rows:
        table.writerow([_no_formula(row[column]) for column in columns])
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Plain(written.getvalue(), headers=headers, media_type="text/csv")


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value


async def _judged(request: Request) -> dict[str, dict[str, int]]:
    _gate(request).check(request)
    judged: dict[str, dict[str, int]] = await run_in_threadpool(request.app.state.backend.panels.judgements)
    return dict(sorted(judged.items()))


def _download(name: str, rows: Any) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Plain("".join(f"{row}\n" for row in rows), headers=headers, media_type="text/tab-separated-values")
