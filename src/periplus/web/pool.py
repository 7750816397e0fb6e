"""Where what visitors wait for is computed: searches and completion.

A search of a millisecond is run where it is asked for: to hand it to a thread and back takes a good part of that time,
and it waits for the interpreter's lock there. Such calls take turns, one a round of the event loop: uvloop accepts one
connection a round, so a round of many searches would leave new visitors waiting for seconds.

Calls that take longer on the average (a cold disk, a large collection) go to a few threads, so that the server goes on
answering. Few of them: a search is mostly computing, so more threads than cores only take turns, and the slowest answer
gets slower. What an operator asks for runs elsewhere (Starlette's pool) and cannot take these places.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MOST = 8
QUICK = 0.01  # seconds on the average, up to which a call is made at once
LONGEST = 0.1  # seconds that one call counts for at most; those of which nothing is known yet count as such
SHARE = 0.1  # of the last call in the average


class Turns:
    """One after the other, in the order of asking; between two of them the loop reads, writes and accepts."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._taken = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # what another loop left behind when it ended is of no concern to this one
            self._loop, self._taken = loop, False
            self._waiting.clear()
        if not self._taken:
            self._taken = True
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()
            raise

    def give(self) -> None:
        assert self._loop is not None
        self._loop.call_soon(self._pass_on)

    def _pass_on(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._taken = False


class Pool:
    def __init__(self, threads: int = 0, clock: Callable[[], float] = time.perf_counter) -> None:
        wanted = threads or min(MOST, len(os.sched_getaffinity(0)) + 1)
        self._threads = ThreadPoolExecutor(wanted, thread_name_prefix="search")
        self._clock = clock
        self._lock = threading.Lock()
        self._running = 0
        self._turns = Turns()
        self._means: dict[str, float] = {}  # by kind of call, in seconds

    def is_quick(self, kind: str) -> bool:
        return self._means.get(kind, LONGEST) <= QUICK

    async def run(self, function: Callable[..., T], *arguments: object, kind: str = "") -> T:
        """What ``function`` returns. Calls of one ``kind`` (its name, unless told) take about as long as each other."""
        name = kind or function.__name__
        if self.is_quick(name):
            await self._turns.take()
            try:
                return self._timed(name, function, *arguments)
            finally:
                self._turns.give()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._timed, name, function, *arguments)

    def _timed(self, name: str, function: Callable[..., T], *arguments: object) -> T:
        with self._lock:
            self._running += 1
        started = self._clock()
        try:
            return function(*arguments)
        finally:
            took = self._clock() - started
            with self._lock:
                # Several at once share the interpreter, so each of them seems to take longer than it does.
                took = min(LONGEST, took / self._running)
                self._running -= 1
                mean = self._means.get(name, LONGEST)
                self._means[name] = mean + SHARE * (took - mean)
