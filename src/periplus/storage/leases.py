"""Leases: who owns a named thing (a worker's place in a crawl, a job) until when, with fencing tokens.

A lease is held until it expires or is released. Every new holder gets a larger token. A holder that slept through its
expiry may find another in its place: ``check`` in each write transaction refuses its late writes with ``LeaseLost``.
An expired lease that nobody took is not lost yet: it can still be renewed, and writes under it are safe.

A token stops late writes, not late requests to others: before those, ask ``remaining``. On PostgreSQL expiry is by the
server's clock, so machines need not agree on the time; ``remaining`` counts on the holder's own clock from before the
lease was asked for, so it errs on the safe side. That clock (``steady``) runs on while the machine is suspended.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.errors import LeaseLost

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.storage.database import Database, Transaction

_SERVER_TIME = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"
_FREE = 0.0  # expires of a released lease


def steady() -> float:
    """Seconds on a clock that nobody sets and that does not stop while the machine sleeps; one for all processes."""
    return time.clock_gettime(_STEADY)


_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # elsewhere than on Linux, the nearest there is


def database_time(transaction: Transaction) -> float:
    """Seconds since 1970 by the clock of the database: the server's, or this machine's where it is a file."""
    return float(transaction.value(_SERVER_TIME)) if transaction.dialect == "postgresql" else time.time()


class Lease(Struct, frozen=True):
    name: str
    owner: str
    token: int
    expires: float  # by the clock of the database
    seconds: float = 0.0
    granted: float = 0.0  # by the holder's steady clock


class Leases:
    """The leases of one database; ``clock`` replaces all clocks in tests."""

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock
        self._steady = clock or steady

    def acquire(self, name: str, owner: str, seconds: float) -> Lease | None:
        """The lease of ``name`` when it is free, else ``None``, also for its present owner (who renews)."""
        granted = self._steady()
        with self._database.write() as transaction:
            now = self.now(transaction)
            token = _take(transaction, name, owner, now, now + seconds)
        return Lease(name, owner, token, now + seconds, seconds, granted) if token else None

    def take_over(self, known: Lease, owner: str, seconds: float, *, dead: bool = False) -> Lease | None:
        """The lease that ``known`` shows, when it has expired or its holder is known to be ``dead``.

        ``None`` when its holder renewed it or another took it meanwhile.
        """
        granted = self._steady()
        with self._database.write() as transaction:
            now = self.now(transaction)
            sql = (
                "UPDATE leases SET owner = ?, token = token + 1, expires = ?"
                " WHERE name = ? AND owner = ? AND token = ? AND expires <= ?"
            )
            latest = now if not dead else max(now, known.expires)
            values = (owner, now + seconds, known.name, known.owner, known.token, latest)
            if not transaction.execute(sql, values):
                return None
        return Lease(known.name, owner, known.token + 1, now + seconds, seconds, granted)

    def renew(self, lease: Lease, seconds: float | None = None) -> Lease:
        """A lease with its full time again; raises ``LeaseLost`` when another holds it now."""
        with self._database.write() as transaction:
            return self.renew_in(transaction, lease, seconds)

    def renew_in(self, transaction: Transaction, lease: Lease, seconds: float | None = None) -> Lease:
        """A lease with its full time again when ``transaction`` commits; raises ``LeaseLost`` as ``renew`` does."""
        granted = self._steady()
        length = lease.seconds if seconds is None else seconds
        now = self.now(transaction)
        if not _extend(transaction, lease, now + length):
            raise _lost(lease)
        return Lease(lease.name, lease.owner, lease.token, now + length, length, granted)

    def release(self, lease: Lease) -> None:
        """Give it up at once; one that is lost already is left to its new holder."""
        with self._database.write() as transaction:
            self.release_in(transaction, lease)

    def release_in(self, transaction: Transaction, lease: Lease) -> None:
        """Give it up when ``transaction`` commits."""
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
        return lease.granted + lease.seconds - self._steady()

    def held(self) -> list[Lease]:
        """All leases that have not expired, by name."""
        sql = "SELECT name, owner, token, expires FROM leases WHERE expires > ? ORDER BY name"
        with self._database.read() as transaction:
            return [Lease(*row) for row in transaction.rows(sql, (self.now(transaction),))]

    def now(self, transaction: Transaction) -> float:
        """The time by which leases expire."""
        return self._clock() if self._clock is not None else database_time(transaction)


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
