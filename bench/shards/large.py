"""What a second process gives a large collection: the same queries of one process and of shard processes, in turns.

Both are asked one query after the other, the order changed from round to round. The slowest tenth are those queries
that take one process longest.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from periplus import Collection
from periplus.app.serving.shards import ShardPlan, over_shards
from periplus.records import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

QUERIES = Path(__file__).resolve().parents[1] / "index" / "queries.txt"
FLAGS = {"search.budget_ms": 60_000}
ROUNDS = 3


def compared(one: Path, sharded: Path, processes: int, count: int) -> None:
    """Prints the times of ``count`` queries on two forms of one collection."""
    asked = list(dict.fromkeys(QUERIES.read_text(encoding="utf-8").splitlines()))[:count]
    with (
        Collection(one, flags=FLAGS) as single,
        Collection(sharded, flags=FLAGS) as spread,
        over_shards(spread, ShardPlan(processes=processes), print),
    ):
        while not spread.engine.ready:
            spread.engine.reload()
            time.sleep(0.05)
        contenders = [single, spread]
        taken: list[list[list[float]]] = [[], []]
        for number in range(ROUNDS + 1):
            for contender in (0, 1) if number % 2 else (1, 0):
                times = [_asked(contenders[contender], query, 10 - number) for query in asked]
                if number:  # the first round warms up
                    taken[contender].append(times)
    medians = [[statistics.median(times) for times in zip(*rounds, strict=True)] for rounds in taken]
    slowest = sorted(range(len(asked)), key=medians[0].__getitem__)[-(len(asked) // 10) :]
    print(f"{len(asked)} queries, medians of {ROUNDS} rounds\n")
    print(
        "| searched by | p50 ms | p95 ms | p50 of the slowest tenth | p95 of the slowest tenth |\n|---|--:|--:|--:|--:|"
    )
    for name, times in zip(("one process", f"{processes} shard processes"), medians, strict=True):
        tail = [times[place] for place in slowest]
        print(f"| {name} | {_at(times, 10)} | {_at(times, 19)} | {_at(tail, 10)} | {_at(tail, 19)} |")


def _asked(collection: Collection, query: str, size: int) -> float:
    """Another size in every round: an answer that is asked for again is a kept one."""
    began = time.perf_counter()
    collection.engine.search(SearchRequest(query, size=size))
    return 1000 * (time.perf_counter() - began)


def _at(times: Sequence[float], twentieth: int) -> str:
    return f"{statistics.quantiles(times, n=20)[twentieth - 1]:.2f}"
