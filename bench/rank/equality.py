"""Equality with igraph on random graphs, as a property: every graph that is drawn must give the same ranks.

igraph is under the GPL, so it is no dependency of the tests; ``make bench-rank`` checks this before it times anything.
"""

from __future__ import annotations

import numpy as np

GRAPHS = 300
ALLOWED = 1e-9  # L1


def worst_difference(graphs: int = GRAPHS) -> float:
    """The largest L1 difference over random graphs with sinks, self-links and lone vertices; both of our makes."""
    import igraph

    from periplus.graph import from_edges, pagerank, steps

    random = np.random.default_rng(7)
    worst = 0.0
    before = steps.COMPILED_FROM
    for number in range(graphs):
        count = int(random.integers(1, 400))
        edges = np.unique(random.integers(0, count, (int(random.integers(0, 5 * count)), 2)), axis=0)
        edges = edges[edges[:, 0] < count * random.random()] if number % 2 else edges  # more sinks
        damping = float(random.choice([0.5, 0.85, 0.95]))
        expected = np.array(igraph.Graph(count, edges.tolist(), directed=True).pagerank(damping=damping))
        steps.COMPILED_FROM = 0 if number % 3 else before
        graph = from_edges(edges[:, 0], edges[:, 1], count)
        found = pagerank(graph, damping=damping, tolerance=1e-12, threads=1 + number % 3)
        worst = max(worst, float(np.abs(found.ranks - expected).sum()))
    steps.COMPILED_FROM = before
    return worst
