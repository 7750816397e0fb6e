"""The time of a crawl is the database's; the names of processes tell which of them are dead."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from periplus.crawl.clock import MOST_TIMID, CrawlClock
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
    with database.read() as tx:
        clock.look(tx)
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
    with database.read() as tx:
        clock.look(tx)
    assert clock() > time.time() + 3_600.0


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
