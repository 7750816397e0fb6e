"""Healthy hosts alone and beside hostile ones, on one worker: how much of their rate is left.

    make bench-hostile ARGS="--rounds 2 --seconds 15 --only bomb huge"

Each round crawls the healthy hosts alone and then all of them, from a server for each side (``web.py``), with the same
delay. Pages of healthy hosts are counted by the journal, from a moment after the first request on. ``--each`` measures
every kind of hostile host by itself, which tells causes apart.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.hostile.web import HOSTILE

from periplus.crawl import Crawler
from periplus.settings import CrawlSettings, Settings
from periplus.storage import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

WARM_UP = 2.0  # seconds after the first request that do not count
ADDRESSES = 40  # of a hostile host
WANTED = 0.8
SIDES = ("healthy", "hostile")  # each with a server of its own, so that only the crawler is shared


@contextmanager
def served() -> Iterator[int]:
    """The port of the web, while it is there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.hostile.web"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait()


def seeds_of(healthy: int, hostile: int, kinds: list[str]) -> list[str]:
    seeds = [f"http://page{number}.{SIDES[0]}.test/" for number in range(healthy)]
    names = [f"{kinds[number % len(kinds)]}{number}.{SIDES[1]}.test" for number in range(hostile if kinds else 0)]
    return seeds + [f"http://{name}/{page}" for name in names for page in range(ADDRESSES)]


def crawl(folder: Path, ports: tuple[int, int], seeds: list[str], delay: float, seconds: float) -> None:
    resolve = tuple(f"*.{name}.test=127.0.0.1:{port}" for name, port in zip(SIDES, ports, strict=True))
    crawl = CrawlSettings(
        delay=delay, scope="host", resolve=resolve, workers=1, icons=False, max_pages=0, max_depth=1_000_000,
        host_budget=1_000_000,
    )  # fmt: skip
    with Database.open(folder / "state.db") as database:
        Crawler(folder, database, Settings(crawl=crawl)).run(seeds, seconds=seconds)


def rate(ports: tuple[int, int], seeds: list[str], delay: float, seconds: float) -> float:
    """Pages of healthy hosts a second, in a crawl in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        task = [folder, *map(str, ports), str(delay), str(seconds + 2 * WARM_UP)]
        subprocess.run([sys.executable, "-m", "bench.hostile", "--crawl", *task, *seeds], check=True)
        with Database.open(Path(folder) / "state.db") as database, database.read() as tx:
            first = float(tx.value("SELECT MIN(at) FROM journal")) + WARM_UP
            sql = "SELECT COUNT(*) FROM journal WHERE host LIKE ? AND status = 200 AND at BETWEEN ? AND ?"
            return int(tx.value(sql, (f"%.{SIDES[0]}.test", first, first + seconds))) / seconds


def compare(ports: tuple[int, int], options: argparse.Namespace, kinds: list[str]) -> list[float]:
    """The share of their rate that healthy hosts keep, round by round."""
    shares = []
    for _ in range(options.rounds):
        alone = rate(ports, seeds_of(options.healthy, 0, []), options.delay, options.seconds)
        beside = rate(ports, seeds_of(options.healthy, options.hostile, kinds), options.delay, options.seconds)
        shares.append(beside / alone)
        what = " ".join(kinds)
        print(
            f"{what}: alone {alone:.1f} pages a second, beside hostile hosts {beside:.1f}: {shares[-1]:.2f}", flush=True
        )
    return shares


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crawl", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--healthy", type=int, default=20)
    parser.add_argument("--hostile", type=int, default=50)
    parser.add_argument("--only", nargs="+", default=list(HOSTILE), choices=HOSTILE)
    parser.add_argument("--each", action="store_true", help="every kind by itself as well")
    options = parser.parse_args()
    if options.crawl:
        folder, healthy, hostile, delay, seconds, *seeds = options.crawl
        crawl(Path(folder), (int(healthy), int(hostile)), seeds, float(delay), float(seconds))
        return 0
    with served() as healthy, served() as hostile:
        ports = (healthy, hostile)
        for kind in options.only if options.each else []:
            compare(ports, options, [kind])
        shares = compare(ports, options, options.only)
    share = sum(shares) / len(shares)
    print(f"healthy hosts keep {share:.0%} of their rate; wanted {WANTED:.0%}")
    return 0 if share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
