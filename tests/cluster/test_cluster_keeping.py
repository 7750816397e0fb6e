"""Keepers and the conductor, with real children and without Ray."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from periplus.cluster import WISH, Node, Nodes, kept_slots
from periplus.cluster.conducting import CONDUCTOR, ClusterConductor, conductor_of
from periplus.cluster.keeper import (
    LEASE_SECONDS,
    RUNNING,
    SHARD_TOKEN,
    SLOT_LEASE,
    Keep,
    Keeper,
    command,
    environment_of,
    shard_token,
)
from periplus.settings import ClusterSettings, IndexSettings, Settings
from periplus.storage import Database, Leases, is_dead, process_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WAIT = 60.0


def wait_for(condition: Callable[[], object]) -> None:
    latest = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < latest, "waited too long"
        time.sleep(0.05)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "periplus.toml").write_text("")
    return tmp_path


@pytest.fixture
def state(folder: Path) -> Iterator[Database]:
    with Database.open(folder / "state.db") as opened:
        yield opened


@pytest.fixture
def keepers() -> Iterator[list[Keeper]]:
    made: list[Keeper] = []
    yield made
    for keeper in made:
        keeper.end()


def keep(folder: Path, slot: str = "shard:0:0", node: str = "one") -> Keep:
    return Keep(slot, node, str(folder), command(slot, "127.0.0.1", str(folder), 0))


def process_of(database: Database, slot: str = "shard:0:0") -> int:
    return next((one.process for one in kept_slots(database) if one.name == slot and one.state == RUNNING), 0)


def test_a_child_that_is_killed_is_started_again(folder: Path, state: Database, keepers: list[Keeper]) -> None:
    keepers.append(Keeper(keep(folder)))
    wait_for(lambda: process_of(state))
    first = process_of(state)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: process_of(state) not in (0, first))
    (slot,) = kept_slots(state)
    assert (slot.starts, slot.node, slot.note) == (2, "one", "")
    second = process_name(slot.process)
    keepers.pop().end()
    assert is_dead(second)
    assert kept_slots(state) == []
    assert [lease.name for lease in Leases(state).held()] == []


def test_two_keepers_of_a_slot_never_run_it_together(folder: Path, state: Database, keepers: list[Keeper]) -> None:
    keepers.append(Keeper(keep(folder)))
    wait_for(lambda: process_of(state))
    first = process_name(process_of(state))
    keepers.append(Keeper(keep(folder, node="two")))
    time.sleep(1.0)  # in which the second would have begun
    assert [(slot.node, slot.starts) for slot in kept_slots(state)] == [("one", 1)]
    keepers.pop(0).end()
    assert is_dead(first)
    wait_for(lambda: [slot.node for slot in kept_slots(state)] == ["two"])


def test_a_keeper_that_lost_its_slot_ends_its_child(folder: Path, state: Database, keepers: list[Keeper]) -> None:
    keepers.append(Keeper(keep(folder)))
    wait_for(lambda: process_of(state))
    child = process_name(process_of(state))
    leases = Leases(state)
    (held,) = leases.held()
    assert held.name == SLOT_LEASE + "shard:0:0"
    taken = leases.take_over(held, "another machine", LEASE_SECONDS, dead=True)  # as after a long sleep
    assert taken is not None
    wait_for(lambda: is_dead(child))
    leases.release(taken)
    wait_for(lambda: process_of(state))  # nobody else wanted it after all


def test_a_child_that_cannot_start_rests_longer_each_time(folder: Path, state: Database, keepers: list[Keeper]) -> None:
    broken = Keep("shard:0:0", "one", str(folder), ("search", "tide", "--dir", str(folder)))
    keepers.append(Keeper(broken))
    wait_for(lambda: kept_slots(state) and kept_slots(state)[0].note)
    slot = kept_slots(state)[0]
    assert (slot.state, slot.process) == ("resting", 0)
    assert "ended with code 1: no index is published yet" in slot.note


def test_children_get_the_token_of_shard_servers_and_nothing_of_ray(folder: Path) -> None:
    (folder / "cluster.token").write_text("s" * 64)
    found = environment_of(keep(folder), {"RAY_AUTH_TOKEN": "s" * 64, "OMP_NUM_THREADS": "1", "AWS_REGION": "x"})
    assert found == {"AWS_REGION": "x", SHARD_TOKEN: shard_token("s" * 64)}
    assert "s" * 16 not in found[SHARD_TOKEN]


# The conductor


class Harbour:
    """Plays Ray: keepers are only names here."""

    def __init__(self) -> None:
        self.kept: dict[str, Keep] = {}
        self.log: list[str] = []

    def names(self) -> set[str]:
        return set(self.kept)

    def start(self, keep: Keep, address: str) -> None:
        self.kept[f"{keep.slot}@{keep.node}"] = keep
        self.log.append(f"+{keep.slot}@{keep.node} {address}")

    def end(self, name: str) -> None:
        del self.kept[name]
        self.log.append(f"-{name}")

    def settle(self, gone: object) -> None:
        pass

    def homes(self, kind: str) -> dict[str, str]:
        return {one.slot: one.node for one in self.kept.values() if one.slot.startswith(kind)}


def node(number: int) -> Node:
    return Node(f"n{number}", f"10.0.0.{number}", 2, 1, f"/srv/{number}", process=f"elsewhere/{number}")


SETTINGS = Settings(index=IndexSettings(shards=4), cluster=ClusterSettings(replicas=2))


def test_the_conductor_starts_what_is_wanted_on_every_node(database: Database) -> None:
    nodes, harbour = Nodes(database), Harbour()
    conductor = ClusterConductor(database, SETTINGS, lambda: harbour)
    for number in (1, 2, 3):
        nodes.join(node(number))
    assert conductor.look()
    assert harbour.kept == {}
    nodes.set_services(("crawl", "serve", "index"))
    conductor.look()
    assert set(harbour.homes("crawl").values()) == set(harbour.homes("broker").values()) == {"n1", "n2", "n3"}
    assert len(harbour.homes("shard")) == 8
    assert len(harbour.homes("index")) == 1
    started = len(harbour.log)
    conductor.look()
    assert len(harbour.log) == started  # nothing is left to do
    nodes.order("n2", "drain")
    conductor.look()
    assert "n2" not in {one.node for one in harbour.kept.values()}
    assert len(harbour.homes("shard")) == 8
    nodes.set_services(())
    conductor.look()
    assert harbour.kept == {}


def test_there_are_as_many_shard_servers_as_the_published_index_has_shards(database: Database) -> None:
    conductor = ClusterConductor(database, SETTINGS, Harbour)
    assert conductor.shards() == 4
    sql = "INSERT INTO generations (kind, number, manifest, files, token, created) VALUES (?, ?, ?, '{}', 1, 0)"
    with database.write() as tx:
        tx.execute(sql, ("index", 1, '{"generation":1,"shards":3,"segments":[]}'))
        tx.execute(sql, ("index", 2, '{"generation":2,"shards":7,"segments":[]}'))
        tx.execute(sql, ("ranks", 9, "{}"))
    assert conductor.shards() == 7


def test_a_broker_elsewhere_wants_shard_servers_only(database: Database) -> None:
    nodes, harbour = Nodes(database), Harbour()
    nodes.join(node(1))
    conductor = ClusterConductor(database, SETTINGS, lambda: harbour)
    wish = Leases(database).acquire(f"{WISH}somebody", "somebody", 30.0)
    assert wish is not None
    conductor.look()
    assert sorted(harbour.kept) == [f"shard:{shard}:0@n1" for shard in range(4)]
    keep = harbour.kept["shard:3:0@n1"]
    assert keep.words == ("shard", "--dir", "/srv/1", "--number", "3", "--host", "10.0.0.1", "--port", "0")
    Leases(database).release(wish)
    conductor.look()
    assert harbour.kept == {}


def test_one_conducts_at_a_time_and_another_follows(database: Database) -> None:
    first, second = (ClusterConductor(database, SETTINGS, Harbour) for _ in range(2))
    assert conductor_of(database) == ""
    assert [first.look(), second.look()] == [True, False]
    assert conductor_of(database) == process_name()
    first.close()
    assert [second.look(), first.look()] == [True, False]
    held = [lease for lease in Leases(database).held() if lease.name == CONDUCTOR]
    assert [lease.token for lease in held] == [2]
