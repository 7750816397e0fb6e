"""Things that are built when first asked for: at once when small, in a thread of their own when not."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


PAUSE = 20.0  # a build that took t seconds is followed by a pause of at least PAUSE * t


class Lazy(Generic[T]):
    """``build()`` is called once. ``now`` waits for it; ``soon`` gives what stands in while a thread is still at it.

    Where one follows another, what the other one has or is about to have stands in, and building waits for a while:
    in a collection that grows, the words of every new generation would otherwise be gathered beside all searches.
    """

    def __init__(self, build: Callable[[], T], clock: Callable[[], float] = time.monotonic) -> None:
        self._build = build
        self._clock = clock
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._value: T | None = None
        self._stand_in: T | None = None
        self._heir: Callable[[T, float], None] | None = None
        self._due = 0.0  # not before this time, as long as something stands in
        self._thread: threading.Thread | None = None

    def now(self) -> T:
        with self._lock:
            if self._value is None:
                began = self._clock()
                self._value = self._build()
                self._due = self._clock() + PAUSE * (self._clock() - began)
                if self._heir is not None:
                    self._heir(self._value, self._due)
            return self._value

    def soon(self, run: Callable[[Callable[[], object]], object]) -> T | None:
        """The value, or what there is until then: ``run`` is given the work to do inside a thread."""
        if self._value is None and (self._stand_in is None or self._clock() >= self._due):
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=run, args=(self.now,), daemon=True)
                    self._thread.start()
        return self.latest

    def follow(self, before: Lazy[T]) -> None:
        """Let the value of another one stand in for ours."""
        before._heir = self._inherit
        latest = before.latest
        if latest is not None:
            self._inherit(latest, before._due)

    def _inherit(self, value: T, due: float) -> None:
        self._stand_in, self._due = value, due
        if self._heir is not None:
            self._heir(value, due)

    @property
    def is_built(self) -> bool:
        return self._value is not None

    @property
    def latest(self) -> T | None:
        """The value, or what stands in for it; nothing when neither is there."""
        return self._stand_in if self._value is None else self._value

    def join(self) -> None:
        """Wait for a thread that is at it."""
        thread = self._thread
        if thread is not None:
            thread.join()
