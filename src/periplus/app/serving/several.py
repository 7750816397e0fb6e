"""Several collections served by one process: ``periplus serve --dir A --dir B``."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from periplus.app.serving.server import Reloader, operator_key, web_app
from periplus.app.serving.verifying import Verifier
from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.app.collection import Collection
    from periplus.web import WebServer

    Started = Callable[[Collection, str, str], None]  # with the addresses of the search page and of the console


def server_of(collections: Sequence[Collection]) -> WebServer:
    """The server of several collections, bound and not yet running; where it listens is what the first one says."""
    from periplus.web import ClientConnections, Several, WebServer, address_of, check_names, read_address

    first = collections[0].settings.serve
    names = [collection.folder.resolve().name for collection in collections]
    check_names(names)
    if first.workers > 1:
        raise UsageError("several collections are served by one process; leave out --workers, or start a server each")
    public = read_address(first.public_url)
    apps = {
        name: web_app(collection, public=address_of(public, name))
        for name, collection in zip(names, collections, strict=True)
    }
    return WebServer(
        Several(apps, public),
        first.host,
        first.port,
        tls_cert=first.tls_cert,
        tls_key=first.tls_key,
        connections=ClientConnections(first.connections, first.client_connections),
    )


def serve_several(collections: Sequence[Collection], started: Started) -> None:
    """Serve until interrupted; ``started`` is told of each collection."""
    server = server_of(collections)
    keys = [operator_key(collection) for collection in collections]

    def told(address: str) -> None:
        base = (collections[0].settings.serve.public_url or address).rstrip("/")
        for collection, key in zip(collections, keys, strict=True):
            page = f"{base}/c/{collection.folder.resolve().name}/"
            started(collection, page, f"{page}console?key={key}" if key else f"{page}console")

    with ExitStack() as held:
        for collection in collections:
            held.enter_context(Reloader(collection))
            held.enter_context(Verifier(collection))
        server.run(told)
