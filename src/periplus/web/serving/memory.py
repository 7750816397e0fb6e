"""The memory breaker: searches are refused with a reason before the system ends the process for its memory.

What counts is memory of our own, not pages of mapped files, which the system takes back when it needs them. With
``serve.memory_limit`` it is that of this process; without, that of all processes in our control group (a container, a
systemd unit), where that has a limit. It is looked at a few times a second at most: a search takes little, and what
``RESERVE`` leaves free is for those under way.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_SECONDS: Final = 0.25
RESERVE: Final = 64 << 20  # bytes
GROUP_SHARE: Final = 0.9  # of the group's limit
RELIEF_SECONDS: Final = 5.0  # between two tries to give memory back
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_GROUPS: Final = Path("/sys/fs/cgroup")


class MemoryBreaker:
    """Asked before each search; ``relieve`` gives back to the system what can be."""

    def __init__(
        self,
        limit: int,
        used: Callable[[], int],
        relieve: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = limit  # bytes; 0: none
        self._used, self._relieve, self._clock = used, relieve, clock
        self._next_look = self._next_relief = 0.0
        self._is_open = False
        self.refused = 0

    def refuses(self) -> bool:
        """Whether a search must be refused now."""
        if not self.limit:
            return False
        now = self._clock()
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            self._is_open = self._is_over()
            if self._is_open and now >= self._next_relief:
                self._next_relief = now + RELIEF_SECONDS
                self._relieve()
                self._is_open = self._is_over()
        self.refused += self._is_open
        return self._is_open

    def _is_over(self) -> bool:
        return self._used() + min(RESERVE, self.limit // 4) > self.limit


def breaker_of(limit: int, relieve: Callable[[], object] = lambda: None) -> MemoryBreaker:
    """By the setting, or by the limit of our control group, or none."""
    if limit:
        return MemoryBreaker(limit, own_memory, relieve)
    group = _group()
    allowed = group_limit(group) if group else 0
    return MemoryBreaker(int(allowed * GROUP_SHARE), lambda: group_memory(group) if group else 0, relieve)


def own_memory() -> int:
    """Bytes that this process holds for itself alone; 0 where the system does not tell."""
    try:
        parts = Path("/proc/self/statm").read_bytes().split()
    except OSError:
        return 0
    return (int(parts[1]) - int(parts[2])) * _PAGE


def group_limit(group: Path) -> int:
    """The bytes that a control group may hold; 0: no limit."""
    try:
        text = (group / "memory.max").read_text().strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0


def group_memory(group: Path) -> int:
    """The bytes that its processes hold, without pages of files."""
    try:
        lines = (group / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("anon ")), 0)


def _group() -> Path | None:
    try:
        line = Path("/proc/self/cgroup").read_text().splitlines()[-1]
    except (OSError, IndexError):
        return None
    return _GROUPS / line.rpartition(":")[2].lstrip("/")
