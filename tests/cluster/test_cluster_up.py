"""``periplus up`` on machines: everything runs on all of them, until Ctrl-C; a crash of it leaves them at work."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.parse
from typing import TYPE_CHECKING

import pytest

from cluster.three_machines import ThreeMachines, address_of, descendants
from mockweb.mock_web import MockWeb
from periplus.storage import is_dead, process_name
from support.object_store import ObjectServer
from support.postgres import server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.cluster, pytest.mark.postgres]
HOSTS, PAGES = 4, 6
SETTINGS = """
[index]
shards = 2
[crawl]
workers = 1
scope = "any"
resolve = ["{resolve}"]
allow_private = true
delay = 0.2
ip_delay = 0.0
icons = false
timeout = 3.0
"""


def fill(web: MockWeb) -> list[str]:
    for host in range(HOSTS):
        web.robots(f"h{host}.test")
        for page in range(PAGES):
            links = [f"http://h{(host + 1) % HOSTS}.test/{page}"] + ([f"/{page + 1}"] if page + 1 < PAGES else [])
            text = f"<p>harbour {host} reef {page} and tides.</p>"
            web.page(f"http://h{host}.test/{page}", text, title=f"page {page} of h{host}", links=links)
    return [f"http://h{host}.test/0" for host in range(HOSTS)]


@pytest.fixture(scope="module")
def web() -> Iterator[MockWeb]:
    with MockWeb() as made:
        yield made


@pytest.fixture(scope="module")
def machines(
    request: pytest.FixtureRequest, web: MockWeb, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ThreeMachines]:
    postgres, objects = server(request.config), ObjectServer()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in objects.environment().items():
            patch.setenv(name, value)
        folder = tmp_path_factory.mktemp("up")
        settings = SETTINGS.format(resolve=web.resolve[0])
        with ThreeMachines(folder, postgres.create(), f"s3://{objects.bucket()}/main", settings) as made:
            made.begin(2)
            yield made
    objects.stop()


class Up:
    """``periplus up`` as people run it, on the first machine."""

    def __init__(self, machines: ThreeMachines, *seeds: str) -> None:
        self._log: Path = machines.folder / "up.txt"
        command = [sys.executable, "-m", "periplus", "up", *seeds, "--dir", str(machines.home("m1"))]
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, env=machines.environment(), start_new_session=True
            )

    def said(self) -> str:
        return self._log.read_text()

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


def total(machines: ThreeMachines, number: int, query: str) -> int:
    """How many pages a machine's broker finds; -1 while it does not answer."""
    try:
        answer = machines.search(address_of(number), urllib.parse.quote_plus(query))
    except OSError:
        return -1
    return answer["total"]["value"] if not answer["degraded"] else -1


def has_ranks(machines: ThreeMachines) -> bool:
    with machines.database.read() as tx:
        return bool(tx.value("SELECT COUNT(*) FROM generations WHERE kind = 'ranks'"))


def is_at_work(machines: ThreeMachines) -> bool:
    kinds = [name.partition(":")[0] for name in machines.running()]
    return [kinds.count(kind) for kind in ("crawl", "broker", "shard", "index")] == [2, 2, 2, 1]


def test_up_crawls_indexes_ranks_and_serves_on_all_machines(machines: ThreeMachines, web: MockWeb) -> None:
    up = Up(machines, *fill(web))
    machines.wait_for(lambda: is_at_work(machines) or up.process.poll() is not None)
    assert up.process.poll() is None, up.said()
    for number in (1, 2):
        machines.wait_for(lambda number=number: total(machines, number, "harbour") == HOSTS * PAGES)
    machines.wait_for(lambda: has_ranks(machines))
    assert f"http://{address_of(1)}:8900/" in up.said()
    web.page("http://h0.test/late", "<p>a lighthouse.</p>", title="late")
    crawl = machines.verb("crawl", "http://h0.test/late", folder=machines.home("m2"))
    assert crawl.returncode == 0, crawl.stderr
    machines.wait_for(lambda: total(machines, 2, "lighthouse") == 1)
    children = [process_name(slot.process) for slot in machines.running().values()]
    assert up.end(signal.SIGINT) == 0, up.said()
    assert "stopped; periplus up" in up.said()
    machines.wait_for(lambda: machines.slots() == {})
    assert all(is_dead(name) for name in children)


def test_a_crash_of_up_leaves_the_machines_at_work_until_they_are_stopped(machines: ThreeMachines) -> None:
    up = Up(machines)
    machines.wait_for(lambda: is_at_work(machines) or up.process.poll() is not None)
    assert up.process.poll() is None, up.said()
    children = [process_name(child) for child in descendants(up.process.pid)]
    assert up.end(signal.SIGKILL) == -signal.SIGKILL
    machines.wait_for(lambda: all(is_dead(name) for name in children))
    machines.wait_for(lambda: total(machines, 1, "harbour") == HOSTS * PAGES)
    assert is_at_work(machines)
    stopped = machines.verb("cluster", "stop", folder=machines.home("m2"))
    assert stopped.returncode == 0, stopped.stderr
    assert machines.slots() == {}
