"""Listening for brokers: an event loop in a thread of its own, with bounded connections."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import uvloop

from periplus.cluster.protocol import QuestionProtocol
from periplus.errors import PeriplusError
from periplus.web import ClientConnections, bound_socket

if TYPE_CHECKING:
    import socket

    from periplus.cluster.application import ShardApplication

CONNECTIONS = 4_000  # of brokers, at once
BACKLOG = 1_024
LOOK_EVERY = 1.0  # seconds between two looks at the deadlines of connections
START_TIMEOUT = 30.0


class QuestionListener:
    """A bound socket, whose connections are answered between ``__enter__`` and ``__exit__``."""

    def __init__(
        self,
        application: ShardApplication,
        host: str,
        port: int = 0,
        listener: socket.socket | None = None,
        connections: ClientConnections | None = None,
    ) -> None:
        self._application = application
        self._socket = listener or bound_socket(host, port)
        self._host = host
        self.port: int = self._socket.getsockname()[1]
        self._connections = ClientConnections(CONNECTIONS, CONNECTIONS) if connections is None else connections
        self._listens = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="shard-questions", daemon=True)

    @property
    def address(self) -> str:
        """Where to ask; a wildcard address is shown as loopback."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 (compared, not bound)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def __enter__(self) -> QuestionListener:
        self._thread.start()
        if not self._listens.wait(START_TIMEOUT):
            raise PeriplusError(f"the server did not start within {START_TIMEOUT:.0f} s; see the log")
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        server = await self._loop.create_server(
            lambda: QuestionProtocol(self._application, self._connections), sock=self._socket, backlog=BACKLOG
        )
        self._listens.set()
        while not self._ending.is_set():
            self._connections.sweep(self._loop.time())
            try:
                await asyncio.wait_for(self._ending.wait(), LOOK_EVERY)
            except TimeoutError:
                continue
        server.close()
        self._connections.end_all()
        await server.wait_closed()  # until all of them are closed
