"""The partitions of the frontier that a worker holds, under one lease.

Hosts are hashed into partitions; only the holder of a partition sends requests to its hosts. A worker has one lease,
made with its number (``roster.register``) and renewed while it lives; its partitions are rows that name it. Invariants:
no request leaves unless the lease outlives the request's time limit (``may_send``), so whoever takes the lease over
after its expiry need only keep the gap; no commit of a worker that lost its lease goes through (``check``); a
partition changes hands only when its worker gave it back, or when that worker's lease was taken over. Workers share
evenly: one that has too many empties some and gives them back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.storage import Leases, steady

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from periplus.crawl.frontier.clock import CrawlClock
    from periplus.storage import Database, Lease, Transaction

EMBEDDED, SHARED = 64, 1_024  # partitions of a collection in a file, and of one that machines share
MARGIN = 20.0  # seconds that a lease is longer than a request's time limit
RENEWALS = 4  # in the time of that margin


class Partitions:
    """One worker's; everything but ``may_send`` runs in the thread of its commits."""

    def __init__(
        self,
        database: Database,
        worker: int,
        lease: Lease,
        *,
        timeout: float,
        wall: CrawlClock | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._database = database
        self._leases = Leases(database, clock)
        self._clock = clock or steady
        self._wall = wall
        self._worker = worker
        self._timeout = timeout
        self._count = partition_count(database)
        self._held: set[int] = set()
        self.leaving: frozenset[int] = frozenset()
        self._note(lease)

    @property
    def usable(self) -> tuple[int, ...]:
        """Those from which hosts may be taken."""
        return tuple(sorted(self._held - self.leaving))

    def may_send(self) -> bool:
        """Whether a request that is sent now ends within the lease."""
        return self._clock() < self._safe_until

    def tick(self, workers: int, still_used: Collection[int], *, place: int = 0) -> bool:
        """Renew when due; take or leave what a fair share among ``workers`` asks for; whether anything changed.

        ``place`` is ours among them; with no workers at all, our share is nothing.
        """
        before = self.usable
        self.keep()
        self._give_back(still_used)
        share = share_of(self._count, workers, place)
        kept = len(self._held) - len(self.leaving)
        if kept > share:
            self.leaving |= set(self.usable[share:])
        elif kept < share:
            self._take(share - kept)
        return self.usable != before

    def keep(self) -> None:
        """Renew when due, and nothing else."""
        if self._clock() >= self._next_renewal:
            self._renew()

    def check(self, tx: Transaction) -> None:
        """Refuse to write when the lease is lost; nobody can take it over before the transaction ends."""
        self._leases.check(tx, self._lease)

    def release(self, tx: Transaction) -> None:
        """Give all of them back, and the lease."""
        self.check(tx)
        free_of(tx, self._worker)
        self._leases.release_in(tx, self._lease)
        self._held = set()
        self._safe_until = 0.0

    def _renew(self) -> None:
        self._note(self._leases.renew(self._lease))
        if self._wall is not None:
            self._wall.look(self._database)

    def _take(self, count: int) -> None:
        back = sorted(self.leaving)[:count]  # what we have not left yet is nearest
        self.leaving -= set(back)
        if count == len(back):
            return
        with self._database.write() as tx:
            skip = f"{tx.row_lock} SKIP LOCKED" if tx.row_lock else ""
            free = f"SELECT part FROM partitions WHERE worker = 0 ORDER BY part LIMIT ?{skip}"  # noqa: S608
            if not tx.row("SELECT 1 FROM partitions WHERE worker = 0 LIMIT 1"):
                return
            self.check(tx)
            sql = f"UPDATE partitions SET worker = ? WHERE part IN ({free}) RETURNING part"  # noqa: S608
            taken = [part for (part,) in tx.rows(sql, (self._worker, count - len(back)))]
        self._held.update(taken)

    def _give_back(self, still_used: Collection[int]) -> None:
        empty = self.leaving - set(still_used)
        if not empty:
            return
        with self._database.write() as tx:
            self.check(tx)
            tx.executemany("UPDATE partitions SET worker = 0 WHERE part = ?", [(part,) for part in sorted(empty)])
        self._held -= empty
        self.leaving -= empty

    def _note(self, lease: Lease) -> None:
        self._lease = lease
        self._safe_until = lease.granted + lease.seconds - self._timeout
        self._next_renewal = lease.granted + MARGIN / RENEWALS


def share_of(count: int, workers: int, place: int) -> int:
    """How many of ``count`` partitions fall to the worker at ``place`` among so many; all shares add up to them."""
    return count // workers + (place < count % workers) if workers else 0


def lease_seconds(timeout: float) -> float:
    """For how long a worker leases its place, whose requests may take ``timeout``."""
    return timeout + MARGIN


def partition_count(database: Database) -> int:
    """How many partitions a collection has; decided once, by its first crawl."""
    with database.read() as tx:
        known = int(tx.value("SELECT COUNT(*) FROM partitions"))
    if known:
        return known
    with database.write() as tx:
        older = tx.value("SELECT 1 FROM hosts LIMIT 1") is not None  # of a version in which there were always so many
        count = EMBEDDED if older or tx.dialect == "sqlite" else SHARED
        tx.insert_new("partitions", ("part",), [(part,) for part in range(count)], "part")
    with database.read() as tx:
        return int(tx.value("SELECT COUNT(*) FROM partitions"))


def free_of(tx: Transaction, worker: int) -> None:
    """The partitions of a worker whose lease was taken over."""
    tx.execute("UPDATE partitions SET worker = 0 WHERE worker = ?", (worker,))
