"""Merging comes after searches: its thread, and only that, is nicer than the process."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
from types import SimpleNamespace
from periplus.app.running.building import Merging

os.nice(int(sys.argv[1]))
seen = []
pipeline = SimpleNamespace(merge=lambda: seen.append(os.getpriority(os.PRIO_PROCESS, 0)))
thread = Merging(SimpleNamespace(pipeline=pipeline))
thread.start()
thread.join()
print(seen[0], os.getpriority(os.PRIO_PROCESS, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux alone")
@pytest.mark.parametrize("more", [0, 3, 15])
def test_the_merging_thread_is_nice(more):
    run = subprocess.run([sys.executable, "-c", SCRIPT, str(more)], capture_output=True, text=True, check=True)
    own = min(os.getpriority(os.PRIO_PROCESS, 0) + more, 19)
    assert run.stdout.split() == [str(max(10, own)), str(own)]
