"""Where what visitors wait for is computed: searches and completion.

A search of a millisecond is run where it is asked for: to hand it to a thread and back takes a good part of that time,
and it waits for the interpreter's lock there. Such calls take turns, one a round of the event loop: uvloop accepts one
connection a round, so a round of many searches would leave new visitors waiting for seconds.

Calls that take longer on the average (a cold disk, a large collection) go to a few threads, so that the server goes on
answering. Few of them: a search is mostly computing, so more threads than cores only take turns, and the slowest answer
gets slower. What an operator asks for runs elsewhere (Starlette's pool) and cannot take these places.

The queue is bounded by time: who would wait for longer than the answer may take is refused at once, and what is not
begun in time is dropped. Over shards, a queue that stands tells a flood from a burst: of a burst, two searches' worth
may wait, and of a flood half a search's, until nobody was refused for a second. So what is accepted stays quick,
however much is asked.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from periplus.errors import OverBudget, Overloaded

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MOST = 8
QUICK = 0.01  # seconds on the average, up to which a call is made at once
LONGEST = 0.1  # seconds that one call counts for at most; those of which nothing is known yet count as such
SHARE = 0.1  # of the last call in the average
WAITERS = 8  # threads, at least, for calls that mostly wait for others; four a core
SHARERS = 4  # the same where those others have the same cores; two a core
LEAST_WAIT = 0.05  # seconds that a call may always wait
LEAST_QUEUE = 4  # calls may always wait, whatever they take
BURST = 0.1  # seconds for which a queue may stand before what is asked counts as a flood
FLOOD = 1.0  # seconds without a refusal after which a flood is over: its queue falls short for moments all the while
BURST_SHARE, FLOOD_SHARE = 2.0, 0.5  # of what a search takes, for which one may wait
LONGEST_QUEUE = 1_000  # calls, whatever they take
FAR_AHEAD = float("inf")  # a place is free


class Expired(OverBudget):
    """The time of a call was over before its turn came."""

    code = "expired"


class Call(Generic[T]):
    """A call that waits for its turn; what becomes of it is told in the loop, also where nobody waits any more."""

    def __init__(
        self,
        function: Callable[[], T],
        answered: Callable[[T], object],
        failed: Callable[[BaseException], object],
        is_wanted: Callable[[], bool],
    ) -> None:
        self.function, self.answered, self.failed = function, answered, failed
        self.is_wanted = is_wanted  # whether anybody still waits for it


class Turns:
    """One after the other, in the order of asking; between two of them the loop reads, writes and accepts."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._taken = False
        self._waiting: deque[Callable[[], None]] = deque()

    def ask(self, turn: Callable[[], None]) -> None:
        """``turn`` is called now, or when those that asked before have had theirs."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # what another loop left behind when it ended is of no concern to this one
            self._loop, self._taken = loop, False
            self._waiting.clear()
        if self._taken:
            self._waiting.append(turn)
        else:
            self._take(turn)

    def _take(self, turn: Callable[[], None]) -> None:
        assert self._loop is not None
        self._taken = True
        self._loop.call_soon(self._pass_on)
        turn()

    def _pass_on(self) -> None:
        if self._waiting:
            self._take(self._waiting.popleft())
        else:
            self._taken = False


class Pool:
    def __init__(
        self,
        threads: int = 0,
        clock: Callable[[], float] = time.perf_counter,
        *,
        waits: bool = False,
        shares_cores: bool = False,
    ) -> None:
        """``waits`` where calls mostly wait for other processes: they always run in threads, and in many.

        In fewer where those ``shares_cores`` with this one: more at once would only take turns there.
        """
        cores = len(os.sched_getaffinity(0))
        others = max(SHARERS, 2 * cores) if shares_cores else max(WAITERS, 4 * cores)
        self.places = threads or (others if waits else min(MOST, cores + 1))  # calls in threads at once
        self._threads = ThreadPoolExecutor(self.places, thread_name_prefix="search")
        self._waits = waits
        self._clock = clock
        self._lock = threading.Lock()
        self._running = 0
        self._turns = Turns()
        self._means: dict[str, float] = {}  # by kind of call, in seconds
        self._mean = 0.0  # of all calls
        self._stands_since = FAR_AHEAD  # since then all places have been taken
        self._flood_ends = 0.0
        self.asked = 0  # calls that run or wait
        self.refused = 0  # since the start

    def is_quick(self, kind: str) -> bool:
        return not self._waits and self._means.get(kind, LONGEST) <= QUICK

    def expected_wait(self) -> float:
        """Seconds until the turn of one that comes now, by what calls took lately."""
        at_once = self.places if self._waits else 1
        return max(0, self.asked - at_once) * self._mean / at_once

    async def run(
        self, function: Callable[..., T], *arguments: object, kind: str = "", within: float = 0.0, latest: float = 0.0
    ) -> T:
        """What ``function`` returns. Calls of one ``kind`` (its name, unless told) take about as long as each other.

        One that would not be begun ``within`` so many seconds is ``Overloaded``. One that was not begun in as many, or
        in ``latest``, is ``Expired``.
        """
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        call = Call(
            partial(function, *arguments),
            _unless_done(answer, answer.set_result),
            _unless_done(answer, answer.set_exception),
            lambda: not answer.done(),
        )
        self.begin(call, kind or function.__name__, within, latest)
        return await answer

    def begin(self, call: Call[T], kind: str, within: float = 0.0, latest: float = 0.0) -> None:
        """Like ``run``, for those who are told of the answer instead of waiting for it."""
        self.admit(within)
        ends = self._clock() + (latest or within) if within else 0.0
        self.asked += 1
        if self.is_quick(kind):
            self._turns.ask(lambda: self._end(self._outcome(call, kind, ends)))
        else:
            self._threads.submit(self._in_thread, asyncio.get_running_loop(), call, kind, ends)

    def _in_thread(self, loop: asyncio.AbstractEventLoop, call: Call[T], kind: str, ends: float) -> None:
        outcome = self._outcome(call, kind, ends)
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(self._end, outcome)

    def _outcome(self, call: Call[T], kind: str, ends: float) -> Callable[[], object]:
        """Compute; how to tell of what came of it."""
        try:
            return partial(call.answered, self._timed(kind, ends, call))
        except Exception as error:  # noqa: BLE001 (whoever asked is told)
            return partial(call.failed, error)

    def _end(self, tell: Callable[[], object]) -> None:
        self.asked -= 1
        tell()

    def admit(self, within: float) -> None:
        """``Overloaded`` where a call that may wait ``within`` so many seconds would have to wait longer."""
        wait, now = self.expected_wait(), self._clock()
        bound = min(within, self._patience(now)) if self._waits else within
        is_late = within and wait > bound and self.asked >= self.places + LEAST_QUEUE
        if is_late or self.asked >= LONGEST_QUEUE:
            self.refused += 1
            self._flood_ends = now + FLOOD
            raise Overloaded("more is asked than can be answered in time; ask again in a moment", max(1.0, wait))

    def _patience(self, now: float) -> float:
        """Seconds that a search over shards may wait now.

        In a flood the mean grows by the very searches that wait, so a bound by it alone lets the queue grow, too.
        """
        self._stands_since = min(self._stands_since, now) if self.asked >= self.places else FAR_AHEAD
        if now - self._stands_since > BURST or now < self._flood_ends:
            return FLOOD_SHARE * self._mean
        return max(LEAST_WAIT, BURST_SHARE * self._mean)

    def _timed(self, name: str, latest: float, call: Call[T]) -> T:
        started = self._clock()
        if (latest and started > latest) or not call.is_wanted():
            raise Expired("the time of this request was over before its turn came; ask again in a moment")
        with self._lock:
            self._running += 1
        try:
            return call.function()
        finally:
            took = self._clock() - started
            with self._lock:
                # Several at once share the interpreter, so each of them seems to take longer than it does.
                took = took if self._waits else took / self._running
                self._running -= 1
                self._mean += SHARE * (took - self._mean)
                took = min(LONGEST, took)
                mean = self._means.get(name, LONGEST)
                self._means[name] = mean + SHARE * (took - mean)


def _unless_done(answer: asyncio.Future[Any], tell: Callable[[Any], None]) -> Callable[[Any], None]:
    """Tell of an outcome, unless whoever waited for it left."""

    def told(outcome: Any) -> None:
        if not answer.done():
            tell(outcome)

    return told
