"""Leases: who owns a named thing (a partition of the frontier, a job) until when, with fencing tokens.

A lease is held until it expires or is released. Every new holder gets a larger token. A holder that slept through its
expiry may find another in its place: ``check`` in each write transaction refuses its late writes with ``LeaseLost``.
An expired lease that nobody took is not lost yet: it can still be renewed, and writes under it are safe.

A token stops late writes, not late requests to others: before those, ask ``remaining``. On PostgreSQL expiry is by the
server's clock, so machines need not agree on the time; ``remaining`` counts on the holder's own monotonic clock from
before the lease was asked for, so it errs on the safe side.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.errors import LeaseLost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from periplus.storage.database import Database, Transaction

_SERVER_TIME = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"
_FREE = 0.0  # expires of a released lease


class Lease(Struct, frozen=True):
    name: str
    owner: str
    token: int
    expires: float  # by the clock of the database
    seconds: float = 0.0
    granted: float = 0.0  # by the holder's monotonic clock


class Leases:
    """The leases of one database; ``clock`` replaces all clocks in tests."""

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock
        self._monotonic = clock or time.monotonic

    def acquire(self, name: str, owner: str, seconds: float) -> Lease | None:
        """The lease of ``name`` when it is free, else ``None``, also for its present owner (who renews)."""
        return next(iter(self.acquire_many([name], owner, seconds)), None)

    def acquire_many(self, names: Iterable[str], owner: str, seconds: float, limit: int | None = None) -> list[Lease]:
        """Those of ``names`` that are free, at most ``limit`` of them, in one transaction."""
        granted = self._monotonic()
        taken: list[Lease] = []
        with self._database.write() as transaction:
            expires = self._now(transaction) + seconds
            for name in names:
                if limit is not None and len(taken) >= limit:
                    break
                token = _take(transaction, name, owner, expires - seconds, expires)
                if token:
                    taken.append(Lease(name, owner, token, expires, seconds, granted))
        return taken

    def renew(self, lease: Lease, seconds: float | None = None) -> Lease:
        """A lease with its full time again; raises ``LeaseLost`` when another holds it now."""
        kept = self.renew_many([lease], seconds)
        if not kept:
            raise _lost(lease)
        return kept[0]

    def renew_many(self, leases: Sequence[Lease], seconds: float | None = None) -> list[Lease]:
        """Those that are still held, renewed in one transaction; what is absent is lost."""
        granted = self._monotonic()
        kept: list[Lease] = []
        with self._database.write() as transaction:
            now = self._now(transaction)
            for lease in sorted(leases, key=lambda lease: lease.name):  # one order: no deadlocks
                length = lease.seconds if seconds is None else seconds
                if _extend(transaction, lease, now + length):
                    kept.append(Lease(lease.name, lease.owner, lease.token, now + length, length, granted))
        return kept

    def release(self, lease: Lease) -> None:
        """Give it up at once; one that is lost already is left to its new holder."""
        with self._database.write() as transaction:
            _extend(transaction, lease, _FREE, owner="")

    def check(self, transaction: Transaction, lease: Lease) -> None:
        """Raise ``LeaseLost`` unless held; nobody else can take it before ``transaction`` ends."""
        found = transaction.row(
            f"SELECT owner, token FROM leases WHERE name = ?{transaction.row_lock}",  # noqa: S608
            (lease.name,),
        )
        if found != (lease.owner, lease.token):
            raise _lost(lease)

    def remaining(self, lease: Lease) -> float:
        """Seconds that the holder may still rely on, by its own clock; negative when the time is over."""
        return lease.granted + lease.seconds - self._monotonic()

    def held(self) -> list[Lease]:
        """All leases that have not expired, by name."""
        sql = "SELECT name, owner, token, expires FROM leases WHERE expires > ? ORDER BY name"
        with self._database.read() as transaction:
            return [Lease(*row) for row in transaction.rows(sql, (self._now(transaction),))]

    def _now(self, transaction: Transaction) -> float:
        if self._clock is not None:
            return self._clock()
        return float(transaction.value(_SERVER_TIME)) if transaction.dialect == "postgresql" else time.time()


def _take(transaction: Transaction, name: str, owner: str, now: float, expires: float) -> int:
    """The new token, 0 when somebody holds the lease. One statement, so two takers cannot both succeed."""
    sql = (
        "INSERT INTO leases (name, owner, token, expires) VALUES (?, ?, 1, ?)"
        " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = leases.token + 1, expires = excluded.expires"
        " WHERE leases.expires <= ? RETURNING token"
    )
    return int(transaction.value(sql, (name, owner, expires, now)) or 0)


def _extend(transaction: Transaction, lease: Lease, expires: float, owner: str | None = None) -> bool:
    sql = "UPDATE leases SET expires = ?, owner = ? WHERE name = ? AND owner = ? AND token = ?"
    new_owner = lease.owner if owner is None else owner
    return transaction.execute(sql, (expires, new_owner, lease.name, lease.owner, lease.token)) == 1


def _lost(lease: Lease) -> LeaseLost:
    return LeaseLost(f"{lease.owner} no longer holds {lease.name}; stop work on it, another owner goes on")
