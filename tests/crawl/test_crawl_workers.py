"""Several workers on one frontier: partitions, places, the roster, and workers that come, go and die."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl.voyages import settings_for
from mockweb.faults import Gate
from mockweb.growing import Growing
from periplus import addresses, archive
from periplus.crawl import Crawler, send_command, slots, status, workers
from periplus.crawl.asking.status import begin, save
from periplus.crawl.frontier import roster
from periplus.crawl.frontier.address_slots import SharedAddressSlots
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.partitions import EMBEDDED, MARGIN, SHARED, Partitions, free_of, partition_count, share_of
from periplus.crawl.frontier.rows import Bundle, FoundAddress, Rest
from periplus.crawl.leading.conductor import RENEWALS, SECONDS, Conductor
from periplus.errors import LeaseLost, UsageError, WrongState
from periplus.records import CrawlStatus
from periplus.storage import Lease, Leases

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.storage import Database

TIMEOUT = 5.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def partitions_of(database: Database, worker: int, clock: Clock) -> Partitions:
    lease = Leases(database, clock).acquire(f"worker {worker}", f"worker {worker}", TIMEOUT + MARGIN)
    assert lease is not None
    return Partitions(database, worker, lease, timeout=TIMEOUT, clock=clock)


def heir_of(database: Database, worker: int, clock: Clock) -> None:
    """What a healer does: takes the lease over, then frees the partitions."""
    leases = Leases(database, clock)
    with database.read() as tx:
        known = Lease(
            *(tx.row("SELECT name, owner, token, expires FROM leases WHERE name = ?", (f"worker {worker}",)) or ())
        )
    assert leases.take_over(known, "healer", 60.0) is not None
    with database.write() as tx:
        free_of(tx, worker)


def test_leases_of_workers_that_are_no_more_go_when_a_crawl_begins(database: Database) -> None:
    leases = Leases(database)
    (ended, left), (lives, held), (died, lost) = (roster.register(database, seconds) for seconds in (60, 60, 0))
    other = leases.acquire("index", "somebody", 0.0)
    leases.release(left)
    with database.write() as tx:
        roster.end(tx, ended)
        roster.forget_ended(tx)
    with database.read() as tx:
        names = [name for (name,) in tx.rows("SELECT name FROM leases ORDER BY name")]
    assert other is not None
    assert names == sorted([roster.lease_name(lives), roster.lease_name(died), "index"])  # the dead one is to be healed
    with database.write() as tx:
        leases.check(tx, held)
    with pytest.raises(LeaseLost):
        leases.renew(left)
    assert leases.take_over(left, "healer", 60.0, dead=True) is None
    assert leases.take_over(lost, "healer", 60.0) is not None


def test_figures_of_old_crawls_are_forgotten(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.crawl.asking.status.KEPT", 3)
    for _ in range(10):
        number, earlier = begin(database)
        assert earlier is None
        with database.write() as tx:
            save(tx, number, CrawlStatus(state="done"), ended=1.0)
    with database.read() as tx:
        assert tx.rows("SELECT id FROM crawls ORDER BY id") == [(number - 2,), (number - 1,), (number,)]
    assert status(database).state == "done"


def test_workers_share_the_partitions_and_never_overlap(database: Database) -> None:
    clock = Clock()
    count = partition_count(database)
    first, second, third = (partitions_of(database, number, clock) for number in (1, 2, 3))
    first.tick(1, ())
    assert len(first.usable) == count
    second.tick(2, (), place=1)
    assert second.usable == ()  # all are taken
    used = set(first.usable)
    first.tick(2, used)  # half of them must be emptied first
    assert len(first.usable) == count // 2
    second.tick(2, (), place=1)
    assert second.usable == ()
    first.tick(2, set(first.usable))
    second.tick(2, (), place=1)
    assert set(first.usable) | set(second.usable) == set(range(count))
    assert not set(first.usable) & set(second.usable)
    for _ in range(2):
        for place, one in enumerate((first, second, third)):
            one.tick(3, (), place=place)
    shares = [len(one.usable) for one in (first, second, third)]
    assert shares == [share_of(count, 3, place) for place in range(3)]
    assert sum(shares) == count
    first.tick(0, ())  # it is to rest
    first.tick(0, ())
    assert first.usable == ()


@given(count=st.integers(1, 2_000), workers=st.integers(1, 2_000))
def test_shares_are_fair_and_add_up(count: int, workers: int) -> None:
    shares = [share_of(count, workers, place) for place in range(workers)]
    assert sum(shares) == count
    assert max(shares) - min(shares) <= 1


def test_the_number_of_partitions_is_kept_in_the_collection(database: Database) -> None:
    count = partition_count(database)
    assert count == (EMBEDDED if database.dialect == "sqlite" else SHARED)
    with database.write() as tx:
        tx.execute("DELETE FROM partitions WHERE part >= 10")
    assert partition_count(database) == 10
    assert Frontier(database, lambda _: 0, host_queue=1, host_budget=1).partition(23) == 3


def test_a_collection_of_an_older_version_keeps_its_partitions(database: Database) -> None:
    with database.write() as tx:
        tx.execute("INSERT INTO hosts (key, name, site, part, level, next_at) VALUES (1, 'a', 'a', 1, 0, 0)")
    assert partition_count(database) == EMBEDDED


def test_a_lease_must_outlive_the_request(database: Database) -> None:
    clock = Clock()
    mine = partitions_of(database, 1, clock)
    assert mine.may_send()
    clock.now += MARGIN + 0.1
    assert not mine.may_send()  # a request might end after the lease
    mine.tick(1, ())  # nobody took it: renewed
    assert mine.may_send()


def test_who_slept_through_its_lease_can_neither_send_nor_write(database: Database) -> None:
    clock = Clock()
    sleeper = partitions_of(database, 1, clock)
    sleeper.tick(1, ())
    clock.now += TIMEOUT + MARGIN + 1
    heir_of(database, 1, clock)
    heir = partitions_of(database, 2, clock)
    heir.tick(1, ())
    assert len(heir.usable) == partition_count(database)
    assert not sleeper.may_send()
    with pytest.raises(LeaseLost), database.write() as tx:
        sleeper.check(tx)
    with pytest.raises(LeaseLost):
        sleeper.tick(1, ())
    with database.write() as tx:
        heir.check(tx)
        heir.release(tx)
    with pytest.raises(LeaseLost), database.write() as tx:
        heir.check(tx)


def test_hosts_are_taken_from_own_partitions_only(database: Database) -> None:
    urls = [f"http://h{number}.test/" for number in range(200)]
    frontiers = [Frontier(database, lambda _: 0, host_queue=10, host_budget=10, worker=n) for n in (1, 2)]
    frontiers[0].commit(Bundle(found=[FoundAddress(addresses.key(u), u, addresses.host(u)) for u in urls]), 1.0)
    for number, frontier in enumerate(frontiers):
        frontier.parts = tuple(range(number, partition_count(database), 2))
    taken = [[active.host.key for active in frontier.activate(5.0, 200, 1.0)] for frontier in frontiers]
    assert sorted(taken[0] + taken[1]) == sorted(addresses.host_key(addresses.host(url)) for url in urls)
    assert {frontiers[0].partition(key) % 2 for key in taken[0]} == {0}
    assert [frontier.activate_one("h0.test", 6.0, 1.0) for frontier in frontiers] == [None, None]


def test_a_host_is_lent_to_another_worker(database: Database) -> None:
    owner, other = (Frontier(database, lambda _: 0, host_queue=10, host_budget=10, worker=n) for n in (1, 2))
    owner.commit(Bundle(found=[FoundAddress(addresses.key("http://a.test/"), "http://a.test/", "a.test")]), 1.0)
    (active,) = owner.activate(5.0, 9, 1.0)
    assert other.activate_one("a.test", 6.0, 1.0) is None
    assert owner.wanted() == [active.host.key]
    assert other.wanted() == []
    owner.commit(Bundle(resting={active.host.key: Rest.MORE}), 7.0)
    assert owner.activate(8.0, 9, 1.0, spare=owner.wanted()) == []
    borrowed = other.activate_one("a.test", 8.0, 1.0)
    assert borrowed is not None
    assert owner.wanted() == []


def test_the_gap_of_an_ip_address_holds_between_workers(tmp_path: Path) -> None:
    one, two = (SharedAddressSlots(tmp_path / "slots", 0.25) for _ in range(2))
    assert one.ask("192.0.2.1", 1, 100.0) == 100.0
    assert two.ask("192.0.2.1", 2, 100.1) == 100.25
    assert one.ask("192.0.2.1", 3, 100.1) == 100.5  # behind the other's reservation
    assert two.ask("192.0.2.9", 4, 100.1) == 100.1
    assert two.ask("192.0.2.1", 2, 100.3) == 100.3
    assert one.ask("192.0.2.1", 3, 100.5) == pytest.approx(100.55)  # the other came late
    one.close()
    two.close()


def test_unknown_commands_are_refused(database: Database) -> None:
    for command in ("fly", "workers", "workers many", "workers 65", "restart", "shutdown", "pause x"):
        with pytest.raises(UsageError):
            send_command(database, command)
    send_command(database, "workers 3")


# Whole crawls


def sites(web: MockWeb, hosts: int, pages: int) -> tuple[list[str], set[str]]:
    """Sites that also link to each other, so that links cross partitions."""
    urls = {url for number in range(hosts) for url in web.site(f"h{number}.test", pages)}
    for number in range(hosts):
        web.page(f"http://h{number}.test/2", links=[f"http://h{(number + 1) % hosts}.test/{n}" for n in range(pages)])
    return [f"http://h{number}.test/" for number in range(hosts)], urls


def test_two_workers_crawl_what_one_would(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    voyage = voyage_anywhere
    seeds, pages = sites(mock_web, 12, 8)
    mock_web.redirect("http://h3.test/robots.txt", "http://h4.test/rules", 301)
    mock_web.text("http://h4.test/rules", "User-agent: *\nDisallow: /5")
    result = voyage.run(mock_web, *seeds[:2], workers=2, seconds=60)
    pages -= {"http://h3.test/5"}
    assert voyage.fetched() == pages | {"http://h3.test/"}
    assert result.pages == len(pages) == result.documents == status(voyage.database).pages
    assert set(voyage.documents()) >= pages
    asked = Counter(record.url for record in mock_web.requests())
    assert {url for url, count in asked.items() if count > 1} == set()
    team = workers(voyage.database)
    assert [one.state for one in team] == ["ended", "ended"]
    assert sum(one.pages for one in team) == len(pages)
    assert min(one.pages for one in team) > 0
    assert sum(one.answers_2xx for one in team) >= len(pages)
    assert slots(voyage.database) == []
    assert voyage.rows("SELECT COUNT(*) FROM hosts WHERE active > 0") == [(0,)]


def test_the_page_limit_holds_over_all_workers(voyage: Voyage, mock_web: MockWeb) -> None:
    seeds, _ = sites(mock_web, 16, 6)
    assert voyage.run(mock_web, *seeds, workers=3, max_pages=23, seconds=60).pages == 23
    assert len(voyage.fetched()) == 23
    assert voyage.run(mock_web, workers=2, max_pages=30, seconds=60).pages == 7


class Running:
    """A crawl in a thread, watched through the database."""

    def __init__(self, voyage: Voyage, web: MockWeb, seeds: list[str], **options: object) -> None:
        voyage.web = web
        self.voyage = voyage
        self.crawler = Crawler(voyage.folder, voyage.database, settings_for(web.resolve, **options))
        self.results: list[object] = []
        self.thread = threading.Thread(target=lambda: self.results.append(self.crawler.run(seeds, seconds=90)))
        self.thread.start()

    def child(self, place: int = 2, timeout: float = 60) -> int:
        """The process of the worker that came as number ``place`` or later, once it has fetched something."""
        limit = time.monotonic() + timeout
        while time.monotonic() < limit:
            for one in workers(self.voyage.database)[place - 1 :]:
                if one.pages and one.state == "running":
                    return int(one.address.rpartition(":")[2])
            time.sleep(0.02)
        raise AssertionError(f"no worker {place} came to life: {workers(self.voyage.database)}")

    def join(self) -> None:
        self.thread.join(90)
        assert not self.thread.is_alive()
        assert self.results


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(voyage: Voyage, mock_web: MockWeb) -> None:
    web = Growing(mock_web, 10)
    mock_web.robots("h0.test", "User-agent: *\nCrawl-delay: 0.06")
    crawl = Running(voyage, mock_web, web.seeds, workers=2, **Growing.SETTINGS)
    os.kill(crawl.child(), signal.SIGKILL)
    crawl.child(3)
    web.end()
    crawl.join()
    assert voyage.fetched() == set(web.asked)
    assert set(voyage.documents()) == set(web.asked)
    assert len(workers(voyage.database)) == 3
    assert len([url for url, count in web.asked.items() if count > 1]) <= web.hosts  # what was under way
    archived = Counter(
        exchange.url
        for path in (voyage.folder / "archive").glob("*.warc.gz")
        for _, exchange in archive.iterate(path)
        if not exchange.url.endswith("robots.txt")
    )
    assert {url for url, count in archived.items() if count > 1} == set()
    assert min(mock_web.gaps("h0.test")[1:]) >= 0.05


def test_workers_come_and_go_on_command(voyage: Voyage, mock_web: MockWeb) -> None:
    web = Growing(mock_web, 8)
    crawl = Running(voyage, mock_web, web.seeds, workers=1, **Growing.SETTINGS)
    mock_web.log.wait_for(20, timeout=30)
    send_command(voyage.database, "workers 2")
    crawl.child()
    send_command(voyage.database, "workers 1")
    web.end()
    crawl.join()
    assert voyage.fetched() == set(web.asked)
    first, second = workers(voyage.database)
    assert first.pages + second.pages == len(web.asked)


def test_stop_reaches_all_workers(voyage: Voyage, mock_web: MockWeb) -> None:
    web = Growing(mock_web, 8)
    crawl = Running(voyage, mock_web, web.seeds, workers=2, **Growing.SETTINGS)
    crawl.child()
    crawl.crawler.stop()
    crawl.join()
    assert voyage.rows("SELECT COUNT(*) FROM urls WHERE state = 0") > [(0,)]
    assert voyage.rows("SELECT COUNT(*) FROM hosts WHERE active > 0") == [(0,)]
    assert set(voyage.documents()) == voyage.fetched()
    web.end()
    voyage.run(mock_web, workers=1, seconds=60, **Growing.SETTINGS)
    assert voyage.fetched() == set(web.asked)
    assert max(web.asked.values()) == 1


def test_workers_left_to_us_come_only_when_there_is_work(voyage: Voyage, mock_web: MockWeb) -> None:
    seeds, pages = sites(mock_web, 3, 5)
    voyage.run(mock_web, *seeds, workers=0)
    assert voyage.fetched() == pages
    assert len(workers(voyage.database)) == 1


def told(voyage: Voyage) -> list[str]:
    return [text for (text,) in voyage.rows("SELECT text FROM events ORDER BY id")]


def test_any_worker_is_restarted_by_number_also_the_first(voyage: Voyage, mock_web: MockWeb) -> None:
    web = Growing(mock_web, 10)
    crawl = Running(voyage, mock_web, web.seeds, workers=2, **Growing.SETTINGS)
    crawl.child()
    first, second = (one.number for one in workers(voyage.database))
    with pytest.raises(WrongState, match="no worker 99 at work"):
        send_command(voyage.database, "restart 99")
    send_command(voyage.database, f"restart {second}")
    crawl.child(3)
    send_command(voyage.database, f"restart {first}")
    crawl.child(4)
    web.end()
    crawl.join()
    assert voyage.fetched() == set(web.asked)
    assert [one.state for one in workers(voyage.database)] == ["ended"] * 4
    events = told(voyage)
    for number in (first, second):
        assert f"worker {number} has left" in events
    assert events.index(f"worker {second} has left") < events.index(f"worker {second + 1} joins")
    assert events[0].endswith("begins")
    assert "done" in events[-1]
    assert max(web.asked.values()) == 1


def test_any_worker_is_shut_down_but_the_last(voyage: Voyage, mock_web: MockWeb) -> None:
    web = Growing(mock_web, 10)
    crawl = Running(voyage, mock_web, web.seeds, workers=2, **Growing.SETTINGS)
    crawl.child()
    first, second = (one.number for one in workers(voyage.database))
    send_command(voyage.database, f"shutdown {first}")
    wait_until(lambda: workers(voyage.database)[0].state == "resting" and not workers(voyage.database)[0].hosts)
    with pytest.raises(WrongState, match="only one at work"):
        send_command(voyage.database, f"shutdown {second}")
    before = len(mock_web.requests())
    mock_web.log.wait_for(before + 20, timeout=30)  # the other goes on
    web.end()
    crawl.join()
    assert voyage.fetched() == set(web.asked)
    assert len(workers(voyage.database)) == 2
    assert max(web.asked.values()) == 1


def test_a_worker_is_paused_alone(voyage: Voyage, mock_web: MockWeb) -> None:
    web = Growing(mock_web, 10)
    crawl = Running(voyage, mock_web, web.seeds, workers=2, **Growing.SETTINGS)
    crawl.child()
    second = workers(voyage.database)[1].number
    send_command(voyage.database, f"pause {second}")
    wait_until(lambda: workers(voyage.database)[1].state == "paused")
    assert status(voyage.database).state == "running"
    send_command(voyage.database, "resume")  # all of them
    wait_until(lambda: workers(voyage.database)[1].state == "running")
    web.end()
    crawl.join()
    assert voyage.fetched() == set(web.asked)


def test_a_worker_that_lost_its_lease_is_replaced_also_the_first(voyage: Voyage, mock_web: MockWeb) -> None:
    web = Growing(mock_web, 10)
    crawl = Running(voyage, mock_web, web.seeds, workers=2, **Growing.SETTINGS)
    crawl.child()
    first, second = (one.number for one in workers(voyage.database))
    for number, heir in ((second, 3), (first, 4)):
        with voyage.database.write() as tx:
            tx.execute("UPDATE leases SET token = token + 1, expires = 0 WHERE name = ?", (f"crawl.worker.{number}",))
        crawl.child(heir)
    web.end()
    crawl.join()
    assert voyage.fetched() == set(web.asked)
    assert set(voyage.documents()) == set(web.asked)
    assert f"worker {second} is lost: its lease went to others" in told(voyage)
    assert any(text.startswith(f"worker {first} is lost") for text in told(voyage))


def test_pause_and_resume_are_told(voyage: Voyage, mock_web: MockWeb) -> None:
    seeds, pages = sites(mock_web, 2, 4)
    gate = Gate()  # the crawl cannot end before both orders were seen
    held = "http://held.test/"
    mock_web.at(held, gate)
    crawl = Running(voyage, mock_web, [*seeds, held], workers=1, timeout=60.0)
    mock_web.log.wait_for(6, timeout=30)
    for command, state in (("pause", "paused"), ("resume", "running")):
        send_command(voyage.database, command)
        wait_until(partial(is_in_state, voyage, state))
    gate.open()
    crawl.join()
    assert voyage.fetched() == {*pages, held}
    assert [text.split()[-1] for text in told(voyage)[1:3]] == ["pauses", "on"]


def is_in_state(voyage: Voyage, state: str) -> bool:
    return status(voyage.database).state == state


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_a_crawl_with_nothing_to_do_is_no_news(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/")
    voyage.run(mock_web, "http://a.test/")
    before = told(voyage)
    voyage.run(mock_web)
    assert told(voyage) == before


def test_the_conductor_renews_its_lease_with_a_commit(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr("periplus.crawl.leading.conductor.steady", lambda: now[0])
    conductor, leases = Conductor(database), Leases(database)
    assert conductor.take()
    (before,) = leases.held()
    now[0] += SECONDS / RENEWALS + 0.1
    with database.write() as tx:
        conductor.keep_in(tx)
        assert conductor.keep()  # which would wait for this very transaction, had it something to write
    (after,) = leases.held()
    assert (after.token, after.expires > before.expires) == (before.token, True)
