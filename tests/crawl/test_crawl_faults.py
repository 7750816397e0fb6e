"""What goes wrong around a crawl: a locked database, a full disk, a dead worker, a clock that is set."""

from __future__ import annotations

import sqlite3
import threading
import time
from typing import TYPE_CHECKING

import pytest

from crawl.voyages import settings_for
from mockweb.faults import Gate
from periplus import addresses
from periplus.crawl import Crawler, audit
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.partitions import Partitions, partition_count
from periplus.crawl.frontier.roster import register
from periplus.crawl.frontier.rows import Bundle, FoundAddress, Rest
from periplus.crawl.leading.undertaker import Undertaker
from periplus.crawl.working.worker import Worker
from periplus.errors import DatabaseBusy, LeaseLost, PeriplusError, StorageFull
from periplus.storage import Database
from periplus.storage.sqlite import SqliteBackend

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb

GAP = 0.15
SPARE_PAGES = 12


class Attempt(threading.Thread):
    """A crawl in a thread, with the error that it ended with."""

    def __init__(self, voyage: Voyage, database: Database, web: MockWeb, seed: str) -> None:
        super().__init__()
        voyage.web = web
        self._crawler = Crawler(voyage.folder, database, settings_for(web.resolve, commit_seconds=0.05, timeout=60.0))
        self._seed = seed
        self.error: PeriplusError | None = None
        self.start()

    def run(self) -> None:
        try:
            self._crawler.run([self._seed], seconds=60)
        except PeriplusError as error:
            self.error = error


def test_a_locked_database_ends_the_crawl_with_one_error_and_nothing_is_lost(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = mock_web.site("a.test", 40)
    gate = Gate()
    mock_web.at("http://a.test/9", gate)
    path = voyage.folder / "state.db"
    with Database.open(path, busy_seconds=0.3) as impatient:
        attempt = Attempt(voyage, impatient, mock_web, pages[0])
        mock_web.log.wait_for(1, "a.test", "/9", timeout=30)
        other = sqlite3.connect(path, isolation_level=None, timeout=30)
        other.execute("BEGIN IMMEDIATE")
        gate.open()
        attempt.join(60)
        other.close()
    assert isinstance(attempt.error, DatabaseBusy)
    assert "try again" in str(attempt.error)
    voyage.run(mock_web)
    assert voyage.fetched() == set(pages)
    assert set(voyage.documents()) == set(pages)


def test_a_database_that_is_locked_for_a_moment_is_waited_for(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = mock_web.site("a.test", 30)
    gate = Gate()
    mock_web.at("http://a.test/4", gate)
    attempt = Attempt(voyage, voyage.database, mock_web, pages[0])
    mock_web.log.wait_for(1, "a.test", "/4", timeout=30)
    other = sqlite3.connect(voyage.folder / "state.db", isolation_level=None, timeout=30)
    other.execute("BEGIN IMMEDIATE")
    gate.open()
    threading.Event().wait(0.3)
    other.execute("ROLLBACK")
    other.close()
    attempt.join(60)
    assert attempt.error is None
    assert voyage.fetched() == set(pages)


def test_a_disk_that_is_full_in_a_commit(voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = mock_web.site("a.test", 20)
    mock_web.page("http://a.test/0", links=[f"/{'long' * 300}/{number}" for number in range(60)])
    (used,) = voyage.rows("PRAGMA page_count")[0]
    prepare = SqliteBackend._prepare

    def cramped(self: SqliteBackend, connection: sqlite3.Connection, *, writable: bool) -> None:
        prepare(self, connection, writable=writable)
        connection.execute(f"PRAGMA max_page_count={used + SPARE_PAGES}")

    monkeypatch.setattr(SqliteBackend, "_prepare", cramped)
    with Database.open(voyage.folder / "state.db") as small:
        attempt = Attempt(voyage, small, mock_web, pages[0])
        attempt.join(60)
    assert isinstance(attempt.error, StorageFull)
    monkeypatch.undo()
    voyage.run(mock_web)
    assert voyage.fetched() == set(pages)
    assert set(voyage.documents()) >= set(pages)
    assert voyage.rows("SELECT COUNT(*) FROM urls WHERE pending = 1") == [(0,)]


def test_a_worker_that_dies_between_lease_and_write(tmp_path: Path, database: Database) -> None:
    """Its hosts rest for their whole delay, then others get them; what it would still write is refused."""
    (number, lease), url = register(database, 25.0), "http://a.test/"
    settings = settings_for((), delay=2.0)
    kit = Worker(tmp_path, database, settings, seeds=[url])
    kit.frontier.commit(Bundle(found=[FoundAddress(addresses.key(url), url, "a.test")], seeds=[url]), 1.0)
    held = Partitions(database, number, lease, timeout=5.0)
    held.tick(1, ())
    dead = Frontier(database, lambda _: 0, host_queue=10, host_budget=10, worker=number)
    host = dead.activate_one("a.test", time.time(), 2.0)
    assert host is not None
    before = time.time()
    assert Undertaker(tmp_path, database, settings).look([number]) == [number]
    with database.read() as tx:
        active, ready_at = tx.row("SELECT active, ready_at FROM hosts") or (None, 0.0)
    assert active == 0
    assert ready_at >= before + 2.0
    heir = Partitions(database, *register(database, 25.0), timeout=5.0)
    heir.tick(1, ())
    assert len(heir.usable) == partition_count(database)
    with pytest.raises(LeaseLost):
        dead.commit(Bundle(resting={host.key: Rest.MORE}), time.time(), held.check)


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The wall clock of this process; what is in the list is added to it."""
    real, steps = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + sum(steps))
    yield steps
    monkeypatch.undo()


@pytest.mark.parametrize("step", [-1.0, -0.1, 0.1, 3600.0])
def test_gaps_hold_when_the_clock_is_set(
    voyage: Voyage, mock_web: MockWeb, set_clock: list[float], step: float
) -> None:
    pages = {url for host in ("a.test", "b.test", "c.test") for url in mock_web.site(host, 8)}
    seeds = [f"http://{host}.test/" for host in "abc"]

    def set_it() -> None:
        mock_web.log.wait_for(9, timeout=30)
        set_clock.append(step)

    setter = threading.Thread(target=set_it)
    setter.start()
    voyage.run(mock_web, *seeds, delay=GAP)
    setter.join()
    assert voyage.fetched() == pages
    for host in ("a.test", "b.test", "c.test"):
        assert min(mock_web.gaps(host)) >= GAP - 0.01
    assert audit(voyage.database).violations == ()
