"""A cluster on a Ray that somebody else runs: its machines take part, and it is left as it was."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from cluster.three_machines import HEAD_PORT, ThreeMachines, address_of
from periplus.cluster.rays import ray_environment, start_words
from support.object_store import ObjectServer
from support.postgres import server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.cluster, pytest.mark.postgres]
TOKEN = "of-somebody-else" * 4


@pytest.fixture
def machines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeMachines]:
    postgres, objects = server(request.config), ObjectServer()
    with pytest.MonkeyPatch.context() as patch:
        variables = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, **objects.environment()}
        for name, value in variables.items():
            patch.setenv(name, value)
        folder = tmp_path_factory.mktemp("guest")
        with ThreeMachines(folder, postgres.create(), f"s3://{objects.bucket()}/main") as made:
            yield made
    objects.stop()


def test_a_ray_that_is_there_already(machines: ThreeMachines) -> None:
    home = machines.home("m1")
    command = start_words(address_of(1), 1, port=HEAD_PORT)
    with (home / "ray.txt").open("wb") as output:
        ray = subprocess.Popen(
            command, stdout=output, stderr=output, env=ray_environment(TOKEN, machines.environment()),
            start_new_session=True,
        )  # fmt: skip
    machines.wait_for(lambda: "Ray runtime started" in (home / "ray.txt").read_text())
    guest = machines.start(1, ray_address=f"{address_of(1)}:{HEAD_PORT}")
    machines.wait_for(lambda: list(machines.alive()) == ["ray-127-0-0-2"] or guest.process.poll() is not None)
    machines.nodes.set_services(("serve",))
    machines.wait_for(lambda: set(machines.running()) == {"shard:0:0", "broker:ray-127-0-0-2"})
    machines.wait_for(lambda: machines.answer(address_of(1)) == 200)
    stopped = machines.verb("cluster", "stop")
    assert stopped.returncode == 0, stopped.stderr
    assert guest.process.wait(timeout=60) == 0
    assert machines.slots() == {}
    assert ray.poll() is None  # it is not ours to end
    os.kill(ray.pid, 15)
    ray.wait(timeout=60)
