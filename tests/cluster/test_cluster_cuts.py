"""Crawl workers whose way to the database and the object store is cut or bad, while they still reach the web.

Two machines, each a process in a network of its own. In a cut, frames are lost without a word, as by a broken switch.
What they asked is read from the web's own log.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from cluster.networks import HERE, WEB, Networks
from crawl.machines import LEASE, Machines, wait_until
from crawl.voyages import Voyage
from mockweb.growing import Growing
from mockweb.mock_web import MockWeb
from mockweb.politeness import asked_again, broken_rules
from periplus.app import Collection
from periplus.crawl import audit, workers
from periplus.storage import Database
from support.object_store import RANDOM_FAULTS, Gate, ObjectServer, use
from support.postgres import server
from support.relay import Relay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.cluster, pytest.mark.postgres]
DELAY = 0.1


@pytest.fixture(scope="module")
def networks() -> Iterator[Networks]:
    with Networks(2) as made:
        yield made


@pytest.fixture
def growing() -> Iterator[Growing]:
    with MockWeb() as web:
        yield Growing(web, 12, forbids=True)


@pytest.fixture
def objects() -> Iterator[ObjectServer]:
    made = ObjectServer()
    yield made
    made.stop()


@pytest.fixture
def gate(objects: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    opened = Gate(objects.port, HERE)
    use(monkeypatch, opened.endpoint)
    yield opened
    opened.close()


@pytest.fixture
def machines(
    request: pytest.FixtureRequest,
    networks: Networks,
    growing: Growing,
    objects: ObjectServer,
    gate: Gate,
    tmp_path: Path,
) -> Iterator[Machines]:
    postgres = server(request.config)
    state = Relay(HERE, str(postgres.folder / ".s.PGSQL.5432"))
    address = postgres.create().replace(f"host={postgres.folder}", f"host={HERE}&port={state.port}")
    with Database.open(address) as database:
        made = Machines(tmp_path, database, growing.web, growing.seeds, delay=DELAY, **Growing.SETTINGS)
        made.files = f"s3://{objects.bucket()}/main"
        made.resolve = (f"*.test={WEB}:{Relay(WEB, growing.web.port).port}",)
        yield made
        made.close()


def prove(machines: Machines, growing: Growing) -> None:
    """Nothing acknowledged is lost, and nothing was asked impolitely."""
    voyage = Voyage(machines.folder / "reader", machines.database, machines.files)
    assert voyage.fetched() == set(growing.asked) == set(voyage.documents())
    assert voyage.rows("SELECT COUNT(*) FROM hosts WHERE active > 0") == [(0,)]
    assert audit(machines.database).violations == ()
    assert broken_rules(growing.web, DELAY) == []
    assert len(asked_again(growing.web)) <= 4 * growing.hosts  # what was not acknowledged yet


def test_a_worker_that_loses_database_and_store_asks_nobody_after_its_lease(
    machines: Machines, growing: Growing, networks: Networks
) -> None:
    first, second = (machines.start(f"m{number}", networks.entered(number)) for number in (1, 2))
    for machine in (first, second):
        machine.wait_for(20)
    of_second = [one.number for one in workers(machines.database) if one.address.endswith(f":{second.process.pid}")]
    acknowledged = Voyage(machines.folder / "reader", machines.database, machines.files).fetched()
    networks.lose(2)
    cut = time.time()
    wait_until(lambda: set(machines.numbers("ended")) >= set(of_second))
    assert max(record.time for record in second.requests()) <= cut + LEASE
    first.wait_for(20)
    networks.lose(2, off=False)
    second.wait_for(5)  # as a new worker: its old lease is another's
    growing.end()
    for machine in (first, second):
        machine.join()
    assert acknowledged <= set(growing.asked)
    assert machines.hosts_of_two() > 0
    prove(machines, growing)


def test_a_crawl_and_an_index_lose_nothing_to_a_store_that_errs_at_random(
    machines: Machines, growing: Growing, networks: Networks, gate: Gate
) -> None:
    machines.options["retries"] = 1  # so that the crawl's own patience is needed, too
    done = gate.err(0.2)
    started = [machines.start(f"m{number}", networks.entered(number)) for number in (1, 2)]
    for machine in started:
        machine.wait_for(40)
    growing.end()
    for machine in started:
        machine.join()
    assert machines.numbers("ended") == [1, 2]  # nobody lost its lease
    with Collection(indexer(machines)) as collection:
        built = collection.pipeline.index()
    assert sum(entry.documents for entry in built.segments) == len(growing.asked)
    assert set(done) == set(RANDOM_FAULTS)
    gate.err(0.0)
    assert asked_again(growing.web) == {}
    prove(machines, growing)
    command = [sys.executable, "-m", "periplus", "doctor", "--dir", str(indexer(machines))]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def indexer(machines: Machines) -> Path:
    """The folder of a machine that took no part in the crawl."""
    folder = machines.folder / "indexer"
    folder.mkdir(exist_ok=True)
    where = f'database = "{machines.database.backend.address}"\nfiles = "{machines.files}"\n'
    (folder / "periplus.toml").write_text(f"[storage]\n{where}")
    return folder
