"""What runs where: balanced, apart, and hardly ever moved."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from periplus.cluster.placement import (
    BROKER,
    CRAWL,
    HELP,
    INDEX,
    SHARD,
    kind_of,
    placement,
    preference,
    shard_of,
    shard_slots,
    spread,
)

ALL = {CRAWL, HELP, BROKER, SHARD, INDEX}
names = st.text("abcdefghij-0123456789", min_size=1, max_size=12)
machines = st.dictionaries(names, st.integers(1, 64).map(float), min_size=1, max_size=9)
equal = st.sets(names, min_size=1, max_size=9).map(lambda found: dict.fromkeys(found, 4.0))
counts = st.integers(1, 40)


@given(machines, counts, st.integers(1, 4))
def test_every_slot_has_one_node(nodes: dict[str, float], shards: int, replicas: int) -> None:
    placed = placement(ALL, shards, replicas, nodes, {})
    assert set(placed.values()) <= set(nodes)
    kinds = [kind_of(slot) for slot in placed]
    assert kinds.count(CRAWL) == kinds.count(HELP) == kinds.count(BROKER) == len(nodes)
    assert kinds.count(INDEX) == 1
    assert kinds.count(SHARD) == shards * min(replicas, len(nodes))
    assert {shard_of(slot) for slot in placed if kind_of(slot) == SHARD} == set(range(shards))
    assert all(slot.endswith(f":{node}") for slot, node in placed.items() if kind_of(slot) in (CRAWL, HELP, BROKER))


@given(equal, counts, st.integers(1, 4))
def test_replicas_of_a_shard_are_on_different_machines(nodes: dict[str, float], shards: int, replicas: int) -> None:
    placed = spread(shard_slots(shards, min(replicas, len(nodes))), nodes, {})
    for shard in range(shards):
        homes = [node for slot, node in placed.items() if shard_of(slot) == shard]
        assert len(homes) == len(set(homes))


@given(machines, counts)
def test_each_node_has_its_share(nodes: dict[str, float], shards: int) -> None:
    placed = spread(shard_slots(shards, 1), nodes, {})
    total = sum(nodes.values())
    counted = Counter(placed.values())
    for node, speed in nodes.items():
        count, share = counted[node], shards * speed / total
        assert math.floor(share + 1e-9) <= count <= math.ceil(share - 1e-9)


@given(machines, counts, st.integers(1, 3))
def test_what_is_placed_stays(nodes: dict[str, float], shards: int, replicas: int) -> None:
    slots = shard_slots(shards, min(replicas, len(nodes)))
    placed = spread(slots, nodes, {})
    assert spread(slots, nodes, placed) == placed


@given(equal, names, counts)
def test_a_node_that_joins_takes_its_share_and_nothing_else_moves(
    nodes: dict[str, float], newcomer: str, shards: int
) -> None:
    slots = shard_slots(shards, 1)
    others = {node: weight for node, weight in nodes.items() if node != newcomer} or {"only": 4.0}
    before = spread(slots, others, {})
    after = spread(slots, others | {newcomer: 4.0}, before)
    moved = {slot for slot in slots if before[slot] != after[slot]}
    assert all(after[slot] == newcomer for slot in moved)
    assert shards // (len(others) + 1) <= len(moved) <= math.ceil(shards / (len(others) + 1))


@given(equal, counts)
def test_only_what_a_dead_node_had_moves(nodes: dict[str, float], shards: int) -> None:
    slots = shard_slots(shards, 1)
    before = spread(slots, nodes, {})
    dead = min(nodes)
    left = {node: weight for node, weight in nodes.items() if node != dead}
    after = spread(slots, left, before)
    assert not left or {slot for slot in slots if before[slot] != after[slot]} == {
        slot for slot in slots if before[slot] == dead
    }


@given(equal, st.integers(1, 8))
def test_a_node_that_comes_back_gets_what_it_prefers(nodes: dict[str, float], each: int) -> None:
    slots = shard_slots(each * len(nodes), 1)
    placed = spread(slots, nodes, {})
    back = min(nodes)
    left = {node: weight for node, weight in nodes.items() if node != back}
    if not left:
        return
    without = spread(slots, left, placed)
    again = spread(slots, nodes, without)
    assert len([slot for slot in slots if again[slot] == back]) == each
    best = max(slots, key=lambda slot: preference(slot, back, 4.0))
    assert again[best] == back or without[best] == again[best]


def test_without_machines_nothing_runs() -> None:
    assert placement(ALL, 4, 2, {}, {}) == {}


def test_nothing_is_wanted() -> None:
    assert placement(set(), 4, 2, {"one": 1.0}, {"index": "one"}) == {}
