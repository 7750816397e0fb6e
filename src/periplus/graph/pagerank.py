"""PageRank by power iteration, with the policies that published systems differ in.

    rank(v) = (1 - d) t(v)  +  d * sum over u -> v of  rank(u) * weight(u, v) / weight out of u  +  what sinks hold

after Brin and Page, 1998. ``d`` is the damping, ``t`` the teleport distribution (uniform, or personal). Policies for
the mass on sinks (*dangling*):

- ``spread``: evenly over all vertices, or as ``t`` says when it is personal; ranks sum to 1;
- ``normalise``: it is lost, and the vector is scaled back to its initial sum after every iteration;
- ``back-edges``: a sink links back to all that link to it; one nobody links to is spread;
- ``ignore``: it is lost, and ranks sum to less than 1.

A graph may leak (``Csr.leak``): that part of a rank is treated like the mass on a sink.

The form ``probability`` sums to 1; ``classic`` gives every vertex 1 - d instead of its share of it, so it is larger by
the number of vertices. Differences are those of the probability form.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from msgspec import Struct

from periplus.errors import UsageError
from periplus.graph import csr, steps
from periplus.graph.sweeps import MAX_THREADS, Sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.graph.csr import Csr

    Floats = NDArray[np.float64]

DAMPING = 0.85
TOLERANCE = 1e-10
MAX_ITERATIONS = 10_000  # a damping of 0.99 needs 2,300 to reach the tolerance

Dangling = Literal["spread", "normalise", "back-edges", "ignore"]
Form = Literal["probability", "classic"]


class Convergence(Struct, frozen=True):
    """One row of the convergence table."""

    iteration: int
    difference: float
    seconds: float  # since the start


class PageRank(Struct, frozen=True):
    ranks: Floats
    iterations: int
    converged: bool
    difference: float
    seconds: float
    history: tuple[Convergence, ...]


def pagerank(
    graph: Csr,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    dangling: Dangling = "spread",
    self_links: bool = True,
    form: Form = "probability",
    teleport: Floats | None = None,
    start: Floats | None = None,
    check_every: int = 1,
    threads: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> PageRank:
    """Ranks of all vertices; ends when the L1 difference of an iteration is at most ``tolerance``.

    The error of the result is at most d / (1 - d) times the last difference. ``start`` begins from earlier ranks.
    """
    check_options(damping, tolerance, max_iterations, check_every, dangling, form)
    if not self_links:
        graph = csr.without_self_links(graph)
    if dangling == "back-edges":
        graph = csr.with_back_edges(graph)
    count = graph.vertices
    if not count:
        return PageRank(np.empty(0), 0, converged=True, difference=0.0, seconds=0.0, history=())
    uniform = np.full(1, 1.0 / count)
    personal = uniform if teleport is None else distribution(teleport, count, "teleport")
    first = np.broadcast_to(personal, count).copy() if start is None else distribution(start, count, "start")
    watch = Watch(tolerance, max_iterations, check_every, progress)
    if dangling == "normalise" or graph.edges < steps.COMPILED_FROM:
        ranks = _iterated(graph, first, personal, damping, dangling, threads, watch)
    else:
        ranks = _swept(graph, first, personal, damping, dangling, threads, watch)
    if form == "classic":
        ranks *= count
    history, last = watch.history, watch.history[-1]
    return PageRank(ranks, last.iteration, last.difference <= tolerance, last.difference, last.seconds, tuple(history))


class Watch:
    """Decides when to stop, and keeps the convergence table."""

    def __init__(
        self,
        tolerance: float,
        max_iterations: int,
        every: int,
        progress: Callable[[int, float], None] | None,
        before: Sequence[Convergence] = (),
    ) -> None:
        """``before``: rows of a table that is gone on with."""
        self._tolerance = tolerance
        self._most = max_iterations
        self._every = every
        self._progress = progress
        self._began = time.perf_counter() - (before[-1].seconds if before else 0.0)
        self._iteration = before[-1].iteration if before else 0
        self.history = list(before)

    def ends(self, difference: float) -> bool:
        """To be told the difference after every iteration."""
        self._iteration += 1
        if self._iteration % self._every and self._iteration < self._most:
            return False
        self.history.append(Convergence(self._iteration, difference, time.perf_counter() - self._began))
        if self._progress is not None:
            self._progress(self._iteration, difference)
        return self.is_over

    @property
    def is_over(self) -> bool:
        """Whether the last row of the table is good enough, or one too many."""
        last = self.history[-1]
        return last.difference <= self._tolerance or last.iteration >= self._most


def _iterated(
    graph: Csr, first: Floats, teleport: Floats, damping: float, dangling: str, threads: int, watch: Watch
) -> Floats:
    """By plain iteration."""
    spread = dangling in ("spread", "back-edges")
    lost = float(first @ graph.leak)
    with steps.step_for(graph, first, teleport, threads) as step:
        while True:
            before = step.rank.copy() if dangling == "normalise" else step.rank
            sums = step.advance(damping, 1.0 - damping + (damping * lost if spread else 0.0))
            difference, lost = sums.difference, sums.lost
            if dangling == "normalise":
                step.scale(1.0 / sums.total)
                difference = float(np.abs(step.rank - before).sum())
            if watch.ends(difference):
                return step.rank


def _swept(
    graph: Csr, first: Floats, teleport: Floats, damping: float, dangling: str, threads: int, watch: Watch
) -> Floats:
    """By sweeps over the linear equations; where nothing is lost, the solution is scaled to sum to 1 at the end."""
    scaled = dangling != "ignore"
    if scaled:
        first *= (1.0 - damping) / (1.0 - damping + damping * float(first @ graph.leak))
    with Sweeps(graph, first, teleport, damping, steps.ranges_for(graph, threads, MAX_THREADS)) as sweeps:
        while True:
            change, total = sweeps.advance()
            # Scaling can double the error, relative to the sum.
            if watch.ends(2.0 * change / total if scaled else change):
                break
        ranks = sweeps.settle()
    return ranks / ranks.sum() if scaled else ranks


def distribution(values: Floats, count: int, name: str) -> Floats:
    """Weights of all vertices, scaled to sum to 1."""
    weights = np.array(values, np.float64)
    if weights.shape != (count,):
        raise UsageError(f"{name} has {weights.size} values for {count} vertices; give one each")
    total = float(weights.sum())
    if not np.isfinite(total) or total <= 0 or weights.min() < 0:
        raise UsageError(f"{name} must hold numbers of at least 0, and not only zeros")
    return weights / total


def check_options(
    damping: float, tolerance: float, max_iterations: int, check_every: int, dangling: str, form: str
) -> None:
    if not 0 <= damping < 1:
        raise UsageError(f"damping is {damping}; give a number from 0 to below 1")
    if not tolerance > 0:
        raise UsageError(f"tolerance is {tolerance}; give a number above 0")
    if max_iterations < 1 or check_every < 1:
        raise UsageError("iterations are counted from 1; give whole numbers of at least 1")
    if dangling not in get_args(Dangling):
        raise UsageError(f"dangling is {dangling!r}; give one of {', '.join(get_args(Dangling))}")
    if form not in get_args(Form):
        raise UsageError(f"form is {form!r}; give one of {', '.join(get_args(Form))}")
