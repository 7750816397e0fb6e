"""What a call computes, whatever else goes on: by the clock of this thread, so that a busy machine does not count, and
without the collector, since what it looks through is the heap of all tests before this one."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def own_seconds(call: Callable[[], object]) -> float:
    was_on = gc.isenabled()
    gc.disable()
    try:
        began = time.thread_time()
        call()
        return time.thread_time() - began
    finally:
        if was_on:
            gc.enable()
