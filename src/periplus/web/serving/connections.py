"""Which connections are kept: how many in all and of one client, and for how long each may keep us waiting.

There is always room for a newcomer as long as some connection waits for its client (for a request, the rest of one, or
until an answer is taken): the one that has waited longest gives way, first of the same client, in all of the client
that holds most. So whoever opens connections by the hundred only closes their own. What is being answered never gives
way. Deadlines are looked at once a second; nothing that a client sends puts one off.
"""

from __future__ import annotations

import logging
import resource
import time
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from periplus.web.requests.limits import client_of, is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.web.requests.proxies import Proxies

MOST = 1_000  # connections at once, where the handles of the process allow it
MOST_OF_CLIENT = 100  # of one address; proxies that are trusted and this machine itself may hold more
SPARE_HANDLES = 256  # left to files, databases and pipes of this process
MOST_UNSENT = 64_000_000  # bytes of answers that wait for slow clients, in all
BODY_BYTES = 512_000  # on the wire: what a body may hold (``envelope.MAX_BODY``) in chunks of a byte each
LOG_PAUSE = 60.0  # seconds between two lines about the same kind of refusal
_logger = logging.getLogger(__name__)


class ClientConnection(Protocol):
    """One that is kept; equal only to itself."""

    host: str  # the address of its other end
    deadline: float  # of the loop's clock

    def expire(self) -> None: ...
    def give_way(self) -> None: ...
    def unsent(self) -> int: ...


class ClientConnections:
    """All connections of one server process; used by its event loop only."""

    def __init__(
        self,
        most: int = MOST,
        most_of_client: int = MOST_OF_CLIENT,
        proxies: Proxies | None = None,
        *,
        patience: float = 1.0,  # multiplies every time that a client has
        body_bytes: int = BODY_BYTES,
    ) -> None:
        self.most = min(most, handles_for_connections())
        self.most_of_client = most_of_client
        self.patience = patience
        self.body_bytes = body_bytes  # of one request, at most
        self._proxies = proxies
        self._clients: dict[str, dict[ClientConnection, None]] = {}  # all, by client
        self._waiting: dict[str, dict[ClientConnection, None]] = {}  # those that wait for their client, longest first
        self._number = 0
        self._unsent = 0  # bytes, at most, since they were last counted
        self.refusals = Refusals()

    def __len__(self) -> int:
        return self._number

    def admit(self, connection: ClientConnection) -> bool:
        """Take one up; another gives way for it where there are too many. False when none can."""
        client = group_of(connection.host)
        held = self._clients.get(client, {})
        if len(held) >= self.most_of_client and not self._is_exempt(connection.host) and not self._yielded(client):
            return False
        if self._number >= self.most and not self._yielded(max(self._waiting, key=self._size, default="")):
            return False
        self._clients.setdefault(client, {})[connection] = None
        self._number += 1
        self.wait(connection)
        return True

    def wait(self, connection: ClientConnection) -> None:
        """It is its client's turn now: the connection may give way."""
        client = group_of(connection.host)
        if connection in self._clients.get(client, {}):
            waiting = self._waiting.setdefault(client, {})
            waiting.pop(connection, None)
            waiting[connection] = None

    def work(self, connection: ClientConnection) -> None:
        """It is our turn now: the connection stays until its answer is made."""
        _drop(self._waiting, group_of(connection.host), connection)

    def drop(self, connection: ClientConnection) -> None:
        client = group_of(connection.host)
        _drop(self._waiting, client, connection)
        self._number -= _drop(self._clients, client, connection)

    def count_unsent(self, size: int) -> None:
        """An answer was made of which so many bytes are not taken yet."""
        self._unsent += size
        if self._unsent > MOST_UNSENT:
            self._relieve()

    def sweep(self, now: float) -> None:
        """End what has kept us waiting for too long."""
        for connection in [one for held in self._clients.values() for one in held if one.deadline <= now]:
            connection.expire()

    def end_all(self) -> None:
        for connection in [one for held in self._clients.values() for one in held]:
            connection.give_way()

    def _relieve(self) -> None:
        """Count what is really unsent; those that hold most of it give way until half of the bound is free."""
        held = sorted(
            ((one.unsent(), one) for held in self._waiting.values() for one in held), key=lambda pair: -pair[0]
        )
        self._unsent = sum(size for size, _ in held)
        for size, connection in held if self._unsent > MOST_UNSENT // 2 else ():
            if self._unsent <= MOST_UNSENT // 2:
                break
            self._unsent -= size
            self.refusals.note("unsent", connection.host)
            connection.give_way()

    def _yielded(self, client: str) -> bool:
        oldest = next(iter(self._waiting.get(client, {})), None)
        if oldest is None:
            self.refusals.note("connections", client)
            return False
        self.refusals.note("gave-way", client)
        self.drop(oldest)
        oldest.give_way()
        return True

    def _size(self, client: str) -> int:
        return len(self._clients.get(client, {}))

    def _is_exempt(self, host: str) -> bool:
        return is_loopback(host) or (self._proxies is not None and self._proxies.trust(host))


class Refusals:
    """What was refused, by kind; the log gets a line a kind and minute, so that nobody can fill it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.counts: Counter[str] = Counter()
        self._clock = clock
        self._told: dict[str, tuple[float, int]] = {}  # when, and how many there were by then

    def note(self, kind: str, host: str) -> None:
        self.counts[kind] += 1
        now, number = self._clock(), self.counts[kind]
        at, before = self._told.get(kind, (-LOG_PAUSE, 0))
        if now - at >= LOG_PAUSE:
            self._told[kind] = (now, number)
            more = f", and {number - before - 1:,} more since the last such line" if number - before > 1 else ""
            _logger.warning("connection of %s: %s%s", host or "a client", SENTENCES[kind], more)


SENTENCES = {
    "connections": "refused, too many are being answered",
    "gave-way": "the longest waiting one was ended to make room",
    "unsent": "ended, too much that it asked for was not taken",
    "malformed": "refused, it does not speak HTTP/1.1",
    "head": "refused, the head of its request is too long",
    "body": "refused, the body of its request is too long",
    "pipelined": "refused, it asks too much before it reads",
    "slow-head": "ended, the head of its request took too long",
    "slow-body": "ended, the body of its request took too long",
    "slow-reader": "ended, it did not take its answer in time",
    "handshake": "ended, its TLS handshake failed or took too long",
}


def handles_for_connections() -> int:
    """How many connections the limit of open files leaves room for."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST * 1_000
    return int(max(soft - SPARE_HANDLES, soft // 2))


def group_of(host: str) -> str:
    """Connections of one group count together: an address, or a network of IPv6."""
    return client_of(host) or host


def _drop(table: dict[str, dict[ClientConnection, None]], client: str, connection: ClientConnection) -> int:
    """Take one out; how many that were. Empty rows go as well, so the table is bounded by what is kept."""
    row = table.get(client)
    if row is None or connection not in row:
        return 0
    del row[connection]
    if not row:
        del table[client]
    return 1
