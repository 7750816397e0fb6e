"""Where what visitors wait for is computed: searches and completion.

A search of a millisecond is run where it is asked for: to hand it to a thread and back takes a good part of that time,
and it waits for the interpreter's lock there. Calls that take longer on the average (a cold disk, a large collection)
go to a few threads, so that the server goes on answering. Few of them: a search is mostly computing, so more threads
than cores only take turns, and the slowest answer gets slower. What an operator asks for runs elsewhere (Starlette's
pool) and cannot take these places.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MOST = 8
QUICK = 0.01  # seconds on the average, up to which a call is made at once
LONGEST = 0.1  # seconds that one call counts for at most; those of which nothing is known yet count as such
SHARE = 0.1  # of the last call in the average


class Pool:
    def __init__(self, threads: int = 0, clock: Callable[[], float] = time.perf_counter) -> None:
        wanted = threads or min(MOST, len(os.sched_getaffinity(0)) + 1)
        self._threads = ThreadPoolExecutor(wanted, thread_name_prefix="search")
        self._clock = clock
        self._lock = threading.Lock()
        self._running = 0
        self._means: dict[str, float] = {}  # by kind of call, in seconds

    def is_quick(self, kind: str) -> bool:
        return self._means.get(kind, LONGEST) <= QUICK

    async def run(self, function: Callable[..., T], *arguments: object, kind: str = "") -> T:
        """What ``function`` returns. Calls of one ``kind`` (its name, unless told) take about as long as each other."""
        name = kind or function.__name__
        if self.is_quick(name):
            return self._timed(name, function, *arguments)
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
