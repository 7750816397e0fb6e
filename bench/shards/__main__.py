"""The price of shards: ``make bench-shards``. CPU a query and its times, in one process and over shard processes.

Queries are asked one after the other by the broker's own process, so no client's CPU is counted.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from pathlib import Path

from bench.shards.collection import build, queries
from bench.shards.large import compared
from bench.shards.overload import measured, raise_handles

from periplus import Collection
from periplus.app.serving.shards import ShardPlan, over_shards
from periplus.app.thrift import settle
from periplus.records import SearchRequest

ROOT = Path(__file__).parents[2]
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    options = _options()
    if options.large:
        compared(*options.large, options.processes, options.queries)
        return
    asked = queries(options.queries)
    rows = []
    for shards, processes in [(1, 0), (4, 4), (4, 2)]:
        folder = options.work / f"{options.documents}-{shards}"
        build(folder, options.documents, shards)
        rows.append(_measured(folder, processes, asked))
    print(f"{options.documents:,} documents, {options.queries} queries\n")
    print("| searched by | CPU ms a query | of it the broker's | p50 ms | p95 ms |\n|---|--:|--:|--:|--:|")
    for row in rows:
        print(row)
    if options.overload:
        raise_handles()
        measured(options.work / f"{options.documents}-4", 2, options.overload)


def _measured(folder: Path, processes: int, asked: list[str]) -> str:
    with Collection(folder, flags={"search.budget_ms": 60_000}) as collection:
        if not processes:
            return _row("one process", collection, asked, [])
        with over_shards(collection, ShardPlan(processes=processes), print):
            while not collection.engine.ready:
                collection.engine.reload()
                time.sleep(0.05)
            return _row(f"{processes} shard processes", collection, asked, _children())


def _row(name: str, collection: Collection, asked: list[str], children: list[int]) -> str:
    engine = collection.engine
    engine.warm()
    for text in asked[:100]:
        engine.search(SearchRequest(text, size=9))
    settle()  # as a server does
    before, own = _cpu(children), _cpu([])
    times = []
    for text in asked:
        began = time.perf_counter()
        engine.search(SearchRequest(text))
        times.append(1000 * (time.perf_counter() - began))
    count = len(asked)
    broker = 1000 * (_cpu([]) - own) / count
    whole = 1000 * (_cpu(children) - before) / count
    quantiles = statistics.quantiles(times, n=20)
    return f"| {name} | {whole:.2f} | {broker:.2f} | {statistics.median(times):.2f} | {quantiles[18]:.2f} |"


def _cpu(children: list[int]) -> float:
    """Seconds of this process, and of its children."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    found = own.ru_utime + own.ru_stime
    for child in children:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        found += (int(fields[11]) + int(fields[12])) / TICKS
    return found


def _children() -> list[int]:
    """Of all threads: a child belongs to the thread that started it."""
    lists = [(task / "children").read_text() for task in Path("/proc/self/task").iterdir()]
    return [int(text) for text in " ".join(lists).split()]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.shards", description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--overload", type=float, default=10.0, help="seconds of it; 0: none")
    parser.add_argument(
        "--large", type=Path, nargs=2, metavar=("ONE", "SHARDED"), help="compare two forms of one collection instead"
    )
    parser.add_argument("--processes", type=int, default=2, help="that search the second form")
    parser.add_argument("--work", type=Path, default=ROOT / "build/shards")
    return parser.parse_args()


if __name__ == "__main__":
    main()
