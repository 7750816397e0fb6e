"""Faults of processes: killed, frozen, without memory; and of the clock of the machine."""

from __future__ import annotations

import os
import resource
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from faults.whole.fault import Fault

if TYPE_CHECKING:
    import random

    from faults.whole.product import Whole

SECONDS = 5.0
HOUR = 3600.0
LOOKED_AT_WITHIN = 8.0  # seconds: a crawl compares the clocks every five


def kill(name: str, whole: Whole, _chance: random.Random) -> None:
    os.kill(whole.process(name), signal.SIGKILL)


def freeze(name: str, whole: Whole, _chance: random.Random) -> None:
    pid = whole.process(name)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(SECONDS)
    os.kill(pid, signal.SIGCONT)


def starve(name: str, whole: Whole, _chance: random.Random) -> None:
    """No page of memory more than it has, mapped files and stacks of threads included."""
    pid = whole.process(name)
    used = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.prlimit(pid, resource.RLIMIT_AS, (used, resource.RLIM_INFINITY))
    time.sleep(2 * SECONDS)
    with suppress(ProcessLookupError):  # it ended, and another is in its place
        resource.prlimit(pid, resource.RLIMIT_AS, before)


def set_clock(seconds: float, whole: Whole, _chance: random.Random) -> None:
    """It stays as it was set; the next fault of this kind sets it again."""
    whole.disk.set_clock(seconds)
    time.sleep(LOOKED_AT_WITHIN)


FAULTS = (
    Fault("kill -9 of the crawler", partial(kill, "crawler")),
    Fault("kill -9 of the indexer", partial(kill, "indexer")),
    Fault("kill -9 of the process that reads pages", partial(kill, "reader")),
    Fault("kill -9 of `up` itself", partial(kill, "up"), ends_up=True),
    Fault("the crawler frozen for 5 s", partial(freeze, "crawler")),
    Fault("the indexer frozen for 5 s", partial(freeze, "indexer")),
    Fault("no more memory for the crawler, for 10 s", partial(starve, "crawler")),
    Fault("no more memory for the indexer, for 10 s", partial(starve, "indexer")),
    Fault("no more memory for `up` itself, for 10 s", partial(starve, "up"), ends_up=True),
    Fault("the clock set forward by an hour", partial(set_clock, HOUR)),
    Fault("the clock set back to an hour ago", partial(set_clock, -HOUR)),
)
