"""Addresses for other programs: in one go, and in parts that together are the same."""

from __future__ import annotations

from itertools import pairwise

from periplus.crawl.asking import export
from support.databases import database, postgres_address  # noqa: F401 (fixtures)

LARGEST = 2**63 - 1


def filled(database, hosts, pages):  # noqa: F811 (the fixture)
    rows = [
        ((-1) ** host * host * 10**17, (-1) ** page * page * 10**16, f"http://h{host}.test/{page}", page % 3, 1, 0)
        for host in range(hosts)
        for page in range(pages)
    ]
    with database.write() as tx:
        tx.executemany("INSERT INTO urls (host, key, url, state, depth, priority) VALUES (?, ?, ?, ?, ?, ?)", rows)
    return len(rows)


def test_parts_are_together_all_addresses_and_none_twice(database, monkeypatch):  # noqa: F811
    monkeypatch.setattr(export, "ROWS", 7)  # a bound made small: parts begin within hosts and between them
    count = filled(database, hosts=5, pages=13)
    whole = [row for table in export.page_tables(database) for row in table.to_pylist()]
    starts = [*export.page_starts(database), (LARGEST, LARGEST)]
    parts = [export.page_part(database, first, end).to_pylist() for first, end in pairwise(starts)]

    assert [row for part in parts for row in part] == whole
    assert len(whole) == count
    assert [len(part) for part in parts] == [7] * 9 + [2]
    assert export.page_part(database, (1, 1), (1, 1)).schema == next(export.page_tables(database)).schema


def test_without_addresses_there_are_no_parts(database):  # noqa: F811
    assert export.page_starts(database) == []
