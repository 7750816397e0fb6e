"""A link graph in memory: the edges into each vertex, and what an iteration knows of vertices."""

from __future__ import annotations

from typing import NamedTuple

from periplus.core.layout.kinds import ReadF64, ReadI64, ReadU32


class Edges(NamedTuple):
    offsets: ReadI64
    sources: ReadU32
    weights: ReadF64  # empty: all are 1


class VertexTables(NamedTuple):
    inverse: ReadF64  # one over weight out; 0 for a sink
    leak: ReadF64  # share of a rank that follows no edge
    teleport: ReadF64  # one value for all vertices, or one each
