"""Serves a collection's pages, and takes up new generations while doing so."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from periplus.app.children import Child
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.sharing import Sharing
from periplus.app.serving.verifying import Verifier
from periplus.app.thrift import settle, spare_memory
from periplus.errors import Corrupt, NotReady, PeriplusError, StorageError
from periplus.index.building.builder import give_memory_back

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette

    from periplus.app.collection import Collection
    from periplus.app.serving.shards import ShardPlan
    from periplus.web import AccessLog, PublicAddress, WebServer

WARMING_QUERY = "the search page"
LOGS = "logs"  # in the folder of the collection
RELOAD_EVERY = 0.25  # seconds between looks at the manifest
SWITCH_EVERY = 0.0005  # seconds that a thread may compute while others wait: words are gathered beside searches

_logger = logging.getLogger(__name__)


class Reloader:
    """Warms the engine up, then watches for newer generations and lets the engine take them up.

    What the servers of a collection share is kept up with as well.
    """

    def __init__(self, collection: Collection, *, settles: bool = False) -> None:
        """``settles`` where the process does nothing else: see ``settle``."""
        self._collection = collection
        self._settles = settles
        self._stop = threading.Event()
        self._switched = 0.0  # what it was before
        self._thresholds = gc.get_threshold()  # the same
        self._said = ""
        self._sharing = Sharing(collection)
        self._thread = threading.Thread(target=self._watch, name="reloader", daemon=True)

    def __enter__(self) -> None:
        self._collection.cold = True
        self._switched = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_EVERY)
        self._thread.start()
        self._sharing.__enter__()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._sharing.__exit__()
        self._thread.join()
        sys.setswitchinterval(self._switched)
        gc.set_threshold(*self._thresholds)

    def _watch(self) -> None:
        while True:
            try:
                self._look()
            except Corrupt as error:
                self._say(str(error))
            except (NotReady, StorageError):  # nothing published yet, or being replaced: look again
                pass
            except (PeriplusError, OSError) as error:
                self._say(f"new generations wait: {error}; looking again")
            else:
                self._said = ""
            if self._stop.wait(RELOAD_EVERY):
                return

    def _look(self) -> None:
        engine = self._collection.engine
        engine.reload()
        if self._collection.cold and engine.ready:
            self._warm_up()
        elif engine.ready:
            self._collection.priming.look(engine)

    def _say(self, line: str) -> None:
        """One line for as long as it is the same trouble."""
        if line != self._said:
            self._said = line
            _logger.warning(line)

    def _warm_up(self) -> None:
        """The first query loads kernels, pages of files, spelling and completion; no visitor should wait for that."""
        self._collection.search(WARMING_QUERY)
        self._collection.engine.warm()
        self._collection.suggest(WARMING_QUERY[:2])
        give_memory_back()  # what was gathered is a tenth of what that took
        if self._settles:
            settle()
        self._collection.cold = False


def operator_key(collection: Collection) -> str:
    """The operator's key in clear where this process made it; empty where it was made, and shown, before."""
    return collection.keys.operator.begin()


def web_app(collection: Collection, *, is_first: bool = True, public: PublicAddress | None = None) -> Starlette:
    """The pages of a collection; ``is_first`` of the processes that serve it, ``public`` where readers reach it."""
    from periplus.web import breaker_of, create_app, take_settings

    spare_memory()
    operator_key(collection)
    with suppress(StorageError):  # without the state it goes by file, variables and flags
        collection.live.begin()
    keys = collection.keys
    app = create_app(
        CollectionBackend(collection),
        collection.settings,
        operator_key=keys.operator,
        keys=keys.programs,
        waits=collection.source is not None,
        shares_cores=collection.source is not None and collection.source.shares_cores,
        log=_access_log(collection, is_first=is_first),
        breaker=breaker_of(collection.settings.serve.memory_limit, give_memory_back),
        public=public,
    )
    collection.live.listen(lambda fresh: take_settings(app, fresh))
    return app


def web_server(collection: Collection, listener: socket.socket | None = None) -> WebServer:
    """The server of a collection's pages, bound to its port (or around ``listener``) and not yet running."""
    from periplus.web import WebServer

    app = web_app(collection, is_first=listener is None)
    settings = collection.settings.serve
    return WebServer(
        app,
        settings.host,
        settings.port,
        tls_cert=settings.tls_cert,
        tls_key=settings.tls_key,
        listener=listener,
        connections=app.state.connections,
    )


def _access_log(collection: Collection, *, is_first: bool) -> AccessLog | None:
    """Where the operator wants one; further processes of the same server write one of their own each."""
    from periplus.web import AccessLog

    settings = collection.settings.serve
    if settings.access_log == "off":
        return None
    suffix = "" if is_first else f"-{os.getpid()}"
    return AccessLog(collection.folder / LOGS, full=settings.access_log == "full", suffix=suffix)


def told_where(collection: Collection, started: Callable[[str, str], None]) -> Callable[[str], None]:
    """Tells ``started`` the addresses of the search page and of the console, as readers reach them."""
    key = operator_key(collection)

    def told(address: str) -> None:
        base = (collection.settings.serve.public_url or address).rstrip("/")
        started(f"{base}/", f"{base}/console?key={key}" if key else f"{base}/console")

    return told


def serve_collection(
    collection: Collection,
    started: Callable[[str, str], None],
    say: Callable[[str], None] | None = None,
    plan: ShardPlan | None = None,
) -> None:
    """Serve until interrupted; ``started`` gets the address of the search page and of the console.

    With a ``plan``, shard servers search the documents.
    """
    told = say or (lambda _: None)
    with _searched(collection, plan, told) as shared:
        server = web_server(collection)
        with (
            Reloader(collection, settles=True),
            Verifier(collection),
            further_servers(collection, server.socket, told, shared),
        ):
            server.run(told_where(collection, started))


@contextmanager
def _searched(collection: Collection, plan: ShardPlan | None, say: Callable[[str], None]) -> Iterator[ShardPlan | None]:
    """By shard servers, or in this process: which then knows nothing of servers."""
    if plan is None:
        yield None
        return
    from periplus.app.serving.shards import over_shards

    with over_shards(collection, plan, say) as shared:
        yield shared


# Several processes


@contextmanager
def further_servers(
    collection: Collection, listener: socket.socket, say: Callable[[str], None], plan: ShardPlan | None = None
) -> Iterator[None]:
    """The other processes of ``serve.workers``: all accept from one listening socket, and the kernel deals out."""
    operator = collection.keys.operator
    passing = operator.shown if operator.trouble else ""  # a key that is kept nowhere is one for all of them
    arguments = (str(collection.folder), collection.flags, listener, plan, passing, collection.flags_at)
    number = collection.settings.serve.workers
    children = [Child(f"server {place}", serve_beside, arguments, say) for place in range(2, number + 1)]
    for child in children:
        child.start()
    try:
        yield
    finally:
        for child in children:
            child.stop()


def serve_beside(
    stopping: threading.Event,
    folder: str,
    flags: dict[str, Any],
    listener: socket.socket,
    plan: ShardPlan | None = None,
    passing_key: str = "",
    flags_at: float | None = None,
) -> None:
    """Child: serve the same collection from the same socket until stopped."""
    from periplus.app.collection import Collection

    with Collection(folder, flags=flags, flags_at=flags_at) as collection, _searched(collection, plan, lambda _: None):
        collection.keys.operator.shown = passing_key
        server = web_server(collection, listener)
        threading.Thread(target=_stop_server, args=(stopping, server), daemon=True).start()
        with Reloader(collection, settles=True):
            server.run()


def _stop_server(stopping: threading.Event, server: WebServer) -> None:
    stopping.wait()
    server.stop()
