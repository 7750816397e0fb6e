"""PageRank as a system of linear equations, solved in sweeps (Gauss-Seidel), compiled and in threads.

Where sinks hand their mass on as the teleport says, ranks are the solution of

    x = (1 - d) t + d * sum over u -> v of x(u) * weight(u, v) / weight out of u

scaled to sum to 1 (Gleich, Zhukov and Berkhin, 2004); without scaling it is what the policy ``ignore`` gives. A sweep
puts each new value where the next vertex reads it, and so needs about half the iterations that plain ones do. Nobody
hears a sink, so sinks are left out until the end.

Each thread has its own view of the vector: fresh in its own range of vertices, as after the last sweep in the others.
So the result is a function of graph and number of threads, and does not depend on who is quicker.

What a sweep changed bounds the error as in plain iteration: the residual of a vertex comes only from neighbours that
changed after it was computed, so it sums to at most d times the change, and the error to d / (1 - d) times the change.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

    from periplus.graph.csr import Csr

    Floats = NDArray[np.float64]
    Range = tuple[int, int]

MAX_THREADS = 8  # each holds a view of 8 bytes a vertex, and more do not make memory faster


class Sweeps:
    """Holds the unscaled solution and improves it; ``rank`` has no values for sinks before ``settle``."""

    def __init__(self, graph: Csr, start: Floats, teleport: Floats, damping: float, ranges: list[Range]) -> None:
        self.graph = graph
        self.rank = start
        self._teleport = teleport
        self._damping = damping
        self._weights = np.empty(0) if graph.weights is None else graph.weights
        self._inverse = np.divide(1.0, graph.out_weight, out=np.zeros(graph.vertices), where=~graph.sinks)
        self._ranges = ranges
        self._views = [start * self._inverse]
        self._views += [self._views[0].copy() for _ in ranges[1:]]
        self._pool = ThreadPoolExecutor(len(ranges)) if len(ranges) > 1 else None

    def __enter__(self) -> Sweeps:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def advance(self) -> tuple[float, float]:
        """One sweep: how much it changed, and the sum of all ranks, sinks included."""
        change, followed = self._run(sinks=False)
        if self._pool is not None:
            list(self._pool.map(self._exchange, range(len(self._ranges))))
        return change, 1.0 - self._damping + self._damping * followed

    def settle(self) -> Floats:
        """The ranks with those of the sinks."""
        self._run(sinks=True)
        return self.rank

    def _run(self, *, sinks: bool) -> tuple[float, float]:
        run = map if self._pool is None else self._pool.map
        sums = list(run(lambda number: self._sweep(number, sinks=sinks), range(len(self._ranges))))
        change, followed = np.sum(sums, axis=0)
        return float(change), float(followed)

    def _sweep(self, number: int, *, sinks: bool) -> Floats:
        from periplus.graph.kernels import sweep

        sums = np.empty(2)
        graph, base = self.graph, 1.0 - self._damping
        sweep(
            *(graph.offsets, graph.sources, self._weights, self._inverse, graph.leak, self._teleport),
            *(self._damping, base, int(sinks), self.rank, self._views[number], sums, *self._ranges[number]),
        )
        return sums

    def _exchange(self, number: int) -> None:
        """Takes over what the other threads found."""
        view = self._views[number]
        for other, (start, stop) in enumerate(self._ranges):
            if other != number:
                view[start:stop] = self._views[other][start:stop]
