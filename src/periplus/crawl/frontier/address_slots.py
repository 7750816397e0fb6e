"""The gap between requests to one IP address, kept by one worker alone, or by all workers of a machine together.

They share a file of fixed size, mapped into every worker: two times for each of 65,536 slots, the start of the last
request and the end of the queue of reservations. An address falls into a slot by its hash; two that share one wait for
each other, which is slower and never impolite. Times are of the wall clock, so the gap also holds across restarts. Many
machines keep it by ``address_windows``.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from periplus.storage import disk_errors, reserve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SLOTS = 65_536
_BYTES = SLOTS * 2 * 8
_FARTHEST = 600.0  # a reservation further ahead than this comes from a clock that was set back


def slot_of(ip: str) -> int:
    return xxh3_64_intdigest(ip.encode()) % SLOTS


class AddressSlots:
    """The gap between requests to one IP address, whichever hosts live there.

    Hosts that share an address queue by reservation, so that none waits for ever and nobody has to poll.
    """

    CLEAN_AT = 4_096
    STALE = 600.0

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self._last: dict[str, float] = {}  # start of the last request
        self._free_at: dict[str, float] = {}  # end of the queue of reservations
        self._reserved: dict[int, tuple[str, float]] = {}  # by host

    def ask(self, ip: str, host: int, now: float) -> float:
        """When ``host`` may send a request to ``ip``; the slot is taken when that is now."""
        known = self._reserved.get(host)
        at = known[1] if known and known[0] == ip else self._queue_up(ip, now)
        at = max(at, self._last.get(ip, 0.0) + self.gap)
        if at > now:
            self._reserved[host] = (ip, at)
            return at
        self._reserved.pop(host, None)
        self._last[ip] = now
        self._free_at[ip] = max(self._free_at.get(ip, 0.0), now + self.gap)
        return now

    @property
    def hungry(self) -> bool:
        """Whether an address waits for a reservation in the database."""
        return False

    def wishes(self) -> list[int]:
        """What is to be reserved there: here nothing, since nobody else is asked."""
        return []

    def grant(self, windows: Iterable[tuple[int, float]]) -> None:
        """What was reserved."""

    def ends(self) -> list[tuple[int, float]]:
        """What was reserved and may be given back."""
        return []

    def close(self) -> None:
        """Let go of what is shared."""

    def _queue_up(self, ip: str, now: float) -> float:
        if len(self._last) + len(self._reserved) >= self.CLEAN_AT:
            self._forget(now)
        at = max(now, self._free_at.get(ip, 0.0))
        self._free_at[ip] = at + self.gap
        return at

    def _forget(self, now: float) -> None:
        """Drop what no longer holds anyone back."""
        self._last = {ip: at for ip, at in self._last.items() if at + self.gap > now}
        self._free_at = {ip: at for ip, at in self._free_at.items() if at > now}
        self._reserved = {host: slot for host, slot in self._reserved.items() if slot[1] > now - self.STALE}


class SharedAddressSlots(AddressSlots):
    """Slots of addresses in a file that all workers map; asked and answered as ``AddressSlots`` are."""

    def __init__(self, path: Path, gap: float) -> None:
        super().__init__(gap)
        reserve(path, _BYTES)
        with disk_errors(path):
            self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            self._map = mmap.mmap(self._file, _BYTES)
        self._times = memoryview(self._map).cast("d")

    def close(self) -> None:
        self._times.release()
        self._map.close()
        os.close(self._file)

    def ask(self, ip: str, host: int, now: float) -> float:
        """When ``host`` may send a request to ``ip``; the slot is taken when that is now."""
        slot = slot_of(ip)
        with self._locked():
            return self._ask(slot, ip, host, now)

    def _ask(self, slot: int, ip: str, host: int, now: float) -> float:
        last, free_at = self._times[2 * slot], self._times[2 * slot + 1]
        last = last if last <= now else 0.0
        free_at = free_at if free_at < now + _FARTHEST else 0.0
        known = self._reserved.get(host)
        at = known[1] if known and known[0] == ip else max(now, free_at)
        if not (known and known[0] == ip):
            free_at = at + self.gap
        at = max(at, last + self.gap)
        if at > now:
            self._reserve(host, ip, at, now)
        else:
            self._reserved.pop(host, None)
            self._times[2 * slot] = now
            free_at = max(free_at, now + self.gap)
        self._times[2 * slot + 1] = free_at
        return max(at, now)

    def _reserve(self, host: int, ip: str, at: float, now: float) -> None:
        if len(self._reserved) >= self.CLEAN_AT:
            self._forget(now)
        self._reserved[host] = (ip, at)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
