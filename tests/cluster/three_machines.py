"""A cluster on one machine: agents with Ray of their own at 127.0.0.2, 127.0.0.3 …, each with a folder of its own.

With ``networks``, each has a network of its own, too, and can be cut off.

They share a PostgreSQL server and an S3 server. Everything is started by ``periplus cluster`` and ended, also what was
killed, when the block ends. ``make test-cluster`` runs it in a network of its own (``scripts/own-network``).
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from periplus.cluster import KeptSlot, Node, Nodes, kept_slots
from periplus.cluster.keeper import RUNNING
from periplus.storage import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cluster.networks import Networks

PATIENCE = 400.0  # seconds: only what never comes takes so long, and machines are busy
HEAD_PORT = 6379
PORT = 8900  # of brokers, each at its own address
PR_SET_CHILD_SUBREAPER = 36
TASK = "ray::run_task"  # as a process of Ray calls itself while it works


class Machine:
    """One agent, in the foreground, and all that comes of it."""

    def __init__(self, name: str, address: str, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.name, self.address, self.folder, self.process = name, address, folder, process

    def said(self) -> str:
        return (self.folder / "agent.txt").read_text()

    def processes(self, words: str) -> list[int]:
        """The processes of this machine whose command has these words, the agent's descendants."""
        return [pid for pid in descendants(self.process.pid) if words in command_of(pid)]

    def kill_raylet(self) -> None:
        for pid in self.processes("raylet/raylet"):
            os.kill(pid, signal.SIGKILL)

    def kill(self) -> None:
        """As a loss of power: the agent, its Ray and all that it started, at once."""
        for pid in [self.process.pid, *descendants(self.process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


class ThreeMachines:
    """``with ThreeMachines(…) as machines``: none is started yet."""

    def __init__(
        self, folder: Path, database: str, bucket: str, settings: str = "", networks: Networks | None = None
    ) -> None:
        self.folder, self.networks = folder, networks
        self.settings = f'[storage]\ndatabase = "{database}"\nfiles = "{bucket}"\n[serve]\nport = {PORT}\n{settings}'
        self.all: dict[str, Machine] = {}
        self.database = Database.open(database)
        self.nodes = Nodes(self.database)
        self._ray = tempfile.mkdtemp(prefix="pr-", dir="/tmp")  # short: a socket's path has 107 bytes

    def __enter__(self) -> ThreeMachines:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what outlives its parent becomes ours, and is found
        return self

    def __exit__(self, *_: object) -> None:
        for _ in range(3):
            for pid in descendants(os.getpid()):
                if self._ray in environment_of(pid):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)
        for machine in self.all.values():
            machine.process.wait()
        self.database.close()
        shutil.rmtree(self._ray, ignore_errors=True)

    def home(self, name: str) -> Path:
        folder = self.folder / name
        if not folder.exists():
            folder.mkdir()
            (folder / "periplus.toml").write_text(self.settings)
        return folder

    def begin(self, count: int = 3) -> None:
        """A head and machines that join it, one after the other: they share the ports of one kernel."""
        for number in range(1, count + 1):
            machine = self.start(number, head=1 if number > 1 else 0)
            self.wait_for(lambda machine=machine: machine.name in self.alive() or machine.process.poll() is not None)
            assert machine.name in self.alive(), machine.said()

    def start(self, number: int, *, head: int = 0, port: int = HEAD_PORT, ray_address: str = "") -> Machine:
        """Machine ``number``: a new head, or one that joins the head on another machine; returns at once."""
        name, address, folder = f"m{number}", self.address_of(number), self.home(f"m{number}")
        words = ["join", f"{self.address_of(head)}:{port}"] if head else ["start", "--port", str(port)]
        if ray_address:
            words += ["--ray-address", ray_address]
        if head:
            words += ["--token-file", str(self.home(f"m{head}") / "cluster.token")]
        command = [sys.executable, "-m", "periplus", "cluster", *words, "--foreground", "--dir", str(folder)]
        command += ["--address", address, "--node", name, "--cores", "1"]
        with (folder / "agent.txt").open("wb") as output:
            process = subprocess.Popen(
                [*self._entered(number), *command],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self.environment(),
                start_new_session=True,
            )
        self.all[name] = Machine(name, address, folder, process)
        return self.all[name]

    def environment(self) -> dict[str, str]:
        return os.environ | {"RAY_TMPDIR": self._ray}

    def address_of(self, number: int) -> str:
        return self.networks.address(number) if self.networks else address_of(number)

    def verb(self, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a verb of ``periplus`` on a machine, the first one unless another's folder is given."""
        home = folder or self.home("m1")
        command = [*self._entered(int(home.name[1:])), sys.executable, "-m", "periplus", *words, "--dir", str(home)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment())

    def begun(self, number: int, *words: str) -> subprocess.Popen[str]:
        """A command of Python on a machine, under way."""
        command = [*self._entered(number), sys.executable, *words]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment()
        )

    def _entered(self, number: int) -> list[str]:
        return self.networks.entered(number) if self.networks else []

    @contextmanager
    def one_task_killed(self) -> Iterator[list[int]]:
        """Kill -9 of the first batch task that is seen at work, on whichever machine; gives those that were."""
        killed: list[int] = []
        ended = threading.Event()

        def look() -> None:
            while not killed and not ended.wait(0.01):
                found = [pid for machine in self.all.values() for pid in machine.processes(TASK)]
                for pid in found[:1]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield killed
        finally:
            ended.set()
            thread.join()

    # Looking

    def slots(self) -> dict[str, KeptSlot]:
        return {slot.name: slot for slot in kept_slots(self.database)}

    def running(self, prefix: str = "") -> dict[str, KeptSlot]:
        return {name: slot for name, slot in self.slots().items() if name.startswith(prefix) and slot.state == RUNNING}

    def alive(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes.alive()}

    def wait_for(self, condition: Callable[[], Any], seconds: float = PATIENCE) -> float:
        """Seconds until something holds; an agent that ended early is said."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > seconds:
                raise AssertionError(f"waited {seconds:.0f} s; {self._state()}")
            time.sleep(0.1)
        return time.monotonic() - began

    def _state(self) -> str:
        ended = {name: one.said()[-500:] for name, one in self.all.items() if one.process.poll() is not None}
        logs = [path for path in self.folder.glob("*/cluster/*.log") if path.stat().st_size]
        tails = {str(path.relative_to(self.folder)): path.read_text(errors="replace")[-300:] for path in logs}
        return f"nodes {self.nodes.all()}; slots {self.slots()}; ended {ended}; logs {tails}"

    def answer(self, address: str, path: str = "/healthz") -> int:
        """The status of a broker's answer; 0 when there is none."""
        try:
            with urllib.request.urlopen(f"http://{address}:{PORT}{path}", timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def search(self, address: str, words: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://{address}:{PORT}/api/v1/search?q={words}", timeout=10) as answer:
            return json.load(answer)


def address_of(number: int) -> str:
    return f"127.0.0.{number + 1}"


def descendants(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            text = path.read_text(errors="replace").rpartition(")")[2].split()
            parents.setdefault(int(text[1]), []).append(int(path.parent.name))
    return list(_below(root, parents))


def _below(root: int, parents: dict[int, list[int]]) -> Iterator[int]:
    for child in parents.get(root, []):
        yield child
        yield from _below(child, parents)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def environment_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return ""
