"""How each library is given the edges and asked for PageRank.

All compute the same thing: damping 0.85, the mass of sinks spread evenly, ranks that sum to 1. ``settings`` are
tried in order, from loose to strict, until the measured error is small enough, as each library has its own tolerance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bench.rank.graphs import Edges

    from periplus.graph import PageRank

DAMPING = 0.85
CORES = 2
ITERATIONS = 80  # of plain power iteration to an error of 1e-9 on these graphs


class Contender(ABC):
    name: str
    settings: tuple[float, ...] = (1e-9, 1e-10, 1e-11)
    smallest = 0  # edges
    largest = 10**9  # edges; beyond, it would take hours or more memory than there is
    note = ""

    @abstractmethod
    def build(self, edges: Edges) -> Any:
        """The library's own graph."""

    @abstractmethod
    def rank(self, graph: Any, setting: float) -> np.ndarray: ...


class Periplus(Contender):
    name = "periplus"
    note = "2 threads"
    threads = CORES

    def build(self, edges: Edges) -> Any:
        from periplus.graph import from_edges

        return from_edges(edges.sources, edges.targets, edges.vertices)

    def compute(self, graph: Any, setting: float) -> PageRank:
        from periplus.graph import pagerank

        return pagerank(graph, damping=DAMPING, tolerance=setting, threads=self.threads, max_iterations=1000)

    def rank(self, graph: Any, setting: float) -> np.ndarray:
        return self.compute(graph, setting).ranks


class Periplus1(Periplus):
    name = "periplus-1"
    note = "1 thread"
    threads = 1


class PlainScipy(Contender):
    name = "scipy"
    note = "power iteration with a CSR matrix"

    def build(self, edges: Edges) -> Any:
        from scipy.sparse import csr_array

        out = np.bincount(edges.sources, minlength=edges.vertices)
        share = 1.0 / out[edges.sources]
        shape = (edges.vertices, edges.vertices)
        return csr_array((share, (edges.targets, edges.sources)), shape=shape), out == 0

    def rank(self, graph: Any, setting: float) -> np.ndarray:
        matrix, sinks = graph
        count = len(sinks)
        rank = np.full(count, 1 / count)
        while True:
            new = DAMPING * (matrix @ rank) + (1 - DAMPING + DAMPING * rank[sinks].sum()) / count
            difference = np.abs(new - rank).sum()
            rank = new
            if difference <= setting:
                return rank


class Igraph(Contender):
    name = "igraph"
    settings = (0.0,)
    note = "PRPACK; its tolerance is fixed"

    def build(self, edges: Edges) -> Any:
        import igraph

        both = np.column_stack((edges.sources, edges.targets)).astype(np.int64)
        return igraph.Graph(edges.vertices, both, directed=True)

    def rank(self, graph: Any, setting: float) -> np.ndarray:
        return np.array(graph.pagerank(damping=DAMPING, implementation="prpack"))


class ScikitNetwork(Contender):
    """Its power iteration gives to sinks instead of taking from them, and drifts for hundreds of iterations; so it is
    timed over as many iterations as plain power iteration needs, and its error is shown as it is."""

    name = "scikit-network"
    settings = (ITERATIONS,)
    note = f"{ITERATIONS} iterations; treats sinks differently"

    def build(self, edges: Edges) -> Any:
        from scipy.sparse import csr_matrix

        ones = np.ones(len(edges.sources), np.bool_)
        return csr_matrix((ones, (edges.sources, edges.targets)), shape=(edges.vertices, edges.vertices))

    def rank(self, graph: Any, setting: float) -> np.ndarray:
        from sknetwork.ranking import PageRank

        return PageRank(DAMPING, solver="piteration", n_iter=max(1, int(setting)), tol=0.0).fit_predict(graph)


class Networkit(Contender):
    name = "networkit"
    note = "OpenMP, 2 threads"

    def build(self, edges: Edges) -> Any:
        import networkit

        networkit.setNumberOfThreads(CORES)
        pairs = (edges.sources.astype(np.uint64), edges.targets.astype(np.uint64))
        return networkit.GraphFromCoo(pairs, n=edges.vertices, directed=True)

    def rank(self, graph: Any, setting: float) -> np.ndarray:
        import networkit

        spread = networkit.centrality.SinkHandling.DistributeSinks
        found = networkit.centrality.PageRank(graph, DAMPING, setting, distributeSinks=spread)
        found.norm = networkit.centrality.Norm.l1norm
        found.run()
        return np.array(found.scores())


class Networkx(Contender):
    name = "networkx"
    settings = (1e-10,)
    smallest, largest = 5_000_000, 20_000_000
    note = "scipy inside; builds its matrix from the graph at every call"

    def build(self, edges: Edges) -> Any:
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(edges.vertices))
        graph.add_edges_from(zip(edges.sources.tolist(), edges.targets.tolist(), strict=True))
        self._count = edges.vertices
        return graph

    def rank(self, graph: Any, setting: float) -> np.ndarray:
        import networkx

        found = networkx.pagerank(graph, DAMPING, max_iter=1000, tol=setting / self._count)
        return np.fromiter(found.values(), np.float64, self._count)


CONTENDERS = {
    one.name: one for one in (Periplus(), Periplus1(), PlainScipy(), Igraph(), ScikitNetwork(), Networkit(), Networkx())
}
