"""The partitions of the frontier that a worker holds, by leases.

Hosts are hashed into partitions; only the holder of a partition sends requests to its hosts. Invariants: no request
leaves unless the lease outlives the request's time limit (``may_send``), so whoever takes a lease over after its
expiry need only keep the gap; no commit of a worker that lost a lease goes through (``check``). Workers share evenly:
one that has too many empties some and gives them back.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from periplus.crawl.rows import PARTITIONS
from periplus.errors import LeaseLost
from periplus.storage import Leases

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from periplus.storage import Database, Transaction
    from periplus.storage.leases import Lease

PREFIX = "crawl.part."
FOR_GOOD = 365 * 86_400.0  # of the worker whose end is the end of the crawl
MARGIN = 20.0  # seconds that a lease is longer than a request's time limit
RENEWALS = 4  # in the time of that margin


class Partitions:
    """One worker's; everything but ``may_send`` runs in the thread of its commits."""

    def __init__(
        self,
        database: Database,
        owner: str,
        *,
        timeout: float,
        for_good: bool = False,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._leases = Leases(database, clock)
        self._clock = clock or time.monotonic
        self._owner = owner
        self._timeout = timeout
        self._seconds = FOR_GOOD if for_good else timeout + MARGIN
        self._held: dict[int, Lease] = {}
        self._next_renewal = 0.0
        self._safe_until = 0.0
        self.leaving: frozenset[int] = frozenset()

    @property
    def usable(self) -> tuple[int, ...]:
        """Those from which hosts may be taken."""
        return tuple(sorted(self._held.keys() - self.leaving))

    def may_send(self) -> bool:
        """Whether a request that is sent now ends within the leases."""
        return self._clock() < self._safe_until

    def tick(self, workers: int, still_used: Collection[int]) -> bool:
        """Renew what is due, take or leave what a fair share among ``workers`` asks for; whether anything changed."""
        before = self.usable
        self._renew()
        self._give_back(still_used)
        share = -(-PARTITIONS // max(1, workers))
        kept = len(self._held) - len(self.leaving)
        if kept > share:
            self.leaving |= set(list(self.usable)[share:])
        elif kept < share:
            self._take(share - kept)
        return self.usable != before

    def check(self, tx: Transaction) -> None:
        """Refuse to write when a lease is lost; nobody can take one before the transaction ends."""
        sql = f"SELECT name, token FROM leases WHERE owner = ? ORDER BY name{tx.row_lock}"  # noqa: S608
        tokens: dict[str, int] = dict(tx.rows(sql, (self._owner,)))
        for lease in self._held.values():
            if tokens.get(lease.name) != lease.token:
                raise LeaseLost(f"{self._owner} no longer holds {lease.name}; another worker goes on with its hosts")

    def release(self) -> None:
        """Give all of them back."""
        for lease in self._held.values():
            self._leases.release(lease)
        self._held = {}
        self._safe_until = 0.0

    def _renew(self) -> None:
        now = self._clock()
        if not self._held or now < self._next_renewal:
            return
        kept = self._leases.renew_many(list(self._held.values()))
        if len(kept) < len(self._held):
            raise LeaseLost(f"{self._owner} slept through its leases; others go on with its hosts")
        self._note(kept)

    def _take(self, count: int) -> None:
        back = sorted(self.leaving)[:count]  # what we have not left yet is nearest
        self.leaving -= set(back)
        free = [_name(part) for part in range(PARTITIONS) if part not in self._held]
        if count > len(back) and free:
            self._note(self._leases.acquire_many(free, self._owner, self._seconds, count - len(back)))

    def _give_back(self, still_used: Collection[int]) -> None:
        empty = self.leaving - set(still_used)
        for part in sorted(empty):
            self._leases.release(self._held.pop(part))
        self.leaving -= empty

    def _note(self, leases: list[Lease]) -> None:
        self._held.update({int(lease.name.removeprefix(PREFIX)): lease for lease in leases})
        oldest = min((lease.granted + lease.seconds for lease in self._held.values()), default=0.0)
        self._safe_until = oldest - self._timeout
        self._next_renewal = min(oldest - self._timeout - MARGIN, self._clock()) + MARGIN / RENEWALS


def _name(part: int) -> str:
    return f"{PREFIX}{part:03d}"


def free_all(tx: Transaction) -> None:
    """Nobody holds a partition any more; for a start that knows that no worker lives. Old holders are fenced off."""
    tx.execute(f"UPDATE leases SET expires = 0, owner = '', token = token + 1 WHERE name LIKE '{PREFIX}%'")  # noqa: S608


def free_of(tx: Transaction, owner: str) -> None:
    """The partitions of one worker that is known to be dead."""
    tx.execute(
        f"UPDATE leases SET expires = 0, owner = '', token = token + 1 WHERE owner = ? AND name LIKE '{PREFIX}%'",  # noqa: S608
        (owner,),
    )
