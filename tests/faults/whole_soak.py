"""``make soak-faults``: the whole product (``up``) under load while one fault after the other is done to it, at random.

A web that grows is crawled, indexed, ranked and served by ``periplus up``; a visitor searches. After each fault:
searches are answered, new pages are fetched and become findable, all without a person; ``up`` itself is started again
when it was killed, as a service manager does. At the end: every address that ever counted as fetched still does, the
audit and the web's own log show no gap broken, and the doctor finds nothing.
``--write`` puts the table into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

TESTS = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))

from faults.failing_disk import FailingDisk, environment  # noqa: E402
from mockweb.faults import Bomb, Drop, Endless, Garbage, Hang, HugeHeaders  # noqa: E402
from mockweb.growing import Growing  # noqa: E402
from mockweb.mock_web import MockWeb  # noqa: E402
from periplus import Collection  # noqa: E402
from periplus.app import doctor  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.demo import RequestRecord

PAGE = TESTS.parent / "docs" / "reliability.md"
MARK = "<!-- whole-soak -->"
PORT_SETTINGS = """
[crawl]
workers = 1
scope = "any"
resolve = ["{resolve}"]
allow_private = true
delay = {delay}
ip_delay = 0.0
icons = false
timeout = 3.0
max_depth = 1000000
max_pages = 1000000
host_budget = 1000000
[serve]
port = {port}
[index]
workers = 1
"""
DELAY, JITTER = 0.5, 0.1
HOSTS = 8
PATIENCE = 240.0  # seconds to recover, on a machine that is busy
EVERY = 0.2  # seconds between two searches


class Row(NamedTuple):
    fault: str
    seconds: float  # until searches are answered and new pages are fetched and found
    visitors: str


class Whole:
    """``up`` in a process of its own, the web that it crawls, and what is known of it from outside."""

    def __init__(self, folder: Path, web: MockWeb, port: int) -> None:
        self.folder, self.web, self.port = folder / "collection", web, port
        self.log = (folder / "up.log").open("ab")
        self.growing = Growing(web, HOSTS)
        self._environment = os.environ | environment(folder)
        os.environ["FAILING_DISK"] = self._environment["FAILING_DISK"]
        self.disk = FailingDisk()
        self.acknowledged: set[str] = set()
        self.process: subprocess.Popen[bytes] | None = None
        with Collection(self.folder) as made:
            made.create(PORT_SETTINGS.format(resolve=web.resolve[0], delay=DELAY, port=port))

    def start(self) -> None:
        command = [sys.executable, "-m", "periplus", "up", "--dir", str(self.folder), *self.growing.seeds]
        self.process = subprocess.Popen(command, env=self._environment, stdout=self.log, stderr=self.log)

    def keep_up(self) -> None:
        """As a service manager does."""
        if self.process is None or self.process.poll() is not None:
            self.start()

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def get(self, path: str, patience: float = 10.0) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        with closing(connection):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")

    def answers(self) -> bool:
        """Whether a search is answered."""
        try:
            return self.get("/api/v1/search?q=word1")[0] == 200
        except (OSError, http.client.HTTPException, ValueError):
            return False

    def documents(self) -> int:
        try:
            status, answer = self.get("/api/v1/status")
        except (OSError, http.client.HTTPException, ValueError):
            return -1
        return int((answer.get("index") or {}).get("documents", -1)) if status == 200 else -1

    def fetched(self) -> set[str]:
        with closing(sqlite3.connect(f"file:{self.folder}/state.db?mode=ro", uri=True, timeout=60)) as state:
            return {url for (url,) in state.execute("SELECT url FROM urls WHERE state = 1")}

    def note(self) -> None:
        with suppress(sqlite3.Error):
            self.acknowledged |= self.fetched()

    def processes(self) -> dict[str, int]:
        """The parts of ``up`` by name: whoever has a reading process is the crawler."""
        assert self.process is not None
        children = [int(pid) for pid in _children(self.process.pid) if "spawn_main" in _command(pid)]
        found = {"up": self.process.pid}
        for pid in children:
            reading = [one for one in _children(pid) if "reading_process" in _command(one)]
            found["crawler" if reading else "indexer"] = pid
            if reading:
                found["reader"] = reading[0]
        return found


def _children(pid: int) -> list[int]:
    listed = [task / "children" for task in Path(f"/proc/{pid}/task").iterdir()]
    return [int(child) for path in listed for child in path.read_text().split()]


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


class Visitors:
    """Somebody who searches again and again; counts what came back."""

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        self._seen: Counter[str] = Counter()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._visit, daemon=True)

    def __enter__(self) -> Visitors:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def take(self) -> str:
        seen, self._seen = self._seen, Counter()
        return ", ".join(f"{count} {what}" for what, count in seen.most_common())

    def _visit(self) -> None:
        chance = random.Random(5)
        while not self._ended.wait(EVERY):
            try:
                status, answer = self._whole.get(f"/api/v1/search?q=word{chance.randrange(9973)}")
                what = f"answers of {status}" if status != 200 else "degraded" if answer["degraded"] else "whole"
            except (OSError, http.client.HTTPException):
                what = "no connection"
            self._seen[what] += 1


class Faults:
    """Everything that is done; each returns when it is over, and recovery begins."""

    def __init__(self, whole: Whole, chance: random.Random) -> None:
        self._whole, self._chance = whole, chance

    def all(self) -> dict[str, Callable[[], None]]:
        return {
            "kill -9 of the crawler": lambda: self._kill("crawler"),
            "kill -9 of the indexer": lambda: self._kill("indexer"),
            "kill -9 of the process that reads pages": lambda: self._kill("reader"),
            "kill -9 of `up` itself": lambda: self._kill("up"),
            "the crawler frozen for 5 s": lambda: self._freeze("crawler"),
            "the indexer frozen for 5 s": lambda: self._freeze("indexer"),
            "the disk full for 5 s": lambda: self._full(5.0),
            "an error of the disk (EIO) at one change": lambda: self._broken("eio"),
            "half a write, and no room for the rest": lambda: self._broken("short"),
            "the database locked by another for 5 s": self._locked,
            "poisoned pages of every kind, for 5 s": self._poisoned,
        }

    def _kill(self, name: str) -> None:
        os.kill(self._whole.processes()[name], signal.SIGKILL)

    def _freeze(self, name: str) -> None:
        pid = self._whole.processes()[name]
        os.kill(pid, signal.SIGSTOP)
        time.sleep(5)
        os.kill(pid, signal.SIGCONT)

    def _full(self, seconds: float) -> None:
        self._whole.disk.arm(self._whole.folder, 1, "full")
        time.sleep(seconds)
        self._whole.disk.disarm()

    def _broken(self, mode: str) -> None:
        disk = self._whole.disk
        disk.arm(self._whole.folder, self._chance.randrange(1, 60), mode)
        limit = time.monotonic() + 20
        while not disk.failures and time.monotonic() < limit:
            time.sleep(0.1)
        disk.disarm()

    def _locked(self) -> None:
        with closing(sqlite3.connect(self._whole.folder / "state.db", timeout=60, isolation_level=None)) as state:
            state.execute("BEGIN IMMEDIATE")
            time.sleep(5)
            state.execute("ROLLBACK")

    def _poisoned(self) -> None:
        kinds = (Bomb(), Drop("part"), Endless(), Garbage(), Hang(), HugeHeaders())
        web, number = self._whole.web, self._chance.randrange(10**9)
        for place, kind in enumerate(kinds):
            web.at(f"http://h{place}.test/poison{number}", kind)
            web.page(f"http://h{place}.test/door{number}", links=[f"/poison{number}"])
        links = [f"http://h{place}.test/door{number}" for place in range(len(kinds))]
        web.page(f"http://h0.test/doors{number}", links=links)
        with Collection(self._whole.folder) as made:
            from periplus.crawl import submit

            submit(made.database, made.in_force().values.crawl, f"http://h0.test/doors{number}")
        time.sleep(5)


def recovered(whole: Whole, documents: int) -> bool:
    """Wait until pages are fetched and found that were not before, and searches are answered."""
    asked = len(whole.web.requests())
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        whole.keep_up()
        if len(whole.web.requests()) > asked + HOSTS and whole.documents() > documents and whole.answers():
            return True
        time.sleep(0.25)
    return False


def invariants(whole: Whole) -> list[str]:
    """What broke, when all is over."""
    lost = whole.acknowledged - whole.fetched()
    wrong = [f"lost: {sorted(lost)[:5]} and {len(lost)} in all"] if lost else []
    with Collection(whole.folder) as made:
        wrong += [str(one) for one in made.politeness().violations]
        wrong += [f"{one.check}: {one.detail}" for one in doctor.examine(made) if one.state == "failed"]
        with made.database.read() as tx:
            given_up = {url for (url,) in tx.rows("SELECT url FROM journal WHERE outcome = 'timeout'")}
    for number in range(HOSTS):
        host = f"h{number}.test"
        short = short_gaps(whole.web.requests(host), given_up)
        wrong += [f"{host}: gaps of {short[:3]} s"] if short else []
        wrong += [f"{host}: {whole.web.most_at_once(host)} requests at once"] * (whole.web.most_at_once(host) > 1)
    return wrong


def short_gaps(records: list[RequestRecord], given_up: set[str]) -> list[float]:
    """Gaps that were broken. Behind a request that was given up, the web may have looked late, not we come early."""
    pairs = [(one, other) for one, other in pairwise(records) if one.url not in given_up]
    return [gap for one, other in pairs if (gap := other.monotonic - one.monotonic) < DELAY - JITTER]


def soak(whole: Whole, minutes: float, seed: int) -> tuple[list[Row], list[str]]:
    chance = random.Random(seed)
    faults = Faults(whole, chance).all()
    rows, wrong = [], []
    whole.start()
    if not recovered(whole, 0):
        whole.stop()
        return [], ["it never began"]
    until = time.monotonic() + 60 * minutes
    names: list[str] = []
    with Visitors(whole) as visitors:
        while time.monotonic() < until:
            names = names or chance.sample(list(faults), len(faults))
            name = names.pop()
            whole.note()
            before = whole.documents()
            visitors.take()
            try:
                faults[name]()
            except (KeyError, OSError) as error:  # no such process at this moment
                print(f"{name}: passed over, {error!r}", flush=True)
                continue
            began = time.monotonic()
            if not recovered(whole, before):
                wrong.append(f"{name}: not recovered after {PATIENCE:.0f} s")
            rows.append(Row(name, time.monotonic() - began, visitors.take()))
            print(rows[-1], flush=True)
    whole.stop()
    return rows, wrong + invariants(whole)


def table(rows: list[Row]) -> list[str]:
    lines = ["| fault | times | until pages were fetched and found again, s (longest) | what a visitor saw |"]
    lines.append("|---|--:|--:|---|")
    for name in dict.fromkeys(row.fault for row in rows):
        of_it = [row for row in rows if row.fault == name]
        seen = "; ".join(row.visitors for row in of_it[:2])
        lines.append(f"| {name} | {len(of_it)} | {max(row.seconds for row in of_it):.0f} | {seen} |")
    return lines


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    parser.add_argument("--keep", type=Path, help="work here and keep what is written")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, MockWeb() as web:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows, wrong = soak(Whole(folder, web, free_port()), given.minutes, given.seed)
    load = ", ".join(f"{one:.0f}" for one in os.getloadavg())
    said = f"{len(rows)} faults; load of the machine {load}; wrong at the end: {'; '.join(wrong) or 'nothing'}."
    lines = [f'`make soak-faults ARGS="--minutes {given.minutes:g} --seed {given.seed}"`: {said}', "", *table(rows)]
    print("\n".join(lines))
    if given.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
        PAGE.write_text(f"{head}{MARK}\n" + "\n".join(lines) + f"\n{MARK}{rest.partition(MARK)[2]}", encoding="utf-8")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
