"""Who conducts a crawl: one of its sessions, by a lease. It writes the crawl's figures and decides when it is over.

Nothing else hangs on it: workers crawl on when the conductor dies, and another session takes its lease.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from periplus.crawl.frontier.roster import own_address
from periplus.errors import LeaseLost
from periplus.storage import Database, Lease, Leases, is_dead, process_name, steady

if TYPE_CHECKING:
    from periplus.storage import Transaction

NAME = "crawl"
SECONDS = 10.0
RENEWALS = 5  # in that time


class Conductor:
    """One session's part in it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._leases = Leases(database)
        self._lease: Lease | None = None
        self._next = 0.0
        self._owner = f"{own_address()}:{secrets.token_hex(4)} {process_name()}"

    @property
    def conducts(self) -> bool:
        return self._lease is not None

    def take(self, *, alone: bool = False) -> bool:
        """Become it when nobody is: the lease is free, its holder is dead, or we are ``alone`` for certain."""
        if self._lease is None:
            self._lease = self._leases.acquire(NAME, self._owner, SECONDS)
        if self._lease is None:
            known = next((lease for lease in self._leases.held() if lease.name == NAME), None)
            if known is not None and (alone or is_dead(known.owner.rpartition(" ")[2])):
                self._lease = self._leases.take_over(known, self._owner, SECONDS, dead=True)
        return self._lease is not None

    def keep(self) -> bool:
        """Renew when due, or try to become it; whether we are."""
        if steady() < self._next:
            return self.conducts
        self._next = steady() + SECONDS / RENEWALS
        if self._lease is None:
            return self.take()
        try:
            self._lease = self._leases.renew(self._lease)
        except LeaseLost:
            self._lease = None
        return self.conducts

    def keep_in(self, tx: Transaction) -> None:
        """Renew a little early in a transaction that is made anyway: ``keep`` would wait for the end of it.

        Where that fails, ``keep`` finds out in time.
        """
        if self._lease is None or steady() < self._next - SECONDS / RENEWALS / 2:
            return
        with suppress(LeaseLost):
            self._lease = self._leases.renew_in(tx, self._lease)
            self._next = steady() + SECONDS / RENEWALS

    def release(self) -> None:
        if self._lease is not None:
            self._leases.release(self._lease)
            self._lease = None
