"""How far it is from one vertex to another: distances from a set, and harmonic centrality.

    harmonic centrality of v = mean over all u of 1 / distance(u, v)

estimated from ``SAMPLES`` vertices u chosen by a fixed seed: searches from 64 of them run at once, one bit each, so a
level costs one pass over the edges. The standard error is about 1 / sqrt(SAMPLES) of the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from periplus.graph.csr import Csr

    Bits = NDArray[np.uint64]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

SAMPLES: Final = 256
FARTHEST: Final = 64  # levels; beyond, a vertex counts as unreachable
SEED: Final = 1


def distances(graph: Csr, start: Integers) -> Integers:
    """Links from the nearest vertex of ``start``; 0 for these, -1 where no way leads."""
    found = np.full(graph.vertices, -1, np.int64)
    bits = np.zeros(graph.vertices, np.uint64)
    bits[start] = 1
    found[start] = 0
    for level, new in _levels(graph, bits):
        found[new != 0] = level
    return found


def harmonic(graph: Csr) -> Floats:
    """Estimated harmonic centrality of every vertex, from 0 to 1; exact when ``SAMPLES`` cover the graph."""
    total = np.zeros(graph.vertices)
    if not graph.vertices:
        return total
    chosen = np.random.default_rng(SEED).permutation(graph.vertices)[:SAMPLES]
    for first in range(0, len(chosen), 64):
        some = chosen[first : first + 64]
        bits = np.zeros(graph.vertices, np.uint64)
        bits[some] = np.uint64(1) << np.arange(len(some), dtype=np.uint64)
        for level, new in _levels(graph, bits):
            total += np.bitwise_count(new) / level
    return total / len(chosen)


def _levels(graph: Csr, bits: Bits) -> Iterator[tuple[int, Bits]]:
    """Breadth-first search for every bit at once: the bits that reach each vertex first at level 1, 2, …"""
    seen, new = bits.copy(), bits
    rows = np.flatnonzero(np.diff(graph.offsets))
    starts = graph.offsets[rows]
    for level in range(1, FARTHEST + 1):
        reached = np.zeros_like(bits)
        if len(rows):
            reached[rows] = np.bitwise_or.reduceat(new[graph.sources], starts)
        new = reached & ~seen
        if not new.any():
            return
        seen |= new
        yield level, new
