"""Crawls with a limit of pages by two to four workers, killed on the way, and whether each ends exactly at its limit.

The suite runs one of them; ``make soak-pool`` fifty: ``python tests/crawl/pool_soak.py --crawls 50``. Hosts are drawn
so that they often fall to few of the workers, who then need the places of the others.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from msgspec import Struct

from crawl.voyages import Voyage
from mockweb.mock_web import MockWeb
from periplus import addresses
from periplus.crawl import audit, workers
from periplus.crawl.frontier.partitions import EMBEDDED
from periplus.storage import Database

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = Path(__file__).with_name("crawl_process.py")
SIZES = (3, 15, 40, 80)
CONCURRENCY = 8
LONGEST_START = 60.0
LONGEST_CRAWL = 180.0


class Figures(Struct):
    crawls: int = 0
    kills: int = 0
    pages: int = 0
    full: int = 0
    emptied: int = 0


class LimitedCrawl:
    """One web, one limit, one crawl of it that is killed up to three times."""

    def __init__(self, folder: Path, web: MockWeb, seed: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.web = web
        self.chance = random.Random(seed)
        self.workers = self.chance.randrange(2, 5)
        self.hosts = self._draw_hosts(seed)
        self.pages = sum(len(web.site(host, self.chance.choice(SIZES))) for host in self.hosts)
        self.limit = self.chance.randrange(1, self.pages + 20)
        self.kills = 0

    def _draw_hosts(self, seed: int) -> list[str]:
        """Half of the webs lie in a half or a quarter of the partitions, which is what some worker has alone."""
        least = self.chance.choice((0, 0, EMBEDDED // 2, EMBEDDED * 3 // 4))
        names = (f"w{seed}x{number}.test" for number in range(10_000))
        there = (name for name in names if addresses.host_key(name) % EMBEDDED >= least)
        return [next(there) for _ in range(self.chance.randrange(1, 7))]

    def run(self) -> Figures:
        for _ in range(self.chance.randrange(4)):
            self._strike()
        assert self._start().wait(timeout=LONGEST_CRAWL) == 0
        return self._check()

    def _start(self) -> subprocess.Popen[bytes]:
        options = [f"workers={self.workers}", f"max_pages={self.limit}", f"concurrency={CONCURRENCY}"]
        seeds = [f"http://{host}/" for host in self.hosts]
        options += ["delay=0.01", "timeout=5.0", "icons=false"]
        return subprocess.Popen([sys.executable, str(SCRIPT), str(self.folder), *self.web.resolve, *options, *seeds])

    def _strike(self) -> None:
        """Start, let it fetch some pages, kill a worker or the whole crawl."""
        seen = len(self.web.requests())
        process = self._start()
        self._wait(process, seen + self.chance.randrange(1, max(2, self.limit)))
        if self.chance.random() < 0.5:
            self._kill_a_worker()
            self._wait(process, len(self.web.requests()) + self.chance.randrange(1, 30))
        process.kill()
        process.wait()
        self.kills += 1

    def _wait(self, process: subprocess.Popen[bytes], count: int) -> None:
        limit = time.monotonic() + LONGEST_START
        while len(self.web.requests()) < count and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)

    def _kill_a_worker(self) -> None:
        with Database.open(self.folder / "state.db") as database:
            team = [one for one in workers(database)[1:] if one.state not in ("ended", "silent", "starting")]
        if team:
            self.kills += 1
            os.kill(int(self.chance.choice(team).address.rpartition(":")[2]), signal.SIGKILL)

    def _check(self) -> Figures:
        with Database.open(self.folder / "state.db") as database:
            voyage = Voyage(self.folder, database)
            fetched = len(voyage.fetched())
            assert fetched == min(self.limit, self.pages), (fetched, self.limit, self.pages, self.workers)
            assert voyage.rows("SELECT SUM(pages) FROM hosts") == [(fetched,)]
            assert len(voyage.documents()) == fetched
            assert voyage.rows("SELECT COUNT(*) FROM hosts WHERE active > 0") == [(0,)]
            assert audit(database).violations == ()
        full = fetched == self.limit
        return Figures(crawls=1, kills=self.kills, pages=fetched, full=int(full), emptied=int(not full))


def soak(folder: Path, crawls: int, seed: int, say: Callable[[str], object] = str) -> Figures:
    total = Figures()
    for number in range(seed, seed + crawls):
        with MockWeb() as web:
            crawl = LimitedCrawl(folder / str(number), web, number)
            one = crawl.run()
        for name in Figures.__struct_fields__:
            setattr(total, name, getattr(total, name) + getattr(one, name))
        say(f"crawl {number}: {crawl.workers} workers, limit {crawl.limit}, {one.pages} pages, {one.kills} kills\n")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crawls", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = soak(Path(folder), options.crawls, options.seed, sys.stderr.write)
    lines = [f"{name}: {getattr(figures, name)}\n" for name in Figures.__struct_fields__]
    sys.stdout.write("".join(lines) + "every crawl ended exactly at its limit, or had everything\n")


if __name__ == "__main__":
    main()
