"""One process that serves shards: listens, takes up new generations, and ends without losing a question."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from periplus.cluster.application import ShardApplication
from periplus.cluster.holding import HeldShard
from periplus.cluster.listening import QuestionListener
from periplus.cluster.servers import address_of
from periplus.errors import NotReady, PeriplusError, UsageError
from periplus.web import is_loopback

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    from periplus.cluster.holding import ShardSource

LOOK_EVERY = 0.25  # seconds between looks for a new generation
DRAIN_WITHIN = 10.0  # seconds that questions have to be answered when the server ends
NOTICE = 1.0  # seconds that brokers have to see that it ends, before it stops to listen
SHORTEST_TOKEN = 16  # characters

_logger = logging.getLogger(__name__)


class ShardServer:
    """A bound server. As a context manager it runs in threads of its own."""

    def __init__(
        self,
        numbers: Callable[[], Sequence[int]],
        source: ShardSource,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        token: str = "",
        listener: socket.socket | None = None,
        report: Callable[[ShardServer], None] | None = None,
        taken_up: Callable[[], None] | None = None,
        advertised: str = "",
    ) -> None:
        """``numbers`` tells which shards are served now; ``report`` is told now and then how the server is.

        ``taken_up`` is called when a new generation of some shard is open and warm.

        ``advertised`` is the address by which others reach it, where that is not the one it listens on.
        """
        check_token(host, token)
        if advertised:
            address_of(advertised)
        self._numbers, self._source = numbers, source
        self._shards: list[HeldShard] = []
        self.application = ShardApplication(token)
        self._server = QuestionListener(self.application, host, port, listener)
        self._report = report
        self._taken_up = taken_up
        self._advertised = advertised.rstrip("/")
        self._stop = threading.Event()
        self._said = ""
        self._watcher = threading.Thread(target=self._watch, name="shard-generations", daemon=True)

    @property
    def address(self) -> str:
        return self._server.address

    @property
    def advertised(self) -> str:
        """The address that brokers are told."""
        return self._advertised or self.address

    def serve_until(self, stopping: threading.Event, started: Callable[[str], None] | None = None) -> None:
        """Serve until told to stop; then let brokers see it, finish what there is, and end."""
        with self:
            if started is not None:
                started(self.address)
            stopping.wait()
            self.drain()

    def drain(self, notice: float = NOTICE) -> None:
        """Say that it is not ready any more, then take no more questions, then finish those there are."""
        self.application.draining = True
        self._stop.wait(notice)
        self.application.refusing = True
        latest = time.monotonic() + DRAIN_WITHIN
        while self.application.load and time.monotonic() < latest:
            self._stop.wait(0.01)

    def look(self) -> bool:
        """Take up a new generation of every shard, if there is one; true when there was."""
        held = {shard.number for shard in self._shards}
        for number in sorted(set(self._numbers()) - held):
            shard = HeldShard(number, self._source)
            self._shards.append(shard)
            self.application.serve(shard)
        changes = [shard.look() for shard in self._shards]
        if any(changes) and self._taken_up is not None:
            self._taken_up()
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
