"""What is built once, in the background, and stands in for what follows it."""

import threading

from periplus.search.opening.lazy import PAUSE, Lazy


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def building(clock, value, seconds):
    """A build that takes so many seconds of the clock."""

    def build():
        clock.now += seconds
        return value

    return Lazy(build, clock)


def at_once(build):
    build()


def soon(lazy):
    lazy.soon(at_once)
    lazy.join()
    return lazy.latest


def test_the_first_is_built_without_delay():
    lazy = building(Clock(), "words", 2.0)
    assert lazy.latest is None
    assert soon(lazy) == "words"
    assert lazy.is_built


def test_what_follows_waits_for_a_while():
    clock = Clock()
    first, second = building(clock, "old", 2.0), building(clock, "new", 2.0)
    first.now()
    second.follow(first)
    clock.now += PAUSE * 2.0 - 0.1
    assert soon(second) == "old"
    assert not second.is_built
    clock.now += 0.1
    assert soon(second) == "new"


def test_the_pause_passes_on_to_what_follows_later():
    clock = Clock()
    first, second, third = (building(clock, name, 2.0) for name in ("old", "new", "newest"))
    first.now()
    second.follow(first)
    third.follow(second)
    assert soon(third) == "old"
    clock.now += PAUSE * 2.0
    assert soon(third) == "newest"


def test_what_is_done_late_stands_in_for_those_that_follow():
    clock, gate = Clock(), threading.Event()
    first = Lazy(lambda: gate.wait(60) and "old", clock)
    second, third = building(clock, "new", 2.0), building(clock, "newest", 2.0)
    first.soon(at_once)
    second.follow(first)
    third.follow(second)
    assert third.latest is None
    gate.set()
    first.join()
    assert second.latest == "old"
    assert third.latest == "old"


def test_with_nothing_to_stand_in_it_is_built_at_once():
    clock = Clock()
    second = building(clock, "new", 2.0)
    second.follow(building(clock, "old", 2.0))
    assert soon(second) == "new"
