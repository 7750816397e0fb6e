"""The gap between requests to one IP address, kept by all workers of a machine together.

A file of fixed size, mapped into every worker: two times for each of 65,536 slots, the start of the last request and
the end of the queue of reservations. An address falls into a slot by its hash; two that share one wait for each other,
which is slower and never impolite. Times are of the wall clock, so the gap also holds across restarts. Many
machines keep it by ``address_windows``.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from periplus.crawl.rules.politeness import AddressSlots
from periplus.storage import disk_errors, reserve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLOTS = 65_536
_BYTES = SLOTS * 2 * 8
_FARTHEST = 600.0  # a reservation further ahead than this comes from a clock that was set back


def slot_of(ip: str) -> int:
    return xxh3_64_intdigest(ip.encode()) % SLOTS


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
