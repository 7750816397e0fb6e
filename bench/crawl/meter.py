"""Runs one command and counts what it and all its descendants cost: ``python -m bench.crawl.meter OUT COMMAND…``.

A process of its own, so that nothing but the command is counted. Descendants that lose their parent come to this
process (it is their subreaper) and are counted as well. Its own CPU time is not in the figures.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_SECONDS = 0.1
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class MemoryWatch(threading.Thread):
    """The highest sum of resident memory over a process tree, sampled."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._over = threading.Event()
        self.peak = 0
        self.most_processes = 0

    def run(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            sizes = [_resident(pid) for pid in _tree(self._root)]
            self.peak = max(self.peak, sum(sizes))
            self.most_processes = max(self.most_processes, sum(size > 0 for size in sizes))

    def stop(self) -> None:
        self._over.set()
        self.join()


def _tree(root: int) -> list[int]:
    found = [root]
    for pid in found:
        try:
            listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        except OSError:
            continue
        found += map(int, listed.split())
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES
    except OSError:
        return 0


def measure(command: list[str]) -> dict[str, float]:
    """The cost of ``command``; its exit status is among the figures."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.monotonic()
    process = subprocess.Popen(command)
    watch = MemoryWatch(process.pid)
    watch.start()
    status = process.wait()
    wall = time.monotonic() - began
    _reap_the_rest()
    watch.stop()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "status": status,
        "wall": wall,
        "user": used.ru_utime,
        "system": used.ru_stime,
        "rss_mb": watch.peak / 1e6,
        "processes": watch.most_processes,
    }


def _reap_the_rest() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(measure(sys.argv[2:])), encoding="utf-8")
