"""The name of a process, by which others on its machine can tell for certain that it is dead."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


@cache
def _kernel() -> str:
    """This boot of this machine, and the space in which its processes have their numbers; empty where unknown."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{(_PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def _began(process: int) -> str:
    """When a process began, in ticks since the boot; empty when there is none of that number."""
    try:
        status = (_PROC / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return status.rpartition(")")[2].split()[19]


def process_name(process: int = 0) -> str:
    """Of this process, or of another one here; empty where the system does not tell."""
    number = process or os.getpid()
    return f"{_kernel()}/{number}/{_began(number)}" if _kernel() else ""


def is_here(name: str) -> bool:
    """Whether the process of that name is or was of this machine."""
    return bool(_kernel()) and name.startswith(f"{_kernel()}/")


def is_dead(name: str) -> bool:
    """Whether the process of that name was here and has ended; false when it may live elsewhere."""
    kernel, _, rest = name.rpartition("/")[0].rpartition("/")
    if not name or kernel != _kernel() or not rest.isdigit():
        return False
    return process_name(int(rest)) != name or _is_zombie(int(rest))


def _is_zombie(process: int) -> bool:
    try:
        status = (_PROC / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] == "Z"
