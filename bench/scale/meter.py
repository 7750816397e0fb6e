"""What a command takes: processor time, and the most anonymous memory that it and its children had together."""

from __future__ import annotations

import itertools
import resource
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP = 0.05  # seconds between two looks


class Taken(NamedTuple):
    wall: float  # seconds
    cpu: float  # of all processes
    peak: int  # bytes of anonymous memory, summed over them
    output: str


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> Taken:
    """Run a command to its end; ``SystemExit`` with what it said when it fails."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment, text=True
    )
    with _Watch(process.pid) as watch:
        output, _ = process.communicate()
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {output.strip()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(wall, cpu, watch.peak, output)


def anonymous(process: int) -> int:
    """Bytes of anonymous memory of a process and all its children."""
    return sum(_anonymous(one) for one in family(process))


class _Watch:
    """Looks at a process again and again, beside it."""

    def __init__(self, process: int) -> None:
        self.peak = 0
        self._process = process
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(STEP):
            self.peak = max(self.peak, anonymous(self._process))


def _anonymous(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:  # it has ended
        return 0
    found = [line for line in status.splitlines() if line.startswith("RssAnon:")]
    return int(found[0].split()[1]) * 1024 if found else 0


def family(process: int) -> list[int]:
    """A process and all its children."""
    try:
        tasks = list(Path(f"/proc/{process}/task").glob("*/children"))
        found = [int(child) for path in tasks for child in path.read_text(encoding="ascii").split()]
    except OSError:
        return [process]
    return [process, *itertools.chain.from_iterable(map(family, found))]
