"""One command from start to end."""

from __future__ import annotations

import os
import subprocess
import time
from typing import NamedTuple


class Figures(NamedTuple):
    seconds: float
    cpu: float
    megabytes: float  # resident, at most


def timed(words: list[str], environment: dict[str, str]) -> Figures:
    began = time.perf_counter()
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)}: {complaint.decode()}")
    return Figures(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
