"""A clock that runs faster than the wall's, and leaps when it is told to, for all processes that are started with it.

``fast_clock.c`` stands between a process and the C library: whoever asks for the time or waits meets one clock. This
half compiles it, and sets the pace through a page of memory that all processes share. The process that sets it goes on
by the wall's clock, and asks ``now`` for the other one.
"""

from __future__ import annotations

import mmap
import shutil
import struct
import subprocess
import time
from pathlib import Path
from typing import Final

SOURCE = Path(__file__).with_name("fast_clock.c")
_PACE: Final = struct.Struct("<qqq")
_SECOND = 1_000_000_000


def compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc")


class FastClock:
    """One clock: ``speed`` seconds of it are one of the wall's."""

    def __init__(self, folder: Path, speed: int) -> None:
        self._speed, self._origin, self._leapt = speed, time.monotonic_ns(), 0
        self._library, self._file = folder / "fast_clock.so", folder / "fast_clock.pace"
        command = [compiler() or "cc", "-shared", "-fPIC", "-O1", "-o", self._library, SOURCE, "-ldl", "-pthread"]
        subprocess.run(command, check=True)
        self._file.write_bytes(bytes(mmap.PAGESIZE))
        with self._file.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _PACE.size)
        self._write()

    @property
    def environment(self) -> dict[str, str]:
        """What a process must be started with."""
        return {"LD_PRELOAD": str(self._library), "FAST_CLOCK": str(self._file)}

    def now(self) -> float:
        """Seconds since 1970 by this clock."""
        return time.time() + self._ahead / _SECOND

    def passed(self) -> float:
        """Seconds of this clock since it began."""
        return (time.monotonic_ns() - self._origin + self._ahead) / _SECOND

    def leap(self, seconds: float) -> None:
        """Be so much later at once."""
        self._leapt += int(seconds * _SECOND)
        self._write()

    @property
    def _ahead(self) -> int:
        return (self._speed - 1) * (time.monotonic_ns() - self._origin) + self._leapt

    def _write(self) -> None:
        self._page[:] = _PACE.pack(self._speed, self._origin, self._leapt)
