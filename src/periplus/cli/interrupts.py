"""Ctrl-C during a crawl: the first asks it to stop, a second one ends it where it is."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def stopping_on_interrupt(stop: Callable[[], None]) -> Iterator[threading.Event]:
    """While the block runs, Ctrl-C calls ``stop`` (in a thread of its own); the event tells whether it came."""
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupted(_number: int, _frame: Any) -> None:
        came.set()
        signal.signal(signal.SIGINT, before)
        threading.Thread(target=stop, daemon=True).start()

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
