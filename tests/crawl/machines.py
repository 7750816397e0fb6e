"""Machines that crawl one collection together, each played by a process of its own on one PostgreSQL server.

What a machine asks is told from the web's own log by its User-Agent, which names it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from periplus.crawl import workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mockweb.mock_web import MockWeb
    from periplus.demo import RequestRecord
    from periplus.storage import Database

SCRIPT = Path(__file__).with_name("crawl_process.py")
MARGIN = 3.0  # seconds that a lease outlives a request here
TIMEOUT = 1.0
LEASE = MARGIN + TIMEOUT
PATIENCE = 60.0


class Machine:
    """One process that begins the crawl or joins it."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], web: MockWeb) -> None:
        self.name = name
        self.process = process
        self._web = web

    def requests(self) -> list[RequestRecord]:
        return [record for record in self._web.requests() if record.header("user-agent").endswith(f"/{self.name})")]

    def wait_for(self, more: int) -> None:
        """Until it has asked so many times more."""
        wanted = len(self.requests()) + more
        wait_until(lambda: len(self.requests()) >= wanted or self.process.poll() is not None)
        assert self.process.poll() is None, f"{self.name} ended with code {self.process.returncode}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def leave(self) -> None:
        """As Ctrl-C: it ends its requests and leaves the crawl to the others."""
        self.process.send_signal(signal.SIGINT)
        self.join()

    def join(self) -> None:
        assert self.process.wait(timeout=PATIENCE) == 0


class Machines:
    def __init__(self, folder: Path, database: Database, web: MockWeb, seeds: list[str], **options: object) -> None:
        self.folder = folder
        self.database = database
        self.web = web
        self.seeds = seeds
        self.options = {"timeout": TIMEOUT, "icons": "false", "workers": 1, "delay": 0.02, **options}
        self.margin = MARGIN
        self.files = ""  # an object store: then each machine has a folder of its own
        self.resolve = web.resolve
        self.all: list[Machine] = []

    def start(self, name: str, entered: Sequence[str] = ()) -> Machine:
        """A machine, begun at once; ``entered`` is what its command begins with, to be in a network of its own."""
        where = [
            f"database={self.database.backend.address}",
            f"margin={self.margin}",
            f"contact=https://bot.test/{name}",
        ]
        folder = self.folder
        if self.files:
            where.append(f"files={self.files}")
            folder = self.folder / name
        told = [*where, *(f"{key}={value}" for key, value in self.options.items())]
        command = [*entered, sys.executable, str(SCRIPT), str(folder), *self.resolve, *told, *self.seeds]
        machine = Machine(name, subprocess.Popen(command), self.web)
        self.all.append(machine)
        return machine

    def close(self) -> None:
        for machine in self.all:
            if machine.process.poll() is None:
                machine.thaw()
                machine.kill()

    def prove_polite(self, delay: float, jitter: float = 0.01) -> None:
        """By the web's own log: one request of a host at a time, whoever sent it, and every gap kept."""
        for host in {record.host for record in self.web.requests()}:
            assert self.web.most_at_once(host) == 1, host
            records = self.web.log.records(host)
            for earlier, later in pairwise(records):
                gap = later.monotonic - earlier.monotonic
                assert gap >= delay - jitter, (host, gap, earlier.header("user-agent"), later.header("user-agent"))

    def hosts_of_two(self) -> int:
        """How many hosts were asked by more than one machine, each in its time."""
        asked: dict[str, set[str]] = {}
        for record in self.web.requests():
            asked.setdefault(record.host, set()).add(record.header("user-agent"))
        return sum(len(agents) > 1 for agents in asked.values())

    def numbers(self, state: str) -> list[int]:
        return [one.number for one in workers(self.database) if one.state == state]


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)
