"""A lane for heavy work beside the event loop: one piece at a time, and not all of the time while others have pages.

Threads share one interpreter, and some steps of a parser do not let go of it. Several of them at heavy work, or one
without a pause, would leave little to the loop, and with it to every other host. So the lane has one thread, turns are
as short as ``TURN``, and after a piece of work it rests ``REST`` times as long, unless nothing else came in meanwhile:
a crawl of large pages alone never waits.
"""

from __future__ import annotations

import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

TURN = 0.001  # seconds after which a thread lets another go on that asks for it; Python's own are five times as long
REST = 6.0  # so many times as long as a piece of work took
LONGEST_REST = 10.0  # seconds


def rest_after(took: float) -> float:
    """Seconds that others have for themselves after a piece of work."""
    return min(REST * took, LONGEST_REST)


class HeavyLane:
    """``with`` it around a loop. Whoever reads a page without it counts it in ``light``."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="periplus-heavy")
        self._turn_before = sys.getswitchinterval()
        self._free = asyncio.Lock()
        self._light_before = 0
        self._rest_until = 0.0
        self.light = 0

    def __enter__(self) -> Self:
        self._turn_before = sys.getswitchinterval()
        sys.setswitchinterval(min(TURN, self._turn_before))
        return self

    def __exit__(self, *exception: object) -> None:
        sys.setswitchinterval(self._turn_before)
        self._executor.shutdown(wait=True, cancel_futures=True)

    async def run(self, work: Callable[..., T], *arguments: object) -> T:
        """Wait for the lane and for the work."""
        async with self._free:
            await self._rest()
            began, self._light_before = time.monotonic(), self.light
            try:
                return await asyncio.get_running_loop().run_in_executor(self._executor, work, *arguments)
            finally:
                ended = time.monotonic()
                self._rest_until = ended + rest_after(ended - began)

    async def _rest(self) -> None:
        """Leave the interpreter to others for a while, as long as there are others."""
        left = self._rest_until - time.monotonic()
        while left > 0 and self.light > self._light_before:
            self._light_before = self.light
            await asyncio.sleep(min(left, 1.0))
            left = self._rest_until - time.monotonic()
