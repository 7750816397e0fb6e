"""One contender on one graph, in a process of its own, so that its memory is its own; prints a line of JSON."""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.rank.contenders import CONTENDERS, CORES
from bench.rank.graphs import Edges

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.rank.contenders import Contender

REPEATS = 3
LONG_ENOUGH = 20.0  # seconds; what takes longer is not repeated
GATHERS, LARGE_GATHERS, LARGE = 7, 3, 50_000_000


class Timed:
    """Wall and CPU seconds of a call; the result is in ``value``."""

    def __init__(self, call: Callable[[], Any]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        self.value = call()
        self.wall, self.cpu = time.perf_counter() - wall, time.process_time() - cpu

    def times(self) -> dict[str, float]:
        return {"wall": self.wall, "cpu": self.cpu}


def peak_mb() -> float:
    """The most resident memory of this program; getrusage would count what the parent had before."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def best_of(call: Callable[[], Any]) -> Timed:
    """The quickest of some runs: others use the machine, too."""
    best = Timed(call)
    for _ in range(REPEATS - 1):
        if best.wall > LONG_ENOUGH:
            break
        again = Timed(call)
        best = again if again.wall < best.wall else best
    return best


def error(ranks: np.ndarray, reference: np.ndarray) -> float:
    return float(np.abs(ranks / ranks.sum() - reference / reference.sum()).sum())


def measure(contender: Contender, folder: Path, target: float, settings: list[float]) -> dict[str, Any]:
    edges = Edges.load(folder)
    reference = np.load(folder / "reference.npy")
    np.asarray(edges.sources).max(), np.asarray(edges.targets).max()  # read them from disk beforehand
    before = peak_mb()
    built = Timed(lambda: contender.build(edges))
    contender.rank(built.value, 0.5)  # load and compile what is needed, once
    tried = []
    for setting in settings or contender.settings:
        run = best_of(lambda setting=setting: contender.rank(built.value, setting))
        tried.append({"setting": setting, "error": error(run.value, reference), **run.times()})
        if tried[-1]["error"] <= target:
            break
    found = {"build": built.times(), "tried": tried, "peak_mb": peak_mb(), "inputs_mb": before}
    if contender.name.startswith("periplus"):
        found |= against_gather(contender, built.value, tried[-1]["setting"])
    return found


def against_gather(contender: Any, graph: Any, setting: float) -> dict[str, Any]:
    """An iteration against the least that any iteration must do, in turns."""
    import numba

    from periplus.graph.steps import ranges_for

    @numba.njit("void(int64[::1], uint32[::1], float64[::1], float64[::1], int64, int64)", nogil=True)
    def gather(offsets, sources, share, new, start, stop):
        for vertex in range(start, stop):
            received = 0.0
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                received += share[sources[edge]]
            new[vertex] = received

    ranges = ranges_for(graph, 1 if contender.name.endswith("-1") else CORES)
    share, new = np.random.default_rng(1).random(graph.vertices), np.empty(graph.vertices)

    def once(pool: ThreadPoolExecutor) -> None:
        list(pool.map(lambda part: gather(graph.offsets, graph.sources, share, new, *part), ranges))

    bare, ours = [], []
    with ThreadPoolExecutor(len(ranges)) as pool:
        once(pool)
        for _ in range(LARGE_GATHERS if graph.edges > LARGE else GATHERS):
            bare.append(Timed(lambda: once(pool)))
            run = Timed(lambda: contender.compute(graph, setting))
            iterations = run.value.iterations
            ours.append((iteration_seconds(run.value.history), run.cpu / iterations))
    return {
        "iterations": iterations,
        "iteration": {"wall": min(wall for wall, _ in ours), "cpu": min(cpu for _, cpu in ours)},
        "gather": {"wall": min(run.wall for run in bare), "cpu": min(run.cpu for run in bare)},
    }


def iteration_seconds(history: tuple[Any, ...]) -> float:
    """The median iteration, extrapolation and all; what comes before the first is in the CPU time."""
    return float(np.median(np.diff([row.seconds for row in history])))


def make_reference(folder: Path) -> dict[str, Any]:
    """A long run of ours, and its residual by scipy's own product: a bound of its error that owes us nothing."""
    edges = Edges.load(folder)
    ours = CONTENDERS["periplus"]
    ranks = ours.rank(ours.build(edges), 1e-13)
    np.save(folder / "reference.npy", ranks)
    matrix, sinks = CONTENDERS["scipy"].build(edges)
    again = 0.85 * (matrix @ ranks) + (0.15 + 0.85 * ranks[sinks].sum()) / edges.vertices
    return {"bound": float(np.abs(again - ranks).sum()) / 0.15}


def main() -> None:
    name, folder, target, *settings = sys.argv[1:]
    if name == "reference":
        found = make_reference(Path(folder))
    else:
        found = measure(CONTENDERS[name], Path(folder), float(target), [float(value) for value in settings])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
