"""``make voyage``: a generated web crawled at delay 0, parsed, indexed, ranked and searched on this machine.

For each step: wall and processor time of all its processes, the largest process, what is on the disk afterwards. Then
how the crawl went on, and the yield: of all requests for pages, how many became findable documents, and why the others
did not, by kind of host. With ``--keep`` a voyage that was cut goes on behind the last step that was done.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.voyage.report import crawl_table, step_table, yield_table
from bench.voyage.steps import Step, samples, stepped
from bench.voyage.web import Web

from periplus import Collection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.records import CrawlStatus

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "scale.md"
MARK = "<!-- voyage -->"
PAGES, HOSTS_A_PAGE = 500_000, 0.01
QUERIES = 500
FURTHER = 0.05  # of the pages, which are crawled while the second series of queries is asked


def crawl(folder: Path, port: int, pages: int, given: argparse.Namespace) -> str:
    def tell(status: CrawlStatus) -> None:
        (folder.parent / "pages").write_text(str(status.stored), encoding="ascii")

    with Collection(folder) as made:
        done = made.crawl(
            [f"http://h{number}.test/" for number in range(20)], max_pages=pages, scope="any", delay=0.0, ip_delay=0.0,
            workers=given.workers, concurrency=64, resolve=[f"*.test=127.0.0.1:{port}"], icons=False, retries=1,
            timeout=20.0, seconds=given.crawl_seconds, progress=tell,
        )  # fmt: skip
        poor = made.status().crawl.withdrawn
        return f"{done.stored:,} pages, {poor:,} hosts lost their budget"


def index(folder: Path) -> str:
    with Collection(folder) as made:
        return f"{made.index().documents:,} documents"


def rank(folder: Path) -> str:
    with Collection(folder) as made:
        done = made.rank()
        return f"{done.pages:,} pages, {done.links:,} links, {done.iterations} iterations"


def search(folder: Path) -> str:
    """Two words of documents that are there, as a reader would type them; walls are of a machine with others."""
    chance, walls, works, found = random.Random(3), [], [], 0
    with Collection(folder) as made:
        titles = [document.title.split() for document, _ in zip(made.documents(), range(5_000), strict=False)]
        queries = [" ".join(chance.sample(words, 2)) for words in titles if len(words) > 3][:QUERIES]
        made.search(queries[0])
        for query in queries:
            wall, work = time.perf_counter(), time.thread_time()
            found += bool(made.search(query).results)
            walls.append((time.perf_counter() - wall) * 1000)
            works.append((time.thread_time() - work) * 1000)
    return f"{len(walls)} queries, {found} with results; wall {_spread(walls)}; CPU {_spread(works)}"


def _spread(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {ordered[len(ordered) // 2]:.1f} ms, p99 {ordered[len(ordered) * 99 // 100]:.1f} ms"


def search_beside(folder: Path, crawling: Callable[[], str]) -> str:
    """The same queries while a crawl goes on; the processor's time is of both."""
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            crawling()
        os._exit(0)
    try:
        return search(folder)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@contextlib.contextmanager
def served(passages: Path, pages: int, hosts: int) -> Iterator[int]:
    command = [sys.executable, "-m", "bench.voyage.web", "--passages", str(passages)]
    command += ["--pages", str(pages), "--hosts", str(hosts)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


class Voyage:
    """The steps in order; the report is written after each."""

    def __init__(self, given: argparse.Namespace, base: Path) -> None:
        self._given = given
        self._base = base
        self._folder = base / "collection"
        self._hosts = given.hosts or max(50, int(given.pages * HOSTS_A_PAGE))
        self._steps: list[Step] = []

    def run(self) -> list[str]:
        given, folder = self._given, self._folder
        Collection(folder).create("[index]\nworkers = 1\n").close()
        with served(given.passages, given.pages, self._hosts) as port:
            self._step("crawl", partial(crawl, folder, port, given.pages, given))
            for work in (index, rank, search):
                self._step(work.__name__, partial(work, folder))
            further = partial(crawl, folder, port, int(given.pages * (1 + FURTHER)), given)
            self._step("search while crawling", partial(search_beside, folder, further))
        return self.report()

    def _step(self, name: str, work: Callable[[], str]) -> None:
        self._steps.append(stepped(name, self._base, work, self._pages))
        if name == "crawl" and not (self._base / "yield.md").exists():  # before others add to it
            web = Web(self._given.passages, self._given.pages, self._hosts)
            (self._base / "yield.md").write_text("\n".join(yield_table(self._folder, web)), encoding="utf-8")
        if self._given.write:
            write(self.report())

    def _pages(self) -> str:
        path = self._base / "pages"
        return path.read_text("ascii") if path.exists() else ""

    def report(self) -> list[str]:
        head = f'`make voyage ARGS="--pages {self._given.pages}"`: {self._hosts:,} hosts.'
        yields = (self._base / "yield.md").read_text(encoding="utf-8").split("\n")
        return [head, "", *step_table(self._steps), "", *crawl_table(samples(self._base)), "", *yields]


def write(lines: list[str]) -> None:
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    PAGE.write_text(f"{head}{MARK}\n" + "\n".join(lines) + f"\n{MARK}{rest.partition(MARK)[2]}", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(prog="voyage", description=__doc__)
    options.add_argument("--passages", type=Path, required=True, help="JSON lines with title and text")
    options.add_argument("--pages", type=int, default=PAGES)
    options.add_argument("--hosts", type=int, help="a hundredth of the pages, where not named")
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--crawl-seconds", type=float, default=0, help="after which the crawl ends, with what it has")
    options.add_argument("--keep", type=Path, help="work here, keep what is written, go on where it was cut")
    options.add_argument("--write", action="store_true", help="put the tables into docs/scale.md, after each step")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        base = given.keep or Path(temporary)
        base.mkdir(parents=True, exist_ok=True)
        print("\n".join(Voyage(given, base).run()))


if __name__ == "__main__":
    main()
