"""Where searches run: quick ones at once, slow ones in threads."""

from __future__ import annotations

import asyncio
import threading

import pytest

from periplus.errors import Overloaded
from periplus.web.serving.pool import BURST, FLOOD, LEAST_QUEUE, LONGEST, QUICK, Expired, Pool, Turns


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


def test_between_two_quick_calls_the_loop_does_all_else():
    clock = Clock()
    pool = Pool(1, clock)
    asked(pool, clock, QUICK / 10, 60)  # known to be quick now
    order = []

    def search(name):
        order.append(name)

    async def others():
        while 4 not in order:
            order.append("other")
            await asyncio.sleep(0)

    async def all_of_them():
        searches = [pool.run(search, number, kind="search") for number in range(5)]
        await asyncio.gather(*searches, others())

    asyncio.run(all_of_them())
    assert [item for item in order if item != "other"] == [0, 1, 2, 3, 4]  # in the order of asking
    assert all("other" in order[order.index(number) : order.index(number + 1)] for number in range(4))


def test_a_visitor_who_leaves_takes_no_turn_along():
    clock = Clock()
    pool = Pool(1, clock)
    asked(pool, clock, QUICK / 10, 60)
    taken = []

    async def all_of_them():
        tasks = [asyncio.create_task(pool.run(taken.append, number, kind="search")) for number in range(6)]
        await asyncio.sleep(0)
        tasks[1].cancel()  # while it waits
        tasks[3].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(pool.run(taken.append, 6, kind="search"), 10)
        assert pool.asked == 0

    asyncio.run(all_of_them())
    assert taken == [0, 2, 4, 5, 6]


def test_nobody_computes_in_a_thread_for_a_visitor_who_left():
    clock, released, computed = Clock(), threading.Event(), []
    pool = Pool(1, clock)

    async def leave():
        held = asyncio.create_task(pool.run(released.wait))
        await asyncio.sleep(0)
        left = asyncio.create_task(pool.run(computed.append, 1))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        released.set()
        await held
        await pool.run(computed.append, 2)
        assert pool.asked == 0

    asyncio.run(leave())
    assert computed == [2]


def test_turns_of_a_loop_that_ended_are_forgotten():
    turns, taken = Turns(), []
    loop = asyncio.new_event_loop()

    def leave():
        turns.ask(lambda: taken.append(1))
        loop.stop()  # before the turn is passed on

    loop.call_soon(leave)
    loop.run_forever()
    loop.close()

    async def come():
        turns.ask(lambda: taken.append(2))

    asyncio.run(come())
    assert taken == [1, 2]


def test_who_would_wait_for_too_long_is_refused_at_once():
    clock, released = Clock(), threading.Event()
    pool = Pool(1, clock)
    asked(pool, clock, LONGEST, 40)  # each takes a tenth of a second

    async def crowd():
        held = [asyncio.ensure_future(pool.run(released.wait, kind="held", within=0.3)) for _ in range(20)]
        await asyncio.sleep(0)
        refused = [one for one in held if one.done() and isinstance(one.exception(), Overloaded)]
        released.set()
        found = await asyncio.gather(*held, return_exceptions=True)
        return len(refused), sum(one is True for one in found), pool.asked

    refused, answered, left = asyncio.run(crowd())
    assert refused + answered == 20
    assert 1 + LEAST_QUEUE <= answered <= 2 + LEAST_QUEUE
    assert (pool.refused, left) == (refused, 0)


def test_what_was_not_begun_in_time_is_dropped():
    clock, began, released = Clock(), threading.Event(), threading.Event()
    pool = Pool(1, clock)

    def hold():
        began.set()
        released.wait()

    async def late():
        first = asyncio.ensure_future(pool.run(hold))
        second = asyncio.ensure_future(pool.run(began.is_set, within=0.5))
        await asyncio.get_running_loop().run_in_executor(None, began.wait)
        clock.now += 1.0
        released.set()
        await first
        with pytest.raises(Expired):
            await second

    asyncio.run(late())


def test_calls_that_wait_for_others_run_in_many_threads_however_quick():
    clock = Clock()
    pool = Pool(4, clock, waits=True)
    assert threading.get_ident() not in asked(pool, clock, QUICK / 100, 60)


def accepted(pool, clock, *crowds):
    """How many of each crowd are not refused at once; a crowd is its size and the seconds that passed before it came.

    Nothing is answered before all have come.
    """
    released = threading.Event()

    async def come():
        held, counts = [], []
        for size, pause in crowds:
            clock.now += pause
            crowd = [asyncio.ensure_future(pool.run(released.wait, kind="held", within=5.0)) for _ in range(size)]
            await asyncio.sleep(0)
            counts.append(sum(not one.done() for one in crowd))
            held += crowd
        released.set()
        await asyncio.gather(*held, return_exceptions=True)
        return counts

    return asyncio.run(come())


def accepted_by_eight(*crowds):
    """The same of eight places, where a search takes a tenth of a second."""
    clock = Clock()
    pool = Pool(8, clock, waits=True)
    asked(pool, clock, LONGEST, 60)
    return accepted(pool, clock, *crowds)


def test_a_burst_over_shards_may_wait_and_a_flood_may_not():
    burst = 3 * 8 + 1  # those that are answered, and those that wait for two searches' time
    flood = 8 + 8 // 2 + 1  # for half a search's time
    assert accepted_by_eight((40, 0.0)) == [burst]
    assert accepted_by_eight((9, 0.0), (40, BURST / 2)) == [9, burst - 9]
    assert accepted_by_eight((9, 0.0), (40, 2 * BURST)) == [9, flood - 9]
    assert accepted_by_eight((7, 0.0), (40, 2 * BURST)) == [7, burst - 7]  # a place was free all the time


@pytest.mark.parametrize(("pause", "is_flood"), [(FLOOD / 2, True), (2 * FLOOD, False)])
def test_a_flood_lasts_until_nobody_was_refused_for_a_second(pause, is_flood):
    """Though all that waited is answered, and the queue was empty for a while."""
    clock = Clock()
    pool = Pool(8, clock, waits=True)
    asked(pool, clock, LONGEST, 60)
    assert accepted(pool, clock, (40, 0.0)) == [25]
    assert (accepted(pool, clock, (40, pause)) == [40]) is not is_flood


def test_fewer_run_at_once_where_those_who_compute_share_the_cores():
    apart, here = (Pool(waits=True, shares_cores=shares).places for shares in (False, True))
    assert 4 <= here <= apart // 2


def test_some_may_wait_in_a_flood_of_what_is_quick():
    clock = Clock()
    pool = Pool(2, clock, waits=True)
    asked(pool, clock, QUICK / 100, 60)
    assert accepted(pool, clock, (3, 0.0), (40, 2 * BURST)) == [3, 2 + LEAST_QUEUE - 3]
