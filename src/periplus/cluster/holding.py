"""What a shard server holds of one shard: its newest generation, and the one before.

A new generation is opened and warmed beside the old one, and only then given out. The one before stays open, so that a
broker that has not heard of the new one yet, or that lacks it elsewhere, is answered all the same. Older ones stay for
as long as brokers ask for them: generations may follow each other faster than all shards take them up.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from periplus.errors import PeriplusError
from periplus.index import Group, IndexQuery
from periplus.ranking import DEFAULT, PROFILES
from periplus.search import KnownWord, ShardQuery
from periplus.text import TermForm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.search import Shard

KEPT = 2  # generations, always
MOST = 6  # generations, while brokers still ask for older ones
RESTED = 10.0  # seconds without a question, after which an older one is let go of
WARMING = "the"  # a word that most collections have


class OtherGeneration(PeriplusError):
    """The generation that was asked for is not here; ``held`` are those that are."""

    code = "other-generation"

    def __init__(self, number: int, wanted: int, held: list[int]) -> None:
        super().__init__(f"shard {number} has no generation {wanted}; it has {held}")
        self.held = held


class ShardSource(Protocol):
    """Where the generations of a shard come from."""

    def newest(self) -> int:
        """The number of the published generation; 0 when there is none yet."""

    def count(self) -> int:
        """The shards of the published generation."""

    def open(self, number: int) -> Shard:
        """A shard of the published generation; ``NotReady`` when there is none yet."""


class _Held:
    def __init__(self, shard: Shard, now: float) -> None:
        self.shard = shard
        self.asked = now  # when it was last asked
        self.users = 0
        self.is_retired = False

    def leave_when_idle(self) -> bool:
        """Give it out no more; true when nobody uses it now."""
        self.is_retired = True
        return not self.users


class HeldShard:
    """May be used by many threads at once; ``look`` by one."""

    def __init__(self, number: int, source: ShardSource, clock: Callable[[], float] = time.monotonic) -> None:
        self.number = number
        self._clock = clock
        self._source = source
        self._lock = threading.Lock()
        self._held: dict[int, _Held] = {}  # by generation, the newest last

    def documents(self) -> dict[int, int]:
        """How many there are, by the generations that can be asked."""
        with self._lock:
            return {generation: held.shard.snapshot.live for generation, held in self._held.items()}

    def look(self) -> bool:
        """Take up a newer generation, if there is one; true when that was done. Let go of what nobody asks for."""
        is_new = self._take_up()
        self._retire()
        return is_new

    def _take_up(self) -> bool:
        newest = self._source.newest()
        if not newest or newest in self._held:
            return False
        if self.number >= self._source.count():
            return False  # documents are in fewer shards now
        shard = self._source.open(self.number)
        generation = shard.snapshot.generation
        if generation in self._held:
            shard.snapshot.close()
            return False
        warm(shard)
        with self._lock:
            self._held[generation] = _Held(shard, self._clock())
        return True

    def _retire(self) -> None:
        with self._lock:
            older = sorted(self._held)[:-KEPT]
            rested = [one for one in older if self._clock() - self._held[one].asked > RESTED]
            gone = dict.fromkeys([*rested, *older[: -(MOST - KEPT)]])
            retired = [self._held.pop(one) for one in gone]
            idle = [held for held in retired if held.leave_when_idle()]
        for held in idle:
            held.shard.snapshot.close()

    @contextmanager
    def use(self, generation: int) -> Iterator[Shard]:
        """The shard as a generation has it, open until the caller is done."""
        with self._lock:
            held = self._held.get(generation)
            if held is None:
                raise OtherGeneration(self.number, generation, sorted(self._held))
            held.users += 1
            held.asked = self._clock()
        try:
            yield held.shard
        finally:
            with self._lock:
                held.users -= 1
                is_last = held.is_retired and not held.users
            if is_last:
                held.shard.snapshot.close()

    def close(self) -> None:
        with self._lock:
            retired, self._held = list(self._held.values()), {}
            idle = [held for held in retired if held.leave_when_idle()]
        for held in idle:
            held.shard.snapshot.close()


def warm(shard: Shard) -> None:
    """The first question loads kernels and pages of files; no visitor should wait for that."""
    form = TermForm(WARMING)
    statistics = shard.snapshot.statistics
    word = KnownWord(WARMING, 1.0, (form,), (max(1, statistics.frequencies([WARMING])[0]),), 1.0)
    query = IndexQuery(should=(Group(forms=(form,)),))
    hits = shard.top(ShardQuery(query, (word,), statistics, PROFILES[DEFAULT]), 10, 10, ordered=True)
    shard.show(hits.numbers.tolist(), (word,))
