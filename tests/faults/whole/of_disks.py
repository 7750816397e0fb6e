"""Faults of the disk as a whole: full, failing, read-only, slow; and a database that another has locked."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from faults.whole.fault import Fault

if TYPE_CHECKING:
    import random

    from faults.whole.product import Whole

SECONDS = 5.0
LATEST = 60  # the change that fails is one of the next so many
MET_WITHIN = 20.0


def lasting(mode: str, seconds: float, whole: Whole, _chance: random.Random) -> None:
    whole.disk.arm(whole.folder, 1, mode)
    time.sleep(seconds)
    met = whole.disk.calls
    whole.disk.disarm()
    if not met:
        raise LookupError("nothing was written")


def once(mode: str, whole: Whole, chance: random.Random) -> None:
    whole.disk.arm(whole.folder, chance.randrange(1, LATEST), mode)
    limit = time.monotonic() + MET_WITHIN
    while not whole.disk.failures and time.monotonic() < limit:
        time.sleep(0.1)
    whole.disk.disarm()


def lock(whole: Whole, _chance: random.Random) -> None:
    with closing(sqlite3.connect(whole.folder / "state.db", timeout=60, isolation_level=None)) as state:
        state.execute("BEGIN IMMEDIATE")
        time.sleep(SECONDS)
        state.execute("ROLLBACK")


FAULTS = (
    Fault("the disk full for 5 s", partial(lasting, "full", SECONDS)),
    Fault("the disk read-only for 5 s", partial(lasting, "read-only", SECONDS)),
    Fault("a slow disk for 10 s: 50 ms more for each change", partial(lasting, "slow", 2 * SECONDS)),
    Fault("an error of the disk (EIO) at one change", partial(once, "eio")),
    Fault("half a write, and no room for the rest", partial(once, "short")),
    Fault("the database locked by another for 5 s", lock),
)
