"""A collection on several machines: each has a folder of its own; a database and an object store are for all."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading

import msgspec
import pytest

from periplus import Collection, addresses
from periplus.app.console.debugging import debug
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.shards import FOUND, ShardPlan, over_shards, serve_shard
from periplus.cli.main import run
from periplus.documents import BatchLog
from periplus.errors import StorageBusy
from periplus.records import Document, Link, SearchRequest
from support.servers import wait_for

WORDS = ("tide", "tides", "moon", "harbour", "table", "light", "keeper", "storm", "lantern", "chart", "pilot", "rope")
PASSING = ("took_ms", "generation")
QUERIES = (
    "tide",
    "harbour light",
    '"tide table"',
    "tabl",
    "lanterm",
    "link:https://a.example/0",
    "site:b.example storm",
)


def made_up(count, seed=5):
    generator = random.Random(seed)
    urls = [f"https://{'abcd'[number % 4]}.example/{number}" for number in range(count)]
    for number, url in enumerate(urls):
        targets = [0, *generator.sample(range(count), 3)]
        yield Document(
            url,
            addresses.key(url),
            1_000.0 + number,
            title=" ".join(generator.choices(WORDS, k=3)),
            text=" ".join(generator.choices(WORDS, k=40)),
            language="en",
            links=tuple(Link(urls[target], generator.choice(WORDS)) for target in targets if target != number),
        )


def append(collection, count, seed=5):
    BatchLog(collection.files, collection.database, collection.depot).append(list(made_up(count, seed)))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def state(request, tmp_path):
    return str(tmp_path / "state.db") if request.param == "sqlite" else request.getfixturevalue("postgres_address")


@pytest.fixture
def machine(tmp_path, state):
    opened = []

    def make(name, files=f"file://{tmp_path}/objects"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        settings = f'[storage]\ndatabase = "{state}"\nfiles = "{files}"\n[search]\nbudget_ms = 60000\n'
        (folder / "periplus.toml").write_text(settings)
        opened.append(Collection(folder).create())
        return opened[-1]

    yield make
    for collection in opened:
        collection.close()


@pytest.fixture
def alone(tmp_path):
    """The same documents in one folder."""
    with Collection(tmp_path / "alone", flags={"search.budget_ms": 60_000}).create() as collection:
        append(collection, 200)
        collection.index()
        collection.rank()
        yield collection


def answers(collection):
    """All that a visitor may see, without what differs from run to run."""
    backend = CollectionBackend(collection)
    collection.engine.warm()
    found = [backend.search(SearchRequest(query=query, counts=True)) for query in QUERIES]
    found += [
        backend.suggest("ha"),
        backend.similar("https://a.example/0", 5),
        backend.explain("tide", "https://a.example/0"),
    ]
    plain = msgspec.json.decode(msgspec.json.encode(found))
    return [{k: v for k, v in part.items() if k not in PASSING} if isinstance(part, dict) else part for part in plain]


def links_of(collection):
    found = CollectionBackend(collection).site("a.example")
    return {
        name: found[name] for name in ("links_in", "links_out", "hosts_in", "hosts_out", "rank", "place", "documents")
    }


def segments(collection):
    folder = collection.folder / "index" / "segments"
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def test_what_one_machine_publishes_another_answers_from(machine, alone):
    a, b = machine("a"), machine("b")
    assert b.status().index is None
    append(a, 200)
    a.index()
    a.rank()

    assert answers(b) == answers(alone)
    assert links_of(b) == links_of(alone)
    assert b.status().index == a.status().index
    assert b.status().ranks == a.status().ranks
    assert not list((b.folder / "documents").glob("*")) if (b.folder / "documents").exists() else True


def test_a_server_takes_up_what_another_machine_publishes(machine):
    a, b = machine("a"), machine("b")
    append(a, 40)
    a.index()
    assert b.search("tide").total.value > 0
    before = b.engine.generation
    append(a, 60, seed=6)
    a.index()
    assert b.engine.reload()
    assert b.engine.generation > before
    assert not b.engine.reload()


def test_any_machine_goes_on_where_another_stopped(machine, alone):
    a, b, c = machine("a"), machine("b"), machine("c")
    append(a, 200)
    b.index()
    c.rank()
    assert answers(a) == answers(alone)
    append(c, 20, seed=8)
    append(alone, 20, seed=8)
    alone.index()
    b.index()
    assert answers(c) == answers(alone)


def test_shard_servers_and_a_broker_on_machines_of_their_own(machine, alone):
    a, broker = machine("a"), machine("broker")
    append(a, 200)
    a.index()
    a.rank()
    a.reshard(2)
    manifest = a.stores.index.manifest()
    stopping = threading.Event()
    servers = [machine(f"server-{number}") for number in range(2)]
    addresses_of = []
    threads = [
        threading.Thread(
            target=serve_shard, args=(one, [number], "127.0.0.1", 0, "", stopping, addresses_of.append), daemon=True
        )
        for number, one in enumerate(servers)
    ]
    for thread in threads:
        thread.start()
    try:
        with over_shards(broker, ShardPlan((FOUND,)), lambda _: None):
            wait_for(lambda: broker.engine.reload() or broker.engine.ready)
            assert answers(broker) == answers(alone)
            assert links_of(broker) == links_of(alone)
            inspected = {step.step: step for step in broker.inspect("https://a.example/0").steps}
            assert inspected["index"].state == "ok"
            assert debug(broker, "tide", ("",))["words"][0]["forms"][0]["documents"] > 0
            assert CollectionBackend(broker).panels.index()["documents"] == 200
            assert segments(broker) == set()
            for number, one in enumerate(servers):
                assert segments(one) == {entry.name for entry in manifest.segments if entry.shard == number}
            append(a, 30, seed=9)
            a.index()
            wait_for(broker.engine.reload)
            assert broker.engine.generation == a.stores.index.newest()
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


def test_generations_travel_through_an_object_store(machine, alone, gated_bucket, gate):
    """Over a server that speaks S3, which fails now and then."""
    a, b = machine("a", gated_bucket), machine("b", gated_bucket)
    append(a, 200)
    a.index()
    gate.refuse(2)
    a.rank()
    gate.refuse(2)
    assert answers(b) == answers(alone)
    a.reshard(2)
    assert b.engine.reload()
    assert answers(b) == answers(alone)


def test_a_second_machine_that_indexes_or_ranks_is_refused(machine, capsys):
    a, b = machine("a"), machine("b")
    append(a, 20)
    with a.catalogs.alone("indexing or ranking"):
        with pytest.raises(StorageBusy, match=r"is indexing or ranking this collection \(.*, process \d+\)"):
            b.pipeline.rank()
        assert run(["index", "--dir", str(b.folder)]) == 1
    assert "another process is indexing or ranking this collection" in capsys.readouterr().err
    a.index()


FROZEN = """
import sys
from periplus import Collection
from periplus.jobs import Pipeline

def wait(self):
    print("indexing", flush=True)
    sys.stdin.readline()
Pipeline._read_backlog = wait
with Collection(sys.argv[1]) as collection:
    collection.index()
"""


def indexing(collection):
    """A process that indexes, and stops in the middle of it until it is told a line."""
    command = [sys.executable, "-c", FROZEN, str(collection.folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_machine_that_was_frozen_while_it_indexed_publishes_nothing(machine, state):
    """Its lease is given away while it stands still; it goes on, and is refused."""
    a, b = machine("a"), machine("b")
    append(a, 20)
    process = subprocess.Popen(
        [sys.executable, "-c", FROZEN, str(a.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout.readline() == b"indexing\n"
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        with b.database.write() as tx:
            tx.execute("UPDATE leases SET expires = 0 WHERE name = 'building'")
        with b.catalogs.alone("indexing or ranking"):
            process.send_signal(signal.SIGCONT)
            _, said = process.communicate(b"\n", timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1
    assert b"LeaseLost" in said
    assert b.stores.index.newest() == 0
    with b.database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM generations") == 0


def test_a_killed_writer_of_this_machine_does_not_keep_the_next_one_waiting(machine):
    a = machine("a")
    append(a, 20)
    process = subprocess.Popen(
        [sys.executable, "-c", FROZEN, str(a.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"indexing\n"
    process.kill()
    process.communicate()
    assert a.index().documents == 20


def test_verbs_see_the_cluster(machine, capsys):
    a, b = machine("a"), machine("b")
    append(a, 20)
    assert run(["index", "--dir", str(a.folder)]) == 0
    assert run(["rank", "--dir", str(a.folder)]) == 0
    capsys.readouterr()
    assert run(["search", "tide", "--json", "--dir", str(b.folder)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["results"]
    assert found["generation"] == a.stores.index.newest()
    assert run(["reshard", "3", "--dir", str(b.folder)]) == 0
    assert len(a.status().index.shards) == 3
    assert run(["status", "--json", "--dir", str(b.folder)]) == 0
    assert run(["doctor", "--dir", str(a.folder)]) == 0


def test_a_collection_in_one_folder_knows_nothing_of_it(alone, tmp_path):
    assert alone.catalogs is None
    with alone.database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM generations") == 0
        assert tx.value("SELECT COUNT(*) FROM holds") == 0
        assert tx.value("SELECT COUNT(*) FROM leases") == 0
    script = (
        "import sys; import periplus.app, periplus.search, periplus.jobs.pipeline; sys.exit('obstore' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, cwd=tmp_path).returncode == 0
