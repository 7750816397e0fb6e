"""The frontier on SQLite and PostgreSQL: what is taken, in which order, and what a commit leaves behind."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from periplus import addresses
from periplus.crawl import audit
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.journal import FORGOTTEN_AT_ONCE, KEPT
from periplus.crawl.frontier.rows import (
    FAILED,
    FETCHED,
    NEVER,
    QUEUED,
    ActiveRow,
    Bundle,
    FoundAddress,
    HostChange,
    JournalRow,
    Rest,
    RobotsRow,
    UrlRow,
    Visited,
)
from periplus.errors import LeaseLost
from periplus.records import Document
from periplus.storage import Database

if TYPE_CHECKING:
    from periplus.storage import Transaction

NOW = 1_800_000_000.0
DELAY = 1.0


def level(name: str) -> int:
    return int(name[0]) if name[0].isdigit() else 0


@pytest.fixture
def frontier(database: Database) -> Frontier:
    return Frontier(database, level, host_queue=100, host_budget=1_000)


def found(url: str, priority: int = 0, **more: object) -> FoundAddress:
    return FoundAddress(addresses.key(url), url, addresses.host(url), priority=priority, **more)


def add(frontier: Frontier, *items: FoundAddress) -> int:
    return frontier.commit(Bundle(found=list(items)), NOW).queued


def take(frontier: Frontier, count: int = 10, now: float = NOW) -> list[ActiveRow]:
    return frontier.activate(now, count, DELAY)


def fetched(row: UrlRow, body: int = 0, document: bool = True) -> Visited:
    new = UrlRow(*(getattr(row, name) for name in UrlRow.__struct_fields__))
    new.state, new.next_at, new.tried_at, new.fetched_at, new.body_hash, new.pending = (
        FETCHED,
        NOW + 9,
        NOW,
        NOW,
        body,
        1,
    )
    made = Document(url=row.url, key=row.key, fetched=NOW) if document else None
    return Visited(new, row.state, document=made, fresh_body=bool(body))


def test_addresses_are_kept_once(frontier: Frontier) -> None:
    assert add(frontier, found("http://a.test/1"), found("http://a.test/2"), found("http://a.test/1")) == 2
    assert add(frontier, found("http://a.test/1"), found("http://a.test/3")) == 1
    (active,) = take(frontier)
    assert {row.url for row in active.urls} == {f"http://a.test/{n}" for n in (1, 2, 3)}
    assert frontier.find("http://a.test/1") is not None
    assert frontier.find("http://a.test/4") is None


def test_priority_orders_a_host_and_levels_order_hosts(frontier: Frontier) -> None:
    add(frontier, *(found(f"http://2.test/{n}", priority=9 - n) for n in range(5)))
    add(frontier, found("http://0.test/"), found("http://1.test/"))
    hosts = take(frontier)
    assert [active.host.name for active in hosts] == ["0.test", "1.test", "2.test"]
    assert [row.url[-1] for row in hosts[2].urls] == ["4", "3", "2", "1", "0"]


def test_higher_levels_leave_room_for_lower_ones(frontier: Frontier) -> None:
    for number in range(30):
        add(frontier, found(f"http://0x{number}.test/"), found(f"http://2x{number}.test/"))
    names = [active.host.name for active in take(frontier, 12)]
    assert len(names) == 12
    assert 2 <= sum(name.startswith("2") for name in names) <= 4


def test_an_active_host_is_not_given_twice_and_comes_back(frontier: Frontier) -> None:
    add(frontier, found("http://a.test/1"))
    (active,) = take(frontier)
    assert take(frontier) == []
    key = active.host.key
    change = HostChange(NOW + 5, NOW, 5.0, 0, "", "127.0.0.1", 1)
    frontier.commit(Bundle(hosts={key: change}, resting={key: Rest.MORE}), NOW)
    assert take(frontier, now=NOW + 4) == []
    assert frontier.next_due() == NOW + 5
    (again,) = take(frontier, now=NOW + 5)
    assert (again.host.delay, again.host.last_at) == (5.0, NOW)


def test_activation_is_written_before_it_is_given(frontier: Frontier, database: Database) -> None:
    add(frontier, found("http://a.test/1"))
    take(frontier)
    with database.read() as tx:
        assert tx.row("SELECT active, activated_at, delay FROM hosts") == (1, NOW, DELAY)


def test_more_leaves_out_what_is_under_way(frontier: Frontier) -> None:
    add(frontier, *(found(f"http://a.test/{n}") for n in range(40)))
    (active,) = take(frontier)
    assert len(active.urls) == 32
    rest = frontier.more(active.host, NOW, {row.key for row in active.urls})
    assert len(rest) == 8
    assert not {row.key for row in rest} & {row.key for row in active.urls}


def test_a_retry_waits_for_its_time(frontier: Frontier) -> None:
    add(frontier, found("http://a.test/1"))
    (active,) = take(frontier)
    (row,) = active.urls
    later = UrlRow(*(getattr(row, name) for name in UrlRow.__struct_fields__))
    later.next_at, later.attempts, later.reason = NOW + 60, 1, "http-5xx"
    frontier.commit(Bundle(visited=[Visited(later, QUEUED)], resting={active.host.key: Rest.LATER}), NOW)
    assert take(frontier, now=NOW + 59) == []
    assert frontier.soonest(3) == NOW + 60
    (again,) = take(frontier, now=NOW + 60)
    assert (again.urls[0].attempts, again.urls[0].reason) == (1, "http-5xx")


def test_fetched_pages_come_again_when_they_are_due(frontier: Frontier, database: Database) -> None:
    add(frontier, found("http://a.test/1"))
    (active,) = take(frontier)
    frontier.commit(Bundle(visited=[fetched(active.urls[0])], resting={active.host.key: Rest.LATER}), NOW)
    with database.read() as tx:
        assert tx.row("SELECT queued, pages, next_at FROM hosts") == (0, 1, NOW + 9)
    assert frontier.soonest(3) == NEVER
    (again,) = take(frontier, now=NOW + 10)
    assert again.urls[0].state == FETCHED


def test_the_same_body_is_a_duplicate_within_and_across_commits(frontier: Frontier) -> None:
    add(frontier, *(found(f"http://a.test/{n}", priority=n) for n in range(3)))
    (active,) = take(frontier)
    first, second, third = active.urls
    third_visit = fetched(third, body=42)
    third_visit.found = [found("http://a.test/deeper")]
    result = frontier.commit(Bundle(visited=[fetched(first, body=42), fetched(second, body=42)]), NOW)
    assert [(document.url, document.refusal) for document, _ in result.documents] == [
        (first.url, ""),
        (second.url, "duplicate"),
    ]
    result = frontier.commit(Bundle(visited=[third_visit]), NOW)
    assert (result.duplicates, result.new, result.dropped) == (1, 0, [addresses.key("http://a.test/deeper")])
    row = frontier.find(third.url)
    assert row is not None
    assert (row.refusal, row.detail, row.same_as) == ("duplicate", first.url, first.key)


def test_a_full_queue_takes_no_more(database: Database) -> None:
    frontier = Frontier(database, level, host_queue=5, host_budget=1_000)
    assert add(frontier, *(found(f"http://a.test/{n}") for n in range(9)), found("http://b.test/")) == 6
    result = frontier.commit(Bundle(found=[found("http://a.test/x")]), NOW)
    assert result.dropped == [addresses.key("http://a.test/x")]


def test_the_budget_of_a_host_ends_its_queue(database: Database) -> None:
    frontier = Frontier(database, level, host_queue=100, host_budget=1)
    add(frontier, found("http://a.test/1"), found("http://a.test/2"))
    (active,) = take(frontier)
    frontier.commit(Bundle(visited=[fetched(active.urls[0])], resting={active.host.key: Rest.LATER}), NOW)
    assert frontier.soonest(3) == NEVER
    assert [row.state for again in take(frontier, now=NOW + 10) for row in again.urls] == [FETCHED]


def test_of_many_workers_one_is_first_with_a_body(database: Database) -> None:
    """However they interleave: one address owns the body, all others are its copies."""
    urls = [f"http://h{number}.test/" for number in range(24)]
    everywhere = Frontier(database, level, host_queue=100, host_budget=1_000)
    everywhere.commit(Bundle(found=[found(url) for url in urls]), NOW)
    rows = [row for url in urls if (row := everywhere.find(url)) is not None]

    def visit(number: int) -> int:
        own = Frontier(database, level, host_queue=100, host_budget=1_000, worker=number + 1)
        bodies = [fetched(row, body=7 + place % 3) for place, row in enumerate(rows) if place % 4 == number]
        return sum(own.commit(Bundle(visited=[one]), NOW).duplicates for one in bodies)

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(visit, range(4))) == len(urls) - 3
    with database.read() as tx:
        firsts = tx.rows("SELECT body_hash, key FROM urls WHERE same_as = 0 ORDER BY body_hash")
        assert len(firsts) == 3
        assert tx.rows("SELECT body_hash, key FROM bodies ORDER BY body_hash") == firsts


def test_a_body_that_its_first_address_lost_goes_to_the_next(frontier: Frontier) -> None:
    frontier.commit(Bundle(found=[found(f"http://a.test/{n}") for n in range(2)]), NOW)
    first, second = (row for n in range(2) if (row := frontier.find(f"http://a.test/{n}")) is not None)
    assert frontier.commit(Bundle(visited=[fetched(first, body=5)]), NOW).duplicates == 0
    assert frontier.commit(Bundle(visited=[fetched(first, body=6)]), NOW).duplicates == 0  # it changed
    assert frontier.commit(Bundle(visited=[fetched(second, body=5)]), NOW).duplicates == 0
    assert frontier.commit(Bundle(visited=[fetched(first, body=5)]), NOW).duplicates == 1  # it changed back


def test_bodies_that_no_address_has_any_more_are_forgotten(frontier: Frontier, database: Database) -> None:
    frontier.commit(Bundle(found=[found(f"http://a.test/{n}") for n in range(2)]), NOW)

    def visit(number: int, body: int, **more: int) -> int:
        row = frontier.find(f"http://a.test/{number}")
        assert row is not None
        visited = fetched(row, body=body)
        for name, value in more.items():
            setattr(visited.row, name, value)
        return frontier.commit(Bundle(visited=[visited]), NOW).duplicates

    def bodies() -> list[int]:
        with database.read() as tx:
            return [body for (body,) in tx.rows("SELECT body_hash FROM bodies ORDER BY body_hash")]

    for body in range(5, 20):
        assert visit(0, body) == 0
    assert bodies() == [19]
    assert visit(0, 19) == 0
    assert visit(1, 19) == 1  # a copy: the row is the other's
    assert visit(1, 30) == 0
    assert bodies() == [19, 30]
    visit(0, 19, state=FAILED)
    assert bodies() == [30]


def test_addresses_that_change_beside_each_other_never_own_a_body_twice(database: Database) -> None:
    """Four workers, whose addresses go from body to body: rows are forgotten while others take them."""
    urls = [f"http://h{number}.test/" for number in range(12)]
    everywhere = Frontier(database, level, host_queue=100, host_budget=1_000)
    everywhere.commit(Bundle(found=[found(url) for url in urls]), NOW)

    def change(number: int) -> None:
        own = Frontier(database, level, host_queue=100, host_budget=1_000, worker=number + 1)
        drawn = random.Random(number)
        for _ in range(12):
            rows = [row for url in urls[number::4] if (row := own.find(url)) is not None]
            own.commit(Bundle(visited=[fetched(row, body=drawn.randrange(1, 6)) for row in rows]), NOW)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(change, range(4)))
    with database.read() as tx:
        owners = tx.rows("SELECT body_hash, key FROM urls WHERE same_as = 0 ORDER BY body_hash")
        assert len({body for body, _ in owners}) == len(owners)
        assert set(owners) <= set(tx.rows("SELECT body_hash, key FROM bodies"))


def test_a_worker_that_may_not_write_leaves_no_trace(frontier: Frontier, database: Database) -> None:
    def refuse(_: Transaction) -> None:
        raise LeaseLost("no")

    with pytest.raises(LeaseLost):
        frontier.commit(Bundle(found=[found("http://a.test/")]), NOW, refuse)
    with database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM urls") == 0


def test_partitions_cover_all_hosts(frontier: Frontier) -> None:
    parts = {frontier.partition(addresses.host_key(f"h{number}.test")) for number in range(20_000)}
    assert parts == set(frontier.parts)


def row_at(at: float, **more: object) -> JournalRow:
    row = JournalRow(
        at=at, host="a.test", ip="127.0.0.1", exempt=1, url="http://a.test/x", rule="", gap=-1.0, delay=1.0,
        ip_delay=0.25, outcome="", status=200, bytes=1, ms=100.0, not_before=0.0,
    )  # fmt: skip
    return row._replace(**more)


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        ({"at": NOW + 1.1}, None),
        ({"at": NOW + 0.9}, "gap"),
        ({"at": NOW + 0.05}, "overlap"),
        ({"at": NOW + 9.0, "url": "http://a.test/closed"}, "robots"),
        ({"at": NOW + 9.0, "host": "b.test", "url": "http://b.test/", "exempt": 0, "ip": "9.9.9.9"}, None),
        ({"at": NOW + 5.0, "host": "w.test"}, None),
    ],
)
def test_the_audit_finds_broken_promises(
    frontier: Frontier, database: Database, second: dict[str, object], kind: str | None
) -> None:
    robots = RobotsRow("http://a.test", 1, NOW - 9, NOW + 9, 200, "", "User-agent: *\nDisallow: /closed")
    frontier.commit(Bundle(journal=[row_at(NOW), row_at(NOW)._replace(**second)], robots=[robots]), NOW)
    report = audit(database)
    assert report.requests == 2
    assert [violation.kind for violation in report.violations] == ([kind] if kind else [])
    assert audit(database, "other.test").requests == 0


def test_of_the_journal_only_the_newest_requests_are_kept(frontier: Frontier, database: Database) -> None:
    """Each commit that has requests forgets some of the oldest, until no more are left than are kept."""

    def commit(*rows: JournalRow) -> int:
        frontier.commit(Bundle(journal=list(rows)), NOW)
        with database.read() as tx:
            return int(tx.value("SELECT COUNT(*) FROM journal"))

    many = FORGOTTEN_AT_ONCE + 3
    assert commit(*(row_at(NOW + 2 * number) for number in range(many))) == many
    with database.write() as tx:  # as if millions had come between it and those before
        tx.execute("UPDATE journal SET id = ? WHERE id = ?", (KEPT + many, many))
    assert commit() == many
    assert commit(row_at(NOW + 9_000)) == many + 1 - FORGOTTEN_AT_ONCE
    assert commit(row_at(NOW + 9_002)) == 3
    assert audit(database).requests == 3


def test_the_audit_sees_waits_and_ip_addresses(frontier: Frontier, database: Database) -> None:
    rows = [
        row_at(NOW, not_before=NOW + 60),
        row_at(NOW + 30),
        row_at(NOW, host="b.test", url="http://b.test/", exempt=0, ip="9.9.9.9"),
        row_at(NOW + 0.1, host="c.test", url="http://c.test/", exempt=0, ip="9.9.9.9"),
    ]
    frontier.commit(Bundle(journal=rows), NOW)
    report = audit(database)
    assert sorted(violation.kind for violation in report.violations) == ["asked-to-wait", "ip-gap"]
    assert "a.test" in str(report.violations[0])
