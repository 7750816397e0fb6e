"""Things that are built when first asked for: at once when small, in a thread of their own when not."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Lazy(Generic[T]):
    """``build()`` is called once. ``now`` waits for it; ``soon`` gives what stands in while a thread is still at it."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._value: T | None = None
        self.stand_in: T | None = None
        self._thread: threading.Thread | None = None

    def now(self) -> T:
        with self._lock:
            if self._value is None:
                self._value = self._build()
            return self._value

    def soon(self, run: Callable[[Callable[[], object]], object]) -> T | None:
        """The value, or what there is until then: ``run`` is given the work to do inside a thread."""
        if self._value is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=run, args=(self.now,), daemon=True)
                    self._thread.start()
        return self.latest

    @property
    def is_built(self) -> bool:
        return self._value is not None

    @property
    def latest(self) -> T | None:
        """The value, or what stands in for it; nothing when neither is there."""
        return self.stand_in if self._value is None else self._value

    def join(self) -> None:
        """Wait for a thread that is at it."""
        thread = self._thread
        if thread is not None:
            thread.join()
