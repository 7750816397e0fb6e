"""The time of a crawl: the database's, so that all machines agree on when a host may be asked again.

Between two looks at the database it runs on a clock that nobody sets and that goes on while the machine sleeps. Where
the database is a file, its clock is this machine's.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from periplus.storage import database_time, steady

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.storage import Database, Transaction

MOST_TIMID = 1.0  # seconds that an answer may take: of a slower one the time is too uncertain


class CrawlClock:
    """Call it for the time; ``look`` sets it by the database."""

    def __init__(self, ticking: Callable[[], float] = steady) -> None:
        self._ticking = ticking
        self._offset = time.time() - ticking()

    def __call__(self) -> float:
        return self._ticking() + self._offset

    @classmethod
    def of(cls, database: Database) -> CrawlClock:
        """One that is set already."""
        clock = cls()
        with database.read() as tx:
            clock.look(tx)
        return clock

    def look(self, tx: Transaction) -> None:
        """Set it; the database's answer is taken to be of the middle of the time that it took."""
        before = self._ticking()
        now = database_time(tx)
        took = self._ticking() - before
        if took < MOST_TIMID:
            self._offset = now - before - took / 2
