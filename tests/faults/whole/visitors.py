"""A process that searches fifty times a second, however slowly answers come, and counts what came back.

No two searches are the same, so none is answered from a cache. Those that cannot be sent on time, since all connections
wait for an answer, are counted as such: they were not asked at all. ``Visitors`` is the other half, in the soak.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import NamedTuple

A_SECOND = 50
CONNECTIONS = 100  # at once: two seconds of searches that wait
PATIENCE = 10.0
WORDS = 9973  # of the growing web


class Seen(NamedTuple):
    """What came back since the last look."""

    counts: Counter[str]
    p50: float  # ms
    p99: float
    cpu: float  # of a core, of the visitor itself

    def __str__(self) -> str:
        said = ", ".join(f"{count} {what}" for what, count in self.counts.most_common())
        return f"{said}; p50 {self.p50:.0f} ms, p99 {self.p99:.0f}"


class Visitors:
    """Runs while its block does; ``take`` tells what was seen since it was called last."""

    def __init__(self, port: int) -> None:
        self._command = [sys.executable, __file__, str(port)]

    def __enter__(self) -> Visitors:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def take(self) -> Seen:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("take\n")
        self._process.stdin.flush()
        counts, *figures = json.loads(self._process.stdout.readline())
        return Seen(Counter(counts), *figures)


class _Visitor:
    def __init__(self, port: int) -> None:
        self._port = port
        self._chance = random.Random(5)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._begin()

    def _begin(self) -> None:
        self._counts: Counter[str] = Counter()
        self._times: list[float] = []
        self._began, self._cpu = time.monotonic(), time.process_time()

    def take(self) -> str:
        times = sorted(self._times) or [0.0]
        cpu = (time.process_time() - self._cpu) / max(time.monotonic() - self._began, 0.001)
        said = [self._counts, 1000 * times[len(times) // 2], 1000 * times[len(times) * 99 // 100], cpu]
        self._begin()
        return json.dumps(said)

    async def visit(self) -> None:
        at = time.monotonic()
        while True:
            at += 1 / A_SECOND
            await asyncio.sleep(max(0.0, at - time.monotonic()))
            if len(self._tasks) >= CONNECTIONS:
                self._counts["not asked in time"] += 1
                continue
            task = asyncio.create_task(self._search())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _search(self) -> None:
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                what = await self._answer()
        except TimeoutError:
            what = "no answer in 10 s"
        except (OSError, asyncio.IncompleteReadError, ValueError):
            what = "no connection"
        self._counts[what] += 1
        self._times.append(time.monotonic() - began)

    async def _answer(self) -> str:
        used = self._idle.pop() if self._idle else None
        reader, writer = used or await asyncio.open_connection("127.0.0.1", self._port)
        try:
            status, body = await self._ask(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()
            if used is None:
                raise
            return await self._answer()  # the server had closed it
        except BaseException:
            writer.close()
            raise
        self._idle.append((reader, writer))
        if status != 200:
            return f"answers of {status}"
        return "degraded" if json.loads(body)["degraded"] else "whole"

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[int, bytes]:
        query = "+".join(f"word{self._chance.randrange(WORDS)}" for _ in range(2))
        writer.write(f"GET /api/v1/search?q={query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        return int(head.split(" ", 2)[1]), await reader.readexactly(length)


async def _serve(port: int) -> None:
    visitor = _Visitor(port)
    visiting = asyncio.create_task(visitor.visit())
    while await asyncio.to_thread(sys.stdin.readline):
        sys.stdout.write(f"{visitor.take()}\n")
        sys.stdout.flush()
    visiting.cancel()
    with suppress(asyncio.CancelledError):
        await visiting


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
