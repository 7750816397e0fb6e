"""The inner loops of PageRank, for graphs that are large enough to pay for a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import F64, I64, M_F64, R_F64, kernel, signature
from periplus.core.layout.link_graph import Edges, VertexTables

_ONE, _TWO = np.uint64(1), np.uint64(2)  # unsigned, since numba looks for negative places otherwise


@kernel(signature("void", Edges, VertexTables, F64, F64, R_F64, R_F64, M_F64, M_F64, M_F64, I64, I64))
def pull(
    edges: Any,
    vertices: Any,
    damping: float,
    base: float,  # what teleport is multiplied with
    rank: Any,
    share: Any,  # rank over weight out
    new_rank: Any,
    new_share: Any,
    sums: Any,  # difference, mass that follows no edge, mass of all
    start: int,
    stop: int,
) -> None:
    """One iteration for the vertices from ``start`` to ``stop``."""
    offsets, sources, weights = edges
    inverse, leak, teleport = vertices
    difference = 0.0
    lost = 0.0
    total = 0.0
    personal = len(teleport) > 1
    weighted = len(weights) > 0
    for vertex in range(start, stop):
        received = 0.0
        if weighted:
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                received += weights[edge] * share[sources[edge]]
        else:
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                received += share[sources[edge]]
        value = damping * received + base * (teleport[vertex] if personal else teleport[0])
        difference += abs(value - rank[vertex])
        total += value
        lost += value * leak[vertex]
        new_rank[vertex] = value
        new_share[vertex] = value * inverse[vertex]
    sums[0] = difference
    sums[1] = lost
    sums[2] = total


@kernel(signature("void", Edges, VertexTables, R_F64, F64, I64, I64, M_F64, M_F64, M_F64, M_F64, I64, I64))
def sweep(
    edges: Any,
    vertices: Any,
    heard: Any,  # share of a rank that reaches vertices that are no sinks
    damping: float,
    sinks: int,  # 1: only sinks, else all others
    first: int,  # place in ``share`` of the first vertex of all other arrays
    rank: Any,
    share: Any,  # rank over weight out of the whole graph, as this caller sees it
    before: Any,  # takes the ranks as they were; empty: nobody asks
    sums: Any,  # difference, mass that follows edges, mass, mass that reaches vertices that are no sinks
    start: int,
    stop: int,
) -> None:
    """Replaces the ranks from ``start`` to ``stop`` by what their equations give, one after the other."""
    offsets, sources, weights = edges
    inverse, leak, teleport = vertices
    difference = 0.0
    followed = 0.0
    total = 0.0
    reaching = 0.0
    personal = len(teleport) > 1
    weighted = len(weights) > 0
    remembered = len(before) > 0
    for vertex in range(start, stop):
        part = inverse[vertex]
        if (part == 0.0) != (sinks == 1):
            continue
        edge = np.uint64(offsets[vertex])
        end = np.uint64(offsets[vertex + 1])
        received = 0.0
        other = 0.0
        if weighted:
            while edge < end:
                received += weights[edge] * share[sources[edge]]
                edge += _ONE
        else:
            while edge + _ONE < end:  # two sums at once: additions need not wait for one another
                received += share[sources[edge]]
                other += share[sources[edge + _ONE]]
                edge += _TWO
            if edge < end:
                received += share[sources[edge]]
        value = damping * (received + other) + (1.0 - damping) * (teleport[vertex] if personal else teleport[0])
        old = rank[vertex]
        if remembered:
            before[vertex] = old
        difference += abs(value - old)
        followed += value * (1.0 - leak[vertex])
        total += value
        reaching += value * heard[vertex]
        rank[vertex] = value
        if part != 0.0:
            share[first + vertex] = value * part
    sums[0] = difference
    sums[1] = followed
    sums[2] = total
    sums[3] = reaching


@kernel(signature("void", Edges, R_F64, M_F64, I64, I64))
def find_heard(edges: Any, inverse: Any, heard: Any, start: int, stop: int) -> None:
    """Adds to each vertex the weight of its edges to vertices from ``start`` to ``stop`` that are no sinks."""
    offsets, sources, weights = edges
    weighted = len(weights) > 0
    for vertex in range(start, stop):
        if inverse[vertex] != 0.0:
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                heard[sources[edge]] += weights[edge] if weighted else 1.0


@kernel(signature("void", R_F64, R_F64, R_F64, R_F64, M_F64, I64, I64))
def measure_steps(first: Any, second: Any, third: Any, fourth: Any, sums: Any, start: int, stop: int) -> None:
    """Products of the last step and of how the steps differ, for the vectors after four sweeps."""
    aa = 0.0
    ab = 0.0
    bb = 0.0
    af = 0.0
    bf = 0.0
    for vertex in range(start, stop):
        step = third[vertex] - second[vertex]
        last = fourth[vertex] - third[vertex]
        a = step - (second[vertex] - first[vertex])
        b = last - step
        aa += a * a
        ab += a * b
        bb += b * b
        af += a * last
        bf += b * last
    sums[0] = aa
    sums[1] = ab
    sums[2] = bb
    sums[3] = af
    sums[4] = bf


@kernel(signature("void", R_F64, R_F64, M_F64, M_F64, R_F64, F64, F64, I64, I64))
def combine_steps(
    second: Any, third: Any, rank: Any, share: Any, inverse: Any, back: float, on: float, start: int, stop: int
) -> None:
    """Takes ``back`` times the step before the last and ``on`` times the last step off the ranks."""
    for vertex in range(start, stop):
        value = rank[vertex]
        value -= back * (third[vertex] - second[vertex]) + on * (value - third[vertex])
        rank[vertex] = value
        share[vertex] = value * inverse[vertex]
