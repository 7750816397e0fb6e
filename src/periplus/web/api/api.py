"""The JSON API: one endpoint for each row of ``operations.OPERATIONS``."""

from __future__ import annotations

from array import array
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from xxhash import xxh3_64_hexdigest

from periplus.errors import NotFound, UsageError
from periplus.reasons import sentence
from periplus.records import SearchAnswer, SidePanel
from periplus.verticals import read_position
from periplus.web.api.beside import finished, picture_address, tab_cards
from periplus.web.api.markdown import MARKDOWN, page_markdown
from periplus.web.api.operations import (
    OPERATIONS,
    PART_SIZE,
    PREFIX,
    AnalyzeAnswer,
    CommandAnswer,
    CrawlOrder,
    CrawlStarted,
    Operation,
    PageAdded,
    PageAnswer,
    PageLink,
    SimilarAnswer,
    SuggestAnswer,
    search_request,
)
from periplus.web.api.paging import address, has_next
from periplus.web.api.parts import cuts
from periplus.web.backend import COMMANDS
from periplus.web.requests.parameters import Form, pairs_of
from periplus.web.requests.positions import position_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from periplus.records import Link
    from periplus.settings import Settings
    from periplus.web.backend import Backend

    Handler = Callable[[Backend, dict[str, Any]], Any]

JSON = "application/json"
SEARCH_PATH = f"{PREFIX}/search"
PAGE_PATH = f"{PREFIX}/page"
SUGGESTIONS = "application/x-suggestions+json"
SUBMISSION = "add_page"  # which strangers may do where the operator lets them
QUICK = ("search", "suggest", "similar")  # what visitors wait for
_encode = msgspec.json.Encoder().encode
MAX_LINKS = 1_000  # of a page, in one answer
FEW = 20  # results; a longer page is another kind of call


def routes() -> list[Route]:
    return [
        Route(operation.path, Endpoint(operation), methods=[operation.method], name=operation.name)
        for operation in OPERATIONS
    ]


class Endpoint:
    """One operation as an ASGI app; a function would be wrapped by Starlette once more."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._handler = _HANDLERS[operation.name]
        self._form = Form(*operation.parameters)
        self._places = Form(*operation.places)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._answer(request)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> ASGIApp:
        operation, state = self._operation, request.app.state
        is_trusted = True
        if operation.name == SUBMISSION:
            is_trusted = state.submissions.is_trusted(request)
        else:
            state.gate.check_scope(request, operation.scope, closed=_is_closed(operation, state.settings))
        values = self._form.read(pairs_of(request.scope["query_string"]))
        if operation.name == "page" and "format" not in request.query_params and _accepts_markdown(request):
            values["format"] = "markdown"
        if operation.places:
            values |= self._places.read(request.path_params.items())
        if operation.body is not None:
            values["body"] = _body(await request.body(), operation.body)
        if not is_trusted:
            state.submissions.take(request, values["body"].url)
            values["trusted"] = False
        if operation.name in QUICK:
            kind = _kind(operation.name, values)
            result = await state.pool.run(self._handler, state.backend, values, kind=kind, **state.patience)
            if values.get("panels") and result.panels is None:
                result = await _with_panels(request, values, result)
        else:
            result = await run_in_threadpool(self._handler, state.backend, values)
        if operation.name == "page" and values["format"] == "markdown":
            return Response(page_markdown(_rooted(result, state.public.root)), media_type=MARKDOWN)
        return _response(operation, _rooted(result, state.public.root))


def _accepts_markdown(request: Request) -> bool:
    """Whether Markdown is named before JSON among the types that are accepted."""
    named = [one.partition(";")[0].strip().lower() for one in request.headers.get("accept", "").split(",")]
    return next((one for one in named if one in ("text/markdown", "application/json")), "") == "text/markdown"


def _is_closed(operation: Operation, settings: Settings) -> bool:
    """Whether a key is needed whatever the API as a whole asks for."""
    return operation.name == "status" and not settings.serve.public_status


def _rooted(result: Any, root: str) -> Any:
    """The links of an answer as readers can follow them."""
    if root and isinstance(result, SearchAnswer):
        result = _rooted_pictures(result, root)
    if root and isinstance(result, SearchAnswer | PageAnswer) and result.next:
        return msgspec.structs.replace(result, next=root + result.next)
    if root and isinstance(result, CrawlStarted | PageAdded):
        return msgspec.structs.replace(result, status=root + result.status)
    return result


def _rooted_pictures(answer: SearchAnswer, root: str) -> SearchAnswer:
    if not any(result.image for result in answer.results):
        return answer
    results = (
        msgspec.structs.replace(result, image=root + result.image) if result.image else result
        for result in answer.results
    )
    return msgspec.structs.replace(answer, results=tuple(results))


def _kind(name: str, values: dict[str, Any]) -> str:
    """Calls that take about as long as each other: what costs more is known by itself."""
    more = values.get("explain") or values.get("counts") or values.get("size", 0) > FEW
    return f"{name}, more" if more else name


async def _with_panels(request: Request, values: dict[str, Any], answer: SearchAnswer) -> SearchAnswer:
    """What stands beside the results; a program that asks for it waits as long as a service has."""
    state = request.app.state
    position = position_of(request, values["near"])
    asked = (search_request(values), position, answer)
    pending = await state.pool.run(state.backend.side_panels, *asked, kind="panels", **state.patience)
    shown = await finished(pending)
    if not values["explain"]:
        shown = tuple(msgspec.structs.replace(panel, explain=None) for panel in shown)
    return msgspec.structs.replace(answer, panels=shown)


def _body(data: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        wanted = ", ".join(kind.__struct_fields__)
        raise UsageError(f"the body is not a JSON object with {wanted}: {error}") from error


def json_response(result: Any, status: int = 200, media_type: str = JSON, **headers: str) -> Response:
    return Response(msgspec.json.encode(result), status, headers, media_type)


class Listed:
    """A result list as it is sent, with its tag; nothing but the tag to a client that has it already.

    A degraded answer has no tag: it is not to be kept.
    """

    def __init__(self, answer: SearchAnswer) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        tag = "" if self._answer.degraded else entity_tag(self._answer, scope["query_string"])
        headers = [(b"etag", tag.encode()), (b"cache-control", b"private, no-cache")] if tag else []
        known = next((value for name, value in scope["headers"] if name == b"if-none-match"), b"")
        if known and tag and is_known(known.decode("latin-1"), tag):
            headers.append((b"vary", b"Accept-Encoding"))  # as the whole answer would say
            await send({"type": "http.response.start", "status": 304, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        body = _encode(self._answer)
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _response(operation: Operation, result: Any) -> ASGIApp:
    if isinstance(result, list):
        return json_response(result, media_type=SUGGESTIONS)
    return Listed(result) if isinstance(result, SearchAnswer) else json_response(result, operation.status)


def entity_tag(answer: SearchAnswer, query: bytes) -> str:
    """Weak, since the time taken differs: the generation, the request, and which results in which order."""
    listed = "\n".join([result.id for result in answer.results]).encode("utf-8", "replace")
    listed += "\n".join([result.image for result in answer.results if result.image]).encode()  # the crawl brings more
    scores = array("d", [result.score for result in answer.results]).tobytes()
    computed = _encode(answer.answers) if answer.answers else b""  # the time in a place is another every minute
    computed += _encode(answer.panels) if answer.panels else b""
    return f'W/"{answer.generation}-{xxh3_64_hexdigest(query + b" " + listed + scores + computed)}"'


def is_known(header: str, tag: str) -> bool:
    """Whether an If-None-Match header names ``tag``; weak comparison, as GET asks for."""
    known = {part.strip().removeprefix("W/") for part in header[:2_000].split(",")}
    return "*" in known or tag.removeprefix("W/") in known


# What each operation does


def search(backend: Backend, values: dict[str, Any]) -> SearchAnswer:
    if values["near"] and read_position(values["near"]) is None:
        raise UsageError(f"parameter 'near' is not latitude,longitude such as 47.37,8.54: {values['near']!r}")
    answer = _illustrated(backend, _found(backend, values))
    if values["answers"]:
        computed = backend.answers(values["q"], explain=values["explain"])
        answer = msgspec.structs.replace(answer, answers=computed)
    following = address(SEARCH_PATH, values, page=answer.page + 1) if has_next(answer) else None
    return answer if following == answer.next else msgspec.structs.replace(answer, next=following)


def _found(backend: Backend, values: dict[str, Any]) -> SearchAnswer:
    """All pages, or those of a kind; with ``panels`` what is known of each of these."""
    tab = values["tab"].replace("all", "")
    if not tab:
        return backend.search(search_request(values), beside=values["panels"])
    answer, facts = backend.search_tab(search_request(values), tab)
    if not values["panels"]:
        return answer
    cards = tab_cards(answer, facts, tab, read_position(values["near"]))
    return msgspec.structs.replace(answer, panels=(SidePanel(tab, "", tuple(cards.values())),))


def _illustrated(backend: Backend, answer: SearchAnswer) -> SearchAnswer:
    """The answer with the addresses of small copies of its pages' pictures, where the crawl brought some."""
    pictures = backend.page_pictures(answer)
    if not pictures:
        return answer
    results = (
        msgspec.structs.replace(result, image=picture_address("", pictures[result.id][0]))
        if result.id in pictures
        else result
        for result in answer.results
    )
    return msgspec.structs.replace(answer, results=tuple(results))


def suggest(backend: Backend, values: dict[str, Any]) -> SuggestAnswer | list[Any]:
    found = backend.suggest(values["q"], values["limit"])
    if values["format"] == "opensearch":
        return [values["q"], [suggestion.text for suggestion in found], [], []]
    return SuggestAnswer(values["q"], tuple(found))


def explain(backend: Backend, values: dict[str, Any]) -> Any:
    return backend.explain(values["q"], values["url"], values["profile"])


def similar(backend: Backend, values: dict[str, Any]) -> SimilarAnswer:
    return SimilarAnswer(values["url"], tuple(backend.similar(values["url"], values["size"])))


def page(backend: Backend, values: dict[str, Any]) -> PageAnswer:
    """One part of a page; what is known of the page as a whole comes with each, its links with the first."""
    content = backend.page(values["url"])
    number, ends = values["part"], cuts(content.text, values["size"])
    if number > len(ends):
        raise NotFound(f"the page has {len(ends)} parts of this size; part {number} is beyond them")
    text = content.text[ends[number - 2] if number > 1 else 0 : ends[number - 1]]
    links = content.links if number == 1 else None
    return PageAnswer(
        content.id,
        content.url,
        content.site,
        content.title,
        content.description,
        content.language,
        content.type,
        content.author,
        content.published,
        content.modified,
        content.fetched,
        content.headings,
        text,
        number,
        len(ends),
        len(content.text),
        _part_address(values, number + 1) if number < len(ends) else None,
        None if links is None else tuple(_page_link(link) for link in links[:MAX_LINKS]),
        len(links) if links is not None and len(links) > MAX_LINKS else None,
        content.structured if number == 1 else None,
    )


def _part_address(values: dict[str, Any], number: int) -> str:
    usual = {"size": PART_SIZE, "format": "json"}
    others = {name: values[name] for name, default in usual.items() if values[name] != default}
    return f"{PAGE_PATH}?{urlencode({'url': values['url'], 'part': number, **others})}"


def _page_link(link: Link) -> PageLink:
    return PageLink(link.url, link.text, link.rel, link.place)


def inspect(backend: Backend, values: dict[str, Any]) -> Any:
    return backend.inspect(values["url"])


def analyze(backend: Backend, values: dict[str, Any]) -> AnalyzeAnswer:
    return AnalyzeAnswer(values["text"], backend.analyze(values["text"], values["lang"]))


def status(backend: Backend, _values: dict[str, Any]) -> dict[str, Any]:
    """Where the collection lies on the server's disk is the operator's business; everybody is told its name."""
    told = backend.status()
    return {**told, "collection": PurePath(told.get("collection") or "").name}


def start(backend: Backend, values: dict[str, Any]) -> CrawlStarted:
    order: CrawlOrder = values["body"]
    return CrawlStarted(backend.start(order.seeds, order.options()), f"{PREFIX}/status")


def restart(backend: Backend, values: dict[str, Any]) -> CommandAnswer:
    backend.command(f"restart {values['number']}")
    return CommandAnswer("restart")


def add_page(backend: Backend, values: dict[str, Any]) -> PageAdded:
    done = backend.add_page(values["body"].url, trusted=values.get("trusted", True))
    why = sentence(done.reason) if done.reason else ""
    return PageAdded(done.url, done.state, f"{PREFIX}/inspect?{urlencode({'url': done.url})}", done.reason, why)


def command(name: str) -> Handler:
    def handler(backend: Backend, _values: dict[str, Any]) -> CommandAnswer:
        backend.command(name)
        return CommandAnswer(name)

    return handler


_HANDLERS: dict[str, Handler] = {
    "search": search,
    "suggest": suggest,
    "explain": explain,
    "similar": similar,
    "page": page,
    "inspect": inspect,
    "analyze": analyze,
    "status": status,
    "start": start,
    "restart": restart,
    "add_page": add_page,
    **{name: command(name) for name in COMMANDS},
}
