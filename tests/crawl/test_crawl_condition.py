"""What state a crawl is in, and why: the decision alone, and crawls that really stand still."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from crawl.voyages import settings_for
from mockweb.faults import asked_to_wait
from periplus.crawl import Crawler, status, workers
from periplus.crawl.asking.condition import (
    NO_LEASES,
    PAUSED,
    QUIET,
    RUNNING,
    STALLED,
    STALLED_AFTER,
    HostWait,
    Standing,
    condition,
    patience,
)
from periplus.crawl.asking.status import begin, save
from periplus.crawl.fetching import pacing
from periplus.crawl.frontier.roster import WorkerStatus, register, write
from periplus.crawl.working.counters import Counters
from periplus.records import CrawlStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.storage import Database

NOW = 1_800_000_000.0
ASKED_TO_WAIT = HostWait("asked-to-wait", 3, NOW + 600, 1.0)
POLITE = HostWait("", 2, NOW + 1, 1.0)


def standing(quiet: float, **figures: Any) -> Standing:
    return Standing(**{"now": NOW, "progress_at": NOW - quiet, "queued": 5, **figures})


def test_a_crawl_with_progress_runs() -> None:
    assert condition(standing(STALLED_AFTER - 1, waits=(POLITE,))).state == RUNNING
    assert condition(standing(10_000, queued=0)).state == RUNNING  # nothing waits: it is about to end


def test_a_crawl_without_progress_is_stalled_since_its_last() -> None:
    found = condition(standing(60, waits=(ASKED_TO_WAIT, HostWait("dns-failure", 1, NOW - 5))))
    assert (found.state, found.since) == (STALLED, NOW - 60)
    assert found.reason == (
        "3 hosts: the server asked us to come back later, next try 08:10:00 UTC;"
        " 1 host: the host name could not be resolved, next try now"
    )


def test_where_nothing_can_come_it_is_said_soon() -> None:
    assert condition(standing(QUIET, waits=(ASKED_TO_WAIT,))).state == STALLED
    assert condition(standing(QUIET, waits=(ASKED_TO_WAIT, POLITE))).state == RUNNING
    assert patience((ASKED_TO_WAIT._replace(next_at=NOW + 2),), NOW) == STALLED_AFTER


def test_to_keep_a_long_gap_is_no_standstill() -> None:
    slow = HostWait("", 1, NOW + 20, delay=30.0)
    assert condition(standing(60, waits=(slow,))).state == RUNNING
    assert condition(standing(100, waits=(slow,))).reason == "1 host: the gap ends 08:00:20 UTC"
    assert "no answer yet to 1 request" in condition(standing(100, waits=(slow._replace(asked=1),))).reason


def test_other_reasons() -> None:
    assert condition(standing(60, may_send=False)).reason == NO_LEASES
    assert "worker 2, 4 has stopped writing" in condition(standing(60, silent=(2, 4))).reason
    assert "outside its hours, 22-06" in condition(standing(0, closed_hours="22-06")).reason
    assert condition(standing(0, closed_hours="22-06")).state == STALLED
    assert condition(standing(0, disk="1 MB is free")).state == STALLED
    assert condition(standing(0, disk="1 MB is free")).reason == "1 MB is free; it goes on by itself"
    assert condition(standing(0, closed_hours="22-06", paused=True)).state == PAUSED
    assert condition(standing(60, stopping=True, paused=True)).state == RUNNING
    assert condition(standing(60)).reason


# Crawls


class Watched:
    """A crawl in a thread, whose every report is kept."""

    def __init__(self, voyage: Voyage, web: MockWeb, seeds: list[str], **options: Any) -> None:
        voyage.web = web
        self.reports: list[CrawlStatus] = []
        self.crawler = Crawler(
            voyage.folder, voyage.database, settings_for(web.resolve, **options), progress=self.reports.append
        )
        self.thread = threading.Thread(target=self.crawler.run, args=(seeds,), kwargs={"seconds": 60})
        self.thread.start()

    def wait(self, found: Callable[[], bool]) -> None:
        limit = time.monotonic() + 60
        while not found():
            assert self.thread.is_alive()
            assert time.monotonic() < limit, self.reports[-1]
            time.sleep(0.02)

    def stop(self) -> CrawlStatus:
        self.crawler.stop()
        self.thread.join(60)
        return self.reports[-1]


def test_a_crawl_whose_hosts_all_ask_to_wait_is_stalled(voyage: Voyage, mock_web: MockWeb) -> None:
    for host in ("a.test", "b.test"):
        mock_web.at(f"http://{host}/robots.txt", asked_to_wait(503, seconds=50))
    began = time.time()
    crawl = Watched(voyage, mock_web, ["http://a.test/", "http://b.test/"])
    crawl.wait(lambda: status(voyage.database).state == STALLED)
    found = status(voyage.database)
    assert found.reason.startswith("2 hosts: the server asked us to come back later, next try ")
    assert began <= found.since <= time.time() - QUIET
    assert found.rate == 0.0
    assert crawl.stop().state == "stopped"
    (told,) = voyage.rows("SELECT text FROM events WHERE level = 'warning'")
    assert told[0].startswith("crawl 1 stalls: 2 hosts: ")


def test_a_crawl_outside_its_hours_is_stalled(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 3)
    hour = time.localtime().tm_hour
    closed = f"{(hour + 2) % 24}-{(hour + 4) % 24}"
    crawl = Watched(voyage, mock_web, ["http://a.test/"], hours=closed)
    crawl.wait(lambda: bool(crawl.reports) and crawl.reports[-1].state == STALLED)
    assert closed in crawl.reports[-1].reason
    crawl.stop()
    assert mock_web.requests() == []


def test_a_crawl_whose_disk_lacks_room_is_stalled_and_goes_on_by_itself(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    mock_web.site("a.test", 3)
    monkeypatch.setattr(pacing, "DISK_SECONDS", 0.05)
    disk = SimpleNamespace(total=20_000_000_000, free=1_000_000)
    monkeypatch.setattr(pacing.shutil, "disk_usage", lambda _: disk)
    crawl = Watched(voyage, mock_web, ["http://a.test/"])
    crawl.wait(lambda: bool(crawl.reports) and crawl.reports[-1].state == STALLED)
    assert crawl.reports[-1].reason == "1 MB of its disk is free, and a crawl leaves 500 MB; it goes on by itself"
    assert mock_web.requests() == []
    disk.free = 500_000_000  # somebody makes room
    crawl.wait(lambda: len(voyage.fetched()) == 4)
    crawl.stop()


def test_a_crawl_that_leaves_addresses_waiting_says_why(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.at("http://a.test/robots.txt", asked_to_wait(503, seconds=3_600))
    done = voyage.run(mock_web, "http://a.test/")
    assert (done.state, done.queued) == ("done", 1)
    assert "asked us to come back later" in done.reason


# Figures


def test_pages_of_this_crawl_and_in_all_are_told_apart(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 9)
    first = voyage.run(mock_web, "http://a.test/", max_pages=4)
    second = voyage.run(mock_web, max_pages=7)
    assert (first.pages, first.stored) == (4, 4)
    assert (second.pages, second.stored, second.limit) == (3, 7, 7)
    told = status(voyage.database)
    assert (told.pages, told.stored, told.queued, told.rate) == (3, 7, second.queued, 0.0)


def test_rates_age(database: Database) -> None:
    """Whatever was written last: who does not work has no rate."""
    number, _ = begin(database)
    worker, _ = register(database, 60.0)
    busy = WorkerStatus(number=worker, state="running", rate=68.9)
    with database.write() as tx:
        save(tx, number, CrawlStatus(state=RUNNING, rate=68.9))
        write(tx, busy, [])
    assert (status(database).rate, workers(database)[0].rate) == (68.9, 68.9)
    with database.write() as tx:
        tx.execute("UPDATE workers SET at = at - 60")
        tx.execute("UPDATE crawls SET at = at - 60")
    assert (status(database).rate, workers(database)[0].rate) == (0.0, 0.0)
    assert workers(database)[0].state == "silent"
    with database.write() as tx:
        save(tx, number, CrawlStatus(state="done", rate=68.9), ended=time.time())
    assert status(database).rate == 0.0


def test_progress_is_what_settles_addresses_or_helps() -> None:
    counters = Counters(10)
    before = counters.progress()
    counters.answered(503)
    counters.answered(0)
    assert counters.progress() == before
    counters.answered(200)
    assert counters.progress([replace(WorkerStatus(), failed=2)]) == before + 3
