"""A link graph in blocks: the edges into one range of vertices each, in files, for graphs that outgrow the memory.

    edges-00007      where the edges of each vertex begin, weights, sources
    vertices-00007   one over the weight out, leak, and the share of a rank that is heard, of the vertices of the range

Edges come sorted by target and are written as they come, so memory holds those of one block. What is known of vertices
(40 bytes each) is held while blocks are written, and is in the files afterwards.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct
from xxhash import xxh3_64

from periplus.core.layout.link_graph import Edges
from periplus.graph import csr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.storage import LocalFiles

    Floats = NDArray[np.float64]
    Pairs = NDArray[np.uint64]

BLOCK_EDGES = 8_000_000  # of one block: 96 MB; a vertex that has more is a block by itself
BLOCK_VERTICES = 8_000_000
BYTES_A_LINK = 28  # that a graph in memory takes while it is finished
BYTES_A_PAGE = 100  # and while it is ranked

_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)


class EdgeBlock(Struct, frozen=True):
    """A range of vertices with the edges that lead to them."""

    number: int
    start: int
    stop: int
    edges: int

    @property
    def vertices(self) -> int:
        return self.stop - self.start

    @property
    def edge_file(self) -> str:
        return f"edges-{self.number:05d}"

    @property
    def vertex_file(self) -> str:
        return f"vertices-{self.number:05d}"


class BlockVertices(NamedTuple):
    """What is known of the vertices of a block."""

    inverse: Floats  # one over weight out; 0 for a sink
    leak: Floats
    heard: Floats  # share of a rank that reaches vertices that are no sinks


class BlockGraph(NamedTuple):
    """Blocks that follow one another and hold every vertex."""

    files: LocalFiles
    vertices: int
    edges: int
    blocks: tuple[EdgeBlock, ...]
    digest: str  # of all edges and weights


class BlockStorage(NamedTuple):
    """Where a graph is laid out in blocks, and how many bytes it may take before it is."""

    files: LocalFiles
    memory: int

    def is_wanted(self, links: int, pages: int) -> bool:
        return BYTES_A_LINK * links + BYTES_A_PAGE * pages > self.memory

    def clear(self) -> None:
        """Remove everything, since nobody goes on from it."""
        shutil.rmtree(self.files.root, ignore_errors=True)


class BlockWriter:
    """Takes sorted edges in parts and leaves the files of a ``BlockGraph``."""

    def __init__(self, files: LocalFiles, vertices: int) -> None:
        self._files = files
        self._vertices = vertices
        self._blocks: list[EdgeBlock] = []
        self._links = np.zeros(vertices)  # out of each vertex
        self._weights = np.zeros(vertices)
        self._digest = xxh3_64()

    def add(self, edges: Pairs, weights: Floats) -> None:
        """Edges (``csr.pair``), sorted and distinct; a target never stands in two parts."""
        while len(edges):
            start = self._stop
            stop = _end_of_block(edges, start)
            some = int(np.searchsorted(edges, np.uint64(stop) << _HALF))
            self._write(edges[:some], weights[:some], start, stop)
            edges, weights = edges[some:], weights[some:]

    def finish(self, leak: Floats | None = None) -> BlockGraph:
        """The graph; unless a ``leak`` is given, what weights lack of 1 follows no edge."""
        while self._stop < self._vertices:
            none = np.empty(0, np.uint64)
            self._write(none, np.empty(0), self._stop, min(self._stop + BLOCK_VERTICES, self._vertices))
        if leak is None:
            leak = csr.lacking(self._weights, self._links)
        out_weight, leak = csr.parted(self._weights, leak)
        inverse = np.divide(1.0, out_weight, out=np.zeros(self._vertices), where=out_weight != 0)
        heard = self._heard(inverse)
        for block in self._blocks:
            mine = slice(block.start, block.stop)
            tables = np.stack((inverse[mine], leak[mine], heard[mine]))
            self._files.write(block.vertex_file, tables.tobytes(), durable=False)
        self._digest.update(inverse.tobytes())
        edges = sum(block.edges for block in self._blocks)
        return BlockGraph(self._files, self._vertices, edges, tuple(self._blocks), self._digest.hexdigest())

    @property
    def _stop(self) -> int:
        return self._blocks[-1].stop if self._blocks else 0

    def _write(self, edges: Pairs, weights: Floats, start: int, stop: int) -> None:
        sources = (edges & _LOW).astype(np.uint32)
        offsets = np.searchsorted(edges, np.arange(start, stop + 1, dtype=np.uint64) << _HALF).astype(np.int64)
        self._links += np.bincount(sources, minlength=self._vertices)
        self._weights += np.bincount(sources, weights, minlength=self._vertices)
        block = EdgeBlock(len(self._blocks), start, stop, len(edges))
        with self._files.create(block.edge_file, durable=False) as temporary, temporary.open("wb") as file:
            for column in (offsets, np.ascontiguousarray(weights, np.float64), sources):
                data = column.tobytes()
                file.write(data)
                self._digest.update(data)
        self._blocks.append(block)

    def _heard(self, inverse: Floats) -> Floats:
        """For each vertex the share of its rank that reaches vertices that are no sinks."""
        from periplus.core.graph import find_heard

        heard = np.zeros(self._vertices)
        for block in self._blocks:
            edges = block_edges(self._files, block)
            find_heard(edges, inverse[block.start : block.stop], heard, 0, block.vertices)
        heard *= inverse
        return heard


def block_edges(files: LocalFiles, block: EdgeBlock) -> Edges:
    """The edges of a block, mapped; their targets are counted from the first vertex of the block."""
    data = mapped(files, block.edge_file, np.dtype(np.uint8))
    first, second = 8 * (block.vertices + 1), 8 * (block.vertices + 1) + 8 * block.edges
    return Edges(data[:first].view(np.int64), data[second:].view(np.uint32), data[first:second].view(np.float64))


def block_vertices(files: LocalFiles, block: EdgeBlock) -> BlockVertices:
    rows = mapped(files, block.vertex_file, np.dtype(np.float64)).reshape(3, block.vertices)
    return BlockVertices(*rows)


def mapped(files: LocalFiles, name: str, kind: np.dtype[Any]) -> NDArray[Any]:
    """A file as an array that must not be written to; an empty file cannot be mapped."""
    path = files.path(name)
    return np.asarray(np.memmap(path, kind, "r")) if path.stat().st_size else np.empty(0, kind)


def _end_of_block(edges: Pairs, start: int) -> int:
    """The vertex that a block which begins with these edges ends before."""
    first, last = (int(edges[place] >> _HALF) for place in (0, min(BLOCK_EDGES, len(edges)) - 1))
    is_whole = len(edges) <= BLOCK_EDGES
    stop = last + 1 if is_whole else max(last, first + 1)  # edges into the last one may go on
    return min(stop, start + BLOCK_VERTICES)
