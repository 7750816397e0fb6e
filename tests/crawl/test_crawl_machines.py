"""One crawl on several machines: they join, leave, die, freeze and thaw; the web's own log says what they did."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from crawl.machines import LEASE, Machines, wait_until
from crawl.voyages import Voyage, settings_for
from mockweb.growing import Growing
from mockweb.mock_web import MockWeb
from periplus.crawl import Crawler, audit, send_command, status, workers
from periplus.crawl.asking.status import is_running, is_unfinished
from periplus.crawl.leading.session import Session
from periplus.storage import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.records import CrawlStatus

pytestmark = pytest.mark.postgres
DELAY = 0.02
JITTER = 0.1  # between a request's moment here and its arrival there


@pytest.fixture
def shared(postgres_address: str) -> Iterator[Database]:
    with Database.open(postgres_address) as database:
        yield database


@pytest.fixture
def growing(mock_web: MockWeb) -> Growing:
    return Growing(mock_web, 12)


@pytest.fixture
def machines(tmp_path: Path, shared: Database, mock_web: MockWeb, growing: Growing) -> Iterator[Machines]:
    made = Machines(tmp_path, shared, mock_web, growing.seeds, **Growing.SETTINGS)
    yield made
    made.close()


def test_the_gap_of_an_ip_address_holds_over_machines(tmp_path: Path, shared: Database) -> None:
    gap, pages = 0.3, 3
    with ExitStack() as opened:
        webs = [opened.enter_context(MockWeb()) for _ in range(6)]  # hosts of one address, by their ports
        for web in webs:
            web.page("http://127.0.0.1/", f"<p>Front of {web.port}", links=[f"/{number}" for number in range(pages)])
            for number in range(pages):
                web.page(f"http://127.0.0.1/{number}", f"<p>Page {number} of {web.port}")
        seeds = [f"http://127.0.0.1:{web.port}/" for web in webs]
        machines = Machines(tmp_path, shared, webs[0], seeds, allow_private="true", ip_delay=gap, loopback="counts")
        machines.files = f"file://{tmp_path}/store"  # so that they have no folder in common
        for machine in [machines.start("one"), machines.start("two")]:
            machine.join()
        sent = sorted(record.monotonic for web in webs for record in web.requests())
    assert len(Voyage(tmp_path, shared).fetched()) == len(webs) * (pages + 1)
    assert len(sent) == len(webs) * (pages + 2)  # with its robots.txt
    assert min(later - earlier for earlier, later in pairwise(sent)) >= gap - JITTER
    assert audit(shared).violations == ()


def prove(machines: Machines, growing: Growing) -> None:
    """Nothing acknowledged is lost, nothing was asked impolitely."""
    voyage = Voyage(machines.folder, machines.database)
    assert voyage.fetched() == set(growing.asked)
    assert set(voyage.documents()) == set(growing.asked)
    assert voyage.rows("SELECT COUNT(*) FROM hosts WHERE active > 0") == [(0,)]
    assert voyage.rows("SELECT COUNT(*) FROM partitions WHERE worker > 0") == [(0,)]
    counted = "SELECT COUNT(*) FROM urls WHERE state = 1 AND kind = 0"
    assert voyage.rows("SELECT SUM(pages) FROM hosts") == voyage.rows(counted)
    assert audit(machines.database).violations == ()
    machines.prove_polite(DELAY)


def test_a_second_machine_joins_and_a_dead_one_loses_its_hosts(machines: Machines, growing: Growing) -> None:
    first = machines.start("one")
    first.wait_for(20)
    began = time.monotonic()
    second = machines.start("two")
    second.wait_for(5)
    assert time.monotonic() - began < 30
    first.wait_for(5)
    assert machines.numbers("ended") == []  # the first lost nothing by the second's start
    assert len(workers(machines.database)) == 2
    assert machines.hosts_of_two() > 0
    first.kill()  # it also conducted the crawl
    third = machines.start("three")
    third.wait_for(5)
    second.wait_for(5)
    growing.end()
    second.join()
    third.join()
    assert status(machines.database).state == "done"
    prove(machines, growing)
    assert len([url for url, count in growing.asked.items() if count > 1]) <= growing.hosts  # what was under way


def test_a_frozen_machine_loses_its_hosts_and_sends_nothing_when_it_thaws(machines: Machines, growing: Growing) -> None:
    first, second = machines.start("one"), machines.start("two")
    for machine in (first, second):
        machine.wait_for(20)
    of_second = {one.number for one in workers(machines.database) if one.address.endswith(f":{second.process.pid}")}
    second.freeze()
    frozen = time.time()
    last = len(second.requests())
    wait_until(lambda: set(machines.numbers("ended")) >= of_second)
    assert time.time() - frozen >= LEASE - 1.0  # not before its lease ran out
    first.wait_for(20)
    late = [one.host for one in second.requests()[last:]]
    assert len(set(late)) == len(late)  # one of each host may have been on its way
    before = len(second.requests())
    second.thaw()
    second.wait_for(5)
    again = [one for one in workers(machines.database) if one.address.endswith(f":{second.process.pid}")][-1]
    assert again.number not in of_second  # it takes part as a new worker …
    assert second.requests()[before].time >= again.started  # … and asked nobody before it was one
    growing.end()
    for machine in (first, second):
        machine.join()
    prove(machines, growing)


def test_machines_leave_and_commands_reach_all_of_them(machines: Machines, growing: Growing) -> None:
    machines.margin = 60.0  # nobody loses its lease here, however slow the machine is
    first, second = machines.start("one"), machines.start("two")
    for machine in (first, second):
        machine.wait_for(10)
    send_command(machines.database, "pause")
    wait_until(lambda: [one.state for one in workers(machines.database)] == ["paused", "paused"])
    send_command(machines.database, "resume")
    for machine in (first, second):
        machine.wait_for(5)
    number = next(one.number for one in workers(machines.database) if one.address.endswith(f":{first.process.pid}"))
    send_command(machines.database, f"restart {number}")  # of a worker that runs in the first machine's own process
    wait_until(lambda: number in machines.numbers("ended"))
    first.wait_for(5)
    first.leave()
    second.wait_for(20)
    assert status(machines.database).state == "running"
    send_command(machines.database, "stop")
    second.join()
    assert status(machines.database).state == "stopped"
    growing.end()
    machines.start("three").join()
    prove(machines, growing)
    assert max(growing.asked.values()) == 1


def test_a_crawl_that_is_done_stays_done_when_one_of_its_machines_leaves_late(
    tmp_path: Path, mock_web: MockWeb, shared: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By then the one that closed it has let go of its lease, and the order to all was to leave."""
    end = Session._end
    late = []

    def when_it_is_closed(session: Session) -> CrawlStatus:
        if not session._conductor.conducts:
            wait_until(lambda: not is_running(session._database))
            late.append(session)
        return end(session)

    monkeypatch.setattr(Session, "_end", when_it_is_closed)
    seeds = [mock_web.site(host, 60)[0] for host in ("a.test", "b.test")]
    with ThreadPoolExecutor(2) as threads:
        settings = settings_for(mock_web.resolve, commit_seconds=0.05)
        crawls = [Crawler(tmp_path, shared, settings) for _ in range(2)]
        first = threads.submit(crawls[0].run, seeds)
        wait_until(lambda: bool(workers(shared)))
        second = threads.submit(crawls[1].run, join=True)
        assert {first.result().state, second.result().state} == {"done"}
    assert (len(late), status(shared).state, is_unfinished(shared)) == (1, "done", False)
