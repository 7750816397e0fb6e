"""What runs where: pure functions from the nodes and what is wanted to one node for each slot.

A *slot* is one long process: ``crawl:NODE`` (crawls for good), ``help:NODE`` (helps with a crawl that runs) and
``broker:NODE`` belong to their node, ``shard:3:0`` (a shard and its replica) and ``index`` may run on any. What can
stay where it is stays there. A node that joins takes its share from those that have most; the slots of one that is gone
are spread over the others. Who is preferred where there is a choice is decided by rendezvous hashing, so that a node
that comes back gets what it had, whose files it still has.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

CRAWL, HELP, BROKER, SHARD, INDEX = "crawl", "help", "broker", "shard", "index"
EVERYWHERE = (CRAWL, HELP, BROKER)  # each node has one of its own
_SCALE = 2.0**64


def kind_of(slot: str) -> str:
    return slot.partition(":")[0]


def shard_of(slot: str) -> int:
    """The number of the shard that a slot serves."""
    return int(slot.split(":")[1])


def shard_slots(shards: int, replicas: int) -> list[str]:
    return [f"{SHARD}:{shard}:{replica}" for shard in range(shards) for replica in range(replicas)]


def placement(
    wanted: Collection[str], shards: int, replicas: int, nodes: Mapping[str, float], present: Mapping[str, str]
) -> dict[str, str]:
    """The node of each slot. ``wanted`` are kinds, ``nodes`` are weights by name, ``present`` is what runs now.

    A shard has no more replicas than there are nodes: a second one on a machine would be lost with the first.
    """
    placed = {f"{kind}:{node}": node for kind in EVERYWHERE if kind in wanted for node in nodes}
    moving = shard_slots(shards, min(replicas, len(nodes))) if SHARD in wanted else []
    placed |= spread(moving, nodes, present)
    if INDEX in wanted:
        placed |= spread([INDEX], nodes, present)
    return placed


def spread(slots: Sequence[str], nodes: Mapping[str, float], present: Mapping[str, str]) -> dict[str, str]:
    """Slots over nodes by weight, no two of one shard on a node while there are enough nodes, few of them moved."""
    if not nodes:
        return {}
    board = _Board(slots, nodes)
    board.keep(present)
    for slot in slots:
        if slot not in board.placed:
            board.put(slot, board.best(slot))
    board.level()
    return board.placed


def preference(slot: str, node: str, weight: float) -> float:
    """How much a slot wants to be on a node: weighted rendezvous hashing."""
    drawn = (xxh3_64_intdigest(f"{slot}\n{node}".encode()) + 0.5) / _SCALE
    return weight / -math.log(min(drawn, 1.0 - 2.0**-53))


class _Board:
    """A placement in the making."""

    def __init__(self, slots: Sequence[str], nodes: Mapping[str, float]) -> None:
        self.nodes = dict(sorted(nodes.items()))
        self.placed: dict[str, str] = {}
        self._slots = slots
        self._held: dict[str, set[str]] = {node: set() for node in self.nodes}
        shares = _shares(len(slots), len({_group(slot) for slot in slots}), self.nodes)
        self._most = {node: math.ceil(share - 1e-9) for node, share in shares.items()}
        self._least = {node: math.floor(share + 1e-9) for node, share in shares.items()}

    def put(self, slot: str, node: str) -> None:
        before = self.placed.get(slot)
        if before is not None:
            self._held[before].discard(slot)
        self.placed[slot] = node
        self._held[node].add(slot)

    def keep(self, present: Mapping[str, str]) -> None:
        """Leave what is there, unless it is the second of a shard."""
        for slot in self._slots:
            node = present.get(slot, "")
            if node in self.nodes and not self._has_sibling(slot, node):
                self.put(slot, node)

    def best(self, slot: str) -> str:
        """Where a slot goes: to a node without the same shard, that lacks some, and that it prefers; in this order."""
        return max(
            self.nodes,
            key=lambda node: (
                not self._has_sibling(slot, node),
                self._load(node) < self._least[node],
                self._load(node) < self._most[node],
                self._liking(slot, node),
            ),
        )

    def level(self) -> None:
        """Give nodes that have less than their share some of those that have more."""
        for node in self.nodes:
            while self._load(node) < self._least[node] and self._take(node, self._least):
                pass
        for node in self.nodes:
            while self._load(node) < self._most[node] and self._take(node, self._most):
                pass

    def _take(self, node: str, bound: Mapping[str, int]) -> bool:
        """Move something to a node: of the fullest with more than its bound, what likes the node best."""
        givers = [other for other in self.nodes if self._load(other) > bound[other]]
        givers.sort(key=lambda other: (self._load(other) / self.nodes[other], other), reverse=True)
        for giver in givers:
            free = [slot for slot in self._held[giver] if not self._has_sibling(slot, node)]
            if free:
                self.put(max(free, key=lambda slot: (self._liking(slot, node), slot)), node)
                return True
        return False

    def _load(self, node: str) -> int:
        return len(self._held[node])

    def _liking(self, slot: str, node: str) -> float:
        return preference(slot, node, self.nodes[node])

    def _has_sibling(self, slot: str, node: str) -> bool:
        group = _group(slot)
        return any(other != slot and _group(other) == group for other in self._held[node])


def _shares(slots: int, groups: int, nodes: Mapping[str, float]) -> dict[str, float]:
    """How many slots are due to each node by its weight; none can have more than one of a group."""
    shares: dict[str, float] = {}
    rest = dict(nodes)
    while rest:
        left, weight = slots - sum(shares.values()), sum(rest.values())
        full = [node for node in rest if left * rest[node] / weight >= groups]
        for node in full or list(rest):
            shares[node] = float(groups) if full else left * rest[node] / weight
            del rest[node]
    return shares


def _group(slot: str) -> str:
    """Slots of a group are copies of each other."""
    return slot.rpartition(":")[0] or slot
