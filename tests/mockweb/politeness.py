"""What a crawl did to its hosts, read from the web's own log."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mockweb.mock_web import MockWeb
    from periplus.demo import RequestRecord

ROBOTS = "/robots.txt"
PRIVATE = "/private/"  # what hosts of these tests forbid in their robots.txt
JITTER = 0.1  # of a gap: a request's moment here and its arrival there differ


def broken_rules(web: MockWeb, delay: float) -> list[str]:
    """Each host is asked by one at a time, after its gap, for robots.txt first, and for nothing that it forbids."""
    hosts = sorted({record.host for record in web.requests()})
    return [f"{host}: {wrong}" for host in hosts for wrong in _of_host(web.requests(host), delay)]


def asked_again(web: MockWeb) -> dict[str, int]:
    """Addresses that were asked more than once, and how often; robots.txt is asked by each worker that takes a host."""
    counts = Counter(record.url for record in web.requests() if record.path != ROBOTS)
    return {url: count for url, count in counts.items() if count > 1}


def _of_host(records: list[RequestRecord], delay: float) -> Iterator[str]:
    records = sorted(records, key=lambda record: record.monotonic)
    if records[0].path != ROBOTS:
        yield f"{records[0].path} was asked before {ROBOTS}"
    for record in records:
        if record.concurrency > 1:
            yield f"{record.concurrency} requests at once"
        if record.path.startswith(PRIVATE):
            yield f"{record.path} was asked, which its robots.txt forbids"
    for before, after in pairwise(records):
        gap = after.monotonic - before.monotonic
        if gap < delay * (1 - JITTER):
            yield f"a gap of {gap:.3f} s"
