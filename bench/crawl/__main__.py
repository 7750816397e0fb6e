"""``make bench-crawl``: serve the local web, run the contenders in interleaved rounds, print the tables."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench.crawl import report, split
from bench.crawl.contenders import CONTENDERS
from bench.crawl.rounds import Failed, Run, run_once, run_rounds
from bench.crawl.web import ROOT, LocalWeb, find_web, serve

CACHE = ROOT / "build" / "bench-crawl"
DEFAULT = ("periplus", "periplus-later", "scrapy-links", "scrapy-selectors", "periplus-timed", "scrapy-parser")
PAGES, ROUNDS = 2500, 3
QUICK_PAGES, QUICK_ROUNDS = 600, 1
START_PAGES = 1


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-crawl", description=__doc__)
    options.add_argument("--web", type=Path, help="folder of the local web; made when not named")
    options.add_argument("--cache", type=Path, default=CACHE, help="where the served tree is kept")
    options.add_argument("--pages", type=int, help=f"page budget of every run ({PAGES})")
    options.add_argument("--rounds", type=int, help=f"interleaved rounds ({ROUNDS})")
    options.add_argument("--quick", action="store_true", help=f"{QUICK_PAGES} pages, {QUICK_ROUNDS} round")
    options.add_argument("--only", nargs="+", choices=sorted(CONTENDERS), default=list(DEFAULT), metavar="NAME")
    options.add_argument("--profile", action=argparse.BooleanOptionalAction, default=True, help="Periplus' CPU by step")
    options.add_argument("--starts", action=argparse.BooleanOptionalAction, default=True, help="cost of starting up")
    options.add_argument("--keep", type=Path, help="work here and keep what is written, instead of a temporary folder")
    options.add_argument("--json", type=Path, default=CACHE / "result.json", help="where the figures go")
    return options.parse_args()


def tell(run: Run) -> None:
    print(
        f"round {run.round + 1} {run.name}: {run.pages} pages, {run.pages_a_cpu_second:.0f} pages/CPU-s, "
        f"{run.pages / run.wall:.0f} pages/s, {run.rss_mb:.0f} MB, load {run.load:.1f}",
        file=sys.stderr, flush=True,
    )  # fmt: skip


def bench(options: argparse.Namespace, web: LocalWeb, work: Path) -> None:
    chosen = [CONTENDERS[name] for name in options.only]
    pages = options.pages or (QUICK_PAGES if options.quick else PAGES)
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    starts = {}
    if options.starts and not options.quick:
        starts = {one.name: run_once(one, 0, START_PAGES, web, work).cpu for one in chosen}
    runs = run_rounds(chosen, rounds, pages, web, work, tell)
    print(f"# Crawl, {pages} pages, {rounds} rounds, {len(web.hosts)} hosts\n")
    print(report.tables(runs, starts))
    shares: dict[str, dict[str, float]] = {}
    for name in split.PROFILED if options.profile else ():
        if ours := report.by_name(runs).get(name):
            shares[name], functions = split.steps(web, pages, work, split.PROFILED[name])
            middle = sorted(run.milliseconds for run in ours)[len(ours) // 2]
            print(f"\n{name}:\n\n" + report.split_table(shares[name], middle, functions))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report.as_json(runs, starts, shares, pages), indent=1), encoding="utf-8")
    print(f"\nfigures: {options.json}", file=sys.stderr)


def main() -> None:
    options = read_options()
    options.cache.mkdir(parents=True, exist_ok=True)
    folder = find_web(options.web, options.cache)
    with tempfile.TemporaryDirectory(prefix="periplus-bench-") as temporary:
        work = options.keep or Path(temporary)
        with serve(folder, options.cache, work / "nginx") as web:
            try:
                bench(options, web, work)
            except Failed as failure:
                if not options.keep:
                    print("(--keep FOLDER keeps what was written)", file=sys.stderr)
                raise SystemExit(str(failure)) from failure


if __name__ == "__main__":
    main()
