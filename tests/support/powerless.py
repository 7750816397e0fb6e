"""A process without the right to write where modes forbid it, root or not: to try what a read-only folder allows."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
_DROP_FROM_BOUNDING_SET, _OVERRIDE_MODES = 24, 1  # prctl(2), capabilities(7)


def without_writing(folder: Path) -> None:
    """Take the right to write from a folder and all in it."""
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def with_writing(folder: Path) -> None:
    """Give it back, so that the folder can be removed."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def run_powerless(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program that modes bind even if it runs as root."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=TESTS,
        preexec_fn=_bound_by_modes,
        check=False,
    )


def _bound_by_modes() -> None:
    if os.getuid() == 0 and ctypes.CDLL(None).prctl(_DROP_FROM_BOUNDING_SET, _OVERRIDE_MODES, 0, 0, 0):
        raise PermissionError("the capability cannot be dropped")
