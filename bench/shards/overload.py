"""Overload: a broker over shard processes is asked three times what it can answer: goodput, refusals, recovery.

The client runs on the same cores; its CPU a request is stated, since it takes from what the servers have. Where that is
allowed it goes before the servers, as a client on another machine would: its own lateness is no time of theirs.
"""

from __future__ import annotations

import asyncio
import os
import re
import resource
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from bench.shards.collection import queries

if TYPE_CHECKING:
    from pathlib import Path

CLIENTS = 8  # that ask one after the other, to find what can be held
TIMES = 3
CLIENT_FIRST = -10  # how nice the client is


class Answer(NamedTuple):
    status: int
    took: float  # milliseconds


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
            asyncio.run(_overload(port, seconds))
        finally:
            server.terminate()
            server.wait(30)


async def _overload(port: int, seconds: float) -> None:
    asked = _questions()
    while (await _ask(port, next(asked))).status != 200:  # noqa: ASYNC110 (it is in another process)
        await asyncio.sleep(0.2)
    await _closed(port, asked, 2.0)  # warm
    began, cpu = time.perf_counter(), time.process_time()
    usual = await _closed(port, asked, seconds)
    peak = len(usual) / (time.perf_counter() - began)
    client = 1000 * (time.process_time() - cpu) / len(usual)
    flood = await _open(port, asked, TIMES * peak, seconds)
    after = await _closed(port, asked, 5.0)
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


async def _closed(port: int, asked, seconds: float) -> list[Answer]:
    until, answers = time.perf_counter() + seconds, []

    async def client() -> None:
        while time.perf_counter() < until:
            answers.append(await _ask(port, next(asked)))

    await asyncio.gather(*[client() for _ in range(CLIENTS)])
    return answers


async def _open(port: int, asked, rate: float, seconds: float) -> list[Answer]:
    """Asked at a fixed rate, whatever becomes of it."""
    began, running = time.perf_counter(), []
    for number in count():
        due = began + number / rate
        if due > began + seconds:
            break
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        running.append(asyncio.ensure_future(_ask(port, next(asked))))
    return list(await asyncio.gather(*running))


async def _ask(port: int, text: str) -> Answer:
    began = time.perf_counter()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        path = f"/api/v1/search?q={text.replace(' ', '+')}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode())
        data = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        status = int(data[9:12] or 0)
    except (OSError, TimeoutError, ValueError):
        status = 0
    return Answer(status, 1000 * (time.perf_counter() - began))


def _questions():
    for seed in count(100):
        yield from queries(2_000, seed)


def raise_handles() -> None:
    """A flood has many connections open at once."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
