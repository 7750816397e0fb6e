"""The limit of pages, shared by all workers: places for new pages are handed out of one pool.

Invariant, in every committed state: pages stored + places in the pool + places that workers have = the limit. A
worker counts its places down as it fetches, and settles with the pool in its commits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from periplus.storage import Transaction

UNLIMITED = 1 << 60
AHEAD = 4  # a worker wants places for so many commits


class Grant(NamedTuple):
    """What settling gave (or took) and whether the whole crawl has all its pages."""

    places: int = 0
    full: bool = False


class Places:
    """One worker's view of the pool; ``settle`` runs inside its commits."""

    def __init__(self, limit: int, crawl: int, worker: int, least: int) -> None:
        self._limit = limit
        self._crawl = crawl
        self._worker = worker
        self._least = least
        self._booked = 0  # as the database knows it: not yet counted down for uncommitted pages

    @property
    def first(self) -> int:
        """What a worker has before its first commit."""
        return 0 if self._limit else UNLIMITED

    def settle(self, tx: Transaction, gained: int, workers: int, *, idle: bool) -> Grant:
        """Take ``gained`` pages off, and refill from the pool; an idle worker gives back what it has."""
        if not self._limit:
            return Grant()
        pool = int(tx.value(f"SELECT places FROM crawls WHERE id = ?{tx.row_lock}", (self._crawl,)) or 0)  # noqa: S608
        self._booked -= gained
        change = -self._booked if idle else self._wish(gained, pool, workers)
        self._booked += change
        tx.execute("UPDATE crawls SET places = ? WHERE id = ?", (pool - change, self._crawl))
        tx.execute("UPDATE workers SET places = ? WHERE number = ?", (self._booked, self._worker))
        full = pool - change <= 0 and not tx.value("SELECT 1 FROM workers WHERE places > 0 LIMIT 1")
        return Grant(change, full)

    def _wish(self, gained: int, pool: int, workers: int) -> int:
        missing = AHEAD * max(self._least, gained) - self._booked
        return max(0, min(missing, -(-pool // max(1, workers)), pool))


def fill_pool(tx: Transaction, crawl: int, limit: int) -> None:
    """Count the pool again: at a start, and when a worker died with places in its hands."""
    stored = int(tx.value("SELECT COALESCE(SUM(pages), 0) FROM hosts"))
    given = int(tx.value("SELECT COALESCE(SUM(places), 0) FROM workers"))
    tx.execute("UPDATE crawls SET places = ? WHERE id = ?", (max(0, limit - stored - given), crawl))
