"""The time of a crawl: the database's, so that all machines agree on when a host may be asked again.

Between two looks at the database it runs on a clock that nobody sets and that goes on while the machine sleeps. Where
the database is a file, its clock is this machine's.

It never goes back. When the database's clock was set back, all that is written of the future (when hosts are ready,
when addresses are due) would have to come again first: the crawl would stand still for as long. So it runs on from
where it was, ahead of the database by what a row says, which all workers read. When the clock is set forward again,
the row says less.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from periplus.storage import database_time, steady, write_event

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.storage import Database, Transaction

MOST_TIMID = 1.0  # seconds that an answer may take: of a slower one the time is too uncertain
SET = 2.0  # seconds by which a clock is not merely inexact, but was set
AHEAD = "crawl.ahead"  # in meta: seconds
_NEWEST: Final = "SELECT MAX(at + ms / 1000) FROM (SELECT at, ms FROM journal ORDER BY id DESC LIMIT 100) AS newest"
_WRITE: Final = "UPDATE meta SET value = ? WHERE key = ? AND value = ?"


class CrawlClock:
    """Call it for the time; ``look`` sets it by the database."""

    def __init__(self, ticking: Callable[[], float] = steady) -> None:
        self._ticking = ticking
        self._offset = time.time() - ticking()
        self._is_set = False

    def __call__(self) -> float:
        return self._ticking() + self._offset

    @classmethod
    def of(cls, database: Database) -> CrawlClock:
        """One that is set already, and not before what the journal has."""
        clock = cls()
        clock.look(database)
        clock.go_on(database)
        return clock

    def look(self, database: Database) -> None:
        """Set it; the database's answer is taken to be of the middle of the time that it took."""
        with database.read() as tx:
            ahead = ahead_of(tx)
            before = self._ticking()
            now = database_time(tx) + ahead
            took = self._ticking() - before
        if took >= MOST_TIMID:
            return
        offset = now - before - took / 2
        moved = offset - self._offset
        if self._is_set and abs(moved) > SET:  # somebody set the database's clock
            offset += _moved(database, ahead, -moved)
        self._offset, self._is_set = offset, True

    def go_on(self, database: Database) -> None:
        """Not before what the journal has: the clock may have been set back while nobody crawled."""
        with database.read() as tx:
            ahead, newest = ahead_of(tx), float(tx.value(_NEWEST) or 0.0)
        behind = newest - self()
        if behind > (0.0 if ahead else SET):
            self._offset += _moved(database, ahead, behind)


def crawl_time(tx: Transaction) -> float:
    """The time of a crawl, as ``CrawlClock`` is set by it."""
    return database_time(tx) + ahead_of(tx)


def ahead_of(tx: Transaction) -> float:
    """Seconds that a crawl's time is ahead of the database's, since that was set back."""
    return float(tx.value("SELECT value FROM meta WHERE key = ?", (AHEAD,)) or 0.0)


def _moved(database: Database, ahead: float, seconds: float) -> float:
    """Have crawls be ahead by so much more or less than ``ahead``, and never behind; by how much they are in fact.

    Of several workers that saw the clock set, one writes it, and the others take it over.
    """
    with database.write() as tx:
        tx.insert_new("meta", ("key", "value"), [(AHEAD, repr(ahead))], "key")
        if tx.execute(_WRITE, (repr(max(0.0, ahead + seconds)), AHEAD, repr(ahead))):
            write_event(tx, "crawl", f"the clock was set by {-seconds:+.0f} s; the crawl goes on by its own", "warning")
        return ahead_of(tx) - ahead
