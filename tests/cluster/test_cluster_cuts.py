"""Crawl workers that lose the network to the database and the object store, and still reach the web.

Two machines, each a process in a network of its own; frames are lost without a word, as by a broken switch. What they
asked is read from the web's own log.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from cluster.networks import HERE, WEB, Networks
from crawl.machines import LEASE, Machines, wait_until
from crawl.voyages import Voyage
from mockweb.growing import Growing
from mockweb.mock_web import MockWeb
from mockweb.politeness import asked_again, broken_rules
from periplus.crawl import audit, workers
from periplus.storage import Database
from support.object_store import Gate, ObjectServer, use
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
def machines(
    request: pytest.FixtureRequest,
    networks: Networks,
    growing: Growing,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Machines]:
    postgres, objects = server(request.config), ObjectServer()
    gate = Gate(objects.port, HERE)
    use(monkeypatch, gate.endpoint)
    state = Relay(HERE, str(postgres.folder / ".s.PGSQL.5432"))
    address = postgres.create().replace(f"host={postgres.folder}", f"host={HERE}&port={state.port}")
    with Database.open(address) as database:
        made = Machines(tmp_path, database, growing.web, growing.seeds, delay=DELAY, **Growing.SETTINGS)
        made.files = f"s3://{objects.bucket()}/main"
        made.resolve = (f"*.test={WEB}:{Relay(WEB, growing.web.port).port}",)
        yield made
        made.close()
    gate.close()
    objects.stop()


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
