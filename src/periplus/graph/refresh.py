"""From the log of batches to published ranks: graph, PageRank of pages and hosts, anchor text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.graph.anchors import anchors
from periplus.graph.link_graph import LinkGraph
from periplus.graph.links import newest_pages
from periplus.graph.pagerank import DAMPING, MAX_ITERATIONS, TOLERANCE, pagerank
from periplus.graph.ranks import TOP_KEPT, TopRank

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from periplus.graph.link_graph import Nofollow
    from periplus.graph.links import Batches
    from periplus.graph.ranks import RankStore, RankTable

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]


def refresh_ranks(
    batches: Batches,
    store: RankStore,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    nofollow: Nofollow = "exclude",
    progress: Callable[[int, float], None] | None = None,
) -> RankTable:
    """Computes and publishes the ranks of everything in the log; starts from the ranks published before."""
    newest = newest_pages(batches)
    graph = LinkGraph.build(batches, nofollow=nofollow, pages=newest)
    old = store.current()
    pages = pagerank(
        graph.pages,
        damping=damping,
        tolerance=tolerance,
        max_iterations=max_iterations,
        start=warm_start(old.page(graph.page_keys)) if old else None,
        progress=progress,
    )
    hosts = pagerank(
        graph.hosts,
        damping=damping,
        tolerance=tolerance,
        max_iterations=max_iterations,
        start=warm_start(old.host(graph.host_keys)) if old else None,
    )
    return store.publish(
        graph.page_keys,
        pages.ranks,
        graph.host_keys,
        hosts.ranks,
        last_batch=graph.last_batch,
        links=graph.pages.edges,
        host_links=graph.hosts.edges,
        page_history=pages.history,
        host_history=hosts.history,
        top_pages=_top_pages(graph, pages.ranks),
        top_hosts=_top(list(graph.host_names), hosts.ranks),
        anchors=anchors(batches, newest),
    )


def warm_start(old: Floats) -> Floats | None:
    """Earlier ranks, with the mean for vertices that are new; None when no vertex is known."""
    known = old > 0
    if not known.any():
        return None
    return np.where(known, old, old[known].mean())


def _top_pages(graph: LinkGraph, ranks: Floats) -> tuple[TopRank, ...]:
    """The best pages whose address is known because they were read."""
    names = [graph.urls.get(key, "") for key in graph.page_keys.tolist()]
    return tuple(entry for entry in _top(names, ranks) if entry.name)


def _top(names: list[str], ranks: Floats) -> tuple[TopRank, ...]:
    named = np.array([bool(name) for name in names], np.bool_)
    places = np.flatnonzero(named)
    best = places[np.lexsort((places, -ranks[places]))][:TOP_KEPT]
    return tuple(TopRank(names[place], float(ranks[place])) for place in best)
