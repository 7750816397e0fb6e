"""A page that somebody submits: found within seconds under ``up``, or the reason why not; strangers are bounded."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from test_app_occupancy import call, wait_for

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import Collection
from periplus.app.parts.occupancy import hold_up
from periplus.app.running.up import crawl_until
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.server import operator_key
from periplus.storage import Blocklist


@pytest.fixture
def flags(mock_web):  # noqa: F811
    return {
        "crawl.delay": 0.02,
        "crawl.workers": 1,
        "crawl.icons": False,
        "crawl.commit_seconds": 0.2,
        "crawl.resolve": list(mock_web.resolve),
    }


@pytest.fixture
def collection(tmp_path, flags, mock_web):  # noqa: F811
    seeds = mock_web.site("a.test", 3)[:1]
    mock_web.page("http://a.test/hidden", "<p>Nobody links to the zephyrical page.</p>", title="Alone")
    with Collection(tmp_path / "c", flags=flags) as made:
        made.crawl(seeds)
        yield made


def test_under_up_a_submitted_page_is_found_within_seconds(tmp_path, mock_web):  # noqa: F811
    seed = mock_web.site("a.test", 3)[0]
    mock_web.page("http://a.test/hidden", "<p>Nobody links to the zephyrical page.</p>", title="Alone")
    folder = tmp_path / "c"
    words = ["up", seed, "--dir", str(folder), "--port", "0", "--delay", "0.05", "--resolve", mock_web.resolve[0]]
    up = subprocess.Popen([sys.executable, "-m", "periplus", *words], stderr=subprocess.PIPE, text=True)
    try:
        said, address = [], ""
        while not address:
            line = up.stderr.readline()
            assert line, said
            said.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            address = found[0] if found else ""
        threading.Thread(target=up.stderr.read, daemon=True).start()
        with Collection.existing(folder) as other:
            wait_for(lambda: other.status().crawl.state == "done")
            key = other.keys.operator.renew()
        wait_for(lambda: call(address, "GET", "/console/events.json", key)[0] == 200)  # the new key is known
        began = time.monotonic()
        status, told = call(address, "POST", "/api/v1/pages", key, {"url": "http://a.test/hidden"})
        assert (status, told["state"]) == (202, "queued")
        first = call(address, "GET", told["status"], key)[1]
        assert first["steps"][0]["state"] in ("waiting", "ok")
        wait_for(lambda: call(address, "GET", "/api/v1/search?q=zephyrical", key)[1].get("results"))
        seconds = time.monotonic() - began
        last = call(address, "GET", told["status"], key)[1]
    finally:
        up.send_signal(signal.SIGINT)
        up.wait(60)
        up.stderr.close()
    assert seconds < 15
    assert {step["state"] for step in last["steps"] if step["step"] in ("discovered", "fetch", "index")} == {"ok"}


def test_a_serving_collection_begins_a_crawl_for_it(collection):
    backend = CollectionBackend(collection)

    done = backend.add_page("http://a.test/hidden")

    assert (done.state, done.reason) == ("queued", "")
    wait_for(lambda: collection.inspect("http://a.test/hidden").verdict == "found by search")
    assert collection.politeness().clean


def test_who_has_the_key_names_a_seed_and_a_stranger_one_page(collection, mock_web):  # noqa: F811
    mock_web.site("b.test", 3)
    backend = CollectionBackend(collection)
    with hold_up(collection.folder):  # so that nothing starts by itself
        refused = backend.add_page("http://b.test/", trusted=False)
        taken = backend.add_page("http://a.test/hidden", trusted=False)
        trusted = backend.add_page("http://b.test/")

        assert (refused.state, refused.reason) == ("refused", "out-of-scope")
        assert taken.state == trusted.state == "queued"
        assert collection.inspect("http://a.test/hidden").steps[0].state == "waiting"
        collection.crawl()
    with collection.database.read() as tx:
        depth = dict(tx.rows("SELECT url, depth FROM urls"))
        seeds = {url for (url,) in tx.rows("SELECT url FROM seeds")}

    assert depth["http://a.test/hidden"] == collection.settings.crawl.max_depth
    assert "http://b.test/" in seeds
    assert "http://a.test/hidden" not in seeds
    assert sum(url.startswith("http://b.test/") for url in depth) > 1
    assert collection.politeness().clean


def test_a_known_page_is_visited_again_but_not_for_strangers_at_once(collection, mock_web):  # noqa: F811
    url = "http://a.test/"
    backend = CollectionBackend(collection)

    def visits():
        return mock_web.paths("a.test").count("/")

    before = visits()
    with hold_up(collection.folder):
        assert backend.add_page(url, trusted=False).state == "known"
        collection.crawl()
        assert visits() == before
        assert backend.add_page(url).state == "known"
        collection.crawl()
    assert visits() == before + 1


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://a.test:25/", "foreign-port"),
        ("http://a.test/gone", "removed"),
        ("http://a.test/hush", "blocked"),
        ("http://a.test/" + "x/" * 3_000, "address-too-long"),
        ("http://a.test/" + "turn/" * 30, "trap-repeated-segments"),
    ],
)
def test_what_may_not_be_visited_is_refused_with_its_reason(collection, url, reason):
    backend = CollectionBackend(collection)
    collection.remove("http://a.test/gone", ban=True)
    Blocklist(collection.files, collection.sound_state).add("http://a.test/hush")
    with hold_up(collection.folder):
        for trusted in (True, False):
            done = backend.add_page(url, trusted=trusted)

            assert (done.state, done.reason) == ("refused", reason)


def test_what_robots_forbid_is_not_fetched_and_says_so(collection, mock_web):  # noqa: F811
    mock_web.robots("c.test", "User-agent: *\nDisallow: /private\n")
    mock_web.page("http://c.test/private", "<p>Not for robots.</p>")
    with hold_up(collection.folder):
        CollectionBackend(collection).add_page("http://c.test/private")
        collection.crawl()

    robots = next(step for step in collection.inspect("http://c.test/private").steps if step.step == "robots")
    assert (robots.state, robots.reason) == ("refused", "robots-disallowed")
    assert mock_web.paths("c.test") == ["/robots.txt"]


def test_strangers_do_not_wake_a_crawl_that_somebody_stopped(collection):
    backend = CollectionBackend(collection)
    with collection.database.write() as tx:
        status = tx.value("SELECT status FROM crawls").replace('"done"', '"stopped"')
        tx.execute("UPDATE crawls SET state = 'stopped', status = ?", (status,))
    assert collection.status().crawl.state == "stopped"
    begun = []
    backend._starter.go_on = lambda: begun.append(1)

    backend.add_page("http://a.test/hidden", trusted=False)
    assert not begun
    backend.add_page("http://a.test/hidden")
    assert begun


def test_up_does_not_wait_for_its_next_round(collection, flags):
    """A submission while the crawl is over is fetched long before the next visit that is due."""
    stopping = threading.Event()
    with hold_up(collection.folder):
        up = threading.Thread(target=crawl_until, args=(stopping, str(collection.folder), flags, []))
        up.start()
        try:
            wait_for(lambda: collection.status().crawl.state == "done")
            CollectionBackend(collection).add_page("http://a.test/hidden")
            wait_for(lambda: collection.inspect("http://a.test/hidden").steps[4].state == "ok", 20)
        finally:
            stopping.set()
            up.join(60)
    assert not up.is_alive()
    assert operator_key(collection)
