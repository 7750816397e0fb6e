"""Inboxes: what a worker finds for hosts of others arrives there, once, whoever has the partition by then."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus import addresses
from periplus.crawl.frontier import inbox
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.inbox import Inboxes, InboxMessage
from periplus.crawl.frontier.partitions import partition_count
from periplus.crawl.frontier.rows import Bundle, Committed, FoundAddress
from periplus.storage import Database

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.storage import Transaction

NOW = 1_000.0


def found(url: str) -> FoundAddress:
    return FoundAddress(addresses.key(url), url, addresses.host(url))


def settled(_: Transaction, __: Committed) -> None:
    """What a commit of a worker with partitions says besides: nothing here."""


def half(database: Database, worker: int) -> Frontier:
    made = Frontier(database, lambda _: 2, host_queue=1_000, host_budget=1_000, worker=worker)
    made.parts = tuple(range(worker - 1, partition_count(database), 2))
    return made


def known(database: Database) -> set[str]:
    with database.read() as tx:
        return {url for (url,) in tx.rows("SELECT url FROM urls")}


def waiting(database: Database) -> int:
    with database.read() as tx:
        return int(tx.value("SELECT COUNT(*) FROM arrivals"))


def test_links_to_hosts_of_others_wait_for_their_worker(database: Database) -> None:
    one, two = half(database, 1), half(database, 2)
    urls = {f"http://h{number}.test/" for number in range(60)}
    mine = {url for url in urls if one.partition(addresses.host_key(addresses.host(url))) % 2 == 0}
    assert 0 < len(mine) < len(urls)
    linked = {addresses.host(url): {"from.test"} for url in urls}
    seed = min(urls - mine)
    bundle = Bundle(found=[found(url) for url in sorted(urls)], linked=linked, seeds=[seed])
    assert one.commit(bundle, NOW, after=settled).new == len(mine)
    assert known(database) == mine
    assert one.outlook(3).busy  # the crawl is not over while something waits there
    assert two.commit(Bundle(), NOW, after=settled).new == len(urls - mine)
    assert known(database) == urls
    assert waiting(database) == 0
    with database.read() as tx:
        assert tx.rows("SELECT url FROM seeds") == [(seed,)]
        assert tx.value("SELECT COUNT(*) FROM hosts WHERE linked = 1") == len(urls)
        assert tx.rows("SELECT name FROM hosts WHERE level = 0") == [(addresses.host(seed),)]
    assert len(two.activate(NOW, 100, 1.0)) == len(urls - mine)


def test_a_commit_that_fails_takes_and_sends_nothing(database: Database) -> None:
    one, two = half(database, 1), half(database, 2)
    url = next(
        url for n in range(99) if two.partition(addresses.host_key(f"h{n}.test")) % 2 for url in [f"http://h{n}.test/"]
    )

    class Refused(Exception):
        pass

    def refuse(_: Transaction, __: Committed) -> None:
        raise Refused

    for frontier, bundle in ((one, Bundle(found=[found(url)])), (two, Bundle())):
        with pytest.raises(Refused):
            frontier.commit(bundle, NOW, after=refuse)
        assert (waiting(database), known(database)) == (int(frontier is two), set())
        frontier.commit(bundle, NOW, after=settled)
    assert (waiting(database), known(database)) == (0, {url})


def test_inboxes_are_emptied_in_portions(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, bound in (("MOST_ADDRESSES", 20), ("MESSAGES_AT_ONCE", 2), ("MESSAGE_ADDRESSES", 7)):
        monkeypatch.setattr(inbox, name, bound)
    boxes = Inboxes(1)
    everything = [found(f"http://h.test/{number}") for number in range(100)]
    with database.write() as tx:
        assert boxes.sort_out(tx, InboxMessage(everything), ()) == InboxMessage()
    assert waiting(database) == 15
    taken: list[FoundAddress] = []
    portions = 0
    while waiting(database):
        with database.write() as tx:
            portion = boxes.take(tx, (0,)).found
        assert len(portion) < 20 + 2 * 7
        taken += portion
        portions += 1
    assert taken == everything
    assert portions > 2


def test_many_workers_lose_and_double_nothing(database: Database) -> None:
    """Four workers find addresses of each other's hosts and empty their inboxes at the same time."""
    count = partition_count(database)

    def work(number: int) -> None:
        own = Frontier(database, lambda _: 2, host_queue=1_000, host_budget=1_000, worker=number + 1)
        own.parts = tuple(range(number, count, 4))
        for turn in range(8):
            urls = [f"http://h{(number * 7 + turn * 3 + n) % 40}.test/{turn}" for n in range(20)]
            own.commit(Bundle(found=[found(url) for url in urls]), NOW, after=settled)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    everywhere = Frontier(database, lambda _: 2, host_queue=1_000, host_budget=1_000)
    everywhere.commit(Bundle(), NOW, after=settled)
    wanted = {
        f"http://h{(number * 7 + turn * 3 + n) % 40}.test/{turn}"
        for number in range(4) for turn in range(8) for n in range(20)
    }  # fmt: skip
    assert known(database) == wanted
    with database.read() as tx:
        assert tx.value("SELECT SUM(queued) FROM hosts") == len(wanted)


@settings(max_examples=20)
@given(parts=st.sets(st.integers(0, 15)), hosts=st.lists(st.integers(0, 50), max_size=30))
def test_everything_goes_to_exactly_one_partition(
    tmp_path_factory: pytest.TempPathFactory, parts: set[int], hosts: list[int]
) -> None:
    boxes = Inboxes(16)
    urls = [f"http://h{number}.test/{place}" for place, number in enumerate(hosts)]
    folder: Path = tmp_path_factory.mktemp("inbox")
    with Database.open(folder / "state.db") as database, database.write() as tx:
        mine = boxes.sort_out(tx, InboxMessage([found(url) for url in urls]), parts)
        theirs = boxes.take(tx, set(range(16)) - parts)
        assert not boxes.take(tx, range(16)).found
    assert sorted(one.url for one in (*mine.found, *theirs.found)) == sorted(urls)
    assert {addresses.host_key(one.host) % 16 for one in mine.found} <= parts
