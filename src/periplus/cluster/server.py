"""One process that serves shards: listens, takes up new generations, and ends without losing a question."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from periplus.cluster.application import ShardApplication
from periplus.cluster.codec import MAX_QUESTION
from periplus.cluster.holding import HeldShard
from periplus.errors import NotReady, PeriplusError, UsageError
from periplus.web.connections import ClientConnections
from periplus.web.limits import is_loopback
from periplus.web.server import WebServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.cluster.holding import ShardSource

LOOK_EVERY = 0.25  # seconds between looks for a new generation
DRAIN_WITHIN = 10.0  # seconds that questions have to be answered when the server ends
NOTICE = 1.0  # seconds that brokers have to see that it ends, before it stops to listen
SHORTEST_TOKEN = 16  # characters
CONNECTIONS = 4_000  # of brokers, at once

_logger = logging.getLogger(__name__)


class ShardServer:
    """A bound server. ``run`` blocks; as a context manager it runs in a thread of its own."""

    def __init__(
        self,
        numbers: Sequence[int],
        source: ShardSource,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        token: str = "",
        report: Callable[[ShardServer], None] | None = None,
    ) -> None:
        """``report`` is told every quarter of a second how the server is."""
        check_token(host, token)
        self._shards = [HeldShard(number, source) for number in numbers]
        self.application = ShardApplication(self._shards, token)
        connections = ClientConnections(CONNECTIONS, CONNECTIONS, body_bytes=MAX_QUESTION + 65_536)
        self._server = WebServer(self.application, host, port, connections=connections)
        self._report = report
        self._stop = threading.Event()
        self._said = ""
        self._watcher = threading.Thread(target=self._watch, name="shard-generations", daemon=True)

    @property
    def address(self) -> str:
        return self._server.address.rstrip("/")

    def run(self, started: Callable[[str], None] | None = None) -> None:
        """Serve until a signal comes or ``stop`` is called."""
        self._watcher.start()
        try:
            self._server.run(started)
        finally:
            self._ended()

    def stop(self, notice: float = 0.0) -> None:
        """Take no more questions, finish those there are, and end; brokers may have some ``notice`` before."""
        self.application.draining = True
        self._stop.wait(notice)
        latest = time.monotonic() + DRAIN_WITHIN
        while self.application.load and time.monotonic() < latest:
            time.sleep(0.01)
        self._server.stop()

    def look(self) -> bool:
        """Take up a new generation of every shard, if there is one; true when there was."""
        changes = [shard.look() for shard in self._shards]
        return any(changes)

    def __enter__(self) -> ShardServer:
        self._server.__enter__()
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()
        self._ended()

    def _ended(self) -> None:
        self._stop.set()
        self._watcher.join()
        for shard in self._shards:
            shard.close()

    def _watch(self) -> None:
        while True:
            try:
                self.look()
            except NotReady:
                pass  # nothing is published yet
            except (PeriplusError, OSError) as error:
                self._say(f"a new generation waits: {error}; looking again")
            else:
                self._said = ""
            if self._report is not None:
                self._report(self)
            if self._stop.wait(LOOK_EVERY):
                return

    def _say(self, line: str) -> None:
        """One line for as long as it is the same trouble."""
        if line != self._said:
            self._said = line
            _logger.warning(line)


def check_token(host: str, token: str) -> None:
    """On a network, only those who know the token may ask."""
    if not token and not (is_loopback(host) or host == "localhost"):
        raise UsageError(f"a shard server on {host} needs a token; give --token-file or PERIPLUS_SHARD_TOKEN")
    if token and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise UsageError(f"the token of shard servers has at least {SHORTEST_TOKEN} plain characters; make a new one")
