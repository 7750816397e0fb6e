"""The tools for agents, spoken in the Model Context Protocol by its official SDK: over stdio, or streamable HTTP.

Each HTTP request stands for itself (no sessions), so that several processes may answer, and is answered as JSON.
The package ``mcp`` is an extra: only ``periplus mcp`` imports this file.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from periplus.errors import PeriplusError
from periplus.web.api import mcp_tools as tools
from periplus.web.requests.access import Gate
from periplus.web.requests.limits import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from periplus.web.backend import Backend
    from periplus.web.requests.keys import KeyRing

PATH = "/mcp"
MAX_BODY = 64_000  # bytes of a request, as of all others
INSTRUCTIONS = (
    "Searches a collection of web pages and reads them. Search first, then read a page in parts. "
    "Cite the url of what you use. " + tools.NOTICE
)
_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Query = Annotated[
    str, Field(max_length=2_000, description='words, "a phrase", -not, site:host, lang:de, after:2025-01-31')
]
Count = Annotated[int, Field(ge=1, le=tools.MOST_RESULTS, description="results on a page")]
PageNumber = Annotated[int, Field(ge=1, le=1_000, description="which page of the list")]
Site = Annotated[str, Field(max_length=255, description="only this host or registered domain; empty: all")]
Language = Annotated[str, Field(max_length=35, description="only pages in this language, ISO 639-1; empty: all")]
Url = Annotated[str, Field(max_length=2_000, description="the page of a result of search, or an address")]
Part = Annotated[int, Field(ge=1, le=100_000, description="which part of the text")]
Characters = Annotated[int, Field(ge=1_000, le=tools.MOST_CHARACTERS, description="characters of a part, at most")]
Host = Annotated[str, Field(max_length=255, description="a host such as example.org")]


def make_mcp_server(backend: Backend) -> MCPServer[Any]:
    """The tools ``search``, ``page``, ``explain`` and ``site`` over ``backend``."""
    server = _Tools(
        "periplus", title="Periplus", instructions=INSTRUCTIONS, version=version("periplus"), log_level="WARNING"
    )

    def search(
        query: Query,
        k: Count = tools.USUAL_RESULTS,
        page: PageNumber = 1,
        site: Site = "",
        language: Language = "",
    ) -> dict[str, Any]:
        return _told(lambda: tools.search(backend, query, k, page, site, language))

    def page(url: Url, part: Part = 1, characters: Characters = tools.USUAL_CHARACTERS) -> dict[str, Any]:
        return _told(lambda: tools.page(backend, url, part, characters))

    def explain(query: Query, url: Url) -> dict[str, Any]:
        return _told(lambda: tools.explain(backend, query, url))

    def site(host: Host) -> dict[str, Any]:
        return _told(lambda: tools.site(backend, host))

    for tool, title, description in (
        (search, "Search", "Search the collection: titles, addresses and snippets of the best pages."),
        (page, "Read a page", "The clean text of one page that search found, in parts, with its dates."),
        (explain, "Explain a score", "Why a page has its score for a query, or why it is not found."),
        (site, "Look at a site", "What is known of one host: its pages, languages, rank, best pages and links."),
    ):
        server.add_tool(tool, title=title, description=description, annotations=_READS)
    return server


class _Tools(MCPServer[Any]):
    """The SDK's server; arguments that do not fit are told in one line."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """What the tool gives."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            wrong = error.__cause__
            if not isinstance(wrong, ValidationError):
                raise
            told = (f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in wrong.errors())
            raise ToolError(f"{name} was asked with wrong arguments: {'; '.join(told)}") from wrong


def _told(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a tool gives; an error of ours as the one line that it is."""
    try:
        return work()
    except PeriplusError as error:
        raise ToolError(str(error)) from error


def mcp_app(server: MCPServer[Any], host: str, keys: KeyRing, *, keys_required: bool) -> ASGIApp:
    """The server at ``PATH``, for who may search. On loopback, pages of other sites cannot ask it by a rebound name."""
    is_local = host == "localhost" or is_loopback(host)
    names = [f"{name}:*" for name in ("127.0.0.1", "localhost", "[::1]")]
    guard = TransportSecuritySettings(
        enable_dns_rebinding_protection=is_local,
        allowed_hosts=names,
        allowed_origins=[f"http://{name}" for name in names],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=guard,
        host=host,
    )
    return GuardedApp(app, Gate(keys=keys, required=keys_required))


class GuardedApp:
    """Lets in whoever may search: everybody, or, with ``serve.api_keys``, who shows a key with that scope."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._gate.check_scope(Request(scope), "search")
            except HTTPException as error:
                refusal = JSONResponse({"error": error.detail}, error.status_code, error.headers)
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
