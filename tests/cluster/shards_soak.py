"""Visitors over shard servers while things happen to them: ``make soak-shards``.

Two shards, two servers each, and a broker, all as processes that people would run. A generation rolls, a server is
killed, another is frozen and thawed, a new one starts in place of the dead. Prints a table; ends with 1 after an error.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec
from bench.shards.collection import build, documents, queries

from periplus.index import IndexStore

SHARDS = 2
EVERY = 2.0  # seconds between two questions of a visitor
FROZEN_FOR = 5.0  # seconds


class Answer(msgspec.Struct):
    at: float
    took: float
    status: int
    generation: int = 0
    degraded: bool = False
    code: str = ""


def started(*words: str) -> tuple[subprocess.Popen[str], str]:
    """A process, and the address that it prints."""
    process = subprocess.Popen([sys.executable, "-m", "periplus", *words], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return process, found[0]
    raise SystemExit(f"periplus {words[0]} did not start")


async def visit(url: str, texts: list[str], first: float, until: float, answers: list[Answer]) -> None:
    host, port = url.removeprefix("http://").split(":")
    await asyncio.sleep(first)
    for text in texts:
        began = time.monotonic()
        if began > until:
            return
        answers.append(await _asked(host, int(port), text, began))
        await asyncio.sleep(max(0.0, EVERY - (time.monotonic() - began)))


async def _asked(host: str, port: int, text: str, began: float) -> Answer:
    try:
        reader, writer = await asyncio.open_connection(host, port)
        path = f"/api/v1/search?q={text.replace(' ', '+')}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: soak\r\nConnection: close\r\n\r\n".encode())
        data = await asyncio.wait_for(reader.read(), 20)
        writer.close()
    except (OSError, TimeoutError):
        return Answer(began, time.monotonic() - began, 0)
    took, status = time.monotonic() - began, int(data[9:12])
    if status != 200:
        code = re.search(rb'"code":"([a-z-]+)"', data)
        return Answer(began, took, status, code=code[1].decode() if code else "")
    found = msgspec.json.decode(data.partition(b"\r\n\r\n")[2])
    return Answer(began, took, 200, found["generation"], found["coverage"] < 1.0)


class Happenings:
    """What is done to the servers, and when."""

    def __init__(self, folder: Path, servers: list[tuple[subprocess.Popen[str], str]]) -> None:
        self._folder, self._servers = folder, servers
        self.times: dict[str, float] = {}

    async def run(self, seconds: float) -> None:
        for share, name, done in (
            (0.15, "a generation rolls", self.roll),
            (0.2, "a server is killed", self.kill),
            (0.2, "another is frozen", self.freeze),
            (0.0, "it is thawed", self.thaw),
            (0.1, "a server starts", self.start),
        ):
            await asyncio.sleep(share * seconds)
            self.times[name] = time.monotonic()
            await done()

    async def roll(self) -> None:
        await asyncio.to_thread(
            IndexStore(self._folder / "index").update, [(2, documents(2_000, first=1_000_000))], merge=False
        )

    async def kill(self) -> None:
        self._servers[0][0].kill()

    async def freeze(self) -> None:
        self._servers[3][0].send_signal(signal.SIGSTOP)
        await asyncio.sleep(FROZEN_FOR)

    async def thaw(self) -> None:
        self._servers[3][0].send_signal(signal.SIGCONT)

    async def start(self) -> None:
        port = self._servers[0][1].rpartition(":")[2]
        words = ("shard", "--dir", str(self._folder), "--number", "0", "--port", port)
        self._servers.append(await asyncio.to_thread(started, *words))


async def soak(url: str, visitors: int, seconds: float, happenings: Happenings) -> list[Answer]:
    answers: list[Answer] = []
    each = int(seconds / EVERY) + 2
    texts = queries(visitors * each)
    until = time.monotonic() + seconds
    visits = [
        visit(url, texts[place * each : (place + 1) * each], EVERY * place / visitors, until, answers)
        for place in range(visitors)
    ]
    await asyncio.gather(*visits, happenings.run(seconds))
    return answers


def show(answers: list[Answer], happenings: Happenings) -> int:
    errors = Counter(f"{one.status} {one.code}" for one in answers if one.status != 200)
    cuts = statistics.quantiles((1000 * one.took for one in answers), n=100)
    lacking = sum(one.degraded for one in answers)
    generations = sorted({one.generation for one in answers if one.generation})
    print(f"{len(answers):,} answers, p50 {cuts[49]:.0f} ms, p95 {cuts[94]:.0f}, p99 {cuts[98]:.0f}")
    print(f"errors {dict(errors)}; {lacking} answers lack documents; generations {generations}\n")
    print("| what happens | at s | answers that lack documents | errors | whole again after s | p99 ms |")
    print("|---|--:|--:|--:|--:|--:|")
    began = min(one.at for one in answers)
    moments = [*happenings.times.values(), float("inf")]
    for (name, at), following in zip(happenings.times.items(), moments[1:], strict=True):
        own = [one for one in answers if at <= one.at < following]
        bad = [one.at - at for one in own if one.degraded or one.status != 200]
        times = sorted(1000 * one.took for one in own) or [0.0]
        print(
            f"| {name} | {at - began:.0f} | {sum(one.degraded for one in own)} "
            f"| {sum(one.status != 200 for one in own)} | {max(bad, default=0):.1f} "
            f"| {times[int(0.99 * (len(times) - 1))]:.0f} |"
        )
    return 1 if errors else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--documents", type=int, default=10_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="periplus-soak-"))
    processes: list[tuple[subprocess.Popen[str], str]] = []
    try:
        build(folder, options.documents, SHARDS)
        for number in (0, 0, 1, 1):
            words = ("shard", "--dir", str(folder), "--number", str(number), "--port", "0")
            processes.append(started(*words))
        urls = ",".join(url for _, url in processes)
        broker = started("serve", "--dir", str(folder), "--port", "0", "--shards", urls)
        processes.append(broker)
        _wait_until_ready(broker[1])
        happenings = Happenings(folder, processes)
        answers = asyncio.run(soak(broker[1], options.visitors, options.seconds, happenings))
        code = show(answers, happenings)
    finally:
        for process, _ in processes:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
                process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(code)


def _wait_until_ready(url: str) -> None:
    async def ready() -> bool:
        host, port = url.removeprefix("http://").split(":")
        return (await _asked(host, int(port), "tide", time.monotonic())).status == 200

    latest = time.monotonic() + 60
    while not asyncio.run(ready()):
        if time.monotonic() > latest:
            raise SystemExit("the broker was not ready within a minute")
        time.sleep(0.2)


if __name__ == "__main__":
    main()
