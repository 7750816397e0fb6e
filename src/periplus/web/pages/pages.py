"""The reader's pages: landing, results, and what can be asked about one page or site.

All of them work without scripts. A page ignores parameters it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from periplus.errors import InvalidAddress, NotFound, UsageError
from periplus.web.api.beside import finished, tab_cards
from periplus.web.api.feeds import FEEDS, FORMATS, feed, foreign_parameters, json_feed, searxng
from periplus.web.api.operations import SEARCH_PARAMETERS, search_request
from periplus.web.api.paging import address, usual_order
from periplus.web.backend import TABS
from periplus.web.pages.lenses import lens_of
from periplus.web.pages.listing import result_page, similar_items
from periplus.web.pages.side_panels import WAIT
from periplus.web.rendering.languages import reader_of
from periplus.web.rendering.rendering import lens_given, page
from periplus.web.requests.access import require_own_page
from periplus.web.requests.limits import client_of
from periplus.web.requests.parameters import Form, Parameter, pairs_of
from periplus.web.requests.positions import NEAR, position_of
from periplus.web.requests.public import redirect

if TYPE_CHECKING:
    from starlette.requests import Request

    from periplus.records import SearchAnswer, SearchRequest
    from periplus.verticals import PendingPanels, Position
    from periplus.web.backend import Backend

_FORMAT = Parameter("format", "choice", "shape of the answer", "html", choices=FORMATS)
_TAB = Parameter("tab", "choice", "only pages of this kind", "", choices=("", *TABS))
_LISTED, _CHOSEN = Form(*SEARCH_PARAMETERS), Form(_FORMAT, _TAB, NEAR, WAIT)
_LOOKUP = Form(Parameter("url"), Parameter("q"), Parameter("host", maximum=255), Parameter("profile", maximum=60))

_LISTED_SITES = Form(Parameter("host", maximum=255), Parameter("page", "integer", default=1, minimum=1, maximum=1_000))


def routes() -> list[Route]:
    return [
        Route("/", landing, name="landing"),
        Route("/search", results, name="results"),
        Route("/click", click, methods=["POST"]),
        Route("/sites", sites, name="sites"),
        Route("/site/{host}", site, name="site"),
        Route("/inspect", inspect, name="inspector"),
        Route("/submit", submit, methods=["POST"]),
        Route("/explain", explain, name="explainer"),
        Route("/cached", cached, name="reader"),
        Route("/similar", similar, name="similar"),
        Route("/about-bot", about_bot, name="about-bot"),
    ]


def _backend(request: Request) -> Backend:
    backend: Backend = request.app.state.backend
    return backend


def _given(request: Request) -> dict[str, Any]:
    return _LOOKUP.read_lenient(pairs_of(request.scope["query_string"]))


async def landing(request: Request) -> Response:
    status = await run_in_threadpool(_backend(request).status)
    return page(request, "landing.html", {"status": status, "landing": True})


# Results


async def results(request: Request) -> Response:
    pairs = pairs_of(request.scope["query_string"])
    values, choice = _LISTED.read_lenient(pairs), _CHOSEN.read_lenient(pairs)
    if choice["format"] != "html":
        values = foreign_parameters(values, dict(pairs))
    if not any(name == "sort" for name, _ in pairs):
        values["sort"] = _unasked_order(choice)
    if not values["q"]:
        return redirect(request, "/")
    if choice["format"] != "html":
        request.app.state.gate.check_scope(request, "search")
    else:
        values["lens"] = lens_of(request)
    reader = reader_of(request, request.app.state.catalogues) if choice["format"] == "html" else ""
    state = request.app.state
    where = position_of(request, choice["near"]) if choice["format"] == "html" else None
    answer, facts, pictures, beside = await state.pool.run(
        _search, state.backend, values, choice, reader, where, **state.patience
    )
    if choice["format"] == "json":
        return searxng(answer)
    if choice["format"] == "jsonfeed":
        return json_feed(request, answer, address("/search", values))
    if choice["format"] in FEEDS:
        return feed(request, answer, choice["format"], address("/search", values))
    if answer.page == 1 and answer.total.value and not answer.query.corrected:
        _backend(request).asked(values["q"], client_of((request.scope.get("client") or ("",))[0]))
    # What this browser keeps stays out of links; what was asked for once, because it costs more, is not kept either.
    kept = {**values, "lens": lens_given(request), "explain": False, "counts": False}
    kept["tab"], kept["near"] = choice["tab"], choice["near"]
    if beside is not None and choice["panels"]:
        await finished(beside)
    known = tab_cards(answer, facts, choice["tab"], where) if facts else {}
    tabs = _tabs(request, choice["tab"])
    return result_page(
        request, answer, values=values, kept=kept, known=known, pictures=pictures, tabs=tabs, beside=beside
    )


def _unasked_order(choice: dict[str, Any]) -> str:
    """How a list is sorted where the request does not say so: who follows a search wants what is new."""
    return "date" if choice["format"] in FEEDS else usual_order(choice["tab"])


def _search(
    backend: Backend, values: dict[str, Any], choice: dict[str, Any], reader: str, where: Position | None
) -> tuple[SearchAnswer, dict[str, dict[str, str]], dict[str, tuple[str, str]], PendingPanels | None]:
    """The list, what is known of its pages in a tab, their pictures, and the panels beside a first page for readers."""
    wanted = msgspec.structs.replace(search_request(values), reader=reader)
    try:
        answer, facts = _ask(backend, wanted, choice)
    except UsageError:
        if not wanted.lens:
            raise
        # A lens that nobody knows is left out.
        answer, facts = _ask(backend, msgspec.structs.replace(wanted, lens=""), choice)
    is_first = wanted.page == 1 and not choice["tab"]
    computed = backend.answers(wanted.query) if is_first else ()
    is_page = _is_page(choice)
    pictures = backend.page_pictures(answer) if is_page and choice["tab"] != "images" else {}
    beside = backend.side_panels(wanted, where, answer) if is_first and is_page else None
    return (msgspec.structs.replace(answer, answers=computed) if computed else answer), facts, pictures, beside


def _ask(
    backend: Backend, wanted: SearchRequest, choice: dict[str, Any]
) -> tuple[SearchAnswer, dict[str, dict[str, str]]]:
    if choice["tab"]:
        return backend.search_tab(wanted, choice["tab"])
    return backend.search(wanted, beside=_is_page(choice)), {}


def _is_page(choice: dict[str, Any]) -> bool:
    """Whether it is for readers, who see panels beside the list."""
    return bool(choice["format"] == "html")


def _tabs(request: Request, chosen: str) -> tuple[str, ...]:
    """The kinds of results that can be chosen; none when the collection has no such pages."""
    there = {*_backend(request).tabs(), *([chosen] if chosen else [])}
    return ("", *(name for name in TABS if name in there)) if there else ()


async def click(request: Request) -> Response:
    """POST /click with ``q``, by our own page where clicks are counted; nothing of it but a number is kept."""
    require_own_page(request)
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    _backend(request).clicked(form.get("q", [""])[-1])
    return Response(status_code=204)


# One page, one site


async def site(request: Request) -> Response:
    host = request.path_params["host"].lower()
    known = await run_in_threadpool(_backend(request).site, host)
    if known is None:
        raise NotFound(f"no page of {host} is known here; the crawl has not reached it")
    return page(request, "site.html", {"host": host, "site": known})


async def sites(request: Request) -> Response:
    given = _LISTED_SITES.read_lenient(pairs_of(request.scope["query_string"]))
    listed = await run_in_threadpool(_backend(request).sites, given["host"], given["page"])
    return page(request, "sites.html", {"sites": listed})


async def inspect(request: Request) -> Response:
    url = _given(request)["url"]
    open_to_all = request.app.state.submissions.is_open
    asked = {"url": url, "inspection": None, "mistake": "", "submissions": open_to_all}
    try:
        asked["inspection"] = await run_in_threadpool(_backend(request).inspect, url) if url else None
    except InvalidAddress as error:
        return page(request, "inspect.html", asked | {"mistake": str(error)}, status=400)
    return page(request, "inspect.html", asked)


async def submit(request: Request) -> Response:
    """POST /submit with ``url``, by the button of the inspector, which then shows what becomes of it."""
    desk = request.app.state.submissions
    is_trusted = desk.is_trusted(request)
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    url = form.get("url", [""])[-1]
    if not is_trusted:
        desk.take(request, url)
    try:
        done = await run_in_threadpool(_backend(request).add_page, url, trusted=is_trusted)
    except InvalidAddress as error:
        asked = {"url": url, "inspection": None, "mistake": str(error)}
        return page(request, "inspect.html", asked, status=400)
    return redirect(request, f"/inspect?{urlencode({'url': done.url})}")


async def explain(request: Request) -> Response:
    given = _given(request)
    asked = {"q": given["q"], "url": given["url"], "explanation": None, "mistake": ""}
    if not (given["q"] and given["url"]):
        return page(request, "explain.html", asked)
    try:
        reader = reader_of(request, request.app.state.catalogues)
        score = await run_in_threadpool(_backend(request).explain, given["q"], given["url"], given["profile"], reader)
    except InvalidAddress as error:
        return page(request, "explain.html", asked | {"mistake": str(error)}, status=400)
    return page(request, "explain.html", asked | {"explanation": score})


async def cached(request: Request) -> Response:
    given = _given(request)
    copy = await run_in_threadpool(_backend(request).cached, given["url"]) if given["url"] else None
    if copy is None:
        raise NotFound("there is no copy of this page here, or it asks not to be kept; open the page itself")
    return page(request, "cached.html", {"q": given["q"], "url": given["url"], "copy": copy})


async def similar(request: Request) -> Response:
    url = _given(request)["url"]
    found = await request.app.state.pool.run(_backend(request).similar, url) if url else None
    listed = similar_items(request, found) if found else ""
    return page(request, "similar.html", {"url": url, "found": listed})


async def about_bot(request: Request) -> Response:
    host = _given(request)["host"].lower()
    report = await run_in_threadpool(_backend(request).bot_report, host) if host else None
    return page(request, "about-bot.html", {"host": host, "report": report})
