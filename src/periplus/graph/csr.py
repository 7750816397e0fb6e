"""A directed graph as compressed sparse rows: for each vertex, the vertices that link to it.

Rows are kept by target because PageRank pulls: a vertex reads the shares of those that link to it, which needs no
atomic additions and parts well among threads. Every edge stands once; its weight is 1 unless weights are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from periplus.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.integer]
    Floats = NDArray[np.float64]
    Pairs = NDArray[np.uint64]

MAX_VERTICES = 2**32 - 1  # a vertex is stored in four bytes

CHUNK = 8_000_000  # edges looked at in one step, where numpy makes wider copies


class Csr(NamedTuple):
    """``sources[offsets[v]:offsets[v + 1]]`` are the vertices that link to ``v``; no weights means all are 1."""

    offsets: NDArray[np.int64]
    sources: NDArray[np.uint32]
    weights: Floats | None
    out_weight: Floats  # what a weight is divided by to give the share of an edge; 0 for a sink
    leak: Floats  # share of a vertex's rank that follows no edge: 1 for a sink, else 0 in an ordinary graph

    @property
    def vertices(self) -> int:
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        return len(self.sources)

    @property
    def targets(self) -> NDArray[np.uint32]:
        """The target of every edge, in the order of ``sources``."""
        return np.repeat(np.arange(self.vertices, dtype=np.uint32), np.diff(self.offsets))

    @property
    def sinks(self) -> NDArray[np.bool_]:
        return np.equal(self.out_weight, 0.0)


def from_edges(
    sources: Integers,
    targets: Integers,
    vertices: int,
    weights: Floats | None = None,
    leak: Floats | None = None,
) -> Csr:
    """The graph of these edges; of an edge given several times, the first weight counts."""
    if not 0 <= vertices <= MAX_VERTICES:
        raise UsageError(f"{vertices} vertices are more than a graph can hold ({MAX_VERTICES})")
    if len(sources) and max(int(sources.max()), int(targets.max())) >= vertices:
        raise UsageError(f"an edge names a vertex beyond the last one ({vertices - 1})")
    pairs = pair(sources, targets)
    if weights is None:
        return from_pairs(_distinct_in_place(pairs), vertices, leak=leak)
    order = np.argsort(pairs, kind="stable")
    ordered = pairs[order]
    first = _firsts(ordered)
    return from_pairs(ordered[first], vertices, np.ascontiguousarray(weights[order][first], np.float64), leak)


def from_pairs(pairs: Pairs, vertices: int, weights: Floats | None = None, leak: Floats | None = None) -> Csr:
    """The graph of sorted distinct pairs, see ``pair``; the rest of a ``leak`` is parted among a vertex's edges."""
    sources = pairs.astype(np.uint32)  # the lower half
    offsets = np.searchsorted(pairs, np.arange(vertices + 1, dtype=np.uint64) << np.uint64(32))
    sums = np.zeros(vertices)
    for start in range(0, len(sources), CHUNK):
        part = slice(start, start + CHUNK)
        sums += np.bincount(sources[part], None if weights is None else weights[part], minlength=vertices)
    return Csr(offsets, sources, weights, *parted(sums, leak))


def parted(sums: Floats, leak: Floats | None) -> tuple[Floats, Floats]:
    """What weights are divided by where they sum to these, and what follows no edge."""
    lost = np.where(sums == 0, 1.0, 0.0 if leak is None else leak)
    return np.divide(sums, 1.0 - lost, out=np.zeros_like(sums), where=lost < 1), lost


def lacking(left: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """The part that the weights ``left`` lack of the ``whole``."""
    kept: Floats = np.divide(left, whole, out=np.ones(len(whole)), where=whole > 0)
    return np.clip(1.0 - kept, 0.0, 1.0)


def pair(sources: Integers, targets: Integers) -> Pairs:
    """Edges as single numbers that sort by target, then source."""
    pairs = targets.astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= sources if sources.dtype == np.uint32 else sources.astype(np.uint64)
    return pairs


def distinct(pairs: Pairs) -> Pairs:
    return _distinct_in_place(pairs.copy())


def _distinct_in_place(pairs: Pairs) -> Pairs:
    pairs.sort()
    first = _firsts(pairs)
    return pairs if first.all() else pairs[first]


def without_self_links(graph: Csr) -> Csr:
    targets = graph.targets
    other = graph.sources != targets
    return graph if other.all() else _subset(graph, targets, other)


def with_back_edges(graph: Csr) -> Csr:
    """The graph in which every sink links back to all that link to it; a sink nobody links to stays one."""
    targets = graph.targets
    into_sink = graph.sinks[targets]
    weights = None if graph.weights is None else np.concatenate((graph.weights, graph.weights[into_sink]))
    return from_edges(
        np.concatenate((graph.sources, targets[into_sink])),
        np.concatenate((targets, graph.sources[into_sink])),
        graph.vertices,
        weights,
        np.where(graph.sinks, 0.0, graph.leak),
    )


def _subset(graph: Csr, targets: NDArray[np.uint32], kept: NDArray[np.bool_]) -> Csr:
    weights = None if graph.weights is None else graph.weights[kept]
    return from_edges(graph.sources[kept], targets[kept], graph.vertices, weights, graph.leak)


def _firsts(ordered: Pairs) -> NDArray[np.bool_]:
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
