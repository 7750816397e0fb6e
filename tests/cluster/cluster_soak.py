"""Visitors and a crawl on a cluster while things happen to it: ``make soak-cluster``.

Three machines with Ray, each in a network of its own, PostgreSQL and an S3 server behind a gate, all started here. A
web that grows is crawled and indexed, visitors search at every broker, and one fault after the other is done. Prints a
row for each, with ``--write`` into docs/reliability.md; ends with 1 when something did not recover or an invariant
broke.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cluster import soak_invariants
from cluster.networks import HERE, WEB, Networks
from cluster.three_machines import HEAD_PORT, ThreeMachines, descendants
from mockweb.growing import Growing
from mockweb.mock_web import MockWeb
from periplus.storage import LocalFiles
from support.object_store import Gate, ObjectServer, environment
from support.postgres import PostgresServer, find_binaries
from support.relay import Relay

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
EVERY = 0.2  # seconds between two searches of a visitor
PATIENCE = 300.0  # seconds to recover, on a machine that is busy
CALM = 3.0  # seconds of looking on after a recovery
DELAY = 1.0
CUT = 40.0  # seconds of a cut: longer than leases and Ray's patience
ERRORS = 0.3  # of the object store's answers, when it errs at random
SETTINGS = """
[index]
shards = 3
[cluster]
replicas = 2
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
"""

# Of a fault that says nothing more of itself when it is done.
MEANINGS = {
    "kill -9 of a crawl worker": "its hosts move with its lease, of 30 s",
    "kill -9 of a broker": "its visitors had none until it was back",
    "PostgreSQL restarted": "the crawl goes on when the leases of before are over",
}


class Row(NamedTuple):
    fault: str
    visitors: str
    seconds: float
    meaning: str


class Visitors:
    """One at every broker; counts what they see."""

    def __init__(self, machines: ThreeMachines) -> None:
        self._machines = machines
        self._lock = threading.Lock()
        self._seen: Counter[str] = Counter()
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._visit, args=(number,), daemon=True) for number in (1, 2, 3)]

    def __enter__(self) -> Visitors:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _visit(self, number: int) -> None:
        while not self._ended.wait(EVERY):
            what = self._ask(self._machines.address_of(number))
            with self._lock:
                self._seen[what] += 1

    def _ask(self, address: str) -> str:
        try:
            answer = self._machines.search(address, drawn_word())
        except OSError as error:
            return f"answers of {error.code}" if hasattr(error, "code") else "no connection"
        return "degraded" if answer["degraded"] else "whole"

    def take(self) -> str:
        with self._lock:
            seen, self._seen = self._seen, Counter()
        return ", ".join(f"{count} {what}" for what, count in sorted(seen.items(), key=lambda item: -item[1])) or "none"


def drawn_word() -> str:
    """Another one each time: answers that a broker has kept say nothing of its shards."""
    return f"word{random.randrange(9973)}"


class Soak:
    def __init__(
        self, machines: ThreeMachines, growing: Growing, gate: Gate, postgres: PostgresServer, networks: Networks
    ) -> None:
        self.machines, self.growing, self.gate = machines, growing, gate
        self.postgres, self.networks = postgres, networks

    def begin(self) -> None:
        """Machines, a crawl, an index, brokers: all by the services of the cluster."""
        machines = self.machines
        machines.begin()
        done = machines.verb("crawl", *self.growing.seeds, "--for", "10")
        assert done.returncode in (0, 1), done.stderr
        done = machines.verb("index")
        assert done.returncode == 0, done.stderr
        machines.nodes.set_services(("crawl", "index", "serve"))
        self.wait_whole()

    def wait_whole(self) -> None:
        """Until all slots run, and all brokers answer wholly."""
        self.machines.wait_for(self.is_whole, PATIENCE * 2)

    def is_whole(self) -> bool:
        running = self.machines.running()
        counts = Counter(name.partition(":")[0] for name in running)
        if (counts["shard"], counts["broker"], counts["crawl"], counts["index"]) != (6, 3, 3, 1):
            return False
        try:
            found = [self.machines.search(self.machines.address_of(number), drawn_word()) for number in (1, 2, 3)]
        except OSError:
            return False
        return all(not answer["degraded"] for answer in found)

    def crawling(self, recovered: Callable[[], bool]) -> Callable[[], bool]:
        """That something has recovered, and that pages are fetched again."""
        asked = len(self.growing.asked)
        return lambda: len(self.growing.asked) > asked and recovered()

    def process(self, slot: str) -> int:
        found = self.machines.running().get(slot)
        return found.process if found else 0

    def killed(self, slot: str) -> Callable[[], Callable[[], bool]]:
        """A fault: kill -9 of what runs in a slot; it recovered when another process runs there."""

        def fault() -> Callable[[], bool]:
            before = self.process(slot)
            os.kill(before, signal.SIGKILL)
            return lambda: self.process(slot) not in (0, before) and self.is_whole()

        return fault

    def raylet(self) -> Callable[[], bool]:
        machine = self.machines.all["m3"]
        machine.kill_raylet()
        machine.process.wait(timeout=PATIENCE)
        moved = time.monotonic()

        def elsewhere() -> bool:
            shards = self.machines.running("shard")
            return len(shards) == 6 and all(slot.node != "m3" for slot in shards.values())

        self.machines.wait_for(elsewhere, PATIENCE)
        self.note = f"{time.monotonic() - moved:.0f} s until its shards were served elsewhere"
        self.machines.start(3, head=1, port=self.head_port)
        return self.is_whole

    def head(self) -> Callable[[], bool]:
        self.machines.all["m1"].kill()
        time.sleep(20.0)
        self.note = "20 s without a head, then a new one was started"
        self.head_port += 1  # Ray refuses the port of a head that others on the same kernel still look for
        self.machines.start(1, port=self.head_port)
        return self.is_whole

    def frozen(self) -> Callable[[], bool]:
        machine = self.machines.all["m3"]
        pids = [machine.process.pid, *descendants(machine.process.pid)]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        self.machines.wait_for(lambda: "m3" not in self.machines.alive(), PATIENCE)
        time.sleep(max(0.0, 30.0 - (time.monotonic() - began)))
        for pid in pids:
            if Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGCONT)
        self.note = "frozen for 30 s"
        return self.joined_again

    def batch_task(self) -> Callable[[], bool]:
        with self.machines.one_task_killed() as killed:
            job = self.machines.begun(1, "-m", "cluster.small_tasks", str(self.machines.home("m1")))
            said = job.communicate(timeout=PATIENCE)[0]
        assert job.returncode == 0, said
        assert killed, "no task was seen"
        self.note = f"of an index built anew in four tasks ({said.strip()}): done again"
        return self.is_whole

    def parted(self) -> Callable[[], bool]:
        """Machines are cut from each other, and reach database, object store and web."""
        self.networks.part()
        time.sleep(CUT)
        self.networks.part(off=False)
        self.note = f"for {CUT:.0f} s; each reached database, object store and web"
        return self.joined_again

    def cut_off(self) -> Callable[[], bool]:
        """A machine is cut from everything."""
        self.networks.cut(3)
        time.sleep(CUT)
        self.networks.cut(3, off=False)
        self.note = f"for {CUT:.0f} s; its visitors with it"
        return self.joined_again

    def lost_services(self) -> Callable[[], bool]:
        """A machine reaches the others and the web, and neither database nor object store."""
        self.networks.lose(3)
        time.sleep(CUT)
        self.networks.lose(3, off=False)
        self.note = f"for {CUT:.0f} s; it reached the other machines and the web"
        return self.joined_again

    def joined_again(self) -> bool:
        """Whether all is whole; agents whose Ray died meanwhile are started again, as systemd would."""
        for number in (1, 2, 3):
            if self.machines.all[f"m{number}"].process.poll() is not None:
                self.note += f"; m{number} joined again" if number > 1 else "; another head was started"
                self.head_port += number == 1
                self.machines.start(number, head=1 if number > 1 else 0, port=self.head_port)
        return self.is_whole()

    def database(self) -> Callable[[], bool]:
        self.postgres.restart()
        return self.is_whole

    def store_refuses(self) -> Callable[[], bool]:
        self.gate.close()
        time.sleep(60.0)
        self.gate.open()
        self.note = "refused connections for 60 s"
        return self.is_whole

    def store_is_slow(self) -> Callable[[], bool]:
        self.gate.fault = lambda method, path: time.sleep(1.0)  # type: ignore[func-returns-value]
        time.sleep(30.0)
        self.gate.fault = lambda method, path: None
        self.note = "each request took 1 s longer, for 30 s"
        return self.is_whole

    def store_errs(self) -> Callable[[], bool]:
        done = self.gate.err(ERRORS)
        time.sleep(60.0)
        self.gate.err(0.0)
        seen = ", ".join(f"{count} {what}" for what, count in sorted(done.items(), key=str))
        self.note = f"{100 * ERRORS:.0f} of 100 requests had a fault, for 60 s: {seen}"
        return self.is_whole

    failed: list[str] = []  # noqa: RUF012 (there is one soak)
    note = ""
    head_port = HEAD_PORT


def run(soak: Soak, only: set[str]) -> list[Row]:
    faults = {
        "kill -9 of a crawl worker": soak.killed("crawl:m2"),
        "kill -9 of the indexer": soak.killed("index"),
        "kill -9 of a shard server": soak.killed("shard:0:0"),
        "kill -9 of a broker": soak.killed("broker:m2"),
        "kill -9 of a batch task on Ray": soak.batch_task,
        "kill -9 of a raylet": soak.raylet,
        "kill -9 of Ray's head, its machine with it": soak.head,
        "a machine frozen": soak.frozen,
        "the network cut between machines": soak.parted,
        "a machine cut from everything": soak.cut_off,
        "a machine cut from database and object store": soak.lost_services,
        "PostgreSQL restarted": soak.database,
        "the object store refuses": soak.store_refuses,
        "the object store is slow": soak.store_is_slow,
        "the object store errs at random": soak.store_errs,
    }
    rows = []
    with Visitors(soak.machines) as visitors:
        for name, fault in faults.items():
            if only and not any(word in name for word in only):
                continue
            soak.wait_whole()
            time.sleep(CALM)
            visitors.take()
            pages = len(soak.growing.asked)
            soak.note = ""
            began = time.monotonic()
            try:
                recovered = fault()
                soak.machines.wait_for(soak.crawling(recovered), PATIENCE)
                seconds = time.monotonic() - began
                time.sleep(CALM)
                if not recovered():  # Ray tells a machine late that the others gave it up
                    soak.machines.wait_for(recovered, PATIENCE)
                    seconds = time.monotonic() - began
                    time.sleep(CALM)
            except (AssertionError, subprocess.SubprocessError) as error:
                soak.failed.append(f"{name}: {str(error)[:3000]}")
                soak.note = "did not recover in time"
                seconds = time.monotonic() - began
            rows.append(Row(name, visitors.take(), seconds, soak.note or MEANINGS.get(name, "")))
            grown = len(soak.growing.asked) - pages
            row = rows[-1]
            print(f"{name}: {seconds:.0f} s; visitors: {row.visitors}; {row.meaning}; {grown} pages", flush=True)
    return rows


def invariants(soak: Soak) -> list[str]:
    """What broke, by the web's own log and by ours."""
    machines = soak.machines
    wrong = (
        soak.failed
        + soak_invariants.exact(machines)
        + soak_invariants.kept(machines)
        + soak_invariants.policed(machines)
    )
    return wrong + soak_invariants.polite(soak.growing, DELAY)


def table(rows: list[Row]) -> str:
    lines = ["| what was done | what visitors saw | until all ran again, s | |", "|---|---|--:|---|"]
    lines += [f"| {row.fault} | {row.visitors} | {row.seconds:.0f} | {row.meaning} |" for row in rows]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="words of the faults to do")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    given = parser.parse_args()
    binaries = find_binaries()
    assert binaries, "PostgreSQL is missing; scripts/components installs it"
    with ExitStack() as stack:
        postgres, objects = PostgresServer(binaries), ObjectServer()
        stack.callback(postgres.stop)
        stack.callback(objects.stop)
        networks = stack.enter_context(Networks(3))
        gate = Gate(objects.port, HERE)
        os.environ.update(environment(gate.endpoint))
        web = stack.enter_context(MockWeb())
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-soak-", ignore_cleanup_errors=True))
        )
        resolve = f"*.test={WEB}:{Relay(WEB, web.port).port}"
        settings = SETTINGS.format(resolve=resolve, delay=DELAY)
        state = Relay(HERE, str(postgres.folder / ".s.PGSQL.5432"))
        database = postgres.create().replace(f"host={postgres.folder}", f"host={HERE}&port={state.port}")
        machines = stack.enter_context(
            ThreeMachines(folder, database, f"s3://{objects.bucket()}/main", settings, networks)
        )
        soak = Soak(machines, Growing(web, 12, forbids=True), gate, postgres, networks)
        soak.begin()
        rows = run(soak, set(given.only))
        wrong = invariants(soak)
    print(table(rows))
    print("invariants:", wrong[:20] or "all held")
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        begin, end = text.index("| what was done"), text.index("\n\n", text.index("| what was done"))
        LocalFiles(PAGE.parent).write(PAGE.name, (text[:begin] + table(rows) + text[end:]).encode())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
