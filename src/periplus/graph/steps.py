"""One plain iteration of PageRank in two makes: numpy for small graphs, compiled and in threads for large ones.

Both do the same arithmetic; which one runs changes nothing but the last bits of a rank. The compiled one reads each
edge once and does everything else of an iteration in the same pass. Large graphs take the quicker ``sweeps``, except
with the policy ``normalise``, which has no linear equations.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from periplus.core.layout.link_graph import Edges, VertexTables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.graph.csr import Csr

    Floats = NDArray[np.float64]

COMPILED_FROM = 300_000  # edges; below, loading numba costs more than it saves
EDGES_A_THREAD = 500_000  # fewer are not worth a thread


class Sums(NamedTuple):
    difference: float  # L1, to the rank before
    lost: float  # mass that follows no edge: that of sinks, in an ordinary graph
    total: float


class Step(Protocol):
    """Holds a rank vector and advances it."""

    rank: Floats

    def advance(self, damping: float, base: float) -> Sums: ...

    def scale(self, factor: float) -> None: ...

    def __enter__(self) -> Step: ...

    def __exit__(self, *_: object) -> None: ...


def step_for(graph: Csr, rank: Floats, teleport: Floats, threads: int = 0) -> Step:
    """The make that suits the size of the graph; ``threads`` 0 takes as many as there are cores and work."""
    if graph.edges < COMPILED_FROM:
        return PlainStep(graph, rank, teleport)
    return CompiledStep(graph, rank, teleport, ranges_for(graph, threads))


def ranges_for(graph: Csr, threads: int = 0, most: int = 1024) -> list[tuple[int, int]]:
    """Ranges of vertices, one a thread: as many as are wanted, or as there are cores and work."""
    wanted = threads or min(os.cpu_count() or 1, graph.edges // EDGES_A_THREAD)
    return _even_ranges(graph, max(1, min(wanted, most)))


class _State:
    def __init__(self, graph: Csr, rank: Floats, teleport: Floats) -> None:
        self.graph = graph
        self.rank = rank
        self.teleport = teleport
        with np.errstate(divide="ignore"):
            self.inverse = np.where(graph.sinks, 0.0, 1.0 / graph.out_weight)
        self.share = rank * self.inverse

    def scale(self, factor: float) -> None:
        self.rank *= factor
        self.share *= factor

    def __exit__(self, *_: object) -> None:
        pass


class PlainStep(_State):
    def __init__(self, graph: Csr, rank: Floats, teleport: Floats) -> None:
        super().__init__(graph, rank, teleport)
        self._targets = graph.targets

    def __enter__(self) -> PlainStep:
        return self

    def advance(self, damping: float, base: float) -> Sums:
        sent = self.share[self.graph.sources]
        if self.graph.weights is not None:
            sent *= self.graph.weights
        new = damping * np.bincount(self._targets, sent, minlength=self.graph.vertices) + base * self.teleport
        difference = float(np.abs(new - self.rank).sum())
        self.rank = new
        self.share = new * self.inverse
        return Sums(difference, float(new @ self.graph.leak), float(new.sum()))


class CompiledStep(_State):
    def __init__(self, graph: Csr, rank: Floats, teleport: Floats, ranges: list[tuple[int, int]]) -> None:
        super().__init__(graph, rank, teleport)
        self._edges = Edges(graph.offsets, graph.sources, np.empty(0) if graph.weights is None else graph.weights)
        self._vertices = VertexTables(self.inverse, graph.leak, teleport)
        self._other_rank = np.empty_like(rank)
        self._other_share = np.empty_like(rank)
        self._ranges = ranges
        self._pool = ThreadPoolExecutor(len(ranges)) if len(ranges) > 1 else None

    def __enter__(self) -> CompiledStep:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def advance(self, damping: float, base: float) -> Sums:
        run = map if self._pool is None else self._pool.map
        sums = np.sum(list(run(lambda part: self._pull(part, damping, base), self._ranges)), axis=0)
        self.rank, self._other_rank = self._other_rank, self.rank
        self.share, self._other_share = self._other_share, self.share
        return Sums(*map(float, sums))

    def _pull(self, part: tuple[int, int], damping: float, base: float) -> Floats:
        from periplus.core.graph import pull

        sums = np.empty(3)
        vectors = (self.rank, self.share, self._other_rank, self._other_share)
        pull(self._edges, self._vertices, damping, base, *vectors, sums, *part)
        return sums


def _even_ranges(graph: Csr, parts: int) -> list[tuple[int, int]]:
    """VertexTables in ``parts`` ranges with about as much work in each: an edge and a vertex cost about the same."""
    count, total = graph.vertices, graph.edges + graph.vertices
    cuts = [total * number / parts for number in range(1, parts)]
    bounds = [0, *(bisect_left(range(count), cut, key=lambda v: graph.offsets[v] + v) for cut in cuts), count]
    return list(pairwise(bounds))
