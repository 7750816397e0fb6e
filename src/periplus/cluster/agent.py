"""The agent of a node: starts Ray's part on this machine, says that the machine lives, and ends both together.

It runs nothing else itself. When its Ray dies, it takes its row away, so that what ran here goes elsewhere at once, and
ends with an error: whoever supervises it (systemd, say) starts it again. When Ray's head was started anew, it joins
that one, in turn with the other nodes.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.cluster.conducting import GUEST, NODE_ADDRESS
from periplus.cluster.keeper import LOGS, free_slots, kept_slots, read_token
from periplus.cluster.nodes import BEAT_EVERY, LEAVE, Node, Nodes, RayHead
from periplus.cluster.processes import Process
from periplus.cluster.rays import WORKER_PORTS, ray_environment, require_ray, start_words
from periplus.errors import NotFound, NotReady, PeriplusError, StorageError, UsageError
from periplus.jobs.packing import HOME_VARIABLE
from periplus.storage import Leases, process_name

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from periplus.storage import Database

HEAD_PORT = 6379
REACH_SECONDS = 5.0  # to find a head that listens
START_SECONDS = 120.0  # that Ray has to start
CONDUCTOR_STOP = 3.0  # seconds: it cannot hear while it waits for Ray
RAY_STOP = 5.0  # seconds that a Ray without a head has to end
KEEPERS_GO = 1.5  # seconds in which keepers end when they see that their Ray is gone
LEAVE_SECONDS = 60.0  # that what runs on a node has to go elsewhere, when it leaves
STARTED = "Ray runtime started"
REJOIN = "cluster.rejoin"  # the lease of nodes that join a new head, one at a time


class NodePlan(Struct, frozen=True):
    """How a machine takes part. ``head`` is empty where Ray's head is to be started here, at ``port``."""

    name: str
    address: str
    cores: int
    memory: int
    folder: str
    head: str = ""
    port: int = HEAD_PORT
    ray_address: str = ""  # of a Ray that somebody else runs


class Agent:
    """One node; ``run`` blocks until it has left."""

    def __init__(self, plan: NodePlan, database: Database) -> None:
        require_ray()
        self._plan, self._database = plan, database
        self._nodes = Nodes(database)
        self._token = read_token(plan.folder)
        self._head = RayHead(plan.head or f"{plan.address}:{plan.port}", "" if plan.head else secrets.token_hex(8))
        self.node = Node(
            plan.name, plan.address, plan.cores, plan.memory, plan.folder, not plan.head, process_name()
        )  # fmt: skip
        own = {NODE_ADDRESS: plan.address, HOME_VARIABLE: plan.folder}
        self._environment = ray_environment(self._token) | own
        self._ray = self._raylet()
        self._conductor = self._new_conductor()
        self._conducts_at = 0.0  # when it is started next

    def _new_conductor(self) -> Process:
        words = [sys.executable, "-m", "periplus.cluster.conducting", self._plan.folder]
        return Process(words, Path(self._plan.folder) / LOGS / "conductor.log", self._environment)

    def run(self, stopping: threading.Event, started: Callable[[Node], None]) -> None:
        """Join, live, leave; raises when Ray cannot be started, or dies."""
        if self._plan.head:
            reach(self._plan.head)
        self._nodes.refuse_second(self.node)
        try:
            self._start_ray()
            self._enter()
            started(self.node)
            self._live(stopping)
        finally:
            self._conductor.stop(CONDUCTOR_STOP)
            self._ray.stop()

    # Joining

    def _raylet(self) -> Process:
        plan = self._plan
        words = start_words(plan.address, plan.cores, head=plan.head, port=plan.port)
        return Process(words, Path(plan.folder) / LOGS / "ray.log", self._environment)

    def _start_ray(self) -> None:
        """Ray fails to start now and then, when machines join at the same moment: it is tried a second time."""
        try:
            self._start_ray_once()
        except NotReady:
            self._ray.stop()
            self._start_ray_once()

    def _start_ray_once(self) -> None:
        log = Path(self._plan.folder) / LOGS / "ray.log"
        log.unlink(missing_ok=True)
        self._ray.start()
        latest = time.monotonic() + START_SECONDS
        while STARTED not in (log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""):
            code = self._ray.wait(0.1)
            if code is not None:
                raise NotReady(f"Ray does not start here (code {code}): {self._ray.last_line()[:200]}; see {log}")
            if time.monotonic() > latest:
                raise NotReady(f"Ray has not started after {START_SECONDS:.0f} s; see {log}, and check the token")

    def _enter(self) -> None:
        if self.node.is_head:
            self._nodes.set_head(self._head)
        else:
            self._head = self._nodes.head()
        self._nodes.join(self.node)

    # Living

    def _live(self, stopping: threading.Event) -> None:
        leaves_at = 0.0
        while True:
            if self._ray.wait(BEAT_EVERY) is not None:
                self._lose_ray()
            self._look_after_conductor()
            try:
                order = self._beat()
                self._follow_head()
            except StorageError:
                continue  # what runs here goes on while the database is away
            if stopping.is_set() and order != LEAVE:
                self._nodes.order(self.node.id, LEAVE)
                order = LEAVE
            if order != LEAVE:
                leaves_at = 0.0
                continue
            leaves_at = leaves_at or time.monotonic() + LEAVE_SECONDS
            if self._may_go() or time.monotonic() > leaves_at:
                self._nodes.leave(self.node)
                return

    def _beat(self) -> str:
        try:
            return self._nodes.beat(self.node)
        except NotFound:
            self._nodes.join(self.node)
            return ""

    def _may_go(self) -> bool:
        """When nothing runs here any more; a head when the other nodes have gone that are told to."""
        if any(slot.node == self.node.id for slot in kept_slots(self._database)):
            return False
        others = [node for node in self._nodes.alive() if node.id != self.node.id]
        return not (self.node.is_head and any(node.leaving == LEAVE for node in others))

    def _lose_ray(self) -> None:
        with suppress(PeriplusError):
            self._clear_slots()
            self._nodes.leave(self.node, "has lost its Ray")
        raise NotReady(f"Ray has ended on this machine: {self._ray.last_line()[:200]}; join again")

    def _clear_slots(self) -> None:
        """Keepers go with Ray, so their slots are given up for them, once their children have ended."""
        time.sleep(KEEPERS_GO)
        for slot in kept_slots(self._database):
            if slot.node == self.node.id and slot.process:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(slot.process, signal.SIGKILL)
        free_slots(self._database, self.node.id)

    def _look_after_conductor(self) -> None:
        """Start it, and again when it has ended, later each time."""
        if self._conductor.wait(0) is None:
            return
        if not self._conducts_at:
            self._conducts_at = time.monotonic() + self._conductor.pause()
        if time.monotonic() >= self._conducts_at:
            self._conducts_at = 0.0
            self._conductor.start()

    def _follow_head(self) -> None:
        """Join the head that was started last, where that is not the one we know; one node at a time."""
        newest = self._nodes.head()
        if newest == self._head or self.node.is_head:
            return
        leases = Leases(self._database)
        lease = leases.acquire(REJOIN, self.node.id, START_SECONDS)
        if lease is None:
            return
        try:
            self._conductor.stop(CONDUCTOR_STOP)
            self._ray.stop(RAY_STOP)  # without its head it would try in vain to hand over what it runs
            self._clear_slots()
            self._conductor, self._conducts_at = self._new_conductor(), 0.0
            self._plan = msgspec.structs.replace(self._plan, head=newest.address)
            self._ray = self._raylet()
            self._start_ray()
            self._head = newest
            self._nodes.beat(self.node)
        finally:
            leases.release(lease)


class GuestAgent:
    """Takes part with all machines of a Ray that somebody else runs; has no row of its own."""

    def __init__(self, plan: NodePlan, database: Database) -> None:
        require_ray()
        self._plan, self._database = plan, database
        self._nodes = Nodes(database)
        environment = ray_environment("") | {GUEST: plan.ray_address}
        words = [sys.executable, "-m", "periplus.cluster.conducting", plan.folder]
        self._conductor = Process(words, Path(plan.folder) / LOGS / "conductor.log", environment)
        self._again = 0.0

    def run(self, stopping: threading.Event, started: Callable[[Node], None]) -> None:
        """Conduct until stopped, or until all nodes are told to leave and run nothing any more."""
        if self._plan.ray_address != "auto":
            reach(self._plan.ray_address)
        self._nodes.set_head(RayHead(self._plan.ray_address, secrets.token_hex(8)))
        said = False
        try:
            while not self._is_over(stopping):
                if self._conductor.wait(BEAT_EVERY) is not None and time.monotonic() >= self._again:
                    self._conductor.start()
                    self._again = time.monotonic() + self._conductor.pause()
                    stopping.wait(BEAT_EVERY)
                nodes = self._nodes.alive()
                if nodes and not said:
                    started(nodes[0])
                    said = True
        finally:
            self._conductor.stop()
            for node in self._nodes.all():
                self._nodes.leave(node)

    def _is_over(self, stopping: threading.Event) -> bool:
        nodes = self._nodes.alive()
        if stopping.is_set():
            self._nodes.order_all(LEAVE)
        told = stopping.is_set() or (bool(nodes) and all(node.leaving == LEAVE for node in nodes))
        return told and not kept_slots(self._database)


def reach(head: str) -> None:
    """Raise unless somebody listens there: Ray itself would try for minutes."""
    host, port = address_parts(head)
    try:
        socket.create_connection((host, port), REACH_SECONDS).close()
    except OSError as error:
        raise NotFound(
            f"no head of a cluster answers at {head}: {error}; periplus cluster start there, or check the address"
        ) from error


def address_parts(text: str) -> tuple[str, int]:
    """Host and port of a head, ``HEAD_PORT`` where none is given."""
    host, _, port = text.rpartition(":") if ":" in text else (text, "", str(HEAD_PORT))
    if not host or not port.isdigit() or not 0 < int(port) < 65_536:
        raise UsageError(f"{text!r} is no address of a head; write it like 10.0.0.1:{HEAD_PORT}")
    return host, int(port)


def check_port(port: int) -> None:
    if port in WORKER_PORTS or not 0 < port < 65_536:
        raise UsageError(
            f"port {port} cannot be the head's: Ray gives {WORKER_PORTS[0]} to {WORKER_PORTS[-1]} to others"
        )


def machine_address(towards: str = "192.0.2.1") -> str:
    """The address of this machine that others see; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((towards, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
