"""The table of servers: who reports, who is found, who is gone; on SQLite and on PostgreSQL, and by real processes."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
from pathlib import Path

import pytest
from cluster_samples import Process, build, is_ready, made_up, until

from periplus import Collection
from periplus.app.serving.shards import NICENESS, own_cores, serve_shard, take_own_cores
from periplus.cluster.registry import DRAIN, FORGOTTEN_AFTER, GOOD_FOR, REPORT_EVERY, Registry
from periplus.cluster.server import ShardServer
from periplus.cluster.sources import FolderShards
from periplus.documents import BatchLog
from periplus.errors import NotFound, StorageError, UsageError
from periplus.graph import Stores
from periplus.storage import Database, database_time
from support.servers import listening, wait_for


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    build(folder, 2, count=60)
    with ShardServer(lambda: [0, 1], FolderShards(Stores(folder))) as running:
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


def test_a_server_behind_another_address_reports_that_one(database, tmp_path):
    build(tmp_path, 1, count=20)
    registry = Registry(database)
    with ShardServer(lambda: [0], FolderShards(Stores(tmp_path)), advertised="http://shard0.internal:8650/") as running:
        until(lambda: is_ready(running))
        registry.report(running)
        assert registry.addresses() == ["http://shard0.internal:8650"]
        registry.leave(running)
    assert registry.addresses() == []


def test_all_addresses_of_a_machine_are_none_that_could_be_asked(tmp_path):
    build(tmp_path, 1, count=20)
    with Collection(tmp_path) as collection, pytest.raises(UsageError, match="--advertise"):
        serve_shard(collection, [0], "0.0.0.0", 0, "t" * 16, threading.Event(), print)


def test_without_a_clock_reports_have_the_time_of_the_database(database, server):
    registry = Registry(database)
    registry.report(server)
    with database.read() as tx:
        now = database_time(tx)
    assert now - GOOD_FOR < rows(database)[0][3] <= now
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
    with ShardServer(lambda: [0], FolderShards(Stores(tmp_path))) as other:
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


def test_an_order_reaches_its_server_with_the_next_report(database, server):
    clock, told = Clock(), []
    registry, operator = Registry(database, clock, on_drain=lambda: told.append(1)), Registry(database, clock)
    registry.report(server)
    assert operator.orders() == {server.address: (DRAIN,)}
    operator.order(server.address, DRAIN)
    registry.report(server)
    assert told == []  # it is not time yet
    clock.now += REPORT_EVERY
    registry.report(server)
    assert told == [1]
    server.application.draining = True
    registry.report(server)
    assert operator.orders() == {}


def test_an_order_is_not_for_the_server_that_comes_after(database, server):
    told = []
    Registry(database, Clock()).report(server)
    Registry(database, Clock()).order(server.address, DRAIN)
    Registry(database, Clock(), on_drain=lambda: told.append(1)).report(server)  # another process at that address
    assert told == []


def test_orders_that_nobody_can_follow(database, server):
    registry = Registry(database, Clock())
    registry.report(server)
    with pytest.raises(UsageError, match="supervises"):
        registry.order(server.address, "restart")
    with pytest.raises(NotFound, match="does not report itself"):
        registry.order("http://nobody:1", DRAIN)


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

    def press(self, order, url):
        body = f"target={url}"
        return self._server.ask("POST", f"/console/shards/{order}", body, Authorization=f"Bearer {self._key}").status

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

            fourth = start(0)
            wait_for(lambda: fourth.url in broker.servers())
            assert broker.press("restart", fourth.url) == 400  # only who supervises it can
            assert broker.press("drain", fourth.url) == 303
            assert fourth.wait() == 0  # it read that in its row, and ended well
            wait_for(lambda: broker.known() == {first.url, second.url, third.url})
            assert broker.lacks() == []

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


def test_processes_of_a_broker_are_drained_and_restarted(folder):
    with listening("serve", "--dir", str(folder), "--port", "0", "--shard-processes", "2") as serving:
        broker = Broker(serving)
        wait_for(lambda: len(broker.servers()) == 2 and broker.lacks() == [])
        first, second = sorted(broker.known())
        assert broker.press("drain", first) == 303
        wait_for(lambda: broker.servers() == {second})
        assert len(broker.lacks()) == 1
        assert broker.press("drain", first) == 404  # it has ended
        for _ in range(2):  # one that had ended, and one that runs
            assert broker.press("restart", first) == 303
            wait_for(lambda: broker.servers() == {first, second})
            wait_for(lambda: broker.lacks() == [])


def test_processes_of_a_broker_let_it_go_first(folder):
    with listening("serve", "--dir", str(folder), "--port", "0", "--shard-processes", "2") as serving:
        wait_for(lambda: len(Broker(serving).servers()) == 2)
        number = serving.process.pid
        tasks = Path(f"/proc/{number}/task").glob("*/children")
        children = [child for task in tasks for child in task.read_text().split()]
        own = os.getpriority(os.PRIO_PROCESS, number)
        shards = [int(child) for child in children if os.getpriority(os.PRIO_PROCESS, int(child)) - own == NICENESS]
        assert len(shards) == 2
        wanted = sorted(sorted(own_cores(place, 2)) for place in range(2))
        wait_for(lambda: sorted(sorted(os.sched_getaffinity(shard)) for shard in shards) == wanted)


@pytest.mark.parametrize(("cores", "processes"), [(1, 1), (2, 2), (8, 3), (5, 5)])
def test_shard_processes_part_the_cores(monkeypatch, cores, processes):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(10, 10 + cores)))
    parts = [own_cores(place, processes) for place in range(processes)]
    assert all(parts)
    assert sorted(core for part in parts for core in part) == list(range(10, 10 + cores))


def test_a_service_that_may_not_choose_its_cores_serves_all_the_same(monkeypatch):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "nice", refused)
    take_own_cores(0, 2)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setattr(os, "sched_setaffinity", refused)
    take_own_cores(0, 2)


def test_more_shard_processes_than_cores_share_all_of_them(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 7})
    assert [own_cores(place, 3) for place in range(3)] == [{4, 7}] * 3
