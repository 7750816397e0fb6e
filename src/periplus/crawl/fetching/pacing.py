"""How fast and when a crawl may run at all: a cap on bandwidth, hours of the day, room on the disk."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from periplus.errors import SettingError
from periplus.storage import disk_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BURST_SECONDS = 0.25  # of the cap may arrive at once
FARTHEST = 600.0
DISK_SECONDS = 2.0  # between two looks at the disk
LEFT_FREE = 500_000_000  # bytes of it
SMALL_DISK = 10_000_000_000
_TIME = struct.Struct("<d")
DAY = 24 * 60
_HOURS = re.compile(r"(\d{1,2})(?::(\d\d))?-(\d{1,2})(?::(\d\d))?")


class Bandwidth:
    """A cap on bytes a second over all bodies; 0 is none.

    Workers that name the same file share it; where they are on many machines, each has a part: ``among`` says how many
    there are now.
    """

    def __init__(self, rate: float, path: Path | None = None, among: Callable[[], int] = lambda: 1) -> None:
        self._rate = rate
        self._among = among
        self._busy_until = 0.0
        self._file = -1
        if path and rate:
            with disk_errors(path):
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def claim(self, size: int) -> float:
        """Seconds to wait, now that ``size`` bytes have arrived, to stay under the cap."""
        if not self._rate:
            return 0.0
        if self._file < 0:
            return self._claim(size)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            stored = os.pread(self._file, _TIME.size, 0)
            self._busy_until = _TIME.unpack(stored)[0] if len(stored) == _TIME.size else 0.0
            wait = self._claim(size)
            with suppress(OSError):  # a full disk is told by whoever stores pages; the cap holds for each worker then
                os.pwrite(self._file, _TIME.pack(self._busy_until), 0)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        return wait

    def _claim(self, size: int) -> float:
        now = time.monotonic()
        if self._busy_until > now + FARTHEST:  # written before the machine was started anew
            self._busy_until = now
        self._busy_until = max(now, self._busy_until) + size * max(1, self._among()) / self._rate
        return max(0.0, self._busy_until - now - BURST_SECONDS)


class DiskMark:
    """Whether the disk of ``folder`` has the room that a crawl leaves to the index, to takedowns and to others.

    A disk that is small as a whole is used up.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next_look = 0.0
        self.lack = ""  # in words, for as long as there is less
        self.look()

    def look(self) -> str:
        """What is lacking, as of the last ``DISK_SECONDS``. A disk that does not answer lacks nothing."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + DISK_SECONDS
            with suppress(OSError):
                disk = shutil.disk_usage(self._folder)
                lacks = disk.total >= SMALL_DISK and disk.free < LEFT_FREE
                room = f"{disk.free / 1e6:,.0f} MB of its disk is free"
                self.lack = f"{room}, and a crawl leaves {LEFT_FREE / 1e6:,.0f} MB" if lacks else ""
        return self.lack


class Hours(NamedTuple):
    """Minutes of the local day from ``start`` up to ``end``; past midnight when the end comes first."""

    start: int = 0
    end: int = DAY

    @classmethod
    def parse(cls, text: str) -> Hours:
        """``22-06``, ``22:30-6:15``; nothing is the whole day."""
        if not text.strip():
            return cls()
        match = _HOURS.fullmatch(text.replace(" ", ""))
        start, end = (_minutes(match[1], match[2]), _minutes(match[3], match[4])) if match else (-1, -1)
        if start < 0 or end < 0 or start == end:
            raise SettingError(f"crawl.hours = {text!r}: write the local hours like 22-06 or 22:30-06:15")
        return cls(start, end)

    def is_open(self, now: float) -> bool:
        local = time.localtime(now)
        minute = local.tm_hour * 60 + local.tm_min
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end


def _minutes(hour: str, minute: str | None) -> int:
    total = int(hour) * 60 + int(minute or 0)
    return total if total <= DAY and int(minute or 0) < 60 else -1
