"""Leases for work of minutes or hours, such as building an index: a thread keeps them up while the work lasts.

Who lost one (it was frozen, or cut off from the database, and another took it) learns that with its next ``check``, at
the latest in the transaction that would have published its work.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from periplus.errors import LeaseLost, StorageBusy, StorageError
from periplus.storage.leases import Leases
from periplus.storage.processes import is_dead, process_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.storage.database import Database, Transaction
    from periplus.storage.leases import Lease

KEPT_SECONDS = 60.0  # that others wait for a holder of which nothing is heard
RENEWALS = 4  # in that time
POLL = 0.2  # seconds between two tries of whoever waits


class KeptLease:
    """A lease that is renewed by a thread of its own until ``close``."""

    def __init__(self, leases: Leases, lease: Lease) -> None:
        self._leases = leases
        self._lease = lease
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease {lease.name}", daemon=True)
        self._thread.start()

    @property
    def token(self) -> int:
        return self._lease.token

    def check(self, transaction: Transaction) -> None:
        """Raise ``LeaseLost`` unless held; nobody else can take it before ``transaction`` ends."""
        try:
            self._leases.check(transaction, self._lease)
        except LeaseLost as error:
            raise LeaseLost(
                f"another process went on while this one, {doing_of(self._lease)} this collection, was not heard of for"
                f" {self._lease.seconds:.0f} s; nothing of this was published, run it again"
            ) from error

    def close(self) -> None:
        """Give it up. A database that cannot be reached just lets it expire."""
        self._ended.set()
        self._thread.join()
        try:
            self._leases.release(self._lease)
        except StorageError:
            return

    def _keep(self) -> None:
        while not self._ended.wait(self._lease.seconds / RENEWALS):
            try:
                self._lease = self._leases.renew(self._lease)
            except LeaseLost:
                return  # ``check`` says so
            except StorageError:
                continue  # the database is away: while nobody took it, it can still be renewed


@contextmanager
def kept_lease(
    database: Database,
    name: str,
    doing: str,
    *,
    waits: Callable[[str], bool] = lambda _: False,
    seconds: float = KEPT_SECONDS,
) -> Iterator[KeptLease]:
    """Hold the lease ``name`` while ``doing`` something; ``StorageBusy`` while another holds it.

    ``waits`` is asked again and again whether to wait for a holder, by what that one is doing.
    """
    leases = Leases(database)
    owner = f"{doing}|{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}|{process_name()}"
    while (lease := _taken(leases, name, owner, seconds)) is None:
        known = holder(leases, name)
        if known is not None and not waits(doing_of(known)):
            raise StorageBusy(
                f"another process is {doing_of(known)} this collection ({_where(known)}); wait for it or stop it"
            )
        time.sleep(POLL)
    kept = KeptLease(leases, lease)
    try:
        yield kept
    finally:
        kept.close()


def holder(leases: Leases, name: str) -> Lease | None:
    """The lease as somebody holds it; ``None`` when it is free."""
    return next((lease for lease in leases.held() if lease.name == name), None)


def doing_of(lease: Lease) -> str:
    """What its holder is doing."""
    return lease.owner.partition("|")[0]


def _where(lease: Lease) -> str:
    machine, process, _ = (*lease.owner.split("|")[1].split(":"), "", "")[:3]
    return f"{machine}, process {process}"


def _taken(leases: Leases, name: str, owner: str, seconds: float) -> Lease | None:
    """When it is free, or its holder was a process of this machine that is dead."""
    lease = leases.acquire(name, owner, seconds)
    if lease is not None:
        return lease
    known = holder(leases, name)
    if known is not None and is_dead(known.owner.rpartition("|")[2]):
        return leases.take_over(known, owner, seconds, dead=True)
    return None
