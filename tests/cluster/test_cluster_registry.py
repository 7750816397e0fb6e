"""The table of servers: who reports, who is found, who is gone; on SQLite and on PostgreSQL, and by real processes."""

from __future__ import annotations

import json
import logging
import signal

import pytest
from cluster_samples import Process, build, is_ready, made_up, until

from periplus import Collection
from periplus.cluster.registry import FORGOTTEN_AFTER, GOOD_FOR, REPORT_EVERY, Registry
from periplus.cluster.server import ShardServer
from periplus.cluster.sources import FolderShards
from periplus.documents import BatchLog
from periplus.errors import StorageError
from periplus.storage import Database
from support.servers import listening, wait_for


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    build(folder, 2, count=60)
    with ShardServer(lambda: [0, 1], FolderShards(folder)) as running:
        until(lambda: is_ready(running))
        yield running


@pytest.fixture(autouse=True)
def serves(server):
    server.application.draining = False


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


def rows(database):
    with database.read() as tx:
        return tx.rows("SELECT shard, address, generation, seen FROM servers ORDER BY shard, address")


def test_a_server_reports_each_shard_with_its_newest_generation(database, server):
    registry = Registry(database, clock=Clock())
    registry.report(server)
    assert rows(database) == [(0, server.address, 1, 1_000_000.0), (1, server.address, 1, 1_000_000.0)]
    assert registry.addresses() == [server.address]


def test_reports_are_made_every_two_seconds_and_age(database, server):
    clock = Clock()
    registry = Registry(database, clock=clock)
    registry.report(server)
    clock.now += REPORT_EVERY - 0.1
    registry.report(server)
    assert rows(database)[0][3] == 1_000_000.0  # too soon
    clock.now += 0.1
    registry.report(server)
    assert rows(database)[0][3] == clock.now
    clock.now += GOOD_FOR
    assert registry.addresses() == []
    registry.report(server)
    assert registry.addresses() == [server.address]


def test_a_server_that_ends_is_gone_with_its_next_look(database, server):
    registry = Registry(database, clock=Clock())
    registry.report(server)
    server.application.draining = True
    registry.report(server)  # although it reported just now
    assert rows(database) == []


def test_a_server_that_leaves_takes_its_own_rows_along(database, server):
    registry = Registry(database, clock=Clock())
    registry.report(server)
    _put(database, "http://other:1", 1_000_000.0)
    registry.leave(server)
    assert registry.addresses() == ["http://other:1"]


def test_what_a_dead_server_left_is_removed_a_day_later(database, server):
    clock = Clock()
    _put(database, "http://dead:1", clock.now)
    clock.now += FORGOTTEN_AFTER + 1
    Registry(database, clock=clock).report(server)
    assert {address for _, address, *_ in rows(database)} == {server.address}


def test_servers_of_two_processes_do_not_touch_each_other(database, server, tmp_path):
    build(tmp_path, 1, count=10)
    with ShardServer(lambda: [0], FolderShards(tmp_path)) as other:
        until(lambda: is_ready(other))
        Registry(database, clock=Clock()).report(server)
        Registry(database, clock=Clock()).report(other)
        assert Registry(database, clock=Clock()).addresses() == sorted([server.address, other.address])


def test_a_database_that_is_away_costs_a_line_and_is_tried_again(tmp_path, server, caplog):
    clock = Clock()
    with Database.open(tmp_path / "state.db") as first:
        first.close()
        registry = Registry(first, clock=clock)
        with pytest.raises(StorageError):
            registry.addresses()  # nothing is known yet
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                registry.report(server)
                clock.now += REPORT_EVERY
        assert len(caplog.records) == 1
        assert "serve --shards" in caplog.text
    with Database.open(tmp_path / "state.db") as again:
        registry._database = again
        registry.report(server)
        assert registry.addresses() == [server.address]
    assert registry.addresses() == [server.address]  # away once more: those that are known


def _put(database, address, seen):
    with database.write() as tx:
        tx.execute(
            "INSERT INTO servers (shard, address, generation, documents, load, seen) VALUES (0, ?, 1, 1, 0, ?)",
            (address, seen),
        )


# By processes


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def folder(request, tmp_path):
    settings = "[index]\nshards = 2\n"
    if request.param == "postgresql":
        settings += f"[storage]\ndatabase = {json.dumps(request.getfixturevalue('postgres_address'))}\n"
    with Collection(tmp_path / "c") as collection:
        collection.create(settings)
    with Collection(tmp_path / "c") as collection:
        BatchLog(collection.files, collection.database).append(made_up(60))
        collection.index()
        return collection.folder


class Broker:
    def __init__(self, listening):
        self._server = listening
        self._key = listening.console.partition("key=")[2]
        self._asked = 0

    def servers(self):
        """Those that it asks, as the console shows them."""
        shown = self._server.get("/console/shards.json", Authorization=f"Bearer {self._key}").json["servers"]
        return {server["url"] for server in shown if not server["state"]}

    def known(self):
        shown = self._server.get("/console/shards.json", Authorization=f"Bearer {self._key}").json["servers"]
        return {server["url"] for server in shown}

    def lacks(self):
        """Shards that an answer lacks; no two questions are alike, so that no answer is a kept one."""
        self._asked += 1
        answer = self._server.get(f"/api/v1/search?q=tide+moon+zz{self._asked}")
        assert answer.status == 200 or answer.json["code"] in ("not-ready", "shards-missing"), answer
        return [part for part in answer.json.get("degraded", ["all"]) if part != "ranks"]


def test_a_broker_finds_servers_that_report_themselves(folder):
    with Process.ended_with_test(folder) as start:
        first, second = start(0), start(1)
        with listening("serve", "--dir", str(folder), "--port", "0", "--shards", "auto") as serving:
            broker = Broker(serving)
            wait_for(lambda: broker.servers() == {first.url, second.url})
            wait_for(lambda: broker.lacks() == [])
            third = start(1)  # later than the broker
            wait_for(lambda: broker.servers() == {first.url, second.url, third.url})

            assert second.end(signal.SIGTERM) == 0
            with Collection(folder) as collection:
                assert second.url not in {address for _, address, *_ in rows(collection.database)}
                wait_for(lambda: broker.known() == {first.url, third.url})
                assert broker.lacks() == []

                third.end(signal.SIGKILL)
                assert third.url in {address for _, address, *_ in rows(collection.database)}
                wait_for(lambda: broker.servers() == {first.url})  # not asked any more, though its row is there
                assert broker.lacks() == ["shard:1"]
                with collection.database.write() as tx:  # instead of waiting
                    tx.execute("UPDATE servers SET seen = seen - ? WHERE address = ?", (GOOD_FOR, third.url))
                wait_for(lambda: broker.known() == {first.url})
