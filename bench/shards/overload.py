"""Overload: a broker over shard processes is asked three times what it can answer: goodput, refusals, recovery.

The client runs on the same cores; its CPU a request is stated, since it takes from what the servers have. Where that is
allowed it goes before the servers, as a client on another machine would: its own lateness is no time of theirs.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from bench.shards.collection import queries
from bench.shards.visitors import Visitors

if TYPE_CHECKING:
    from pathlib import Path

CLIENTS = 8  # that ask one after the other, to find what can be held
TIMES = 3
CLIENT_FIRST = -10  # how nice the client is


def measured(folder: Path, processes: int, seconds: float) -> None:
    words = ["serve", "--dir", str(folder), "--port", "0", "--shard-processes", str(processes)]
    command = [sys.executable, "-m", "periplus", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = (re.search(r"127\.0\.0\.1:(\d+)", line) for line in server.stderr)
        port = int(next(match for match in found if match)[1])
        with suppress(PermissionError):
            os.nice(CLIENT_FIRST)
        try:
            _overload(port, seconds)
        finally:
            server.terminate()
            server.wait(30)


def _overload(port: int, seconds: float) -> None:
    asked = _questions()
    while Visitors(port, asked).closed(1, 0.0)[0].status != 200:
        time.sleep(0.2)
    Visitors(port, asked).closed(CLIENTS, 2.0)  # warm
    began, cpu = time.perf_counter(), time.process_time()
    usual = Visitors(port, asked).closed(CLIENTS, seconds)
    peak = len(usual) / (time.perf_counter() - began)
    client = 1000 * (time.process_time() - cpu) / len(usual)
    flood = Visitors(port, asked).open(TIMES * peak, seconds)
    after = Visitors(port, asked).closed(CLIENTS, 5.0)
    good = [answer.took for answer in flood if answer.status == 200]
    refused = [answer.took for answer in flood if answer.status == 503]
    print(f"\nheld: {peak:.0f} a second by {CLIENTS} clients (client's CPU {client:.2f} ms a request)")
    print("| asked | good a second | p50 ms | p99 ms | refused | refusals p99 ms | other errors |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    _row("what can be held", [answer.took for answer in usual], [], seconds, 0)
    others = len(flood) - len(good) - len(refused)
    _row(f"{TIMES} times that", good, refused, seconds, others)
    _row("afterwards, 5 s", [answer.took for answer in after if answer.status == 200], [], 5.0, 0)


def _row(name: str, good: list[float], refused: list[float], seconds: float, others: int) -> None:
    print(
        f"| {name} | {len(good) / seconds:.0f} | {_at(good, 0.5):.0f} | {_at(good, 0.99):.0f} | {len(refused)} "
        f"| {_at(refused, 0.99):.0f} | {others} |"
    )


def _at(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))] if values else 0.0


def _questions():
    for seed in count(100):
        yield from queries(2_000, seed)


def raise_handles() -> None:
    """A flood has many connections open at once."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
