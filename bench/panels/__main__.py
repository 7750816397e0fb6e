"""What outside services do to a result page: the same queries asked of servers with good, bad and no services.

    make bench-panels                                   # 600 queries of each of eight servers, twice
    make bench-panels ARGS="--queries 200 --documents 2000"

Every server is a process of its own over the same collection; they take turns, and every query is new and asks for a
panel. First with circuit breakers as they are, then without, so that a bad service is asked by every query. Two pages
are timed: the one that readers get, which waits for nobody, and the one that readers without scripts may ask for
(``panels=1``), which waits as long as a service has. Fails where a result list is not the same to the byte, or where a
page that waits takes longer than a service has and ``MARGIN``.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from bench.panels.services import TEMPERS
from bench.shards.collection import build, queries

from periplus.verticals import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

OUT = Path("build/bench-panels.json")
SAID = ("weather {}", "{} near me", "{} news", "buy {}")
NONE, CLOSED, CONTROL = "none", "closed port", "none, once more"
CONTENDERS = (NONE, *TEMPERS, CLOSED, CONTROL)  # the control says how much of a difference is chance
WITHOUT = (NONE, CONTROL)
WARMING = 20  # queries that are not counted
WAITING = 12  # queries asked with panels=1 of each server
BLOCKS = 5  # of the queries; percentiles are medians over these, so that one busy moment decides nothing
MARGIN = 0.5  # seconds on a busy machine
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{Path(__file__).resolve().parents[2]}/tests"}


class Timed(NamedTuple):
    contender: str
    waits: bool
    guarded: bool
    seconds: float


class Costs(NamedTuple):
    """Of one server: requests to its services, and milliseconds of its processor for a page."""

    asked: int
    cpu: float


class Visited:
    """A server, over one connection that is kept open."""

    def __init__(self, address: str, process: int) -> None:
        parts = urlsplit(address)
        self._times = Path(f"/proc/{process}/stat")
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)

    def cpu(self) -> float:
        """Seconds of processor time that the server took so far, its threads included."""
        fields = self._times.read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def get(self, target: str) -> tuple[bytes, float]:
        began = time.perf_counter()
        self._connection.request("GET", target)
        response = self._connection.getresponse()
        body = response.read()
        taken = time.perf_counter() - began
        if response.status != 200:
            raise SystemExit(f"{target}: {response.status}")
        return body, taken


class Service:
    """A played service in its process; of a closed port nothing is known."""

    def __init__(self, process: subprocess.Popen[str] | None, address: str) -> None:
        self._process, self.address = process, address

    def asked(self) -> int:
        if self._process is None:
            return 0
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-panels", description=__doc__)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--queries", type=int, default=600)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-panels-") as temporary:
        folder = Path(temporary) / "collection"
        build(folder, asked.documents, 1)
        timed: list[Timed] = []
        for guarded in (True, False):
            found, costs = measured(folder, asked.queries, guarded=guarded)
            report(found, costs, guarded=guarded)
            timed += found
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps([one._asdict() for one in timed]), encoding="utf-8")


def measured(folder: Path, count: int, *, guarded: bool) -> tuple[list[Timed], dict[str, Costs]]:
    with ExitStack() as stack:
        services = {name: stack.enter_context(service(name)) for name in CONTENDERS}
        visited = {
            name: stack.enter_context(server(folder, services[name].address, guarded=guarded)) for name in CONTENDERS
        }
        chance = random.Random(5)
        timed: list[Timed] = []
        begun: dict[str, float] = {}
        used: dict[str, float] = {}
        for place, words in enumerate(queries(WARMING + count + WAITING)):
            waits = place >= WARMING + count
            if place == WARMING:
                begun = {name: visited[name].cpu() for name in CONTENDERS}
            if place == WARMING + count:
                used = {name: visited[name].cpu() - begun[name] for name in CONTENDERS}
            text = SAID[place % len(SAID)].format(words)
            target = f"/search?q={quote(text)}" + ("&panels=1" if waits else "")
            lists = {}
            for name in chance.sample(CONTENDERS, len(CONTENDERS)):
                page, seconds = visited[name].get(target)
                lists[name] = list_of(page)
                if place >= WARMING:
                    timed.append(Timed(name, waits, guarded, seconds))
                if waits and seconds > SECONDS + MARGIN:
                    raise SystemExit(f"{name}: a page that waits took {seconds:.2f} s")
            if any(found != lists[NONE] for found in lists.values()):
                raise SystemExit(
                    f"{text!r}: the lists differ: {[name for name in lists if lists[name] != lists[NONE]]}"
                )
        return timed, {name: Costs(services[name].asked(), 1_000 * used[name] / count) for name in CONTENDERS}


def list_of(page: bytes) -> bytes:
    """The result list of a page as it stands there."""
    begin = page.find(b'<ol class="results')
    if begin < 0:
        raise SystemExit("a page without results proves nothing")
    return page[begin : page.index(b"</ol>", begin)]


@contextmanager
def service(name: str) -> Iterator[Service]:
    if name in WITHOUT:
        yield Service(None, "")
        return
    if name == CLOSED:
        with socket.socket() as bound:  # bound and not listening: nobody else gets the port, and nobody answers
            bound.bind(("127.0.0.1", 0))
            yield Service(None, f"http://127.0.0.1:{bound.getsockname()[1]}")
        return
    with started("bench.panels.services", name) as process:
        yield Service(process, process.stdout.readline().strip())


@contextmanager
def server(folder: Path, base: str, *, guarded: bool) -> Iterator[Visited]:
    words = [str(folder), *([base] if base else []), *([] if guarded else ["--unguarded"])]
    with started("bench.panels.server", *words) as process:
        yield Visited(json.loads(process.stdout.readline())["address"], process.pid)


@contextmanager
def started(module: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", module, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def report(timed: list[Timed], costs: dict[str, Costs], *, guarded: bool) -> None:
    said = "as they are" if guarded else "taken away"
    print(f"\nCircuit breakers {said}; the lists of all servers were the same to the byte.\n")
    print("| services | asked | page p50 ms | p95 | p99 | CPU ms | waiting page p50 ms | longest |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name in CONTENDERS:
        pages = milliseconds(timed, name, waits=False)
        waiting = milliseconds(timed, name, waits=True)
        blocks = [quantiles(pages[place::BLOCKS], n=100) for place in range(BLOCKS)]
        at = [median(block[percent - 1] for block in blocks) for percent in (50, 95, 99)]
        asked = "" if name in (*WITHOUT, CLOSED) else f"{costs[name].asked:,}"
        figures = [*at, costs[name].cpu, median(waiting), max(waiting)]
        print(f"| {name} | {asked} | " + " | ".join(f"{figure:.1f}" for figure in figures) + " |")


def milliseconds(timed: list[Timed], name: str, *, waits: bool) -> list[float]:
    return [1_000 * one.seconds for one in timed if one.contender == name and one.waits == waits]


if __name__ == "__main__":
    main()
