"""Listening: one server process around an ASGI app.

The socket is bound before anything else starts, so a port in use is one clear error and never a half-started server.
A signal (or ``stop``) ends it gracefully: no new connections, running answers are finished within ``grace`` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Any

import uvicorn

from periplus.errors import CannotListen, PeriplusError, PortInUse, UnfitFile
from periplus.web.serving.connections import ClientConnections
from periplus.web.serving.handshake import SecureListener
from periplus.web.serving.protocol import BoundedProtocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

GRACE = 5  # seconds
BACKLOG = 1024
START_TIMEOUT = 30.0
TICKS = 10  # of uvicorn's clock, a tenth of a second each, between two looks at the deadlines of connections
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class WebServer:
    """A bound server. ``run`` blocks; as a context manager it runs in a thread of its own."""

    def __init__(
        self,
        app: ASGIApp,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        grace: int = GRACE,
        tls_cert: str = "",
        tls_key: str = "",
        listener: socket.socket | None = None,  # one that is bound already, shared with other processes
        connections: ClientConnections | None = None,  # which are kept; with bounds of its own unless told
        lifespan: bool = False,  # whether the app wants to be told of the server's start and end
    ) -> None:
        _check_certificate(tls_cert, tls_key)
        self.socket = listener or bound_socket(host, port)
        self.host = host
        self.port: int = self.socket.getsockname()[1]
        self.secure = bool(tls_cert)
        config = uvicorn.Config(
            app,
            host=host,
            port=self.port,
            log_config=None,
            access_log=False,
            server_header=False,
            # Who is asking decides who is the operator: never believe a header about it.
            proxy_headers=False,
            timeout_graceful_shutdown=grace,
            lifespan="on" if lifespan else "off",
            ws="none",
            ssl_certfile=tls_cert or None,
            ssl_keyfile=tls_key or None,
        )
        self.connections = ClientConnections() if connections is None else connections
        self._server = _Server(config, self.connections)
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Where to point a browser; a wildcard address is shown as loopback."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 (compared, not bound)
        scheme = "https" if self.secure else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def run(self, started: Callable[[str], None] | None = None) -> None:
        """Serve until a signal comes or ``stop`` is called; ``started`` is told the address once it answers."""
        self._server.on_started = (lambda: started(self.address)) if started else None
        try:
            self._server.run(sockets=[self.socket])
        finally:
            self.socket.close()

    def stop(self) -> None:
        self._server.should_exit = True

    def __enter__(self) -> WebServer:
        listening = threading.Event()
        self._thread = threading.Thread(target=self.run, args=(lambda _: listening.set(),), name="web", daemon=True)
        self._thread.start()
        if not listening.wait(START_TIMEOUT):
            self.stop()
            raise PeriplusError(f"the web server did not start within {START_TIMEOUT:.0f} s; see the log")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._thread:
            self._thread.join()


def serve(
    app: ASGIApp,
    host: str = "127.0.0.1",
    port: int = 8080,
    *,
    started: Callable[[str], None] | None = None,
    grace: int = GRACE,
    tls_cert: str = "",
    tls_key: str = "",
) -> None:
    """Bind, serve and return after a graceful end. Raises PortInUse or UsageError before anything is served."""
    WebServer(app, host, port, grace=grace, tls_cert=tls_cert, tls_key=tls_key).run(started)


class _Server(uvicorn.Server):
    """uvicorn's server with connections that are bounded from the moment they are accepted."""

    on_started: Callable[[], None] | None = None

    def __init__(self, config: uvicorn.Config, connections: ClientConnections) -> None:
        super().__init__(config)
        self._connections = connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        await self.lifespan.startup()
        self.servers = [await self._listen(loop, listener) for listener in sockets or ()]
        self.started = True
        if self.on_started:
            self.on_started()

    async def _listen(self, loop: asyncio.AbstractEventLoop, listener: socket.socket) -> Any:
        if self.config.ssl:
            return SecureListener(listener, self._connections, self.config.ssl, self._spoken)
        return await loop.create_server(self._spoken, sock=listener, backlog=BACKLOG)

    def _spoken(self) -> BoundedProtocol:
        return BoundedProtocol(
            self._connections, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS == 0:
            self._connections.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        self._connections.end_all()
        await asyncio.sleep(0)  # a turn of the loop, in which they are closed

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises the signal again after its shutdown, which would end our caller before it closed its files.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        earlier: dict[signal.Signals, Any] = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)


def _check_certificate(tls_cert: str, tls_key: str) -> None:
    """Read the pair now: the server would only stumble over it after it had started."""
    if not tls_cert:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(tls_cert, tls_key or None)
    except (OSError, ssl.SSLError) as error:
        raise UnfitFile(f"cannot use {tls_cert}: {error}; check --tls-cert and --tls-key") from error


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; ``PortInUse`` or ``CannotListen`` where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)  # only listening claims the port: two sockets may be bound alike until then
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} on {host} is in use; choose another with --port") from error
        raise CannotListen(
            f"cannot listen on {host} port {port}: {error.strerror or error}; check --host and --port"
        ) from error
    return listener
