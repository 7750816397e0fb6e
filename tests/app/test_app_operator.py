"""A crawl with two workers, watched and steered while it runs: by the command line and over HTTP."""

from __future__ import annotations

import http.client
import json
import threading
import time
from datetime import datetime
from urllib.parse import urlsplit

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from mockweb.growing import Growing
from periplus import Collection
from periplus.app.running.up import crawl_until
from periplus.app.serving.server import operator_key, web_server
from periplus.cli.main import run
from periplus.crawl import Crawler, workers
from periplus.demo import Reply
from periplus.jobs import operator_view, seconds_left
from periplus.storage import folder_lock

HOSTS = 10


@pytest.fixture
def collection(tmp_path, mock_web):  # noqa: F811
    flags = {
        "serve.port": 0,
        "crawl.delay": 0.05,
        "crawl.workers": 2,
        "crawl.icons": False,
        **{f"crawl.{name}": value for name, value in Growing.SETTINGS.items()},
        "crawl.commit_seconds": 0.2,
        "crawl.timeout": 5.0,
        "crawl.resolve": list(mock_web.resolve),
    }
    with Collection(tmp_path / "c", flags=flags) as made:
        made.create()
        yield made
        report = made.politeness()
        assert report.requests > 0
        assert report.violations == ()


def wait_for(condition, seconds: float = 60):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "it took too long"
        threading.Event().wait(0.02)
    return found


def call(address: str, method: str, path: str, key: str = "", body: object = None):
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    if body is not None:
        headers["content-type"] = "application/json"
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def second_worker(collection: Collection, after: int = 0):
    """One at work that is not the first."""
    team = [one for one in workers(collection.database)[1:] if one.state == "running" and one.number > after]
    return team[0] if team and team[0].pages else None


@pytest.fixture
def crawl(collection, mock_web):  # noqa: F811
    """Sites being crawled in a thread, which has ended at the end."""
    sites = Growing(mock_web, HOSTS)
    mock_web.at("http://h0.test/3", Reply(404))
    crawler = Crawler(collection.folder, collection.database, collection.settings)
    thread = threading.Thread(target=crawler.run, args=(sites.seeds,))
    thread.start()
    wait_for(lambda: second_worker(collection))
    yield crawler
    crawler.stop()
    thread.join(90)
    assert not thread.is_alive()


def test_a_live_crawl_is_watched_and_its_worker_restarted(collection, crawl, mock_web, capsys):  # noqa: F811
    folder = str(collection.folder)
    first = wait_for(lambda: second_worker(collection)).number  # at times it has nothing to do
    expected = {"last write", "left at this rate", f"{first} ", "running", "h1.test", "delay", "crawl 1 begins", "step"}

    def everything_is_shown() -> bool:
        assert run(["status", "--dir", folder]) == 0
        shown = capsys.readouterr().out
        return all(word in shown for word in expected)

    wait_for(everything_is_shown)  # at times no request is under way
    assert run(["restart", str(first), "--dir", folder]) == 0
    again = wait_for(lambda: second_worker(collection, first)).number
    with web_server(collection) as server:
        key = operator_key(collection)
        path = f"/api/v1/crawl/workers/{again}/restart"
        assert call(server.address, "POST", path)[0] == 401
        assert call(server.address, "POST", path, key) == (202, {"command": "restart", "accepted": True})
        wait_for(lambda: second_worker(collection, again))
        leader = workers(collection.database)[0].number
        assert call(server.address, "POST", f"/api/v1/crawl/workers/{leader}/restart", key)[0] == 202  # also the first
        wait_for(lambda: workers(collection.database)[0].state == "ended")
        status, problem = call(server.address, "POST", "/api/v1/crawl", key, {"seeds": ["http://h0.test/"]})
        assert (status, "a crawl is under way" in problem["detail"]) == (409, True)
        alive = call(server.address, "GET", "/alive")[1]
        written = datetime.fromisoformat(alive["last_write"])
        assert abs(written.timestamp() - time.time()) < 10
        events = call(server.address, "GET", "/console/events.json", key)[1]["events"]
        assert {f"worker {first} has left", f"worker {again} joins"} <= {event["text"] for event in events}


def test_what_an_operator_looks_at(collection, crawl):
    limit = time.monotonic() + 60
    while not (view := operator_view(collection.database)).errors:
        assert time.monotonic() < limit
    assert view.errors[0].sample == "http://h0.test/3"
    assert view.errors[0].status == 404
    assert len(view.host_queues) == HOSTS
    assert all(host.delay >= 0.05 for host in view.host_queues if host.pages)
    left = seconds_left(collection.status())
    assert left is None or left >= 0


def test_up_waits_for_a_crawl_that_somebody_else_runs(collection, mock_web):  # noqa: F811
    """It neither fails nor loses its seeds."""
    pages = mock_web.site("a.test", 5)
    stopping = threading.Event()
    flags = collection.flags | {"crawl.workers": 1}
    ours = threading.Thread(target=crawl_until, args=(stopping, str(collection.folder), flags, pages[:1]))
    with folder_lock(collection.folder / "crawl.lock", "crawling"):
        ours.start()
        threading.Event().wait(0.3)
        assert ours.is_alive()
        assert mock_web.requests() == []
    wait_for(lambda: collection.status().pages == len(pages))
    stopping.set()
    ours.join(60)
    assert not ours.is_alive()
