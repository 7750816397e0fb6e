"""``make soak-frontier``: fill a frontier, take from it, and say how fast and with how much memory.

Addresses come in bundles as a crawl commits them: those of many pages at once, most links within their own host, every
second one known already. Hosts have sizes as on the web (a few large, many small). Only commits and selections are
timed, not the making of addresses.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from bench.frontier.server import postgresql

from periplus import addresses
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.rows import Bundle, FoundAddress, Rest
from periplus.storage import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 11
DELAY = 1.0
NOW = 1_800_000_000.0
BUNDLE = 10_000  # addresses of one commit: 200 pages of 50 links
REPEATED = 0.5
PAGES_A_BUNDLE = 200
MOST_MB, LEAST_RATE, MOST_MS = 300, 20_000, 1.0


def main() -> int:
    options = _options()
    with ExitStack() as stack:
        if options.postgresql:
            address = stack.enter_context(postgresql(options.folder))
        elif options.database:
            address = options.database
        else:
            address = str(Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder))) / "state.db")
        database = stack.enter_context(Database.open(address))
        figures = measure(database, options.urls, options.hosts)
        figures["database"] = database.dialect
        if database.dialect == "sqlite":
            figures["megabytes on disk"] = round(sum(p.stat().st_size for p in Path(address).parent.iterdir()) / 1e6)
    report(figures)
    Path("build").mkdir(exist_ok=True)
    Path(f"build/frontier-{figures['database']}.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0 if figures["database"] != "sqlite" or passes(figures) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.frontier", description=__doc__)
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--database", default="", help="postgresql://… instead of a SQLite file")
    parser.add_argument("--postgresql", action="store_true", help="a PostgreSQL server of its own, ended afterwards")
    parser.add_argument("--folder", default=None, help="where the files are made (default: the system's)")
    return parser.parse_args()


def measure(database: Database, urls: int, hosts: int) -> dict[str, object]:
    frontier = Frontier(database, lambda _: 2, host_queue=10_000_000, host_budget=10_000_000)
    empty = memory()
    inserted = spent = cpu = 0
    pace: list[float] = []
    for bundle in bundles(urls, hosts):
        began, began_cpu = time.perf_counter(), time.process_time()
        new = frontier.commit(bundle, NOW).new
        took = time.perf_counter() - began
        cpu += time.process_time() - began_cpu
        inserted += new
        spent += took
        pace.append(new / took)
        if len(pace) % 100 == 0:
            sys.stderr.write(f"\r{inserted:,} addresses, {statistics.mean(pace[-100:]):,.0f} new/s, {memory():.0f} MB ")
    tail = pace[-max(1, len(pace) // 10) :]
    return {
        "addresses": inserted,
        "hosts": hosts,
        "new a second": round(inserted / spent),
        "new a second, last tenth": round(statistics.mean(tail)),
        "new a CPU-second": round(inserted / cpu),
        "memory above empty, MB": round(memory() - empty),
        **selection(frontier),
        "memory above empty at the end, MB": round(memory() - empty),
    }


def selection(frontier: Frontier) -> dict[str, float]:
    """What a worker does to get its next addresses: take hosts, refill their queues, give them back."""
    activations, refills, returns, taken = [], [], [], 0
    for turn in range(10):
        began = time.perf_counter()
        active = frontier.activate(NOW + turn, 200, DELAY)
        activations.append((time.perf_counter() - began) / max(1, len(active)))
        taken += sum(len(row.urls) for row in active)
        for row in active:
            began = time.perf_counter()
            frontier.more(row.host, NOW + turn, {url.key for url in row.urls})
            refills.append(time.perf_counter() - began)
        began = time.perf_counter()
        frontier.commit(Bundle(resting={row.host.key: Rest.MORE for row in active}), NOW)
        returns.append((time.perf_counter() - began) / max(1, len(active)))
    return {
        "activation of a host, ms": _ms(statistics.mean(activations)),
        "refill of a host, ms": _ms(statistics.mean(refills)),
        "refill of a host, 99 %, ms": _ms(statistics.quantiles(refills, n=100)[98]),
        "return of a host, ms": _ms(statistics.mean(returns)),
        "next address, ms": _ms(sum(activations) * 200 / max(1, taken)),
    }


def bundles(urls: int, hosts: int) -> Iterator[Bundle]:
    """Until ``urls`` different addresses were made; sizes of hosts follow a power law."""
    chance = random.Random(SEED)
    names = [f"www.host{number:06d}.example" for number in range(hosts)]
    counts = [0] * hosts
    made = 0
    while made < urls:
        found: list[FoundAddress] = []
        for _ in range(PAGES_A_BUNDLE):
            host = min(hosts - 1, int(hosts * chance.random() ** 2))
            for _ in range(BUNDLE // PAGES_A_BUNDLE):
                target = host if chance.random() < 0.8 else chance.randrange(hosts)
                if counts[target] and chance.random() < REPEATED:
                    found.append(_found(names[target], chance.randrange(counts[target])))
                    continue
                found.append(_found(names[target], counts[target]))
                counts[target] += 1
                made += 1
        yield Bundle(found=found)


def _found(name: str, number: int) -> FoundAddress:
    url = f"https://{name}/section-{number % 97}/{number * 2_654_435_761 % 4_294_967_296:08x}/page-{number}.html"
    return FoundAddress(addresses.key(url), url, name, depth=3, priority=30 + number % 3)


def memory() -> float:
    """Resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def passes(figures: dict[str, object]) -> bool:
    return (
        float(str(figures["memory above empty at the end, MB"])) <= MOST_MB
        and float(str(figures["new a second"])) >= LEAST_RATE
        and float(str(figures["refill of a host, ms"])) < MOST_MS
    )


def report(figures: dict[str, object]) -> None:
    sys.stderr.write("\n")
    lines = ["| figure | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in figures.items())]
    sys.stdout.write("\n".join(lines) + "\n")


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


if __name__ == "__main__":
    sys.exit(main())
