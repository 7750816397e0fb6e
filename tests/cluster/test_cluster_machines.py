"""Three machines with Ray: they join, are looked after, are killed and come back. One story, told in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from cluster.three_machines import HEAD_PORT, ThreeMachines, address_of
from periplus.storage import is_dead, process_name
from support.object_store import ObjectServer
from support.postgres import server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.cluster, pytest.mark.postgres]
SHARDS = "[index]\nshards = 4\n[cluster]\nreplicas = 2\n[crawl]\nworkers = 1\n"
STRANGER = """
import sys
import ray
ray.init(address=sys.argv[1], log_to_driver=False)
"""


@pytest.fixture(scope="module")
def machines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeMachines]:
    postgres, objects = server(request.config), ObjectServer()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in objects.environment().items():
            patch.setenv(name, value)
        folder: Path = tmp_path_factory.mktemp("machines")
        with ThreeMachines(folder, postgres.create(), f"s3://{objects.bucket()}/main", SHARDS) as made:
            yield made
    objects.stop()


def is_whole(machines: ThreeMachines) -> bool:
    """Three machines, shards on all of them, brokers that answer."""
    shards = machines.running("shard")
    return (
        set(machines.alive()) == {"m1", "m2", "m3"}
        and len(shards) == 8
        and {slot.node for slot in shards.values()} == {"m1", "m2", "m3"}
        and len(machines.running("broker")) == 3
        and all(machines.answer(address_of(number)) == 200 for number in (1, 2, 3))
    )


def test_machines_join_and_status_shows_them(machines: ThreeMachines) -> None:
    machines.begin()
    assert "periplus cluster join 127.0.0.2:6379 --token-file cluster.token" in machines.all["m1"].said()
    shown = json.loads(machines.verb("cluster", "status", "--json").stdout)
    assert [(node["id"], node["is_head"], node["is_alive"], node["cores"]) for node in shown["nodes"]] == [
        ("m1", True, True, 1),
        ("m2", False, True, 1),
        ("m3", False, True, 1),
    ]
    machines.wait_for(lambda: json.loads(machines.verb("cluster", "status", "--json").stdout)["conductor"])
    again = machines.verb("cluster", "join", f"127.0.0.2:{HEAD_PORT}", "--node", "m2", folder=machines.home("m2"))
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)
    assert "node m2 is in the cluster already" in again.stderr


def test_who_has_no_token_is_refused(machines: ThreeMachines) -> None:
    environment = machines.environment() | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "x" * 64}
    command = [sys.executable, "-c", STRANGER, f"127.0.0.2:{HEAD_PORT}"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
    assert refused.returncode != 0
    assert "token" in refused.stderr.lower()


def test_keepers_run_what_is_wanted(machines: ThreeMachines) -> None:
    machines.nodes.set_services(("serve",))
    machines.wait_for(lambda: len(machines.running("shard")) == 8 and len(machines.running("broker")) == 3)
    homes: dict[str, set[str]] = {}
    for slot in machines.running("shard").values():
        homes.setdefault(slot.name.split(":")[1], set()).add(slot.node)
    assert all(len(found) == 2 for found in homes.values())
    for number in (1, 2, 3):
        machines.wait_for(lambda number=number: machines.answer(address_of(number)) == 200)


def test_a_child_that_is_killed_is_started_again(machines: ThreeMachines) -> None:
    slot = machines.running("shard:1:0")["shard:1:0"]
    os.kill(slot.process, signal.SIGKILL)
    machines.wait_for(lambda: machines.running().get("shard:1:0", slot).process != slot.process)
    again = machines.running()["shard:1:0"]
    assert (again.node, again.starts) == (slot.node, slot.starts + 1)


def test_what_runs_on_a_drained_node_goes_elsewhere_and_comes_back(machines: ThreeMachines) -> None:
    before = {name: slot.process for name, slot in machines.running().items() if slot.node != "m2"}
    assert machines.verb("cluster", "drain", "m2").returncode == 0
    machines.wait_for(
        lambda: len(machines.running("shard")) == 8 and all(slot.node != "m2" for slot in machines.slots().values())
    )
    after = machines.running()
    assert all(after[name].process == process for name, process in before.items())  # nothing else was touched
    assert machines.verb("cluster", "drain", "m2", "--undo").returncode == 0
    machines.wait_for(
        lambda: (
            len(machines.running("shard")) == 8
            and sum(slot.node == "m2" for slot in machines.running("shard").values()) >= 2
            and "broker:m2" in machines.running()
        )
    )


def test_a_killed_raylet_moves_its_slots(machines: ThreeMachines) -> None:
    lost = [process_name(slot.process) for slot in machines.running().values() if slot.node == "m3"]
    assert lost
    machines.all["m3"].kill_raylet()
    machines.wait_for(lambda: machines.all["m3"].process.poll() is not None)
    assert machines.all["m3"].process.returncode == 1
    assert "Ray has ended on this machine" in machines.all["m3"].said()
    machines.wait_for(
        lambda: len(machines.running("shard")) == 8 and all(slot.node != "m3" for slot in machines.slots().values())
    )
    assert all(is_dead(name) for name in lost)
    machines.start(3, head=1)
    machines.wait_for(lambda: is_whole(machines))


def test_without_the_head_children_go_on_and_a_new_head_is_followed(machines: ThreeMachines) -> None:
    others = {name: slot.process for name, slot in machines.running().items() if slot.node != "m1"}
    names = {process: process_name(process) for process in others.values()}
    machines.all["m1"].kill()
    killed = time.monotonic()
    machines.wait_for(lambda: set(machines.alive()) == {"m2", "m3"})
    while time.monotonic() - killed < 20:  # longer than a lease, and than Ray's patience with a node
        assert machines.answer(address_of(2)) == machines.answer(address_of(3)) == 200
        time.sleep(0.5)
    assert not [name for name in names.values() if is_dead(name)]
    machines.start(
        1, port=HEAD_PORT + 1
    )  # Ray refuses the port of a head that others on the same kernel still look for
    machines.wait_for(lambda: is_whole(machines))
    assert machines.nodes.head().address == f"127.0.0.2:{HEAD_PORT + 1}"


def test_a_node_leaves_and_the_cluster_stops(machines: ThreeMachines) -> None:
    left = machines.verb("cluster", "leave", "--node", "m3", folder=machines.home("m3"))
    assert left.returncode == 0, left.stderr
    assert machines.all["m3"].process.wait(timeout=30) == 0
    assert all(slot.node != "m3" for slot in machines.slots().values())
    stopped = machines.verb("cluster", "stop")
    assert stopped.returncode == 0, stopped.stderr
    assert "the cluster has ended, 2 node(s)" in stopped.stderr
    for name in ("m1", "m2"):
        assert machines.all[name].process.wait(timeout=30) == 0
    assert machines.slots() == {}
    assert not [pid for machine in machines.all.values() for pid in machine.processes("ray")]
