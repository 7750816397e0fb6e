"""PageRank of a graph in blocks, with the policy ``spread``: what ``pagerank`` gives, within its tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.graph.block_sweeps import BlockSweeps
from periplus.graph.blocks import block_vertices
from periplus.graph.pagerank import (
    DAMPING,
    MAX_ITERATIONS,
    TOLERANCE,
    PageRank,
    Watch,
    check_options,
    distribution,
)
from periplus.storage import SerialRunner

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from periplus.graph.blocks import BlockGraph
    from periplus.storage import Depot, Runner

    Floats = NDArray[np.float64]


def block_pagerank(
    graph: BlockGraph,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    teleport: Floats | None = None,
    start: Floats | None = None,
    runner: Runner | None = None,
    depot: Depot | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> PageRank:
    """Ranks of all vertices; goes on from the last whole sweep over the same graph, if there is one in its folder.

    Where ``runner`` works on other machines, blocks and vectors travel through ``depot``.
    """
    check_options(damping, tolerance, max_iterations, 1, "spread", "probability")
    count = graph.vertices
    if not count:
        return PageRank(np.empty(0), 0, converged=True, difference=0.0, seconds=0.0, history=())
    jumps = np.full(1, 1.0 / count) if teleport is None else distribution(teleport, count, "teleport")
    first = np.broadcast_to(jumps, count) if start is None else distribution(start, count, "start")
    leaking = sum(
        float(first[block.start : block.stop] @ block_vertices(graph.files, block).leak) for block in graph.blocks
    )
    sweeps = BlockSweeps(graph, jumps, damping, runner or SerialRunner(), depot)
    before = sweeps.begin(first * ((1.0 - damping) / (1.0 - damping + damping * leaking)))
    watch = Watch(tolerance, max_iterations, 1, progress, before)
    while not watch.history or not watch.is_over:
        change, total = sweeps.advance()
        if not watch.ends(2.0 * change / total):  # as in ``pagerank``: scaling can double the error
            sweeps.improve()
        sweeps.keep(watch.history)
    ranks = sweeps.settle()
    last = watch.history[-1]
    ranks /= ranks.sum()
    return PageRank(
        ranks, last.iteration, last.difference <= tolerance, last.difference, last.seconds, tuple(watch.history)
    )
