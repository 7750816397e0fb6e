"""Servers as a broker knows them: which shards and generations each has, how it fares, and whether it is asked at all.

One that did not answer is put aside. A watcher asks every server how it is, twice a second; one that says that it is
ready is asked again.
"""

from __future__ import annotations

import random
import threading
from collections import Counter, deque
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from periplus.cluster.application import Readiness
from periplus.cluster.connections import Broken, ConnectionPool
from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from periplus.cluster.connections import ShardReply

LOOK_EVERY = 0.5  # seconds
LOOK_WITHIN = 1.0  # seconds that a server has to say how it is
LATE_LOOKS = 2  # in a row, after which a server is put aside
REMEMBERED = 256  # last answers, for the times that they take
NO_READINESS = Readiness({}, 0)
DEFAULT_PORT = 8650


class HedgeBudget:
    """At most one hedge in twenty questions."""

    SHARE = 0.05
    SAVED = 10.0  # at most, from quiet times

    def __init__(self) -> None:
        self._left = 1.0

    def earn(self, questions: int) -> None:
        self._left = min(self.SAVED, self._left + self.SHARE * questions)

    def spend(self) -> bool:
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Times:
    """How long the last answers took, in seconds; the quantiles are made anew now and then."""

    EVERY = 32  # answers

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=REMEMBERED)
        self._added = 0
        self.median = self.p95 = 0.0

    def add(self, seconds: float) -> None:
        self._last.append(seconds)
        self._added += 1
        if self._added % self.EVERY == 0 or self._added < self.EVERY:
            ordered = sorted(self._last)
            self.median, self.p95 = ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]


class Server:
    """One shard server. Counters are approximate where threads meet; nothing is decided by their last digit."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.address = address_of(url)
        self.connections = ConnectionPool(self.address)
        self.readiness = NO_READINESS
        self.is_aside = True  # until it has said that it is ready
        self.in_flight = 0
        self._lock = threading.Lock()
        self._late = 0  # looks in a row that were not answered in time
        self.answered = 0.0  # when it did last, by ``time.perf_counter``
        self.times = Times()
        self.counts: Counter[str] = Counter()  # questions, hedges, failures, timeouts, refusals
        self.said = "not asked yet"

    @property
    def load(self) -> int:
        """What it is known to have to do."""
        return self.in_flight + self.readiness.load

    def begin(self) -> None:
        """A question is on its way to it."""
        with self._lock:
            self.in_flight += 1
            self.counts["questions"] += 1

    def end(self) -> None:
        with self._lock:
            self.in_flight -= 1

    def has(self, shard: int, generation: int) -> bool:
        return generation in self.readiness.shards.get(shard, ())

    def forget(self, shard: int, held: list[int]) -> None:
        """It said that it has these generations of a shard, and no others."""
        known = self.readiness.shards
        left = {generation: count for generation, count in known.get(shard, {}).items() if generation in held}
        self.readiness = msgspec.structs.replace(self.readiness, shards={**known, shard: left})

    def put_aside(self, why: str) -> None:
        self.is_aside, self.said = True, why

    def report(self) -> dict[str, Any]:
        """For the operator."""
        counted = ("questions", "hedges", "failures", "timeouts", "refusals")
        return {
            "url": self.url,
            "shards": {shard: dict(held) for shard, held in sorted(self.readiness.shards.items())},
            "state": self.said if self.is_aside else "",
            "load": self.load,
            "p50_ms": round(1000 * self.times.median, 2),
            "p95_ms": round(1000 * self.times.p95, 2),
            **{name: self.counts[name] for name in counted},
        }

    def look(self) -> None:
        """Ask how it is."""
        try:
            reply = self._reply(b"GET /readyz HTTP/1.1\r\nHost: shard\r\n\r\n")
            readiness = msgspec.json.decode(reply.body, type=Readiness)
        except (Broken, msgspec.MsgspecError, OSError) as error:
            # Once late may be the machine's fault; a server that refuses is gone.
            self._late = self._late + 1 if isinstance(error, Broken) and error.is_late else LATE_LOOKS
            if self._late >= LATE_LOOKS:
                self.put_aside(str(error))
            return
        self._late = 0
        self.readiness = readiness
        self.is_aside = reply.status != 200
        self.said = "" if not self.is_aside else "draining" if readiness.draining else "not ready yet"

    def _reply(self, request: bytes) -> ShardReply:
        connection = self.connections.take(fresh=True)
        try:
            return connection.ask(request, LOOK_WITHIN)
        finally:
            connection.close()


class Servers:
    """All that are known; shared by the threads of a broker."""

    def __init__(self, urls: Callable[[], Iterable[str]], seed: int | None = None) -> None:
        """``urls`` names the servers there are now: given ones, or those of the state database."""
        self._urls = urls
        self._known: dict[str, Server] = {}
        self._draw = random.Random(seed).random  # noqa: S311 (which server is asked, nothing secret)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.hedges = HedgeBudget()
        self._times: dict[tuple[int, str], Times] = {}

    @property
    def all(self) -> list[Server]:
        return list(self._known.values())

    def serving(self, shard: int, generation: int) -> list[Server]:
        """Those that can be asked for a generation of a shard."""
        return [one for one in self.all if not one.is_aside and one.has(shard, generation)]

    def choose(self, servers: list[Server]) -> Server:
        """The less loaded of two."""
        count = len(servers)
        if count == 1:
            return servers[0]
        first = int(self._draw() * count)
        second = (first + 1 + int(self._draw() * (count - 1))) % count
        return min(servers[first], servers[second], key=lambda server: server.load)

    def times_of(self, shard: int, method: str) -> Times:
        """How long a shard takes for a kind of question, whichever server answers."""
        return self._times.setdefault((shard, method), Times())

    def documents(self, shard: int, generation: int) -> int:
        """Of a shard, as any server tells; 0 while none does."""
        found = (server.readiness.shards.get(shard, {}).get(generation) for server in self.all)
        return next((documents for documents in found if documents is not None), 0)

    @property
    def shards(self) -> list[int]:
        """Numbers of all shards that any server has."""
        return sorted({shard for server in self.all for shard in server.readiness.shards})

    # Watching

    def look(self) -> None:
        """Ask every server how it is; those that are gone from the list are forgotten."""
        urls = [url.rstrip("/") for url in self._urls()]
        for url in urls:
            if url not in self._known:
                self._known = {**self._known, url: Server(url)}
        for url in set(self._known) - set(urls):
            gone = self._known[url]
            self._known = {name: server for name, server in self._known.items() if name != url}
            gone.connections.close()
        looks = [threading.Thread(target=server.look, daemon=True) for server in self.all]
        for thread in looks:
            thread.start()
        for thread in looks:
            thread.join(2 * LOOK_WITHIN)

    def __enter__(self) -> Servers:
        self.look()
        self._thread = threading.Thread(target=self._watch, name="shard-watcher", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        for server in self.all:
            server.connections.close()

    def _watch(self) -> None:
        while not self._stop.wait(LOOK_EVERY):
            self.look()


def address_of(url: str) -> tuple[str, int]:
    """Host and port of ``http://host:port``."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme != "http" or not parts.hostname or parts.path.strip("/"):
        raise UsageError(f"{url!r} is no shard server; name it as http://host:port")
    return parts.hostname, port or DEFAULT_PORT
