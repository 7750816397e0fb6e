"""Gaps, back-off, Retry-After, and the queue of an IP address."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.crawl.frontier.address_slots import AddressSlots
from periplus.crawl.rules import schedule
from periplus.crawl.rules.politeness import (
    BACK_OFF_CAP,
    RETRY_AFTER_CAP,
    back_off,
    delay_in_force,
    gap_after,
    retry_after,
    wait_after,
)
from periplus.settings import CrawlSettings

NOW = 1_800_000_000.0
DAY = 86_400.0


def test_the_delay_in_force_is_the_larger_one_within_the_cap() -> None:
    settings = CrawlSettings(delay=1.0, max_delay=30.0)
    assert delay_in_force(settings, None) == 1.0
    assert delay_in_force(settings, 0.2) == 1.0
    assert delay_in_force(settings, 10) == 10.0
    assert delay_in_force(settings, 9_000) == 30.0


def test_a_slow_host_rests_longer() -> None:
    assert gap_after(1.0, 0.1) == 1.0
    assert gap_after(1.0, 4.0) == 4.0
    assert gap_after(1.0, 400.0) == 10.0


def test_back_off_doubles_to_a_cap() -> None:
    assert [back_off(count, 1.0) for count in (0, 1, 2, 3)] == [0.0, 5.0, 10.0, 20.0]
    assert back_off(1_000, 1.0) == BACK_OFF_CAP


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 1.5 ", 1.5),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("-5", 0.0),
        ("99999999", RETRY_AFTER_CAP),
        ("", None),
        ("tomorrow", None),
        ("nan", None),
        ("²", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@given(st.text(max_size=40))
def test_any_retry_after_can_be_read(value: str) -> None:
    found = retry_after(value, NOW)
    assert found is None or 0 <= found <= RETRY_AFTER_CAP


def test_failures_wait_longer_and_a_success_forgives() -> None:
    common = {"ended": NOW, "elapsed": 0.1, "delay": 1.0, "asked": None}
    first = wait_after(failures=0, outcome="timeout", **common)
    second = wait_after(failures=first.failures, outcome="connection-refused", **common)
    assert (first.not_before - NOW, second.not_before - NOW) == (5.0, 10.0)
    assert wait_after(failures=second.failures, outcome="", **common).failures == 0
    assert wait_after(failures=0, outcome="http-4xx", **common).not_before == NOW + 1.0
    asked = wait_after(failures=0, outcome="asked-to-wait", **(common | {"asked": 77.0}))
    assert asked.not_before == NOW + 77.0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.floats(0, 0.4)), max_size=60))
def test_an_ip_address_is_never_asked_too_soon(events: list[tuple[int, int, float]]) -> None:
    slots = AddressSlots(0.25)
    now, last = NOW, {}
    for host, ip, pause in events:
        now += pause
        at = slots.ask(str(ip), host, now)
        assert at >= now
        if at == now:
            assert now - last.get(ip, 0.0) >= 0.25 - 1e-6
            last[ip] = now


def test_hosts_of_one_ip_address_take_turns() -> None:
    slots = AddressSlots(0.25)
    assert slots.ask("ip", 1, NOW) == NOW
    waits = [slots.ask("ip", host, NOW) - NOW for host in (2, 3, 4)]
    assert waits == pytest.approx([0.25, 0.5, 0.75], abs=1e-6)
    assert slots.ask("ip", 3, NOW + 0.5) == NOW + 0.5  # its own turn, although 2 did not come


def test_the_slots_forget() -> None:
    slots = AddressSlots(0.25)
    for number in range(3 * AddressSlots.CLEAN_AT):
        slots.ask(str(number), number, NOW + number)
    assert len(slots._last) <= AddressSlots.CLEAN_AT


def test_recrawl_intervals_follow_change() -> None:
    day = 86_400.0

    def interval(visits: int, changes: int, span: float, last: float) -> float:
        return schedule.polled_interval(visits=visits, changes=changes, span=span, last=last, first=day)

    assert interval(1, 0, 0, 0) == day
    assert interval(2, 0, day, day) == 2 * day  # one step at most doubles
    assert interval(11, 10, 10 * day, day) < day / 2
    assert interval(11, 0, 100 * day, 30 * day) == 60 * day
    assert interval(50, 49, 50 * schedule.LEAST, schedule.LEAST) >= schedule.LEAST


def learnt(mean: float, looks: int = 400) -> float:
    """The interval at which looks at a page settle that changes regularly, every ``mean`` seconds."""
    interval, at, changes = DAY, 0.0, 0
    for visits in range(2, looks):
        changes += int((at + interval) / mean) > int(at / mean)
        at += interval
        interval = schedule.worthwhile_interval(visits=visits, changes=changes, span=at, last=interval, first=DAY)
    return interval


def test_pages_are_visited_by_what_a_visit_is_worth() -> None:
    weekly, four_weekly = learnt(7 * DAY), learnt(28 * DAY)
    assert weekly < 3 * DAY
    assert four_weekly / weekly == pytest.approx(2, rel=0.2)  # a quarter of the changes, half of the visits
    assert learnt(600) == pytest.approx(DAY, rel=0.05)  # it cannot be followed
    assert learnt(DAY / 2) < DAY
    assert learnt(1e12) > 20 * DAY


def test_a_page_without_a_change_yet_is_looked_at_less_and_less_but_not_forgotten() -> None:
    def interval(span: float) -> float:
        return schedule.worthwhile_interval(visits=5, changes=0, span=span, last=span, first=DAY)

    assert interval(DAY) < interval(8 * DAY) < interval(64 * DAY) < 64 * DAY
    assert interval(1e12) == schedule.MOST


@given(st.floats(1e-9, 1e-2), st.floats(schedule.LEAST, 1e7))
def test_the_worth_of_a_look_is_its_price(rate: float, first: float) -> None:
    found = schedule._worthwhile(rate, first)
    x = rate * found
    worth = schedule.PRICE * first * rate  # what remains to be gained, found by another way than bisection
    if found < first or worth < 0.9:
        assert 1 - (1 + x) * math.exp(-x) == pytest.approx(worth, rel=1e-3, abs=1e-9)


@given(st.integers(1, 200), st.integers(0, 300), st.floats(0, 1e9), st.floats(0, 1e9), st.floats(600, 1e8))
def test_recrawl_intervals_are_bounded(visits: int, changes: int, span: float, last: float, first: float) -> None:
    found = schedule.polled_interval(visits=visits, changes=changes, span=span, last=last, first=first)
    assert schedule.LEAST <= found <= schedule.MOST
    other = schedule.worthwhile_interval(visits=visits, changes=changes, span=span, last=last, first=first)
    assert schedule.LEAST <= other <= schedule.MOST
