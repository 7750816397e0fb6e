"""What the operator presses: commands to a crawl, a machine or a shard, settings, judgements.

Each asks for the operator, does one thing, and leads back to a panel that tells what was done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.web.api.operations import MAX_SEEDS
from periplus.web.backend import ACTIONS, COMMANDS, MACHINE_ORDERS, SHARD_ORDERS, WORKER_ORDERS
from periplus.web.console.panels import GRADES, SETTINGS, context
from periplus.web.rendering.rendering import page
from periplus.web.requests.parameters import Parameter
from periplus.web.requests.public import own_path, redirect

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.web.backend import Backend


def routes() -> list[Route]:
    return [
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
    ]


async def command(request: Request) -> Response:
    request.app.state.gate.check(request)
    name = request.path_params["name"]
    if name not in COMMANDS:
        raise HTTPException(404, f"no command {name!r}")
    await run_in_threadpool(request.app.state.backend.command, name)
    return redirect(request, "/console")


async def _form(request: Request) -> dict[str, str]:
    """The operator's form: the last value of every field."""
    request.app.state.gate.check(request)
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
    shown = {**context(SETTINGS, request, {}, data), "wrong": wrong, "here": SETTINGS.path}
    return page(request, "console-settings.html", shown, status=400)


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
    request.app.state.gate.check(request)
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


async def judge(request: Request) -> Response:
    """POST with ``text`` (the query), ``profile``, ``beside``, and a grade for each ``grade:ID`` of the form."""
    request.app.state.gate.check(request)
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
