"""``make bench-apart``: the same crawl with readers in a process of their own and in the worker's, in turns.

Wall and processor time of all processes of a crawl, and the ratio of the two ways within each round; of the processor
time also without that of a crawl of one page, which is what starting costs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.crawl.web import ROOT, LocalWeb, find_web, serve

from periplus import Collection, documents
from periplus.crawl.working.reading_line import ReadingLine

if TYPE_CHECKING:
    from periplus.records import Page

CACHE = ROOT / "build" / "bench-crawl"
WAYS = ("together", "apart")


class Run(NamedTuple):
    way: str
    pages: int
    wall: float
    cpu: float
    megabytes: float  # the largest of the processes


async def read_here(_line: ReadingLine, reader: int, page: Page) -> object:
    if reader == documents.apart.SITEMAP:
        return documents.read_sitemap(page.body, page.url)
    return documents.outline(page) if reader == documents.apart.OUTLINE else documents.parse(page)


def crawl(folder: Path, web: LocalWeb, pages: int, way: str) -> int:
    if way == "together":
        ReadingLine.ask, ReadingLine.start = read_here, lambda line: None
    with Collection(folder) as made:
        done = made.crawl(
            web.seeds, max_pages=pages, scope="host", delay=0.0, ip_delay=0.0, workers=1, concurrency=32,
            resolve=[f"*.test=127.0.0.1:{web.port}"], allow_private=True,
        )  # fmt: skip
    return done.pages


def measured(web: LocalWeb, pages: int, way: str) -> Run:
    """One crawl in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        count = Path(folder, "count")
        began = time.perf_counter()
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            count.write_text(str(crawl(Path(folder, "c"), web, pages, way)))
            documents.apart._READERS.close()
            os._exit(0)
        _, status, used = os.wait4(child, 0)
        assert status == 0, f"the crawl ended with {status}"
        wall = time.perf_counter() - began
        return Run(way, int(count.read_text()), wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def main() -> None:
    options = argparse.ArgumentParser(prog="bench-apart", description=__doc__)
    options.add_argument("--web", type=Path, help="folder of the local web; made when not named")
    options.add_argument("--pages", type=int, default=1_500)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    ratios: dict[str, list[float]] = {"wall": [], "cpu": [], "cpu without the start": []}
    with tempfile.TemporaryDirectory() as run, serve(find_web(given.web, CACHE), CACHE, Path(run)) as web:
        for number in range(given.rounds):
            order = WAYS if number % 2 else WAYS[::-1]
            runs = {way: measured(web, given.pages, way) for way in order}
            for one in runs.values():
                print(
                    f"round {number + 1} {one.way}: {one.pages} pages, {one.pages / one.wall:.0f} pages/s, "
                    f"{one.pages / one.cpu:.0f} pages/CPU-s, {one.megabytes:.0f} MB",
                    file=sys.stderr, flush=True,
                )  # fmt: skip
            starts = {way: measured(web, 1, way).cpu for way in order}
            for name, found in ratios.items():
                field, less = ("cpu", starts) if "start" in name else (name, dict.fromkeys(WAYS, 0.0))
                alone, apart = ((getattr(runs[way], field) - less[way]) / runs[way].pages for way in WAYS)
                found.append(apart / alone)
    for name, found in ratios.items():
        print(f"{name}: {statistics.median(found):.3f} times ({', '.join(f'{one:.3f}' for one in found)})")


if __name__ == "__main__":
    main()
