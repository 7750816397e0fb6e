"""What workers left undone that died: found by their leases, taken over once, healed, and only then given to others.

A worker is dead when its lease has run out for ``GRACE`` seconds, or at once when its process is known to have ended:
a child that was waited for, or one of this machine. Whoever finds it first takes its lease over, which fences it off
for good should it only have slept, then replays its archive, stores its documents and lets its hosts rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.crawl.frontier import roster
from periplus.crawl.leading.recovery import Recovery
from periplus.crawl.working.worker import Worker
from periplus.errors import LeaseLost
from periplus.storage import Leases, is_dead, process_name, steady

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from periplus.crawl.frontier.roster import Seat
    from periplus.settings import Settings
    from periplus.storage import Database, Depot, Lease, Transaction

GRACE = 3.0  # seconds that an expired lease is left to its holder, who may just be waking up
HEALING_SECONDS = 60.0  # that one may take; each chunk of work renews it


class Undertaker:
    """Belongs to a session; ``look`` must be called now and then, from one thread at a time."""

    def __init__(self, folder: Path, database: Database, settings: Settings, depot: Depot | None = None) -> None:
        self._folder = folder
        self._database = database
        self._settings = settings
        self._depot = depot
        self._leases = Leases(database)
        self._expired: dict[int, float] = {}  # workers whose lease has run out, and since when we know

    def look(self, ended: Collection[int] = (), *, everyone: bool = False) -> list[int]:
        """Heal whoever is dead; their numbers. ``ended`` are known to be, or ``everyone`` of the roster."""
        found = [seat for seat in roster.seats(self._database) if everyone or self._is_dead(seat, ended)]
        dead: dict[int, Lease] = {}
        for seat in found:
            lease = self._taken_over(seat, everyone=everyone)
            if lease is not None:
                dead[seat.number] = lease
        return self._heal(dead) if dead else []

    def _is_dead(self, seat: Seat, ended: Collection[int]) -> bool:
        if seat.number in ended or is_dead(seat.process):
            return True
        if not seat.is_over:
            self._expired.pop(seat.number, None)
            return False
        return steady() - self._expired.setdefault(seat.number, steady()) >= GRACE

    def _taken_over(self, seat: Seat, *, everyone: bool) -> Lease | None:
        """Its lease, when it was still there to be taken, so that nobody is healed twice at once."""
        if not seat.lease.token:  # of a version in which workers had none
            return self._leases.acquire(seat.lease.name, _healer(seat.number), HEALING_SECONDS)
        if seat.process != process_name():
            self._database.end_sessions(seat.process)  # one that froze within a transaction still has its locks
        own = seat.lease.owner == roster.owner_name(seat.number)  # else somebody is healing it, or died at that
        return self._leases.take_over(seat.lease, _healer(seat.number), HEALING_SECONDS, dead=own or everyone)

    def _heal(self, dead: dict[int, Lease]) -> list[int]:
        held = list(dead.values())

        def check(tx: Transaction) -> None:
            for lease in held:
                self._leases.check(tx, lease)
                tx.execute("UPDATE leases SET expires = ? WHERE name = ?", (self._later(tx), lease.name))

        kit = Worker(self._folder, self._database, self._settings, depot=self._depot)
        recovery = Recovery(
            self._folder, self._database, self._settings.crawl, kit.frontier, kit.interpreter, depot=self._depot
        )
        kit.frontier.parts = ()
        try:
            recovery.heal(sorted(dead), check)
        except LeaseLost:
            return []  # it took so long that another has taken it over
        for number, lease in dead.items():
            self._leases.release(lease)
            self._expired.pop(number, None)
        return sorted(dead)

    def _later(self, tx: Transaction) -> float:
        return self._leases.now(tx) + HEALING_SECONDS


def _healer(number: int) -> str:
    return f"healer of worker {number}"
