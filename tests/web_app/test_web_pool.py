"""Where searches run: quick ones at once, slow ones in threads."""

from __future__ import annotations

import asyncio
import threading

import pytest

from periplus.web.pool import LONGEST, QUICK, Pool


class Clock:
    """Time that passes only when a call says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def asked(pool, clock, seconds, times=1, kind=""):
    """The threads that ``times`` calls of that length ran in."""

    def search():
        clock.now += seconds
        return threading.get_ident()

    async def all_of_them():
        return [await pool.run(search, kind=kind) for _ in range(times)]

    return asyncio.run(all_of_them())


def test_quick_calls_run_at_once_when_they_are_known_to_be_quick():
    clock = Clock()
    pool = Pool(1, clock)
    own = threading.get_ident()
    found = asked(pool, clock, QUICK / 4, 60)
    assert found[0] != own
    assert found[-1] == own
    assert pool.is_quick("search")


def test_slow_calls_run_in_threads():
    clock = Clock()
    pool = Pool(1, clock)
    assert threading.get_ident() not in asked(pool, clock, 2 * QUICK, 80)


def test_what_turns_slow_leaves_for_the_threads_and_comes_back():
    clock = Clock()
    pool = Pool(1, clock)
    asked(pool, clock, QUICK / 4, 60)
    asked(pool, clock, 100 * LONGEST)
    assert not pool.is_quick("search")
    asked(pool, clock, QUICK / 4, 20)
    assert pool.is_quick("search")


def test_kinds_are_known_apart():
    clock = Clock()
    pool = Pool(1, clock)
    asked(pool, clock, QUICK / 4, 60, "plain")
    assert pool.is_quick("plain")
    assert not pool.is_quick("with counts")


def test_errors_reach_the_caller_from_both():
    clock = Clock()
    pool = Pool(1, clock)

    def fail():
        raise ValueError("no")

    for _ in range(60):
        with pytest.raises(ValueError, match="no"):
            asyncio.run(pool.run(fail))
    assert pool.is_quick("fail")
