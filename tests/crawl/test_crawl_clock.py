"""The time of a crawl is the database's; the names of processes tell which of them are dead."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from periplus.crawl.frontier.clock import MOST_TIMID, SET, CrawlClock, ahead_of, crawl_time
from periplus.crawl.frontier.rows import JournalRow
from periplus.storage import is_dead, process_name

if TYPE_CHECKING:
    from periplus.storage import Database


class Ticking:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_the_clock_is_set_by_the_database(database: Database) -> None:
    ticking = Ticking()
    clock = CrawlClock(ticking)
    ticking.now += 7_200.0  # as if this machine's own clock were two hours away from the server's
    assert clock() == pytest.approx(time.time() + 7_200.0, abs=60.0)
    clock.look(database)
    assert clock() == pytest.approx(time.time(), abs=60.0)
    before = clock()
    ticking.now += 3.0
    assert clock() == pytest.approx(before + 3.0)


def test_an_answer_that_took_long_does_not_set_it(database: Database) -> None:
    class Late(Ticking):
        def __call__(self) -> float:
            self.now += MOST_TIMID
            return self.now

    ticking = Late()
    clock = CrawlClock(ticking)
    ticking.now += 7_200.0
    clock.look(database)
    assert clock() > time.time() + 3_600.0


class SetClock:
    """The database's clock, as somebody sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000.0
        monkeypatch.setattr("periplus.crawl.frontier.clock.database_time", lambda _: self.now)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return SetClock(monkeypatch)


def test_a_crawl_goes_on_when_the_clock_is_set_back_and_comes_to_it_when_it_is_set_forward(
    database: Database, machine: SetClock
) -> None:
    ticking = Ticking()
    first, second = CrawlClock(ticking), CrawlClock(ticking)
    for clock in (first, second):
        clock.look(database)

    machine.now -= 3_600.0
    ticking.now += 10.0
    for clock in (first, second, first):
        clock.look(database)
    assert (first(), second()) == (pytest.approx(1_000_010.0, abs=11), pytest.approx(1_000_010.0, abs=11))
    with database.read() as tx:
        assert ahead_of(tx) == pytest.approx(3_610.0)  # once, whoever saw it first
        assert crawl_time(tx) == pytest.approx(1_000_010.0)

    machine.now += 3_600.0 + 20.0
    ticking.now += 10.0
    for clock in (first, second):
        clock.look(database)
    assert (first(), second()) == (pytest.approx(1_000_020.0), pytest.approx(1_000_020.0))
    with database.read() as tx:
        assert ahead_of(tx) == 0.0

    machine.now += 86_400.0  # forward from there: the crawl's time goes with it
    first.look(database)
    assert first() == pytest.approx(1_086_420.0)


def test_a_small_difference_of_clocks_is_followed(database: Database, machine: SetClock) -> None:
    clock = CrawlClock(Ticking())
    clock.look(database)
    machine.now -= SET / 2
    clock.look(database)
    assert clock() == pytest.approx(1_000_000.0 - SET / 2)


def test_a_crawl_begins_no_earlier_than_the_last_one_asked(database: Database, machine: SetClock) -> None:
    with database.write() as tx:
        names = ", ".join(JournalRow._fields)
        tx.execute(
            f"INSERT INTO journal ({names}) VALUES ({', '.join('?' * len(JournalRow._fields))})",
            JournalRow(machine.now, "a.test", "", 1, "http://a.test/", "", 0, 1, 0, "", 200, 1, 500.0, 0.0),
        )
    machine.now -= 3_600.0
    clock = CrawlClock.of(database)
    assert clock() == pytest.approx(1_000_000.5, abs=5.0)
    assert CrawlClock.of(database)() == pytest.approx(clock(), abs=5.0)


def test_a_process_is_dead_only_when_it_was_here_and_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        name = process_name(child.pid)
        assert not is_dead(name)
        child.kill()
        while not is_dead(name):  # before it was waited for it is a zombie, which sends nothing either
            time.sleep(0.01)
    assert is_dead(name)
    assert not is_dead(process_name())
    assert is_dead(process_name().rpartition("/")[0] + "/1")  # our number, but of a process that began earlier
    elsewhere = name.replace(name.partition("/")[0], "another-boot")
    assert not is_dead(elsewhere)
    assert not is_dead("")
    assert str(os.getpid()) in process_name()
