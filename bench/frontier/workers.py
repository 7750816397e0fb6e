"""``make bench-frontier-workers``: workers side by side on one frontier in PostgreSQL: new addresses, commits, p99.

Each worker is a process with its share of the partitions. It commits bundles of links as a crawl does: four of five
lead to its own hosts, the others to any, through the inboxes of their partitions. Bundles are made before the clock
starts.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import statistics
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.frontier.__main__ import NOW, SEED, _found
from bench.frontier.server import postgresql

from periplus import addresses
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.rows import Bundle
from periplus.storage import Database

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier

    from periplus.crawl.frontier.rows import FoundAddress

LINKS = 2_500  # of one commit: 50 pages of 50 links
KNOWN = 0.5  # of links, as far as a worker can tell
OWN = 0.8


class Worked(NamedTuple):
    began: float
    ended: float
    commits: list[float]  # seconds of each


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.frontier.workers", description=__doc__)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--commits", type=int, default=120, help="of all workers together")
    parser.add_argument("--hosts", type=int, default=20_000)
    options = parser.parse_args()
    lines = ["| workers | links/s | new addresses/s | commits/s | p50, ms | p99, ms |", "|--:|--:|--:|--:|--:|--:|"]
    for count in options.workers:
        with postgresql(None) as address:
            lines.append(measure(address, count, options.commits, options.hosts))
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def measure(address: str, workers: int, commits: int, hosts: int) -> str:
    with Database.open(address):
        pass  # the tables are made before anybody needs them
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(workers)
    with context.Pool(workers, _keep_barrier, (barrier,)) as pool:
        given = [(address, number, workers, commits // workers, hosts) for number in range(workers)]
        worked = pool.map(work, given, chunksize=1)
    with Database.open(address) as database:
        frontier = Frontier(database, lambda _: 2, host_queue=10**7, host_budget=10**7)
        frontier.commit(Bundle(), NOW, after=lambda *_: None)  # takes what is left in the inboxes
        with database.read() as tx:
            new = int(tx.value("SELECT COUNT(*) FROM urls"))
    seconds = max(one.ended for one in worked) - min(one.began for one in worked)
    times = [took for one in worked for took in one.commits]
    each = statistics.quantiles(times, n=100)
    rates = f"{len(times) * LINKS / seconds:,.0f} | {new / seconds:,.0f} | {len(times) / seconds:.1f}"
    return f"| {workers} | {rates} | {1000 * each[49]:.0f} | {1000 * each[98]:.0f} |"


_barrier: list[Barrier] = []


def _keep_barrier(barrier: Barrier) -> None:
    _barrier.append(barrier)


def work(given: tuple[str, int, int, int, int]) -> Worked:
    address, number, workers, commits, hosts = given
    with Database.open(address) as database:
        frontier = Frontier(database, lambda _: 2, host_queue=10**7, host_budget=10**7, worker=number + 1)
        frontier.parts = tuple(part for part in frontier.parts if part % workers == number)
        made = bundles(frontier, number, commits, hosts)
        _barrier[0].wait()
        began, times = time.monotonic(), []
        for links in made:
            start = time.monotonic()
            frontier.commit(Bundle(found=links), NOW, after=lambda *_: None)
            times.append(time.monotonic() - start)
        return Worked(began, time.monotonic(), times)


def bundles(frontier: Frontier, number: int, commits: int, hosts: int) -> list[list[FoundAddress]]:
    chance = random.Random(SEED + number)
    names = [f"www.host{place:06d}.example" for place in range(hosts)]
    own = [place for place, name in enumerate(names) if frontier.partition(addresses.host_key(name)) in frontier.parts]
    known: list[FoundAddress] = []
    made = []
    for _ in range(commits):
        links: list[FoundAddress] = []
        for _ in range(LINKS):
            if known and chance.random() < KNOWN:
                links.append(known[chance.randrange(len(known))])
            else:
                place = chance.choice(own) if chance.random() < OWN else chance.randrange(hosts)
                links.append(_found(names[place], (len(known) + len(links)) * 16 + number))
        known += links
        made.append(links)
    return made


if __name__ == "__main__":
    sys.exit(main())
