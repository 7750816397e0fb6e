"""PageRank as a system of linear equations, solved in sweeps (Gauss-Seidel), compiled and in threads.

Where sinks hand their mass on as the teleport says, ranks are the solution of

    x = (1 - d) t + d * sum over u -> v of x(u) * weight(u, v) / weight out of u

scaled to sum to 1 (Gleich, Zhukov and Berkhin, 2004); without scaling it is what the policy ``ignore`` gives. A sweep
puts each new value where the next vertex reads it, and so needs about half the iterations that plain ones do. Nobody
hears a sink, so sinks are left out until the end.

A sweep alone is slow to find the right sum S of all ranks that are heard. But for the solution S = B + d Q, with B what
they get from the teleport and Q what reaches them from one another; so the vector is scaled by B / (S - d Q) between
sweeps, while that is more than a small part of what a sweep changes.

After every third sweep the vector is extrapolated: of all combinations of the last three steps, take the one that would
leave the least step (reduced rank extrapolation, Eddy 1979). It removes the few slow modes that the last digits wait
for, and a sweep always follows it, so what is said of errors below still holds. All together needs a quarter of the
plain iterations on web-like graphs, and as many on random ones, where plain iteration is at its best.

Each thread has its own view of the vector: fresh in its own range of vertices, as after the last sweep in the others.
So the result is a function of graph and number of threads, and does not depend on who is quicker.

What a sweep changed bounds the error as in plain iteration: the residual of a vertex comes only from neighbours that
changed after it was computed, so it sums to at most d times the change, and the error to d / (1 - d) times the change.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from periplus.core.layout.link_graph import Edges, VertexTables

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from periplus.graph.csr import Csr

    Floats = NDArray[np.float64]
    Range = tuple[int, int]

BEFORE_EXTRAPOLATING = 3  # sweeps, in which the fast modes vanish
STEPS = 3  # sweeps from one extrapolation to the next
WORTH_SCALING = 0.1  # of the change
LARGEST_FACTOR = 100.0  # steps that differ too little say nothing
NOTHING: Floats = np.empty(0)
MAX_THREADS = 8  # each holds a view of 8 bytes a vertex, and more do not make memory faster


class Sweeps:
    """Holds the unscaled solution and improves it; ``rank`` has no values for sinks before ``settle``."""

    def __init__(self, graph: Csr, start: Floats, teleport: Floats, damping: float, ranges: list[Range]) -> None:
        self.graph = graph
        self.rank = start
        self._damping = damping
        self._edges = Edges(graph.offsets, graph.sources, NOTHING if graph.weights is None else graph.weights)
        self._ranges = ranges
        self._inverse = np.empty(graph.vertices)
        self._vertices = VertexTables(self._inverse, graph.leak, teleport)
        self._views = [np.empty(graph.vertices) for _ in ranges]
        self._pool = ThreadPoolExecutor(len(ranges)) if len(ranges) > 1 else None
        self._sweeps = 0
        self._run(self._prepare)
        self._exchange()
        self._heard = self._find_heard()
        given = teleport @ ~graph.sinks if len(teleport) > 1 else teleport[0] * np.count_nonzero(self._inverse)
        self._given = (1.0 - damping) * float(given)
        self._factor = 1.0
        self._before: list[Floats] = []  # vectors before each of the last sweeps
        self._spare: list[Floats] = []

    def __enter__(self) -> Sweeps:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def advance(self) -> tuple[float, float]:
        """One sweep: how much it changed, and the sum of all ranks, sinks included."""
        if len(self._before) == STEPS:
            self._extrapolate()
        elif self._factor != 1.0:
            self._run(self._scale)
        before = self._next_before()
        sweep = partial(self._sweep, sinks=False, before=before)
        change, followed, total, reaching = self._run(sweep).tolist()
        self._sweeps += 1
        self._exchange()
        self._factor = scaling_factor(self._given, self._damping, change, total, reaching)
        return change, 1.0 - self._damping + self._damping * followed

    def settle(self) -> Floats:
        """The ranks with those of the sinks."""
        self._run(partial(self._sweep, sinks=True, before=NOTHING))
        return self.rank

    def _run(self, work: Callable[[int], Floats]) -> Floats:
        """The work of all threads, and the sum of what it gives."""
        run = map if self._pool is None else self._pool.map
        return np.asarray(np.sum(list(run(work, range(len(self._ranges)))), axis=0), np.float64)

    def _sweep(self, number: int, *, sinks: bool, before: Floats) -> Floats:
        from periplus.core.graph import sweep

        sums, view = np.empty(4), self._views[number]
        given = (self._heard, self._damping, int(sinks), 0)
        sweep(self._edges, self._vertices, *given, self.rank, view, before, sums, *self._ranges[number])
        return sums

    def _prepare(self, number: int) -> Floats:
        """One over the weights out and the shares that go with them; sinks have no rank until the end."""
        mine = slice(*self._ranges[number])
        weight, inverse = self.graph.out_weight[mine], self._inverse[mine]
        inverse[:] = 0.0
        np.divide(1.0, weight, out=inverse, where=weight != 0.0)
        self.rank[mine][weight == 0.0] = 0.0
        np.multiply(self.rank[mine], inverse, out=self._views[number][mine])
        return NOTHING

    def _find_heard(self) -> Floats:
        """For each vertex the share of its rank that reaches vertices that are no sinks."""
        from periplus.core.graph import find_heard

        parts = [np.zeros(self.graph.vertices) for _ in self._ranges]

        def find(number: int) -> Floats:
            start, stop = self._ranges[number]
            find_heard(self._edges, self._inverse, parts[number], start, stop)
            return NOTHING

        def add(number: int) -> Floats:
            mine = slice(*self._ranges[number])
            for other in parts[1:]:
                parts[0][mine] += other[mine]
            parts[0][mine] *= self._inverse[mine]
            return NOTHING

        self._run(find)
        self._run(add)
        return parts[0]

    def _scale(self, number: int) -> Floats:
        start, stop = self._ranges[number]
        self.rank[start:stop] *= self._factor
        self._views[number] *= self._factor
        return NOTHING

    def _next_before(self) -> Floats:
        """Where the next sweep leaves the vector as it was."""
        if self._sweeps < BEFORE_EXTRAPOLATING:
            return NOTHING
        self._before.append(self._spare.pop() if self._spare else np.zeros_like(self.rank))
        return self._before[-1]

    def _extrapolate(self) -> None:
        from periplus.core.graph import combine_steps, measure_steps

        first, second, third = self._before

        def measure(number: int) -> Floats:
            sums = np.empty(5)
            measure_steps(first, second, third, self.rank, sums, *self._ranges[number])
            return sums

        factors = least_step(*self._run(measure).tolist())
        if factors is not None:

            def combine(number: int) -> Floats:
                combine_steps(
                    second, third, self.rank, self._views[number], self._inverse, *factors, *self._ranges[number]
                )
                return NOTHING

            self._run(combine)
            self._exchange()
        self._spare, self._before = self._before, []

    def _exchange(self) -> None:
        """Each thread takes over what the others found."""
        if self._pool is not None:
            list(self._pool.map(self._take_over, range(len(self._ranges))))

    def _take_over(self, number: int) -> None:
        view = self._views[number]
        for other, (start, stop) in enumerate(self._ranges):
            if other != number:
                view[start:stop] = self._views[other][start:stop]


def scaling_factor(given: float, damping: float, change: float, total: float, reaching: float) -> float:
    """What all ranks should be multiplied with; 1 when it is not worth the while."""
    rest = total - damping * reaching
    if rest <= 0 or given <= 0:
        return 1.0
    factor = given / rest
    return factor if abs(factor - 1.0) * total > WORTH_SCALING * change else 1.0


def least_step(aa: float, ab: float, bb: float, af: float, bf: float) -> tuple[float, float] | None:
    """Factors x, y for which the step less x a and y b is shortest; None where the equations say too little."""
    determinant = aa * bb - ab * ab
    if not determinant > 1e-12 * aa * bb:
        return None
    factors = (bb * af - ab * bf) / determinant, (aa * bf - ab * af) / determinant
    return factors if max(map(abs, factors)) < LARGEST_FACTOR else None
