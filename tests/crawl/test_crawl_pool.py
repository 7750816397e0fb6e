"""The limit of pages that workers share: always exact, never in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawl.pool_model import PoolModel
from crawl.pool_soak import soak
from periplus import addresses
from periplus.crawl.asking.status import begin
from periplus.crawl.frontier.page_pool import AHEAD, FAR, GENEROUS, LATELY, Allowance, Grant, PageAccount, count_pool
from periplus.crawl.frontier.partitions import partition_count
from periplus.crawl.frontier.roster import end, register
from periplus.storage import Database

if TYPE_CHECKING:
    from pathlib import Path

    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb

SEEDS_AT_ONCE = 10


@pytest.mark.parametrize("first", [0, 10, 20])
def test_every_played_crawl_ends_at_its_limit_or_with_nothing_left(tmp_path: Path, first: int) -> None:
    deaths = 0
    for seed in range(first, first + SEEDS_AT_ONCE):
        with Database.open(tmp_path / f"{seed}.db") as database:
            model = PoolModel(database, seed)
            model.run()
            model.check_end()
            deaths += model.deaths
    assert deaths  # the seeds have some


def test_the_same_on_any_database(database: Database) -> None:
    model = PoolModel(database, 4)
    model.run()
    model.check_end()


def test_places_are_never_more_than_the_limit(database: Database) -> None:
    crawl, _ = begin(database)
    team = [PageAccount(10, crawl, register(database, 60.0)[0]) for _ in range(3)]
    with database.write() as tx:
        assert count_pool(tx, crawl, 10) == 10
        held = [account.settle(tx, 0, 8, 3).held for account in team]
        assert held == [4, 2, 2]  # a third of what is there, rounded up
        assert not team[0].settle(tx, held[0], 0, 3).full
        assert not team[1].settle(tx, held[1], 0, 3).full
        last = team[2].settle(tx, held[2], 10, 1)
        assert last == Grant(10 - sum(held), full=False)
        assert team[2].settle(tx, last.held, 0, 1) == Grant(0, full=True)


def test_the_pool_is_asked_only_when_it_must_be(database: Database) -> None:
    crawl, _ = begin(database)
    account = PageAccount(1_000, crawl, register(database, 60.0)[0])

    def settle(gained: int, wish: int) -> tuple[int, int]:
        with database.write() as tx:
            held = account.settle(tx, gained, wish, 1).held
            return held, int(tx.value("SELECT places FROM crawls"))

    with database.write() as tx:
        count_pool(tx, crawl, 1_000)
    assert settle(0, 10) == (20, 980)
    assert settle(8, 10) == (12, 980)  # enough is left
    assert settle(4, 10) == (20, 968)
    assert settle(0, 20 // FAR) == (20, 968)  # more than it wishes for, but not by far
    assert settle(0, 1) == (1, 987)
    assert settle(1, 0) == (0, 987)


def test_who_used_no_place_lately_gives_them_back(database: Database) -> None:
    """An idle worker holds nothing that others wait for."""
    allowance = Allowance(64, limited=True)
    assert not allowance.take()
    wish = allowance.wish(LATELY)
    assert wish == AHEAD * 64
    allowance.settle(Grant(wish))
    assert allowance.take()
    assert allowance.wish(1.5 * LATELY) == AHEAD + 1  # one used, one under way
    allowance.settle(Grant(AHEAD + 1))
    allowance.end()
    allowance.spend(1)
    wishes = [allowance.wish(now * LATELY) for now in (2, 3, 4)]
    assert wishes[-1] == 0
    assert not allowance.take()


def test_what_is_given_back_cannot_be_used_while_the_commit_runs() -> None:
    allowance = Allowance(2, limited=True)
    allowance.settle(Grant(10))
    assert allowance.free == 10
    assert allowance.wish(0.0) == 0
    assert not allowance.take()


def test_pages_of_a_running_commit_count_until_it_is_done() -> None:
    allowance = Allowance(1, limited=True)
    allowance.settle(Grant(2))
    for _ in range(2):
        assert allowance.take()
        allowance.end()
        allowance.spend(1)
    allowance.wish(0.0)
    assert allowance.free == 0
    allowance.settle(Grant(3))
    assert allowance.free == 3


def test_without_a_limit_there_is_always_a_place() -> None:
    allowance = Allowance(1, limited=False)
    assert all(allowance.take() for _ in range(1_000))
    assert not allowance.hungry


def test_the_places_of_a_dead_worker_are_counted_again(database: Database) -> None:
    crawl, _ = begin(database)
    dead, alive = (register(database, 60.0)[0] for _ in range(2))
    with database.write() as tx:
        count_pool(tx, crawl, 50)
        assert PageAccount(50, crawl, dead).settle(tx, 0, 50, 1).held == 50
        assert PageAccount(50, crawl, alive).settle(tx, 0, 9, 2) == Grant(0, full=False)
        end(tx, dead)
        assert count_pool(tx, crawl, 50) == 50
        assert PageAccount(50, crawl, alive).settle(tx, 0, 9, 2).held == GENEROUS * 9


# Whole crawls


def hosts_of(parts: range, count: int, partitions: int) -> list[str]:
    names = (f"x{number}.test" for number in range(10_000))
    there = (name for name in names if addresses.host_key(name) % partitions in parts)
    return [next(there) for _ in range(count)]


def test_places_of_a_worker_that_ran_out_of_hosts_go_to_the_other(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    """The first of two workers keeps the lower half of the partitions, in which there is little here."""
    voyage = voyage_anywhere
    count = partition_count(voyage.database)
    few, many = hosts_of(range(count // 2), 1, count), hosts_of(range(count // 2, count), 4, count)
    for host, pages in [*((host, 10) for host in few), *((host, 60) for host in many)]:
        mock_web.site(host, pages)
    seeds = [f"http://{host}/" for host in (*few, *many)]
    done = voyage.run(mock_web, *seeds, workers=2, max_pages=150, concurrency=16, seconds=60)
    assert done.pages == len(voyage.fetched()) == 150
    assert done.seconds < 60  # not ended by the clock


def test_killed_crawls_of_many_workers_end_at_their_limit(tmp_path: Path) -> None:
    figures = soak(tmp_path, crawls=1, seed=28)
    assert figures.kills
    assert figures.full
