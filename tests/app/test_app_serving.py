"""Serving under change: ready only when warm, no request lost over new generations, several processes on one port."""

from __future__ import annotations

import errno
import gc
import http.client
import json
import threading
import time
import weakref
from urllib.parse import urlsplit

import pytest

from periplus import Collection
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.server import Reloader, further_servers, web_server
from periplus.app.thrift import YOUNG, settle
from periplus.documents import BatchLog
from periplus.jobs import operator_view
from periplus.records import Document

WORDS = ["tide", "harbour", "beacon", "chart", "sounding", "anchor", "pilot", "shoal", "ebb", "flood"]


def pages(first: int, count: int) -> list[Document]:
    from periplus import addresses

    made = []
    for number in range(first, first + count):
        url = f"http://port{number % 7}.test/{number}"
        text = f"The {WORDS[number % 10]} of port {number}, with a {WORDS[number * 7 % 10]} beside it."
        made.append(Document(url, addresses.key(url), 1.7e9, title=f"Port {number}", text=text, language="en"))
    return made


@pytest.fixture
def collection(tmp_path):
    with Collection(tmp_path / "c", flags={"serve.port": 0, "search.budget_ms": 30_000}) as made:
        made.create()
        yield made


def publish(collection: Collection, first: int, count: int = 20) -> None:
    BatchLog(collection.files, collection.database).append(pages(first, count))
    collection.pipeline.index()  # as another process would: the engine is not told


def get(address: str, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def wait_for(condition) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it took too long"
        threading.Event().wait(0.02)


def test_ready_only_when_a_generation_is_open_and_warm(collection, monkeypatch):
    held = threading.Event()
    warmed = threading.Event()
    original = Reloader._warm_up

    def slow(self):
        held.wait(60)
        original(self)
        warmed.set()

    monkeypatch.setattr(Reloader, "_warm_up", slow)
    with web_server(collection) as server, Reloader(collection):
        assert get(server.address, "/readyz")[0] == 503  # nothing published
        assert get(server.address, "/healthz")[0] == 200
        publish(collection, 0)
        wait_for(lambda: collection.engine.ready)
        assert get(server.address, "/readyz")[0] == 503  # open, but not warm
        held.set()
        wait_for(warmed.is_set)
        wait_for(lambda: get(server.address, "/readyz")[0] == 200)


class Circle:
    def __init__(self) -> None:
        self.own = self


@pytest.fixture
def settled():
    thresholds = gc.get_threshold()
    settle()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@pytest.mark.usefixtures("settled")
def test_a_server_that_has_settled_still_finds_cycles():
    lost = weakref.ref(Circle())
    made = [[] for _ in range(YOUNG // 2)]
    assert lost() is not None  # not looked for yet
    made += [[] for _ in range(YOUNG)]
    assert lost() is None


@pytest.mark.usefixtures("settled")
def test_searches_leave_no_cycles_behind(collection):
    publish(collection, 0)
    for query in ("tide", '"the tide"', "tidd", "nowhere", "site:port1.test", "-tide harbour"):
        collection.search(query)
    gc.collect()
    gc.disable()
    try:
        for query in ("chart", '"the chart"', "charrt", "nowhere else", "site:port2.test", "-ebb flood"):
            collection.search(query)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert [found for found in gc.garbage if type(found).__module__.startswith("periplus")] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_the_collector_is_as_before_when_a_server_has_stopped(collection):
    before = gc.get_threshold()
    with Reloader(collection, settles=True):
        pass
    assert gc.get_threshold() == before


def test_no_request_is_lost_while_generations_change(collection):
    publish(collection, 0)
    generations: set[int] = set()
    wrong: list[object] = []
    over = threading.Event()

    def reader(number: int) -> None:
        connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=60)
        asked = 0
        while not over.is_set() or asked < 5:
            path = ("/api/v1/search?q=", "/search?q=")[number % 2] + f"{WORDS[asked % 10]}+port+{asked}"
            try:
                connection.request("GET", path)
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException) as error:
                wrong.append(error)
                return
            if answer.status != 200:
                wrong.append((answer.status, body))
            elif number % 2 == 0:
                generations.add(json.loads(body)["generation"])
            asked += 1
        connection.close()

    with web_server(collection) as server, Reloader(collection):
        wait_for(lambda: get(server.address, "/readyz")[0] == 200)
        readers = [threading.Thread(target=reader, args=(number,)) for number in range(4)]
        for thread in readers:
            thread.start()
        for round_ in range(1, 5):
            publish(collection, 20 * round_)
            collection.engine.reload()
            wanted = collection.engine.generation
            wait_for(lambda wanted=wanted: wrong or wanted in generations)
        over.set()
        for thread in readers:
            thread.join()

    assert wrong == []
    assert len(generations) >= 5


def test_several_processes_share_the_port(collection):
    publish(collection, 0)
    several = Collection(collection.folder, flags={**collection.flags, "serve.workers": 2})
    with several, web_server(several) as server, further_servers(several, server.socket, print):
        seen = set()
        limit = time.monotonic() + 90
        while len(seen) < 2 and time.monotonic() < limit:
            status, body = get(server.address, "/metrics")
            assert status == 200
            seen |= {line for line in body.decode().splitlines() if line.startswith("periplus_http_process{")}
            assert get(server.address, "/api/v1/search?q=tide")[0] == 200
        assert len(seen) == 2


# What the console does to a collection


@pytest.fixture
def crawled(collection):
    """Two hosts with addresses in every state, as a crawl leaves them."""
    from periplus import addresses

    rows = [("http://a.test/", 1), ("http://a.test/failed", 2), ("http://a.test/next", 0), ("http://b.test/", 1)]
    with collection.database.write() as tx:
        for name in ("a.test", "b.test"):
            tx.execute(
                "INSERT INTO hosts (key, name, site, part, level, next_at) VALUES (?, ?, ?, 0, 2, 1e15)",
                (addresses.host_key(name), name, name),
            )
        for url, state in rows:
            tx.execute(
                "INSERT INTO urls (key, url, host, depth, priority, state, next_at, fetched_at)"
                " VALUES (?, ?, ?, 0, 0, ?, 1e15, 1)",
                (addresses.key(url), url, addresses.host_key(addresses.host(url)), state),
            )
    backend = CollectionBackend(collection)
    backend._starter.go_on = lambda: None  # no crawl: what is tested is what is written
    return backend


def states(collection):
    with collection.database.read() as tx:
        return {url: (state, due < 1e14) for url, state, due in tx.rows("SELECT url, state, next_at FROM urls")}


def test_a_host_or_an_address_is_due_again(crawled, collection):
    assert crawled.steer("recrawl", "http://a.test/") == 1
    assert states(collection)["http://a.test/"] == (1, True)
    assert states(collection)["http://a.test/failed"] == (2, False)
    assert crawled.steer("recrawl", "a.test") == 2
    assert states(collection)["http://a.test/failed"] == (2, True)
    assert states(collection)["http://b.test/"] == (1, False)
    hosts = {row["host"]: row for row in crawled.panels.hosts()["hosts"]}
    assert hosts["a.test"]["due_in"] == pytest.approx(0, abs=5)
    assert hosts["b.test"]["due_in"] is None


def test_a_host_of_copies_shows_what_is_left_of_its_budget(crawled, collection):
    with collection.database.write() as tx:
        tx.execute("UPDATE hosts SET judged = 60, findable = 2, queued = 7, linked = 99 WHERE name = 'a.test'")
    hosts = {row["host"]: row for row in crawled.panels.hosts()["hosts"]}
    assert (hosts["a.test"]["budget"], hosts["a.test"]["reason"]) == (100, "host-yield")
    assert hosts["a.test"]["sentence"].startswith("most pages of the host repeat others")
    assert hosts["b.test"]["budget"] > 100
    (queue,) = [one for one in operator_view(collection.database).host_queues if one.host == "a.test"]
    assert queue.reason == "host-yield"


def test_a_host_is_preferred_blocked_and_let_in_again(crawled, collection):
    crawled.steer("boost", "a.test")
    assert {row["host"]: row["preferred"] for row in crawled.panels.hosts()["hosts"]} == {
        "a.test": True,
        "b.test": False,
    }

    assert crawled.steer("block", "a.test") == 3
    assert {state for url, (state, _) in states(collection).items() if "a.test" in url} == {0, 1, 2}  # nothing is lost
    assert {row["host"]: row["blocked"] for row in crawled.panels.hosts()["hosts"]} == {"a.test": True, "b.test": False}
    assert crawled.steer("recrawl", "a.test") == 0  # blocked is blocked

    assert crawled.steer("unblock", "a.test") == 3
    assert {state for url, (state, _) in states(collection).items() if "a.test" in url} == {0, 1, 2}
    assert [row["blocked"] for row in crawled.panels.hosts()["hosts"]] == [False, False]
    told = [event["text"] for event in crawled.panels.events()["events"] if event["room"] == "console"]
    assert told[0] == "unblock a.test: 3 addresses"
    assert [text.split()[0] for text in told] == ["unblock", "recrawl", "block", "boost"]


def test_steering_names_what_is_wrong(crawled):
    from periplus.errors import InvalidAddress, NotFound, UsageError

    for action, target, error in (
        ("paint", "a.test", UsageError),
        ("boost", "http://a.test/", UsageError),
        ("recrawl", "c.test", NotFound),
        ("unblock", "a.test", NotFound),
        ("block", "http://", InvalidAddress),
    ):
        with pytest.raises(error):
            crawled.steer(action, target)


def test_queries_are_counted_and_shown_from_the_second_time_on(collection):
    publish(collection, 0)
    from periplus.records import SearchRequest

    backend = CollectionBackend(collection)
    for query in ("tide", "TIDE ", "beacon", "zzzzqq", "zzzzqq", "x" * 200, "x" * 200):
        backend.search(SearchRequest(query))
    backend.search(SearchRequest("tide", page=2))
    counts = backend.panels.queries("")["counts"]

    assert (counts["asked"], counts["without_result"]) == (7, 4)
    assert counts["top"] == [{"query": "tide", "count": 2}, {"query": "zzzzqq", "count": 2}]
    assert counts["top_without_result"] == [{"query": "zzzzqq", "count": 2}]


def test_the_table_of_queries_is_bounded():
    from periplus.app.parts.query_counts import MOST, QueryCounts

    counts = QueryCounts()
    for _ in range(3):
        counts.add("tide", found=True)
    for number in range(MOST + 10):
        counts.add(f"q{number}", found=True)

    assert len(counts._asked) <= MOST
    assert counts.shown()["top"][0] == {"query": "tide", "count": 3}


class Unlucky(Collection):
    """One whose machine has no handles left for a while."""

    troubles = 3

    @property
    def engine(self):
        if self.troubles:
            self.troubles -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().engine


def test_the_reloader_outlives_trouble_of_the_machine_and_says_so_once(tmp_path, caplog):
    with Unlucky(tmp_path / "c").create() as collection:
        publish(collection, 0)
        collection.troubles = 3
        with Reloader(collection):
            wait_for(lambda: not collection.cold)
        assert collection.engine.ready
    (line,) = [record.getMessage() for record in caplog.records if "generations" in record.getMessage()]
    assert line == "new generations wait: [Errno 24] Too many open files; looking again"


def test_the_reloader_outlives_rules_that_are_being_edited(collection, caplog):
    collection.files.write("rules.toml", b"")
    collection.files.write("periplus.toml", b'[search]\nrules = "rules.toml"\n')
    with Collection(collection.folder) as edited:
        publish(edited, 0)
        with Reloader(edited):
            wait_for(lambda: not edited.cold)
            edited.files.write("rules.toml", b"[[synonyms")
            wait_for(lambda: any("rules.toml" in record.getMessage() for record in caplog.records))
            edited.files.write("rules.toml", b"")
            publish(edited, 20)
            wait_for(lambda: edited.engine.generation == 2)
