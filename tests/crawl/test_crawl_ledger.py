"""The ledger's marks, the status of crawls, and what importing the room costs."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from periplus.archive import ArchiveWriter
from periplus.crawl import status
from periplus.crawl.asking.condition import CrawlCondition
from periplus.crawl.asking.status import INTERRUPTED, begin, save
from periplus.crawl.frontier.rows import FAILED, FETCHED, REFUSED, UrlRow, Visited
from periplus.crawl.working.counters import Counters
from periplus.crawl.working.ledger import Ledger
from periplus.records import CrawlStatus, Document, Exchange
from periplus.storage import write_event

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.storage import Database


def exchange(number: int) -> Exchange:
    body = f"page {number}".encode()
    return Exchange(f"http://a.test/{number}", "GET", (), 200, "OK", (), body, body, "127.0.0.1", time.time(), 0.1)


def test_a_mark_never_passes_an_open_record(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path) as writer:
        ledger = Ledger(writer, Counters(0), time.time)
        first, second, third = (ledger.archive(exchange(number), None) for number in range(3))
        ledger.settle(first)
        ledger.settle(third)
        assert ledger.swap().marks == {first.file: second.offset}
        assert ledger.swap().marks == {first.file: second.offset}
        ledger.settle(second)
        assert ledger.swap().marks == {first.file: third.offset + third.length}
        assert ledger.swap().marks == {}


def test_counters() -> None:
    counters = Counters(10, CrawlStatus(pages=5, documents=4, seconds=60.0))
    document = Document(url="http://a.test/", key=1, fetched=1.0)
    row = UrlRow(1, "http://a.test/", 1, state=FETCHED)
    counters.visited(Visited(row, 0, document=document))
    counters.visited(Visited(row, FETCHED))
    counters.visited(Visited(UrlRow(2, "http://a.test/2", 1, state=FAILED), 0))
    counters.visited(Visited(UrlRow(3, "http://a.test/3", 1, state=REFUSED), 0))
    counters.stored(1)
    found = counters.status(CrawlCondition())
    assert (found.pages, found.unchanged, found.failed, found.refused, found.documents) == (6, 1, 1, 1, 5)
    assert found.seconds >= 60.0
    assert found.limit == 10


def test_a_crawl_that_died_is_stopped_and_goes_on(database: Database) -> None:
    assert status(database) == CrawlStatus()
    number, earlier = begin(database)
    assert earlier is None
    assert status(database).state == "running"
    with database.write() as tx:
        save(tx, number, CrawlStatus(state="running", links=7, rate=68.9, active=3))
    assert status(database).rate == 68.9
    with database.write() as tx:
        tx.execute("UPDATE crawls SET at = at - 60")
    dead = status(database)
    assert (dead.state, dead.reason, dead.rate, dead.active) == ("stopped", INTERRUPTED, 0.0, 0)
    with database.write() as tx:
        write_event(tx, "crawl", f"crawl {number} failed: no space left", "error")
    assert status(database).reason == f"crawl {number} failed: no space left"
    again, earlier = begin(database)
    assert (again, earlier.links if earlier else 0) == (number, 7)
    with database.write() as tx:
        save(tx, number, CrawlStatus(state="done", pages=3), ended=time.time())
    assert (status(database).state, status(database).pages) == ("done", 3)
    assert begin(database)[0] > number


def test_asking_about_a_crawl_loads_no_client() -> None:
    code = "import sys, periplus.crawl; print([name for name in ('aiohttp', 'pyarrow') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
