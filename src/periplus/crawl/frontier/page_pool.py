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
GENEROUS = 2  # a worker that has less than it wishes for is lent so many times its wish …
FAR = 4  # … and gives back what goes beyond it when it has more than so many times the wish
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
        """Take ``gained`` pages off. The pool is asked only when less than the wish is left, or far more.

        All workers share the pool's row, so most commits must do without it. It takes back what goes far beyond the
        wish, or lends a share of what it has, towards more than the wish.
        """
        if not self.limit:
            return Grant()
        held = int(tx.value("SELECT places FROM workers WHERE number = ?", (self._worker,)) or 0) - gained
        if wish <= held <= FAR * wish:
            self._hold(tx, held, changed=bool(gained))
            return Grant(held, full=not held and self._is_full(tx))
        pool = _locked_pool(tx, self._crawl)
        lent = min((GENEROUS * wish if held < wish else wish) - held, -(-pool // max(1, workers)))
        tx.execute("UPDATE crawls SET places = ? WHERE id = ?", (pool - lent, self._crawl))
        self._hold(tx, held + lent, changed=True)
        return Grant(held + lent, self._is_full(tx))

    def _hold(self, tx: Transaction, places: int, *, changed: bool) -> None:
        if changed:
            tx.execute("UPDATE workers SET places = ? WHERE number = ?", (places, self._worker))

    def _is_full(self, tx: Transaction) -> bool:
        """Whether nobody has a place: in one statement, since others move places between the two meanwhile."""
        sql = "SELECT places <= 0 AND NOT EXISTS (SELECT 1 FROM workers WHERE places > 0) FROM crawls WHERE id = ?"
        return bool(tx.value(sql, (self._crawl,)))

    def count(self, tx: Transaction) -> int:
        """The places in the pool, counted again."""
        return count_pool(tx, self._crawl, self.limit)


def count_pool(tx: Transaction, crawl: int, limit: int) -> int:
    """Count the pool from what is stored and lent: at a start, when a worker died, and before a crawl ends.

    The pool's row is locked first, so that nothing is lent meanwhile. A page that is stored takes a place off its
    worker in one transaction, and both sums are of one statement, so that none of them comes between.
    """
    _locked_pool(tx, crawl)
    sums = "SELECT (SELECT COALESCE(SUM(pages), 0) FROM hosts), (SELECT COALESCE(SUM(places), 0) FROM workers)"
    stored, lent = tx.row(sums) or (0, 0)
    pool = max(0, limit - int(stored) - int(lent))
    tx.execute("UPDATE crawls SET places = ? WHERE id = ?", (pool, crawl))
    return pool


def _locked_pool(tx: Transaction, crawl: int) -> int:
    return int(tx.value(f"SELECT places FROM crawls WHERE id = ?{tx.row_lock}", (crawl,)) or 0)  # noqa: S608
