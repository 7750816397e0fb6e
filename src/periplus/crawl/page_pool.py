"""The limit of pages, shared by all workers: places for new pages are lent out of one pool.

Invariant, in every committed state: pages stored + places in the pool + places that workers hold = the limit.

The engine of a worker counts its places in an ``Allowance``: a request for a new page takes one first. With each commit
it says how many it wishes to hold afterwards, and its ``PageAccount`` settles that with the pool in that transaction.
The rule is to use places or to give them back: a worker wishes for a few times what it used lately, and one that used
none for no more than its requests under way need. So whoever waits for places gets them within about two seconds,
whoever held them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from periplus.storage import Transaction

AHEAD = 4  # a worker wishes for so many times the places that it used lately
LATELY = 1.0  # seconds: what was used in this and in the last stretch of so many counts


class Grant(NamedTuple):
    """The places that a worker holds after a commit, and whether the whole crawl has all its pages."""

    held: int = 0
    full: bool = False


class Allowance:
    """The places of one worker as its engine counts them; not ``limited`` where any number of pages may come.

    Commits run beside the engine. So what is not wished for is out of use when the commit begins, what is lent can be
    used when it is done, and the pages that it stores count as spent until then.
    """

    def __init__(self, least: int, *, limited: bool) -> None:
        self._least = least
        self._limited = limited
        self._held = 0
        self._closing = 0  # pages of the bundle that is being committed
        self._spent = 0  # pages since that bundle was closed
        self._under_way = 0
        self._used = self._used_before = 0  # places taken in this stretch of time, and in the one before
        self._stretch = 0.0  # when this one began
        self.hungry = False  # a page waits for a place
        self.full = False

    @property
    def free(self) -> int:
        """Places for requests that could begin now."""
        return self._held - self._closing - self._spent - self._under_way

    def take(self) -> bool:
        """A place for one request; when there is none, the next wish is for more."""
        if self._limited and self.free <= 0:
            self.hungry = True
            return False
        self._under_way += 1
        self._used += 1
        return True

    def end(self) -> None:
        """A request that took a place is over."""
        self._under_way -= 1

    def spend(self, gained: int) -> None:
        """So many pages are stored with the next commit; fewer than none when pages are gone."""
        self._spent += gained

    def wish(self, now: float, *, last: bool = False) -> int:
        """A bundle is closed: how many places to hold once it is committed. ``now`` is of a clock that nobody sets."""
        free = 0 if last else AHEAD * max(self._used, self._used_before, self._least if self.hungry else 0)
        self._held -= max(0, self.free - free)
        self._closing, self._spent = self._closing + self._spent, 0
        self.hungry = False
        if now - self._stretch >= LATELY:
            self._used, self._used_before, self._stretch = 0, self._used, now
        return free + self._under_way

    def settle(self, grant: Grant) -> None:
        """The commit is done."""
        self._held, self._closing = grant.held, 0
        self.full = grant.full


class PageAccount:
    """One worker's account with the pool; ``settle`` runs inside its commits."""

    def __init__(self, limit: int, crawl: int, worker: int) -> None:
        self.limit = limit
        self._crawl = crawl
        self._worker = worker

    def settle(self, tx: Transaction, gained: int, wish: int, workers: int) -> Grant:
        """Take ``gained`` pages off; take back what goes beyond the wish, or lend a share of the pool towards it."""
        if not self.limit:
            return Grant()
        pool = _locked_pool(tx, self._crawl)
        held = int(tx.value("SELECT places FROM workers WHERE number = ?", (self._worker,)) or 0) - gained
        share = -(-pool // max(1, workers))
        lent = min(wish - held, share)
        tx.execute("UPDATE crawls SET places = ? WHERE id = ?", (pool - lent, self._crawl))
        tx.execute("UPDATE workers SET places = ? WHERE number = ?", (held + lent, self._worker))
        full = pool - lent <= 0 and not tx.value("SELECT 1 FROM workers WHERE places > 0 LIMIT 1")
        return Grant(held + lent, full)

    def count(self, tx: Transaction) -> int:
        """The places in the pool, counted again."""
        return count_pool(tx, self._crawl, self.limit)


def count_pool(tx: Transaction, crawl: int, limit: int) -> int:
    """Count the pool from what is stored and lent: at a start, when a worker died, and before a crawl ends.

    The pool's row is locked first. Workers gain pages and settle in one transaction, which needs that row, so that none
    of them comes between the two sums.
    """
    _locked_pool(tx, crawl)
    stored = int(tx.value("SELECT COALESCE(SUM(pages), 0) FROM hosts"))
    lent = int(tx.value("SELECT COALESCE(SUM(places), 0) FROM workers"))
    pool = max(0, limit - stored - lent)
    tx.execute("UPDATE crawls SET places = ? WHERE id = ?", (pool, crawl))
    return pool


def _locked_pool(tx: Transaction, crawl: int) -> int:
    return int(tx.value(f"SELECT places FROM crawls WHERE id = ?{tx.row_lock}", (crawl,)) or 0)  # noqa: S608
