"""The rows of machines: heartbeats by the database's clock, orders, and who may have a name."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import msgspec
import pytest

from periplus.app import Collection
from periplus.app.parts.task_runners import task_runner
from periplus.cluster import DRAIN_NODE, LEAVE, Node, Nodes
from periplus.cluster.nodes import GOOD_FOR, RayHead
from periplus.errors import NotFound, WrongState
from periplus.jobs.ray_runner import RayRunner
from periplus.storage import process_name

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.storage import Database

ONE = Node("one", "10.0.0.1", 4, 8 << 30, "/srv/one", is_head=True, process="elsewhere/1")
TWO = Node("two", "10.0.0.2", 2, 4 << 30, "/srv/two", process="elsewhere/2")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self, _: object) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def nodes(database: Database, clock: Clock) -> Nodes:
    return Nodes(database, clock)


def test_nodes_join_beat_and_leave(nodes: Nodes, clock: Clock) -> None:
    nodes.join(TWO)
    nodes.join(ONE)
    assert [(node.id, node.cores, node.is_head, node.is_free) for node in nodes.all()] == [
        ("one", 4, True, True),
        ("two", 2, False, True),
    ]
    clock.now += GOOD_FOR - 1
    assert nodes.beat(ONE) == ""
    clock.now += 2
    assert [(node.id, node.is_alive) for node in nodes.all()] == [("one", True), ("two", False)]
    assert [node.id for node in nodes.alive()] == ["one"]
    nodes.leave(ONE)
    assert [node.id for node in nodes.all()] == ["two"]


def test_orders_reach_a_node_with_its_beat(nodes: Nodes) -> None:
    nodes.join(ONE)
    assert nodes.order("one", DRAIN_NODE).leaving == DRAIN_NODE
    assert nodes.beat(ONE) == DRAIN_NODE
    assert not nodes.all()[0].is_free
    nodes.order("one", "")
    assert nodes.beat(ONE) == ""
    nodes.order_all(LEAVE)
    assert nodes.beat(ONE) == LEAVE
    with pytest.raises(NotFound, match="no node three in the cluster; there are: one"):
        nodes.order("three", DRAIN_NODE)


def test_a_name_belongs_to_one_agent_while_it_lives(nodes: Nodes, clock: Clock) -> None:
    nodes.join(ONE)
    again = msgspec.structs.replace(ONE, process="elsewhere/7")
    with pytest.raises(WrongState, match="node one is in the cluster already"):
        nodes.join(again)
    clock.now += GOOD_FOR + 1
    nodes.join(again)
    with pytest.raises(NotFound, match="join again"):
        nodes.beat(ONE)  # the one before has woken up
    nodes.leave(ONE)
    assert [node.process for node in nodes.all()] == ["elsewhere/7"]


def test_an_agent_that_died_on_this_machine_is_followed_at_once(nodes: Nodes) -> None:
    kernel = process_name().rpartition("/")[0].rpartition("/")[0]
    nodes.join(msgspec.structs.replace(ONE, process=f"{kernel}/4194000/1"))
    assert nodes.alive() == []
    nodes.join(ONE)
    assert [node.process for node in nodes.alive()] == [ONE.process]


def test_what_all_nodes_read(nodes: Nodes) -> None:
    assert nodes.head() == RayHead()
    nodes.set_head(RayHead("10.0.0.1:6379", "abc"))
    assert nodes.head() == RayHead("10.0.0.1:6379", "abc")
    assert nodes.services() == ()
    nodes.set_services({"serve", "crawl"})
    assert nodes.services() == ("crawl", "serve")


def test_tasks_go_to_the_machines_that_this_one_belongs_to_while_their_head_answers(tmp_path: Path) -> None:
    with Collection(tmp_path).create() as collection, socket.create_server(("127.0.0.1", 0)) as listening:
        nodes = Nodes(collection.database)
        assert task_runner(collection) is None  # no machines
        own = msgspec.structs.replace(ONE, folder=str(tmp_path.resolve()), process=process_name())
        nodes.join(TWO)
        nodes.join(msgspec.structs.replace(own, id="three", process="elsewhere/3"))
        assert task_runner(collection) is None  # the same folder, on another machine
        nodes.join(own)
        nodes.set_head(RayHead(f"127.0.0.1:{listening.getsockname()[1]}"))
        assert isinstance(task_runner(collection), RayRunner)
        nodes.leave(TWO)
        nodes.order("three", LEAVE)
        listening.close()
        assert task_runner(collection) is None
        with collection.database.read() as tx:
            assert "does not answer: tasks run on this machine" in str(tx.rows("SELECT text FROM events"))
