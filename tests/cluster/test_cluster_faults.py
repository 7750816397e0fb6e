"""Shard servers that die, freeze, come back, fall behind and roll on while searches are asked."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack, contextmanager

import pytest
from cluster_samples import HASTY, PATIENT, Process, build, serving, until

from periplus.cluster.servers import Servers
from periplus.cluster.sources import ServedGenerations
from periplus.errors import NotFound, NotReady, ShardsMissing
from periplus.graph import Stores
from periplus.records import SearchRequest
from periplus.search import Engine


def lost(answer):
    return [part for part in answer.degraded if part.startswith("shard:")]


def ask(engine, number=0):
    """No two questions are alike, so that no answer is a kept one; the third word is nowhere."""
    unlike = "".join(chr(ord("a") + int(digit)) for digit in f"{number}" if digit.isdigit())
    return engine.search(SearchRequest(f"tide moon zz{unlike}", size=20))


@pytest.fixture
def folder(tmp_path):
    build(tmp_path, 2)
    (tmp_path / "periplus.toml").write_text("")
    return tmp_path


@contextmanager
def processes(folder, numbers):
    with ExitStack() as stack:
        running = []
        for number in numbers:
            running.append(Process(folder, number))
            stack.callback(running[-1].make_sure)
        yield running


@contextmanager
def searched(folder, running):
    with Servers(lambda: [one.url for one in running], seed=1) as servers:
        engine = Engine(folder, HASTY, ServedGenerations(Stores(folder), servers))
        until(lambda: engine.ready or engine.reload())
        yield engine, servers
        engine.close()


def test_a_killed_server_is_missing_and_one_in_its_place_is_taken_up(folder):
    with processes(folder, [0, 1]) as running, searched(folder, running) as (engine, _):
        whole = ask(engine)
        assert (lost(whole), whole.coverage) == ([], 1.0)
        running.pop().end(signal.SIGKILL)
        partial = ask(engine, 1)
        assert lost(partial) == ["shard:1"]
        assert 0.3 < partial.coverage < 0.7
        running.append(Process(folder, 1))
        try:
            until(lambda: not lost(ask(engine, 2)))
        finally:
            running[-1].end(signal.SIGKILL)
            running.pop()


def test_a_frozen_server_costs_one_search_and_comes_back(folder):
    with processes(folder, [0, 1]) as running, searched(folder, running) as (engine, servers):
        ask(engine)
        running[1].freeze()
        assert lost(ask(engine, 1)) == ["shard:1"]
        until(lambda: servers.all[1].is_aside)
        after = ask(engine, 2)
        assert lost(after) == ["shard:1"]
        assert after.took_ms < 1000 * HASTY.search.budget_ms
        running[1].send(signal.SIGCONT)
        until(lambda: not lost(ask(engine, 3)))


def test_sigterm_drains_and_ends_well(folder):
    with processes(folder, [0, 1]) as running, searched(folder, running) as (engine, servers):
        ask(engine)
        assert running.pop().end(signal.SIGTERM) == 0
        servers.look()
        assert lost(ask(engine, 1)) == ["shard:1"]


def test_replicas_answer_for_one_that_died(folder):
    with serving(folder, [[0], [0], [1], [1]], HASTY) as (engine, servers, running):
        ask(engine)
        running[1].__exit__()
        running[3].__exit__()
        for number in range(40):
            answer = ask(engine, number)
            assert (lost(answer), answer.coverage) == ([], 1.0)
        assert sum(server.counts["questions"] for server in servers.all) >= 160


def test_a_broker_whose_servers_never_answered_names_them_not_the_index(folder):
    with Servers(lambda: ["http://127.0.0.1:1"], seed=1) as servers:
        engine = Engine(folder, HASTY, ServedGenerations(Stores(folder), servers))
        with pytest.raises(NotReady, match="generation 1 is not ready on all shards yet; see that periplus shard runs"):
            ask(engine)
        engine.close()


def test_a_broker_of_nothing_asks_for_an_index(tmp_path):
    with Servers(list, seed=1) as servers:
        engine = Engine(tmp_path, HASTY, ServedGenerations(Stores(tmp_path), servers))
        with pytest.raises(NotReady, match="no index is published yet; run periplus index"):
            ask(engine)
        engine.close()


def test_none_left_is_one_clear_line(folder):
    with serving(folder, [[0, 1]], HASTY) as (engine, servers, _):
        ask(engine)
        servers.all[0].put_aside("for this test")
        with pytest.raises(ShardsMissing, match="none of the 2 shards answered"):
            ask(engine, 1)


def test_generations_roll_under_searches_and_every_answer_is_of_one(folder):
    with serving(folder, [[0], [1]], PATIENT) as (engine, _, _):
        ask(engine)
        answers, ended = [], threading.Event()

        def search():
            number = 0
            while not ended.is_set():
                number += 1
                answers.append(ask(engine, f"{threading.get_ident()}-{number}"))

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for batch in (2, 3, 4):
                build(folder, 2, count=40, number=batch, seed=batch)
                until(engine.reload)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        assert not [answer.degraded for answer in answers if lost(answer)]
        totals = {}
        for answer in answers:
            totals.setdefault(answer.generation, set()).add((answer.total, answer.degraded, answer.query.corrected))
        assert len(totals) > 1
        assert all(len(found) == 1 for found in totals.values()), totals


def test_a_broker_waits_for_all_shards_of_a_new_generation_then_goes_over_without_them(folder):
    with serving(folder, [[0], [1]], HASTY, patience=0.0) as (engine, servers, running):
        first = ask(engine).generation
        running[1]._stop.set()  # it takes up nothing new any more
        running[1]._watcher.join()
        build(folder, 2, count=40, number=2, seed=2)
        until(lambda: servers.serving(0, first + 1))
        engine.reload()
        answer = ask(engine, 1)
        assert answer.generation == first  # only that one is left of shard 1: it answers the whole query
        assert lost(answer) == []


def test_the_token_is_wanted(folder):
    with serving(folder, [[0], [1]], HASTY, token="a-token-that-is-long") as (engine, servers, _):
        assert not lost(ask(engine))
        engine._generations._current.shards._shards._head = "Authorization: Bearer another-token-quite-long\r\n"
        with pytest.raises(ShardsMissing):
            ask(engine, 1)
        assert "token" in servers.all[0].said


def test_a_generation_that_is_swept_while_it_is_pulled_is_waited_out(folder):
    class SweptStore:
        """An index whose newest generation is gone whenever its files are asked for."""

        def __init__(self, store):
            self._store = store

        def __getattr__(self, name):
            return getattr(self._store, name)

        def open_files(self):
            raise NotFound("generation 1 of the index is no longer kept; look for a newer one")

    with serving(folder, [[0], [1]], HASTY) as (_, servers, _):
        stores = Stores(folder)
        stores.index = SweptStore(stores.index)
        engine = Engine(folder, HASTY, ServedGenerations(stores, servers))
        with pytest.raises(NotReady):
            ask(engine)
        engine.close()
