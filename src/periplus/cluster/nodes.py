"""The machines of a cluster: one row each, which the agent of that machine refreshes with its heartbeats.

All times are the database's, so the clocks of machines need not agree. A node that was not seen for ``GOOD_FOR``
seconds is dead: what ran there is started elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.errors import NotFound, WrongState
from periplus.storage import database_time, is_dead, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from periplus.storage import Database, Transaction

BEAT_EVERY = 2.0  # seconds
GOOD_FOR = 15.0  # seconds that a heartbeat is good for
FORGOTTEN_AFTER = 86_400.0  # seconds after which a dead node's row goes
DRAIN_NODE, LEAVE = "drain", "leave"  # orders: run nothing any more; and go
SERVICES = ("crawl", "index", "serve")  # what a cluster can be told to run for good
HEAD, WANTED = "cluster.head", "cluster.services"  # keys of ``meta``
_COLUMNS = "id, address, cores, memory, folder, head, process, joined, seen, leaving"


class Node(Struct, frozen=True):
    """A machine; ``folder`` is its working copy, ``process`` its agent."""

    id: str
    address: str
    cores: int
    memory: int
    folder: str
    is_head: bool = False
    process: str = ""
    joined: float = 0.0
    seen: float = 0.0
    leaving: str = ""
    is_alive: bool = True

    @property
    def is_free(self) -> bool:
        """Whether anything may be started there."""
        return self.is_alive and not self.leaving


class RayHead(Struct, frozen=True):
    """Where Ray's head is; each start of one has a name of its own."""

    address: str = ""
    started: str = ""


class Nodes:
    def __init__(self, database: Database, clock: Callable[[Transaction], float] = database_time) -> None:
        self._database = database
        self._clock = clock

    def join(self, node: Node) -> None:
        """Write the row of a machine that has joined; refused while another agent has its name."""
        with self._database.write() as tx:
            now = self._clock(tx)
            self._refuse_second(tx, node, now)
            tx.execute("DELETE FROM nodes WHERE id = ? OR seen < ?", (node.id, now - FORGOTTEN_AFTER))
            values = (*msgspec.structs.astuple(node)[:7], now, now, "")
            tx.execute(f"INSERT INTO nodes ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)  # noqa: S608
            write_event(tx, "cluster", f"node {node.id} joins with {node.cores} cores at {node.address}")

    def refuse_second(self, node: Node) -> None:
        """Raise while another agent has that name."""
        with self._database.write() as tx:
            self._refuse_second(tx, node, self._clock(tx))

    def _refuse_second(self, tx: Transaction, node: Node, now: float) -> None:
        found = tx.row(f"SELECT process, seen FROM nodes WHERE id = ?{tx.row_lock}", (node.id,))  # noqa: S608
        if found is not None and _is_at_work(found[0], found[1], node.process, now):
            raise WrongState(f"node {node.id} is in the cluster already; periplus cluster leave takes it out")

    def beat(self, node: Node) -> str:
        """Say that a node lives; gives what is wanted of it: nothing, ``DRAIN_NODE`` or ``LEAVE``."""
        with self._database.write() as tx:
            sql = "UPDATE nodes SET seen = ? WHERE id = ? AND process = ? RETURNING leaving"
            found = tx.row(sql, (self._clock(tx), node.id, node.process))
        if found is None:
            raise NotFound(f"node {node.id} was taken out of the cluster, or joined from elsewhere; join again")
        return str(found[0])

    def leave(self, node: Node, why: str = "leaves") -> None:
        """Take the row of a node away, when it is still that agent's."""
        with self._database.write() as tx:
            if tx.execute("DELETE FROM nodes WHERE id = ? AND process = ?", (node.id, node.process)):
                write_event(tx, "cluster", f"node {node.id} {why}")

    def order(self, name: str, order: str) -> Node:
        """Tell a node to ``DRAIN_NODE``, to ``LEAVE``, or with an empty order to work again."""
        with self._database.write() as tx:
            if not tx.execute("UPDATE nodes SET leaving = ? WHERE id = ?", (order, name)):
                known = ", ".join(row[0] for row in tx.rows("SELECT id FROM nodes ORDER BY id"))
                raise NotFound(f"no node {name} in the cluster; there are: {known or 'none'}")
            write_event(tx, "cluster", f"node {name} is told to {order or 'work again'}")
        return next(node for node in self.all() if node.id == name)

    def order_all(self, order: str) -> None:
        with self._database.write() as tx:
            tx.execute("UPDATE nodes SET leaving = ?", (order,))

    def all(self) -> list[Node]:
        """Every node that has a row, by name."""
        with self._database.read() as tx:
            now = self._clock(tx)
            rows = tx.rows(f"SELECT {_COLUMNS} FROM nodes ORDER BY id")  # noqa: S608
        return [_node(row, now) for row in rows]

    def alive(self) -> list[Node]:
        return [node for node in self.all() if node.is_alive]

    # What all nodes read

    def head(self) -> RayHead:
        with self._database.read() as tx:
            text = tx.value("SELECT value FROM meta WHERE key = ?", (HEAD,))
        return msgspec.json.decode(text, type=RayHead) if text else RayHead()

    def set_head(self, head: RayHead) -> None:
        self._put(HEAD, msgspec.json.encode(head).decode())

    def services(self) -> tuple[str, ...]:
        """What the cluster was told to run until it is told otherwise."""
        with self._database.read() as tx:
            text = tx.value("SELECT value FROM meta WHERE key = ?", (WANTED,))
        return tuple(msgspec.json.decode(text, type=list[str])) if text else ()

    def set_services(self, services: Collection[str]) -> None:
        self._put(WANTED, msgspec.json.encode(sorted(services)).decode())

    def _put(self, key: str, value: str) -> None:
        with self._database.write() as tx:
            sql = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
            tx.execute(sql, (key, value))


def _is_at_work(process: str, seen: float, own: str, now: float) -> bool:
    return process != own and now - seen < GOOD_FOR and not is_dead(process)


def _node(row: tuple[object, ...], now: float) -> Node:
    node = msgspec.convert(
        dict(zip(_COLUMNS.replace("head", "is_head").split(", "), row, strict=True)), Node, strict=False
    )
    return msgspec.structs.replace(node, is_alive=now - node.seen < GOOD_FOR and not is_dead(node.process))
