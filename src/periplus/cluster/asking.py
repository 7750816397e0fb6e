"""Asking shard servers: all at once, from the thread of the search, over connections that are kept.

1. Each shard's question goes to the less loaded of two servers that have it in the wanted generation.
2. Where no answer has come after the time that 95 of 100 take (10 ms at least), a second server is asked, too: a hedge.
   Hedges are at most one in twenty questions.
3. After a connection that fails, another generation (409) or an overloaded server (503), another server is asked, once.
4. The first answer counts. What is late is dropped: its connection is closed, and the shard is missing.

A round has half of the time that its search has left, so that what was found can still be shown.
"""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Any

import msgspec

from periplus.cluster.codec import BadMessage, decode_answer, encode_question, left_of
from periplus.cluster.connections import Broken
from periplus.search import MISSING, GenerationGone
from periplus.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.cluster.connections import ShardConnection, ShardReply
    from periplus.cluster.servers import Server, Servers
    from periplus.search import Ask

LONGEST = 30.0  # seconds that a question without a deadline has
ROUND_SHARE = 0.5  # of the time left
LEAST_ROUND = 0.05  # seconds
SILENT = 0.5  # seconds without any answer, after which a server that is late is put aside
HEDGE_LEAST = 0.01  # seconds
HEDGE_UNKNOWN = 0.05  # seconds, while nothing is known of a shard's times
_FINAL = frozenset({400, 401, 404, 413, 504})  # another server would say the same, or too late


class RemoteShards:
    """The shards of one generation, on servers."""

    def __init__(
        self, servers: Servers, generation: int, documents: Sequence[int], token: str = "", before: int = 0
    ) -> None:
        """``before`` is the generation that answers where servers of this one are gone; 0: none does."""
        self.servers = servers
        self.generation = generation
        self.documents = tuple(documents)
        self.before = before
        self._head = f"Authorization: Bearer {token}\r\n" if token else ""

    @traced("search.shards", lambda answers: {"shards": len(answers)})
    def ask(self, asked: Sequence[Ask], deadline: float) -> list[Any]:
        now = time.perf_counter()
        left = min(deadline - now, LONGEST)
        within = max(LEAST_ROUND, left * ROUND_SHARE)
        self.servers.hedges.earn(len(asked))
        return _Round(self, asked, now + within).run()

    def request(self, ask: Ask, body: bytes, latest: float) -> bytes:
        left = left_of(latest, LONGEST)
        head = (
            f"POST /shard/v1/{ask.method}?shard={ask.place}&generation={self.generation}&left_ms={left} HTTP/1.1\r\n"
            f"Host: shard\r\n{self._head}Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode("ascii") + body

    def candidates(self, place: int) -> list[Server]:
        """Servers of a shard; ``GenerationGone`` where all that are left have the generation before only."""
        found = self.servers.serving(place, self.generation)
        if not found and self.before and self.servers.serving(place, self.before):
            raise GenerationGone(place)
        return found


class _Question:
    """One shard's question, and who was asked."""

    def __init__(self, ask: Ask, body: bytes) -> None:
        self.ask = ask
        self.body = body
        self.tried: list[Server] = []
        self.flights = 0
        self.retries = 1
        self.hedge_at = float("inf")
        self.is_done = False
        self.answer: Any = MISSING


class _Flight:
    """A question on its way over a connection."""

    def __init__(self, part: _Question, server: Server, connection: ShardConnection) -> None:
        self.part, self.server, self.connection = part, server, connection
        self.sent = time.perf_counter()


class _Round:
    """All questions of one call, until each is answered or given up."""

    def __init__(self, shards: RemoteShards, asked: Sequence[Ask], latest: float) -> None:
        self._shards, self._latest = shards, latest
        self._servers = shards.servers
        self._poll = select.poll()
        self._flights: dict[int, _Flight] = {}
        bodies: dict[int, bytes] = {}  # the same arguments, for all shards, are encoded once
        for ask in asked:
            if id(ask.arguments) not in bodies:
                bodies[id(ask.arguments)] = encode_question(ask.arguments)
        self._parts = [_Question(ask, bodies[id(ask.arguments)]) for ask in asked]
        self._open = len(self._parts)

    def run(self) -> list[Any]:
        try:
            for part in self._parts:
                self._begin(part)
            while self._open:
                now = time.perf_counter()
                if now >= self._latest:
                    self._expire(now)
                    break
                self._wait(now)
        finally:
            self._drop()
        return [part.answer for part in self._parts]

    def _wait(self, now: float) -> None:
        """For what comes first: an answer, the time of a hedge, the end."""
        wake = min([self._latest, *[part.hedge_at for part in self._parts if not part.is_done]])
        for number, _ in self._poll.poll(max(0.0, wake - now) * 1000 + 0.5):
            flight = self._flights.get(number)
            if flight is not None:
                self._read(flight)
        now = time.perf_counter()
        for part in self._parts:
            if not part.is_done and part.hedge_at <= now:
                self._hedge(part)

    # One question

    def _begin(self, part: _Question) -> None:
        candidates = self._shards.candidates(part.ask.place)
        if not self._try(part, candidates):
            return
        if len(candidates) > 1:
            p95 = self._servers.times_of(part.ask.place, part.ask.method).p95 or HEDGE_UNKNOWN
            part.hedge_at = time.perf_counter() + max(HEDGE_LEAST, p95)

    def _hedge(self, part: _Question) -> None:
        part.hedge_at = float("inf")
        others = [one for one in self._shards.candidates(part.ask.place) if one not in part.tried]
        if others and self._servers.hedges.spend():
            server = self._servers.choose(others)
            server.counts["hedges"] += 1
            self._send(part, server)

    def _try(self, part: _Question, candidates: list[Server]) -> bool:
        """Ask one of some servers, and another if that one cannot even be reached."""
        while candidates:
            server = self._servers.choose(candidates)
            if self._send(part, server):
                return True
            if not part.retries:
                break
            part.retries -= 1
            candidates = [one for one in candidates if one not in part.tried]
        if not part.flights:
            self._finish(part, MISSING)
        return False

    def _send(self, part: _Question, server: Server, *, fresh: bool = False) -> bool:
        part.tried.append(server)
        request = self._shards.request(part.ask, part.body, self._latest)
        connection = None
        try:
            connection = server.connections.take(fresh=fresh)
            connection.send(request, max(LEAST_ROUND, self._latest - time.perf_counter()))
        except Broken as error:
            if connection is not None:
                connection.close()
                if connection.is_used and not fresh:
                    return self._send(part, server, fresh=True)
            _failed(server, str(error))
            return False
        server.begin()
        part.flights += 1
        self._flights[connection.number] = _Flight(part, server, connection)
        self._poll.register(connection.number, select.POLLIN)
        return True

    def _read(self, flight: _Flight) -> None:
        try:
            reply = flight.connection.read()
        except Broken as error:
            self._end(flight)
            is_idle_end = flight.connection.is_used and not flight.connection.has_begun
            if is_idle_end and self._send(flight.part, flight.server, fresh=True):
                return  # the server had ended it while it was idle
            _failed(flight.server, str(error))
            self._again(flight.part)
            return
        if reply is not None:
            self._end(flight, reusable=True)
            self._take(flight, reply)

    def _take(self, flight: _Flight, reply: ShardReply) -> None:
        part, server = flight.part, flight.server
        if reply.status == 200:
            server.answered = time.perf_counter()
            took = server.answered - flight.sent
            server.times.add(took)
            self._servers.times_of(part.ask.place, part.ask.method).add(took)
            try:
                self._finish(part, decode_answer(part.ask.method, reply.body))
            except BadMessage as error:
                _failed(server, str(error))
                self._again(part)
            return
        server.counts["refusals"] += 1
        if reply.status in _FINAL:
            server.said = reply.body[:200].decode("utf-8", "replace").strip()
            part.retries = 0
        if reply.status == 409:
            server.forget(part.ask.place, _held(reply.body))
        self._again(part)

    def _again(self, part: _Question) -> None:
        """Ask another server, once."""
        if part.is_done:
            return
        if part.retries:
            part.retries -= 1
            others = [one for one in self._shards.candidates(part.ask.place) if one not in part.tried]
            if self._try(part, others):
                return
        elif not part.flights:
            self._finish(part, MISSING)

    def _finish(self, part: _Question, answer: Any) -> None:
        if not part.is_done:
            part.is_done, part.answer = True, answer
            self._open -= 1

    # The end

    def _end(self, flight: _Flight, *, reusable: bool = False) -> None:
        self._poll.unregister(flight.connection.number)
        del self._flights[flight.connection.number]
        flight.server.end()
        flight.part.flights -= 1
        if reusable:
            flight.server.connections.give(flight.connection)
        else:
            flight.connection.close()

    def _expire(self, now: float) -> None:
        """A server that answers nothing at all is put aside; one that is only slow is not."""
        for flight in self._flights.values():
            if not flight.part.is_done:
                flight.server.counts["timeouts"] += 1
                if now - flight.server.answered >= SILENT:
                    flight.server.put_aside("it did not answer in time")

    def _drop(self) -> None:
        """What is still on its way is of no use any more."""
        for flight in list(self._flights.values()):
            self._end(flight)


def _failed(server: Server, why: str) -> None:
    server.counts["failures"] += 1
    server.put_aside(why)


def _held(body: bytes) -> list[int]:
    try:
        return msgspec.json.decode(body, type=dict[str, list[int]]).get("generations", [])
    except msgspec.MsgspecError:
        return []
