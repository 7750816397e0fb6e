"""A worker as a member of a crawl: its leases, its places, its row of the roster, in every commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.crawl.frontier import roster
from periplus.crawl.frontier.address_windows import give_back, reserve
from periplus.crawl.frontier.clock import crawl_time
from periplus.crawl.frontier.page_pool import Grant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.crawl.frontier.address_slots import AddressSlots
    from periplus.crawl.frontier.frontier import Frontier
    from periplus.crawl.frontier.page_pool import PageAccount
    from periplus.crawl.frontier.partitions import Partitions
    from periplus.crawl.frontier.roster import WorkerStatus
    from periplus.crawl.frontier.rows import Committed
    from periplus.crawl.working.committer import CommitOrder
    from periplus.crawl.working.counters import Counters
    from periplus.crawl.working.engine import CrawlEngine
    from periplus.storage import Database, Transaction


class Member:
    """``check`` and ``settle`` run inside commits, ``beat`` after them, in the same thread."""

    def __init__(
        self,
        database: Database,
        frontier: Frontier,
        partitions: Partitions,
        account: PageAccount,
        counters: Counters,
        slots: AddressSlots,
        also: Callable[[Transaction], None] | None = None,
    ) -> None:
        self._database = database
        self._frontier = frontier
        self._partitions = partitions
        self._counters = counters
        self._also = also
        self.slots = slots
        self.workers = 1  # that share the crawl
        self._account = account
        self.order: CommitOrder | None = None
        self.grant = Grant()
        self.has_left = False
        self.resting = False  # it gives its hosts to others and takes none
        frontier.parts = ()

    def may_send(self) -> bool:
        return self._partitions.may_send()

    def status(self, engine: CrawlEngine) -> WorkerStatus:
        self._counters.active = engine.under_way
        state = roster.RESTING if self.resting else engine.state
        return self._counters.worker(
            self._frontier.worker, state, hosts=engine.hosts, partitions=len(self._frontier.parts)
        )

    def check(self, tx: Transaction) -> None:
        """Raise ``LeaseLost`` when this worker may not write any more."""
        self._partitions.check(tx)

    def settle(self, tx: Transaction, committed: Committed) -> None:
        """What a commit says besides its bundle: places for pages, and that we are alive."""
        order = self.order
        assert order is not None
        self.grant = self._account.settle(tx, committed.gained, order.places, len(roster.living(tx)))
        roster.write(tx, order.status, order.slots)
        if self._also is not None:
            self._also(tx)

    def stay(self, order: CommitOrder) -> None:
        """While a commit cannot end: keep the lease, and show that we are alive."""
        self._partitions.keep()
        with self._database.write() as tx:
            self._partitions.check(tx)
            roster.write(tx, order.status, order.slots)
            if self._also is not None:
                self._also(tx)

    def reserve(self, slots: Sequence[int]) -> list[tuple[int, float]]:
        """Windows for these slots of IP addresses, and when they end."""
        with self._database.write() as tx:
            self._partitions.check(tx)
            return reserve(tx, slots, crawl_time(tx))

    def more_to_fetch(self, now: float) -> bool:
        """Before a crawl ends: whether there are places after all, and pages that were passed over for want of them."""
        if not self._account.limit:
            return False
        with self._database.write() as tx:
            left = self._account.count(tx)
        with self._database.write() as tx:  # apart: commits lock hosts first, then the pool
            return left > 0 and self._frontier.reopen(tx, now) > 0

    def gives_back(self, used: frozenset[int]) -> bool:
        """Whether partitions go to others with the next beat: we leave them, and have no host of theirs."""
        return bool(self._partitions.leaving - used)

    def beat(self, used: frozenset[int]) -> int:
        """Renew the lease and keep a fair share of the partitions; how many workers there are."""
        number = self._frontier.worker
        with self._database.read() as tx:
            living = roster.living(tx)
        place = living.index(number) if number in living else len(living)
        workers = max(len(living), place + 1)
        self._partitions.tick(0 if self.resting else workers, used, place=place)
        self._frontier.parts = self._partitions.usable
        self.workers = workers
        return workers

    def leave(self, documents: int) -> None:
        """All hosts are given back: so are the partitions; the last figures stay."""
        self._frontier.parts = ()
        self._counters.stored(documents)
        self._counters.active = 0
        number = self._frontier.worker
        with self._database.write() as tx:
            self._partitions.release(tx)
            give_back(tx, self.slots.ends(), crawl_time(tx) + self.slots.gap)
            roster.write(tx, self._counters.worker(number, roster.ENDED, hosts=0, partitions=0), [])
            roster.end(tx, number)
        self.has_left = True
