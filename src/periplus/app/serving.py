"""Serves a collection's pages, and takes up new generations while doing so."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING

from periplus.app.backend import CollectionBackend
from periplus.errors import NotReady, StorageError
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.collection import Collection
    from periplus.web import WebServer

KEY_FILE = "console.key"
WARMING_QUERY = "the search page"
RELOAD_EVERY = 1.0  # seconds between looks at the manifest


class Reloader:
    """Warms the engine up, then watches for newer generations and lets the engine take them up."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="reloader", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        self._warm_up()
        while not self._stop.wait(RELOAD_EVERY):
            try:
                self._collection.engine.reload()
            except (NotReady, StorageError):
                continue  # nothing published yet, or being replaced: look again

    def _warm_up(self) -> None:
        """The first query loads kernels and pages of files; no visitor should wait for that."""
        try:
            self._collection.search(WARMING_QUERY)
            self._collection.suggest(WARMING_QUERY[:2])
        except (NotReady, StorageError):
            return  # nothing to warm yet


def operator_key(collection: Collection) -> str:
    """The key of the console, made at first start and kept in the collection, readable by its owner only."""
    files = LocalFiles(collection.folder)
    if not files.exists(KEY_FILE):
        files.write(KEY_FILE, secrets.token_urlsafe(18).encode())
        files.path(KEY_FILE).chmod(0o600)
    return files.read(KEY_FILE).decode().strip()


def web_server(collection: Collection) -> WebServer:
    """The server of a collection's pages, bound to its port and not yet running."""
    from periplus.web import WebServer, create_app

    app = create_app(CollectionBackend(collection), collection.settings, operator_key=operator_key(collection))
    settings = collection.settings.serve
    return WebServer(app, settings.host, settings.port)


def serve_collection(collection: Collection, started: Callable[[str, str], None]) -> None:
    """Serve until interrupted; ``started`` gets the address of the search page and of the console."""
    key = operator_key(collection)
    server = web_server(collection)
    with Reloader(collection):
        server.run(lambda address: started(address, f"{address.rstrip('/')}/console?key={key}"))
