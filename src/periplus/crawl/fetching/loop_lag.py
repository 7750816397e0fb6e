"""How long the event loop of a worker was kept from its work: time that is ours, and no host's.

A timer that is due every ``TICK`` seconds tells: what it comes late was spent in something that did not let the loop go
on. Answers that arrived meanwhile look slow and are not.
"""

from __future__ import annotations

import asyncio
import time

TICK = 0.02  # seconds
TOLERATED = 0.01  # seconds that any timer may be late
LATELY = 1.0  # seconds that ``is_short`` looks back, at least …
SHORT = 0.2  # … and the share of them that was lost


class LoopLag:
    """Begins with ``start``, inside the loop; ``seconds`` grows from then on."""

    def __init__(self) -> None:
        self._total = 0.0
        self._mark = (0.0, 0.0)  # a moment not long ago, and the total then
        self._share = 0.0  # lost between the last two such moments
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._mark = (time.perf_counter(), self._total)
        self._wait()

    def _wait(self) -> None:
        self._due = time.perf_counter() + TICK
        self._timer = asyncio.get_running_loop().call_later(TICK, self._tick)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def seconds(self) -> float:
        """In all, up to this moment."""
        return self._total + (self._late() if self._timer is not None else 0.0)

    @property
    def is_short(self) -> bool:
        """Whether the loop has more to do than it has time for, now or a moment ago."""
        since, before = self._mark
        now = (self.seconds - before) / max(time.perf_counter() - since, LATELY)
        return max(self._share, now) > SHORT

    def _late(self) -> float:
        late = time.perf_counter() - self._due
        return late if late > TOLERATED else 0.0

    def _tick(self) -> None:
        self._total += self._late()
        self._look()
        self._wait()

    def _look(self) -> None:
        now, (since, before) = time.perf_counter(), self._mark
        if now - since >= LATELY:
            self._share = (self._total - before) / (now - since)
            self._mark = now, self._total
