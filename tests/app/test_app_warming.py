"""Kernels are compiled by several processes into one cache."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SHORT = ("sort_ties", "fold_again", "gather")  # kernels that compile in under a second
COMPILE = """
import sys
from periplus.app.warming import compile_apart
from periplus.index import cold
if __name__ == "__main__":
    before = cold()
    seen = []
    compile_apart(sys.argv[1:], 2, lambda done, total, name: seen.append((done, total)))
    print(len(before) - len(cold()), seen)
"""


def run(cache: Path, *arguments: str) -> str:
    environment = os.environ | {"PERIPLUS_CACHE": str(cache)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300, check=True
    ).stdout.strip()


def test_two_processes_fill_one_cache(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(COMPILE)
    assert run(tmp_path / "cache", str(script), *SHORT) == "3 [(0, 3), (1, 3), (2, 3), (3, 3)]"
    assert run(tmp_path / "cache", str(script), *SHORT).startswith("0 ")


def test_nothing_is_compiled_apart_where_nothing_can_be_kept(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()  # a folder cannot be made below a file, not even by root
    assert run(blocked, "-c", "from periplus.index import cold; print(cold())") == "[]"
