"""One ``up`` and one crawl a folder: a second one is refused by name; what was stopped goes on when asked."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import Collection
from periplus.app.parts.occupancy import CRAWL_LOCK
from periplus.app.running import up
from periplus.app.running.up import crawl_until
from periplus.app.serving.server import operator_key, web_server
from periplus.cli.main import run
from periplus.crawl import Crawler, resume_wanted
from periplus.errors import StorageBusy, WrongState
from periplus.storage import holder_of

PAGES = 41  # of a site of 40, with its front page


@pytest.fixture
def flags(mock_web):  # noqa: F811
    return {
        "crawl.delay": 0.02,
        "crawl.workers": 1,
        "crawl.icons": False,
        "crawl.commit_seconds": 0.2,
        "crawl.resolve": list(mock_web.resolve),
        "serve.port": 0,
    }


@pytest.fixture
def collection(tmp_path, flags):
    with Collection(tmp_path / "c", flags=flags) as made:
        yield made.create()


def wait_for(condition, seconds: float = 90):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "it took too long"
        threading.Event().wait(0.02)
    return found


def call(address: str, method: str, path: str, key: str, body: object = None):
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    try:
        text = json.dumps(body) if body is not None else None
        connection.request(method, path, text, {"authorization": f"Bearer {key}", "content-type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def refusal(capsys, *words: str) -> str:
    """The one line that a verb is refused with."""
    assert run(list(words)) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_a_second_up_is_refused_by_the_name_of_the_first(collection, mock_web, capsys):  # noqa: F811
    seed, folder = mock_web.site("a.test", 3)[0], str(collection.folder)
    words = ["up", seed, "--dir", folder, "--port", "0", "--delay", "0.02", "--resolve", mock_web.resolve[0]]
    first = subprocess.Popen([sys.executable, "-m", "periplus", *words], stderr=subprocess.PIPE, text=True)
    try:
        assert first.stderr is not None
        address = next(line.split()[-1] for line in first.stderr if line.startswith("search page"))
        line = refusal(capsys, "up", "http://b.test/", "--dir", folder, "--port", "0", "--max-pages", "7")
        assert f"(process {first.pid}, {address})" in line
        assert "console" in line
        with Collection(folder) as other:
            assert other.in_force().values.crawl.max_pages != 7  # what it was told is not remembered either
    finally:
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=90)
    assert first.returncode == 0
    assert said.splitlines()[-1] == f"stopped; periplus up --dir {folder} goes on"
    assert "Traceback" not in said


@pytest.fixture
def crawling(collection, mock_web):  # noqa: F811
    """A crawl in a thread."""
    seeds = mock_web.site("a.test", PAGES - 1)[:1]
    crawler = Crawler(collection.folder, collection.database, collection.settings)
    thread = threading.Thread(target=crawler.run, args=(seeds,))
    thread.start()
    wait_for(lambda: collection.status().pages)
    yield crawler
    crawler.stop()
    thread.join(60)


def test_a_second_crawl_is_refused_by_the_name_of_the_first(collection, crawling, capsys):
    folder = str(collection.folder)
    for verb in ("crawl", "up"):
        line = refusal(capsys, verb, "http://b.test/", "--dir", folder)
        assert f"a crawl is at work in {folder} already (process {os.getpid()})" in line
        assert f"periplus stop --dir {folder}" in line
    with pytest.raises(StorageBusy, match="already"):
        collection.crawl(["http://b.test/"])


def stopped_crawl(collection, mock_web) -> None:  # noqa: F811
    """A collection whose crawl somebody stopped with most of its pages waiting."""
    seeds = mock_web.site("a.test", PAGES - 1)[:1]
    crawler = collection.crawler(collection.in_force(), lambda status: status.pages > 2 and crawler.stop())
    status = crawler.run(seeds)
    assert status.state == "stopped"
    assert status.queued


def test_a_stopped_crawl_goes_on_over_the_api(collection, mock_web):  # noqa: F811
    stopped_crawl(collection, mock_web)
    key = operator_key(collection)
    with web_server(collection) as server:
        assert call(server.address, "POST", "/api/v1/crawl/resume", key)[0] == 202
        status, problem = call(server.address, "POST", "/api/v1/crawl", key, {"seeds": ["http://b.test/"]})
        assert (status, "under way" in problem["detail"]) == (409, True)  # also while it is still starting
        wait_for(lambda: collection.status().pages == PAGES)
        wait_for(lambda: collection.status().crawl.state == "done")
        for command in ("resume", "pause"):
            status, problem = call(server.address, "POST", f"/api/v1/crawl/{command}", key)
            assert (status, problem["code"]) == (409, "conflict")
        assert call(server.address, "DELETE", "/api/v1/crawl", key)[0] == 409


def test_the_console_offers_to_go_on(collection, mock_web):  # noqa: F811
    stopped_crawl(collection, mock_web)
    with web_server(collection) as server:
        connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=60)
        headers = {"authorization": f"Bearer {operator_key(collection)}"}
        connection.request("GET", "/console", None, headers)
        page = connection.getresponse().read().decode()
        assert re.search(r'action="[^"]*/console/crawl/resume"', page)
        connection.request("POST", "/console/crawl/resume", "", headers)
        assert connection.getresponse().status == 303
        connection.close()
        wait_for(lambda: collection.status().pages == PAGES)
        wait_for(lambda: collection.status().crawl.state == "done")


def test_nothing_to_resume_is_said(collection, crawling, mock_web, capsys):  # noqa: F811
    with pytest.raises(WrongState, match="the crawl is running"):
        collection.command("resume")
    collection.command("pause")
    collection.command("resume")  # also before the crawl has heard the first
    crawling.stop()
    wait_for(lambda: collection.status().crawl.state == "stopped")
    folder = str(collection.folder)
    assert f"periplus crawl --dir {folder}" in refusal(capsys, "resume", "--dir", folder)
    wait_for(lambda: holder_of(collection.folder / CRAWL_LOCK) is None)  # it says that it stopped, and then ends
    collection.crawl()
    assert "nothing to resume" in refusal(capsys, "resume", "--dir", folder)


def test_up_goes_on_when_a_stopped_crawl_is_resumed(collection, mock_web, flags):  # noqa: F811
    from periplus.app.parts.occupancy import hold_up

    seeds = mock_web.site("a.test", PAGES - 1)[:1]
    stopping = threading.Event()
    with hold_up(collection.folder):
        up = threading.Thread(target=crawl_until, args=(stopping, str(collection.folder), flags, seeds))
        up.start()
        wait_for(lambda: collection.status().pages)
        collection.command("stop")
        wait_for(lambda: collection.status().crawl.state == "stopped")
        assert collection.status().crawl.queued
        collection.command("resume")
        wait_for(lambda: collection.status().pages == PAGES)
        assert not resume_wanted(collection.database)  # whoever begins takes the wish away
        stopping.set()
        up.join(60)
    assert not up.is_alive()


def test_nothing_stays_of_a_crawl_that_has_run_dry(collection, flags, mock_web, monkeypatch):  # noqa: F811
    """Up crawls again and again for months: a thread or a handle each time would end it."""
    monkeypatch.setattr(up, "REVISIT_EVERY", 0.0)
    stopping, threads, rounds = threading.Event(), list[int](), 6
    once = up._crawled

    def counted(*given):
        status = once(*given)
        threads.append(threading.active_count())
        if len(threads) == rounds:
            stopping.set()
        return status

    monkeypatch.setattr(up, "_crawled", counted)
    crawl_until(stopping, str(collection.folder), flags, mock_web.site("a.test", 3))

    assert len(threads) == rounds
    assert max(threads[1:]) <= threads[0]
