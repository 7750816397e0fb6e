"""A broker over a thousand shards with drawn latencies: ``make soak-sim-broker``.

Time is simulated: no sockets, no threads. The rules are those of ``cluster.asking``: the less loaded of two servers, a
hedge after the shard's p95 within the budget, the end of the round. Beside it stands a broker without hedging.
"""

from __future__ import annotations

import argparse
import random
import statistics

from periplus.cluster.asking import HEDGE_LEAST, HEDGE_UNKNOWN
from periplus.cluster.servers import HedgeBudget, Times

ROUND = 0.25  # seconds: half of the budget of a search
REPLICAS = 2
USUAL, SPREAD = 0.003, 0.4  # seconds in the middle, and the spread of their logarithm
HICCUP = 0.002  # of all answers come as late as a pause of the machine or a lost packet makes them
LATE = (0.05, 0.6)  # seconds, drawn evenly
FROZEN = 0.0005  # of all servers do not answer at all


class Drawn:
    """Latencies of servers, the same in every run."""

    def __init__(self, shards: int, seed: int) -> None:
        self._random = random.Random(seed)
        self._frozen = {
            (shard, replica) for shard in range(shards) for replica in range(REPLICAS) if self._random.random() < FROZEN
        }

    def latency(self, shard: int, replica: int) -> float:
        if (shard, replica) in self._frozen:
            return float("inf")
        if self._random.random() < HICCUP:
            return self._random.uniform(*LATE)
        return USUAL * self._random.lognormvariate(0.0, SPREAD)

    def choose(self) -> int:
        return int(self._random.random() * REPLICAS)


def simulated(shards: int, queries: int, *, hedging: bool, seed: int = 3) -> dict[str, float]:
    """What queries take, and how many answers lack a shard."""
    drawn, budget = Drawn(shards, seed), HedgeBudget()
    times = [Times() for _ in range(shards)]
    taken, degraded, lost, hedges = [], 0, 0, 0
    for _ in range(queries):
        budget.earn(shards)
        slowest, missing = 0.0, 0
        for shard in range(shards):
            first = drawn.choose()
            latency = drawn.latency(shard, first)
            hedge_at = max(HEDGE_LEAST, times[shard].p95 or HEDGE_UNKNOWN)
            if hedging and latency > hedge_at and budget.spend():
                hedges += 1
                latency = min(latency, hedge_at + drawn.latency(shard, 1 - first))
            if latency > ROUND:
                missing += 1
                latency = ROUND
            else:
                times[shard].add(latency)
            slowest = max(slowest, latency)
        taken.append(1000 * slowest)
        lost += missing
        degraded += missing > 0
    cuts = statistics.quantiles(taken, n=100)
    return {
        "p50": statistics.median(taken),
        "p95": cuts[94],
        "p99": cuts[98],
        "hedges": hedges / (queries * shards),
        "degraded": degraded / queries,
        "lost": lost / (queries * shards),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=1_000)
    parser.add_argument("--queries", type=int, default=500)
    options = parser.parse_args()
    print(f"{options.shards:,} shards, {REPLICAS} servers each, {options.queries:,} queries; milliseconds of a round\n")
    print("| broker | p50 | p95 | p99 | hedges | answers that lack a shard | documents not searched |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, hedging in (("without hedging", False), ("with hedging", True)):
        found = simulated(options.shards, options.queries, hedging=hedging)
        print(
            f"| {name} | {found['p50']:.0f} | {found['p95']:.0f} | {found['p99']:.0f} | {found['hedges']:.2%} "
            f"| {found['degraded']:.1%} | {found['lost']:.4%} |"
        )


if __name__ == "__main__":
    main()
