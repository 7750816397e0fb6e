"""The clock of ``make soak-month``: who asks for the time and who waits meet the same one, also when it leaps."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from support.components import missing
from support.fast_clock import FastClock, compiler

if TYPE_CHECKING:
    from pathlib import Path

LONG = 36_000.0  # seconds, of which nobody waits one
WAITS = """
import asyncio, select, sqlite3, sys, threading, time
import uvloop
clocks = (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME)
long = float(sys.argv[1])
def sleeping(loop):
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(asyncio.sleep(long))
ways = {
    "sleep": lambda: time.sleep(long),
    "event": lambda: threading.Event().wait(long),
    "select": lambda: select.select([], [], [], long),
    "poll": lambda: select.poll().poll(1000 * long),
    "asyncio": lambda: sleeping(asyncio.new_event_loop),
    "uvloop": lambda: sleeping(uvloop.new_event_loop),
}
for name, wait in ways.items():
    before = [time.clock_gettime(clock) for clock in clocks]
    print(name, flush=True)
    wait()
    print(*(time.clock_gettime(clock) - at for clock, at in zip(clocks, before)), flush=True)
print("sqlite", flush=True)
print(abs(float(sqlite3.connect(":memory:").execute("SELECT strftime('%s')").fetchone()[0]) - time.time()), flush=True)
"""


@pytest.fixture
def clock(tmp_path: Path) -> FastClock:
    if compiler() is None:
        missing("a C compiler")
    return FastClock(tmp_path, speed=10)


def test_every_wait_ends_by_the_clock_and_all_clocks_agree(clock: FastClock) -> None:
    command = [sys.executable, "-c", WAITS, str(LONG)]
    with subprocess.Popen(command, env=os.environ | clock.environment, stdout=subprocess.PIPE, text=True) as child:
        try:
            _prove(clock, child)
        finally:
            child.kill()


def _prove(clock: FastClock, child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None
    for name in ("sleep", "event", "select", "poll", "asyncio", "uvloop"):
        assert child.stdout.readline().strip() == name
        while not (found := _line_within(child, 0.2)):
            clock.leap(LONG / 2)
        passed = [float(one) for one in found.split()]
        assert min(passed) >= LONG - 0.1, name
        assert max(passed) - min(passed) < 5, name
    assert child.stdout.readline().strip() == "sqlite"
    assert float(child.stdout.readline()) < 60


def _line_within(child: subprocess.Popen[str], seconds: float) -> str:
    assert child.stdout is not None
    return child.stdout.readline() if select.select([child.stdout], [], [], seconds)[0] else ""


def test_who_sets_the_clock_can_tell_it(clock: FastClock) -> None:
    before, wall = clock.passed(), time.time()
    clock.leap(LONG)
    assert clock.passed() - before >= LONG
    assert clock.now() - wall >= LONG
    asks = [sys.executable, "-c", "import time; print(time.time())"]
    told = subprocess.run(asks, env=os.environ | clock.environment, capture_output=True, text=True, check=True)
    assert 0 <= clock.now() - float(told.stdout) < 600
