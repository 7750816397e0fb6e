"""Processes that run for long take Arrow's memory from the system, and few arenas."""

from __future__ import annotations

import subprocess
import sys

LATE = "from periplus.app.thrift import spare_memory; spare_memory(); import pyarrow"
EARLY = "import pyarrow; from periplus.app.thrift import spare_memory; spare_memory()"
SERVER = "import sys, periplus.app.serving.server; print('pyarrow' in sys.modules)"


def printed(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_arrow_keeps_no_memory_of_its_own() -> None:
    for order in (LATE, EARLY):
        assert printed(f"{order}; print(pyarrow.default_memory_pool().backend_name)") == "system"


def test_a_choice_that_was_made_stands() -> None:
    chosen = "import os; os.environ['ARROW_DEFAULT_MEMORY_POOL'] = 'mimalloc'"
    assert printed(f"{chosen}; {LATE}; print(pyarrow.default_memory_pool().backend_name)") == "mimalloc"


def test_a_server_comes_to_spare_before_arrow_is_loaded() -> None:
    assert printed(SERVER) == "False"
