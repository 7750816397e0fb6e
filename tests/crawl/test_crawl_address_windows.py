"""The gap of an IP address over workers: windows are reserved one behind the other, and the gap holds between them."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

from periplus.crawl.frontier import address_slots
from periplus.crawl.frontier.address_slots import slot_of
from periplus.crawl.frontier.address_windows import MOST_AHEAD, WINDOW, AddressWindows, give_back, reserve

if TYPE_CHECKING:
    import pytest

    from periplus.storage import Database

IP = "192.0.2.1"
GAP = 0.25


def commit(database: Database, slots: AddressWindows, now: float) -> None:
    with database.write() as tx:
        windows = reserve(tx, slots.wishes(), now)
    slots.grant(windows)


def test_an_address_is_asked_when_its_window_is_ours(database: Database) -> None:
    slots = AddressWindows(GAP)
    assert slots.ask(IP, 1, 100.0) > 100.0
    assert slots.hungry
    commit(database, slots, 100.1)
    assert not slots.hungry
    assert slots.ask(IP, 1, 100.2) == 100.2
    assert slots.ask(IP, 2, 100.3) == 100.2 + GAP
    assert slots.ask("192.0.2.9", 3, 100.3) > 100.3  # another address, another slot


def test_a_window_that_is_used_goes_on_without_a_pause(database: Database) -> None:
    slots = AddressWindows(GAP)
    now, sent = 100.0, []
    while now < 130.0:
        if slots.ask(IP, 1, now) == now:
            sent.append(now)
        commit(database, slots, now)
        now += 0.5
    gaps = [later - earlier for earlier, later in pairwise(sent)]
    assert max(gaps) <= 0.5


def test_workers_take_turns_and_the_gap_holds_between_them(database: Database) -> None:
    """Four workers with hosts at three addresses, commits at random moments: by the order of what was sent."""
    chance = random.Random(5)
    team = [AddressWindows(GAP) for _ in range(4)]
    sent: dict[str, list[tuple[float, int]]] = {}
    now = 100.0
    while now < 400.0:
        now += chance.random() * 0.1
        number = chance.randrange(4)
        ip, host = f"192.0.2.{chance.randrange(3)}", chance.randrange(8) * 4 + number
        if team[number].ask(ip, host, now) == now:
            sent.setdefault(ip, []).append((now, number))
        if chance.random() < 0.2:
            commit(database, team[number], now)
    for requests in sent.values():
        assert min(later[0] - earlier[0] for earlier, later in pairwise(requests)) >= GAP
        assert {number for _, number in requests} == {0, 1, 2, 3}
        assert len(requests) > 300.0 / GAP / 8  # nobody is kept away for long


def test_what_is_given_back_is_free_for_the_next(database: Database) -> None:
    first, second = AddressWindows(GAP), AddressWindows(GAP)
    for slots in (first, second):
        slots.ask(IP, 1, 100.0)
    commit(database, first, 100.0)
    with database.write() as tx:
        give_back(tx, first.ends(), 101.0)
    commit(database, second, 101.0)
    assert second.ask(IP, 1, 101.0) == 101.0


def test_a_queue_of_windows_is_bounded_and_a_clock_set_back_is_noticed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot = slot_of(IP)
    given = []
    for _ in range(100):
        with database.write() as tx:
            given += reserve(tx, [slot], 100.0)
    assert max(end for _, end in given) < 100.0 + MOST_AHEAD + 2 * WINDOW
    assert len(given) == len({end for _, end in given}) < 100
    with database.write() as tx:
        assert reserve(tx, [slot], 100.0 - 3_600.0) == [(slot, 100.0 - 3_600.0 + WINDOW)]
    monkeypatch.setattr(address_slots, "SLOTS", 1)
    assert slot_of("192.0.2.77") == slot_of(IP)  # strangers in one slot wait for each other
