"""Kills at random moments of a crawl of a web with faults, and what must be true afterwards.

The suite runs a few of them; ``make soak-crash`` a hundred: ``python tests/crawl/crash_soak.py --kills 100``.
Archive, state and the web's own log are compared: no page lost, no address lost, nothing fetched twice beyond the
requests that were open at a kill, no gap broken across restarts.
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
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from crawl.voyages import Voyage
from mockweb.faults import Drop, asked_to_wait
from mockweb.mock_web import MockWeb
from periplus import archive
from periplus.crawl import audit, workers
from periplus.demo import Reply, html
from periplus.records import ArchiveLocation
from periplus.storage import Database

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = Path(__file__).with_name("crawl_process.py")
DELAY, SLOW_DELAY, JITTER = 0.1, 0.4, 0.02
HOSTS = 10
LONGEST_START = 60.0
MOMENT = 0.4  # seconds: a kill comes within so many after the last request that was waited for


class Soak:
    """One crawl of the fault web that is killed again and again."""

    def __init__(self, folder: Path, web: MockWeb, pages: int, seed: int) -> None:
        self.folder = folder
        self.web = web
        self.chance = random.Random(seed)
        self.hosts = [f"s{number}.test" for number in range(HOSTS)]
        self.pages = {url for host in self.hosts for url in web.site(host, pages)}
        self.kills = 0
        self._spoil(pages)

    def _spoil(self, pages: int) -> None:
        """Some pages fail before they answer; links, redirects and robots files cross hosts."""
        for number, host in enumerate(self.hosts):
            other = self.hosts[(number + 1) % HOSTS]
            self.web.page(f"http://{host}/1", links=[f"http://{other}/{n}" for n in range(0, pages, 5)])
            self.web.redirect(f"http://{host}/moved", f"http://{other}/2")
            self.web.page(f"http://{host}/3", links=["/moved", "/busy", "/torn", "/broken"])
            for name, fault in (
                ("busy", asked_to_wait(503, seconds=1)),
                ("torn", Drop("part")),
                ("broken", Reply(500)),
            ):
                url = f"http://{host}/{name}"
                self.web.at(url, [fault, html(f"<title>Late</title><p>At last, an answer of its own: {url}")])
                self.pages.add(url)
        self.web.robots(self.hosts[0], f"User-agent: *\nCrawl-delay: {SLOW_DELAY}")
        self.web.redirect(f"http://{self.hosts[1]}/robots.txt", f"http://{self.hosts[2]}/rules", 301)
        self.web.text(f"http://{self.hosts[2]}/rules", "User-agent: *\nDisallow: /secret")

    @property
    def seeds(self) -> list[str]:
        return [f"http://{host}/" for host in self.hosts]

    def start(self, count: int) -> subprocess.Popen[bytes]:
        options = [f"delay={DELAY}", f"workers={count}", "timeout=5.0", "retries=10"]
        return subprocess.Popen(
            [sys.executable, str(SCRIPT), str(self.folder), *self.web.resolve, *options, *self.seeds]
        )

    def strike(self) -> None:
        """Start, let it work for a while, kill the crawl or one of its workers and then the crawl."""
        count = self.chance.choice((1, 1, 2))
        seen = len(self.web.requests())
        process = self.start(count)
        self._wait(process, seen + self.chance.randrange(1, 40))
        if count > 1 and self.chance.random() < 0.5:
            self._kill_a_worker()
            self._wait(process, len(self.web.requests()) + self.chance.randrange(1, 20))
        time.sleep(self.chance.random() * MOMENT)
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
            os.kill(int(team[0].address.rpartition(":")[2]), signal.SIGKILL)

    def finish(self) -> None:
        process = self.start(1)
        assert process.wait(timeout=600) == 0

    # What must be true

    def check(self) -> dict[str, int]:
        with Database.open(self.folder / "state.db") as database:
            voyage = Voyage(self.folder, database)
            self._check_state(voyage)
            self._check_archive(voyage)
            report = audit(database)
            assert report.violations == ()
        self._check_log()
        asked = self._asked()
        return {
            "kills": self.kills,
            "pages": len(self.pages),
            "requests": sum(asked.values()),
            "asked again": sum(self._again(asked).values()),
            "journalled": report.requests,
        }

    def _check_state(self, voyage: Voyage) -> None:
        assert voyage.fetched() - {f"http://{host}/moved" for host in self.hosts} == self.pages
        assert set(voyage.documents()) >= self.pages
        assert voyage.rows("SELECT COUNT(*) FROM hosts WHERE active > 0") == [(0,)]
        counted = "SELECT host, SUM(state = 0), SUM(state = 1 AND kind = 0) FROM urls GROUP BY host ORDER BY host"
        assert voyage.rows("SELECT key, queued, pages FROM hosts ORDER BY key") == voyage.rows(counted)
        assert voyage.rows("SELECT COUNT(*) FROM urls WHERE pending = 1") == [(0,)]

    def _check_archive(self, voyage: Voyage) -> None:
        kept: Counter[str] = Counter()
        for path in sorted((self.folder / "archive").glob("*.warc.gz")):
            kept.update(exchange.url for _, exchange in archive.iterate(path) if exchange.status == 200)
        assert self.pages <= kept.keys()
        assert {url: count for url, count in kept.items() if count > 1 and url in self.pages} == {}
        for file, place, length in voyage.rows("SELECT file, place, length FROM urls WHERE state = 1 AND file <> ''"):
            assert archive.read(self.folder / "archive", ArchiveLocation(file, place, length)).status in (200, 302)

    def _asked(self) -> Counter[str]:
        return Counter(record.url for record in self.web.requests() if record.path != "/robots.txt")

    def _again(self, asked: Counter[str]) -> dict[str, int]:
        """Requests for an address that had been answered, or was being answered."""
        planned = {f"http://{host}/{name}" for host in self.hosts for name in ("busy", "torn", "broken")}
        rules = f"http://{self.hosts[2]}/rules"
        return {
            url: count - 1 - (url in planned)
            for url, count in asked.items()
            if count > 1 + (url in planned) and url != rules
        }

    def _check_log(self) -> None:
        again = self._again(self._asked())
        assert sum(again.values()) <= self.kills * HOSTS, again  # one open request a host and kill
        for host in self.hosts:
            assert self.web.most_at_once(host) == 1, host
            gaps = self.web.gaps(host)
            assert min(gaps) >= DELAY - JITTER, (host, sorted(gaps)[:3])
        paths = self.web.paths(self.hosts[0])
        slow = [gap for gap, path in zip(self.web.gaps(self.hosts[0]), paths, strict=False) if path != "/robots.txt"]
        assert min(slow) >= SLOW_DELAY - JITTER, sorted(slow)[:3]


def soak(folder: Path, kills: int, pages: int, seed: int, say: Callable[[str], object] = str) -> dict[str, int]:
    with MockWeb() as web:
        voyage = Soak(folder, web, pages, seed)
        while voyage.kills < kills:
            voyage.strike()
            say(f"{voyage.kills} kills, {len(web.requests())} requests\n")
        voyage.finish()
        return voyage.check()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--pages", type=int, default=300, help="of each of ten hosts")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = soak(Path(folder), options.kills, options.pages, options.seed, sys.stderr.write)
    sys.stdout.write("".join(f"{name}: {value}\n" for name, value in figures.items()) + "all invariants held\n")


if __name__ == "__main__":
    main()
