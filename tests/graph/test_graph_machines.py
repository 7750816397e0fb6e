"""Ranks that one machine publishes and all read."""

from __future__ import annotations

import numpy as np
import pytest

from periplus.errors import LeaseLost
from periplus.graph import RankStore, VertexRanks
from periplus.storage import Catalogs, Database, Depot, Leases, LocalFiles, open_objects


@pytest.fixture
def machine(tmp_path):
    databases = []

    def make(name, grace=1_800.0):
        databases.append(Database.open(tmp_path / "state.db"))
        depot = Depot(LocalFiles(tmp_path / name), open_objects(f"file://{tmp_path}/objects"))
        return RankStore(tmp_path / name / "ranks", Catalogs(databases[-1], depot, grace).ranks)

    yield make
    for database in databases:
        database.close()


def publish(store, best=0.6, last_batch=7):
    keys, hosts = np.array([30, -5, 12], np.int64), np.array([2, 1], np.int64)
    return store.publish(
        VertexRanks(keys, np.array([0.1, best, 0.3])), VertexRanks(hosts, np.array([0.9, 0.1])), last_batch=last_batch
    )


def test_ranks_travel_and_machines_take_turns(machine):
    a, b = machine("a"), machine("b")
    assert b.current() is None
    assert b.meta() is None
    publish(a)
    assert b.meta().last_batch == 7
    assert not b.files.exists("1/page_keys.npy")  # what is known of them does not need them
    assert b.bare().page_rank(-5) == 0.6
    assert [name.partition("/")[2] for name in b.files.names("1/")] == [
        *("host_keys.npy", "host_ranks.npy", "meta.json", "page_keys.npy", "page_ranks.npy")
    ]
    assert b.current().page_rank(-5) == 0.6
    assert RankStore(b.files.root).current().page_rank(-5) == 0.6  # processes of that machine find them, too

    assert publish(b, 0.5).generation == 2
    assert a.current().page_rank(-5) == 0.5
    publish(a, 0.4)
    b.current()
    assert not b.files.exists("1/meta.json")
    assert b.files.exists("2/meta.json")
    b.verify()


def test_ranks_of_a_writer_that_lost_its_lease_do_not_count(machine, monkeypatch):
    a, b = machine("a"), machine("b")
    publish(a, 0.2)
    put = a._catalog._check

    def frozen(tx):
        monkeypatch.undo()
        tx.execute("UPDATE leases SET owner = 'b', token = token + 1 WHERE name = 'ranks.writer'")
        put(tx)

    monkeypatch.setattr(a._catalog, "_check", frozen)
    with pytest.raises(LeaseLost):
        publish(a, 0.3)
    database = b._catalog._database
    for lease in Leases(database).held():
        Leases(database).release(lease)
    assert publish(b, 0.5).generation == 2

    assert a.current().page_rank(-5) == 0.5  # and not what it left behind under the same number
    assert publish(a, 0.7).generation == 3


def test_objects_of_old_ranks_go_after_the_grace(machine, tmp_path):
    a = machine("a", grace=-1.0)
    for best in (0.3, 0.4, 0.5):
        publish(a, best)
    names = open_objects(f"file://{tmp_path}/objects").names("ranks/")
    assert set(names) == {stored.name for stored in a._catalog.current().files.values()}
