"""The conductor of a cluster: decides what runs where, and has keepers started and ended accordingly.

Every node has one; whoever holds the lease does the work, the others wait for it. It keeps nothing: what is there is
read from rows and from Ray at every look, so the next holder goes on without a word. ``python -m
periplus.cluster.conducting FOLDER`` is its process: a loss of Ray ends that, and not the agent beside it.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct

from periplus import log_lines
from periplus import settings as settings_module
from periplus.cluster.keeper import TOKEN_FILE, Keep, command, database_address, kept_slots, read_token
from periplus.cluster.nodes import Node, Nodes
from periplus.cluster.placement import BROKER, CRAWL, HELP, INDEX, SHARD, kind_of, placement
from periplus.crawl import is_at_work
from periplus.errors import LeaseLost, NotFound, PeriplusError
from periplus.storage import Database, Leases, database_time, process_name, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from periplus.settings import Settings
    from periplus.storage import Lease

LOOK_EVERY = 1.0  # seconds
LEASE_SECONDS = 15.0
FORGOTTEN_AFTER = 30.0  # seconds without a report of its keeper: longer than it can hold its lease
CONDUCTOR = "cluster.conductor"
NODE_ADDRESS = "PERIPLUS_NODE_ADDRESS"  # where the agent beside this process is
GUEST = "PERIPLUS_GUEST_OF"  # the Ray of somebody else that this process uses
GUESTS = "ray"  # the agent of machines that have none
PUBLISHED_INDEX = "index"  # the kind of generations that shard servers serve
WISH = "cluster.wish."  # leases of processes that want shard servers while they run

_logger = logging.getLogger(__name__)


class PublishedShards(Struct, frozen=True):
    """What the conductor reads of a manifest."""

    shards: int = 1


class Fleet(Protocol):
    """Whoever starts keepers on machines."""

    def names(self) -> set[str]: ...

    def start(self, keep: Keep, address: str) -> None: ...

    def end(self, name: str) -> None: ...

    def settle(self, gone: Iterable[str]) -> None: ...


class ClusterConductor:
    def __init__(
        self, database: Database, settings: Settings, fleet: Callable[[], Fleet], prepared: dict[str, str] | None = None
    ) -> None:
        """``fleet`` is asked for when there is something to conduct; ``prepared`` goes into folders that lack it."""
        self._database = database
        self._settings = settings
        self._new_fleet = fleet
        self._fleet: Fleet | None = None
        self._prepared = prepared or {}
        self._nodes = Nodes(database)
        self._leases = Leases(database)
        self._lease: Lease | None = None

    def look(self) -> bool:
        """One look; whether this process conducts."""
        if not self._leads():
            return False
        self._forget()
        nodes = self._nodes.all()
        free = {node.id: float(node.cores) for node in nodes if node.is_free}
        present = {slot.name: slot.node for slot in kept_slots(self._database)}
        placed = placement(self.wanted(), self.shards(), self._settings.cluster.replicas, free, present)
        self._settle(placed, {node.id: node for node in nodes})
        return True

    def wanted(self) -> set[str]:
        """The kinds of processes that are wanted now: by order, by a crawl that runs, by brokers elsewhere."""
        services = self._nodes.services()
        found = {kind for kind in (CRAWL, INDEX) if kind in services}
        if "serve" in services:
            found |= {SHARD, BROKER}
        if CRAWL not in found and is_at_work(self._database):
            found.add(HELP)  # every node helps with a crawl, wherever it was begun
        with self._database.read() as tx:
            if tx.value("SELECT 1 FROM leases WHERE name LIKE ? AND expires > ?", (f"{WISH}%", database_time(tx))):
                found.add(SHARD)
        return found

    def shards(self) -> int:
        """As many as the published index has; before there is one, as it is going to have."""
        sql = "SELECT manifest FROM generations WHERE kind = ? ORDER BY number DESC LIMIT 1"
        with self._database.read() as tx:
            manifest = tx.value(sql, (PUBLISHED_INDEX,))
        return msgspec.json.decode(manifest, type=PublishedShards).shards if manifest else self._settings.index.shards

    def _forget(self) -> None:
        """Rows of keepers that died with their machine, and whose slot nobody wants any more."""
        with self._database.write() as tx:
            tx.execute("DELETE FROM slots WHERE seen < ?", (database_time(tx) - FORGOTTEN_AFTER,))

    def close(self) -> None:
        if self._lease is not None:
            self._leases.release(self._lease)
            self._lease = None

    def _leads(self) -> bool:
        try:
            if self._lease is not None:
                self._lease = self._leases.renew(self._lease, LEASE_SECONDS)
        except LeaseLost:
            self._lease = None
        if self._lease is None:
            self._lease = self._leases.acquire(CONDUCTOR, process_name(), LEASE_SECONDS)
            if self._lease is not None:
                with self._database.write() as tx:
                    write_event(tx, "cluster", f"process {os.getpid()} conducts the cluster")
        return self._lease is not None

    def _settle(self, placed: dict[str, str], nodes: dict[str, Node]) -> None:
        """Start what is missing, end what is too much; a slot that moves is ended first, its lease waits for that."""
        if self._fleet is None:
            self._fleet = self._new_fleet()
        wanted = {f"{slot}@{node}": (slot, nodes[node]) for slot, node in placed.items()}
        there = self._fleet.names()
        for name in sorted(there - set(wanted)):
            self._fleet.end(name)
        for name in sorted(set(wanted) - there):
            self._fleet.start(self._keep(*wanted[name]), wanted[name][1].address)
        self._fleet.settle(name for name in _homes(there) if name not in nodes or not nodes[name].is_alive)

    def _keep(self, slot: str, node: Node) -> Keep:
        words = command(slot, node.address, node.folder, self._settings.serve.port)
        cores = {"PERIPLUS_CRAWL_WORKERS": str(node.cores)}
        own = cores if kind_of(slot) in (CRAWL, HELP) and not self._settings.crawl.workers else {}
        return Keep(slot, node.id, node.folder, words, own, self._prepared)


def _homes(names: Iterable[str]) -> set[str]:
    return {name.rpartition("@")[2] for name in names}


def conductor_of(database: Database) -> str:
    """The process that conducts now; empty where there is none."""
    return next((lease.owner for lease in Leases(database).held() if lease.name == CONDUCTOR), "")


def conduct(folder: Path, stopping: threading.Event) -> None:
    """Conduct whenever that falls to this process, until stopped."""
    from periplus.cluster.rays import RayFleet, connect

    guest = os.environ.get(GUEST, "")
    with Database.open(database_address(folder)) as database:
        nodes, made = Nodes(database), []

        def fleet() -> RayFleet:
            token = "" if guest else read_token(folder)
            made.append(RayFleet(connect(guest or nodes.head().address, token, os.environ.get(NODE_ADDRESS, ""))))
            return made[-1]

        prepared = _prepared(folder) if guest else {}
        conductor = ClusterConductor(database, settings_module.load(folder).values, fleet, prepared)
        while not stopping.wait(LOOK_EVERY):
            try:
                if conductor.look() and guest and made:
                    enrol(nodes, made[-1].nodes(), folder)
            except PeriplusError as error:
                _logger.warning("the conductor waits: %s", error)
        if guest and made:
            made[-1].close()
        conductor.close()


def _prepared(folder: Path) -> dict[str, str]:
    """What the folders of somebody else's machines need: the settings and the token of this one."""
    names = (settings_module.FILE_NAME, TOKEN_FILE)
    return {name: (folder / name).read_text(encoding="utf-8") for name in names if (folder / name).exists()}


def enrol(nodes: Nodes, machines: Iterable[tuple[str, int, int]], folder: Path) -> None:
    """Write the rows of machines that somebody else's Ray has, and that have no agent of ours."""
    for address, cores, memory in machines:
        node = Node(f"ray-{address.replace('.', '-')}", address, max(1, cores), memory, str(folder), process=GUESTS)
        try:
            nodes.beat(node)
        except NotFound:
            nodes.join(node)


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    log_lines.begin("conductor")
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    conduct(Path(sys.argv[1]), stopping)


if __name__ == "__main__":
    main()
