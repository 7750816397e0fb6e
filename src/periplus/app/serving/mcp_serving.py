"""A collection for agents: the MCP server over stdio, or HTTP until it is interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.server import Reloader
from periplus.errors import MissingExtra
from periplus.web import WebServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.collection import Collection


def require_mcp() -> None:
    """Raises ``MissingExtra`` where the SDK is not installed."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise MissingExtra("periplus mcp needs the package mcp: pip install 'periplus[mcp]'")


def serve_mcp_over_stdio(collection: Collection) -> None:
    """Answer on standard input and output until the input ends."""
    require_mcp()
    from periplus.web import make_mcp_server

    with Reloader(collection):
        make_mcp_server(CollectionBackend(collection)).run("stdio")


def serve_mcp_over_http(collection: Collection, host: str, port: int, started: Callable[[str], None]) -> None:
    """Answer over streamable HTTP until interrupted; ``started`` is told the address."""
    server = mcp_http_server(collection, host, port)
    with Reloader(collection, settles=True):
        server.run(lambda address: started(f"{address}mcp"))


def mcp_http_server(collection: Collection, host: str, port: int) -> WebServer:
    """The server over HTTP, bound to its port and not yet running."""
    require_mcp()
    from periplus.web import make_mcp_server, mcp_app

    tools = make_mcp_server(CollectionBackend(collection))
    app = mcp_app(tools, host, collection.keys.programs, keys_required=collection.settings.serve.api_keys)
    return WebServer(app, host, port, lifespan=True)
