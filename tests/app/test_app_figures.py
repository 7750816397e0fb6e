"""The terminal, the API and the console say the same of a crawl: its state, this crawl's pages, and those in all."""

from __future__ import annotations

import http.client
import json
import time
from datetime import datetime
from urllib.parse import urlsplit

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import Collection
from periplus.app.serving.server import operator_key, web_server
from periplus.cli.main import run
from periplus.cli.progress import show_crawl
from periplus.cli.watching import summary
from periplus.crawl.asking.status import begin, save
from periplus.records import CrawlStatus

STALLED = "2 hosts: the server asked us to come back later, next try 14:05:10 UTC"
SINCE = 1_800_000_000.0


@pytest.fixture
def collection(tmp_path, mock_web):  # noqa: F811
    """Crawled twice: 4 pages, then 3 more."""
    flags = {
        "serve.port": 0,
        "crawl.delay": 0.0,
        "crawl.workers": 1,
        "crawl.icons": False,
        "crawl.resolve": list(mock_web.resolve),
    }
    mock_web.site("a.test", 9)
    with Collection(tmp_path / "c", flags=flags) as made:
        made.crawl(["http://a.test/"], max_pages=4)
        made.crawl([], max_pages=7)
        made.index()
        yield made


def get(address: str, path: str, key: str) -> str:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    connection.request("GET", path, headers={"authorization": f"Bearer {key}"})
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def everywhere(collection, capsys) -> dict[str, str]:
    """What each surface says, as text."""
    capsys.readouterr()
    run(["status", "--dir", str(collection.folder)])
    terminal = " ".join(capsys.readouterr().out.split())
    run(["status", "--json", "--dir", str(collection.folder)])
    told = capsys.readouterr().out
    with web_server(collection) as server:
        key = operator_key(collection)
        api, console = get(server.address, "/api/v1/status", key), get(server.address, "/console", key)
    return {"status": terminal, "json": told, "api": api, "console": console, "up": summary(collection.status())}


def test_pages_of_this_crawl_and_in_all(collection, capsys):
    told = everywhere(collection, capsys)
    for name in ("status", "up"):
        assert "3 pages this crawl, 7 in all of at most 7" in told[name], told[name]
        assert "3 waiting" in told[name]
    for name in ("json", "api"):
        found = json.loads(told[name])
        assert (found["crawl"]["pages"], found["crawl"]["stored"], found["pages"]) == (3, 7, 7)
        assert (found["crawl"]["queued"], found["crawl"]["limit"], found["crawl"]["rate"]) == (3, 7, 0.0)
    for label, figure in (("pages this crawl", 3), ("pages in all", 7), ("waiting", 3), ("pages a second now", 0)):
        assert f"<dt>{label}</dt><dd>{figure}</dd>" in told["console"]


def test_a_stalled_crawl_says_so(collection, capsys):
    number, _ = begin(collection.database)
    stalled = CrawlStatus(state="stalled", reason=STALLED, since=SINCE, pages=3, limit=7)
    with collection.database.write() as tx:
        save(tx, number, stalled)
        tx.execute("UPDATE crawls SET at = ? WHERE id = ?", (time.time() + 3_600, number))
    told = everywhere(collection, capsys)
    for name in ("status", "up"):
        assert f"stalled since 08:00:00 UTC: {STALLED}" in told[name], told[name]
    for name in ("json", "api"):
        crawl = json.loads(told[name])["crawl"]
        assert (crawl["state"], crawl["reason"]) == ("stalled", STALLED)
    assert json.loads(told["json"])["crawl"]["since"] == SINCE
    assert datetime.fromisoformat(json.loads(told["api"])["crawl"]["since"]).timestamp() == SINCE
    assert 'class="state state-stalled">crawl stalled<' in told["console"]
    assert STALLED in told["console"]
    assert "/console/crawl/stop" in told["console"]


class Bar:
    def at(self, done: int, total: int | None = None, note: str = "") -> None:
        self.seen = (done, total, note)


def test_the_bar_of_a_crawl_counts_this_crawl_and_tells_a_standstill():
    bar = Bar()
    show_crawl(bar, CrawlStatus(state="running", pages=30, stored=130, queued=500, limit=200, hosts=2))
    assert bar.seen == (30, 100, "2 hosts, 500 waiting")
    show_crawl(bar, CrawlStatus(state="stalled", reason=STALLED, since=SINCE, pages=30, queued=5))
    assert bar.seen == (30, 35, f"stalled since 08:00:00 UTC: {STALLED}")
