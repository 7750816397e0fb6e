"""From the log of batches to published ranks: graph, PageRank of pages and hosts, anchor text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from periplus.errors import Corrupt, Incompatible
from periplus.graph.anchors import anchors
from periplus.graph.backlinks import backlinks_of
from periplus.graph.link_graph import LinkGraph, top_names
from periplus.graph.link_texts import link_texts_of
from periplus.graph.measures import measures_of
from periplus.graph.pagerank import DAMPING, MAX_ITERATIONS, TOLERANCE, PageRank, pagerank
from periplus.graph.ranks import TOP_KEPT, TopRank
from periplus.graph.runs import Runs
from periplus.graph.site_links import site_links_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from periplus.graph.given_ranks import RankFile
    from periplus.graph.link_graph import Nofollow
    from periplus.graph.ranks import RankStore, RankTable
    from periplus.graph.runs import Batches

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]

Jump = Literal["anywhere", "trusted"]


def refresh_ranks(
    batches: Batches,
    store: RankStore,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    nofollow: Nofollow = "exclude",
    uncrawled: bool = True,
    jump: Jump = "anywhere",
    ips: Mapping[str, str] | None = None,
    trusted: Collection[str] = (),
    given: RankFile | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> RankTable:
    """Computes and publishes the ranks of everything in the log; starts from the ranks published before.

    ``ips`` are the addresses of hosts as far as they are known (``host_addresses``): hosts of one address count as one
    voice. ``trusted`` names the hosts that trust starts from; without, the core of the graph is found (``hosts``).
    With ``jump="trusted"`` the random jumps lead to them alone; until one of them is known, anywhere. ``given`` has the
    ranks of pages from elsewhere; everything else is made of the links all the same.
    """
    runs = Runs(batches, store.files)
    runs.forget_others()
    runs.make_missing()
    graph = LinkGraph.build(batches, nofollow=nofollow, uncrawled=uncrawled, ips=ips, trusted=trusted, runs=runs)
    old = _before(store)
    landing = _landing(graph.host_names, trusted) if jump == "trusted" else None
    solve = partial(pagerank, damping=damping, tolerance=tolerance, max_iterations=max_iterations)
    if given is None:
        start = warm_start(old.page(graph.page_keys)) if old else None
        jumps = None if landing is None else landing[graph.page_hosts]
        pages, origin = solve(graph.pages, teleport=jumps, start=start, progress=progress), None
    else:
        ranks, origin = given.fit(graph, runs)
        pages = PageRank(ranks, 0, converged=True, difference=0.0, seconds=0.0, history=())
    start = warm_start(old.host(graph.host_keys)) if old else None
    hosts = solve(graph.hosts, teleport=landing, start=start)
    backlinks = backlinks_of(runs, graph.newest)
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
        top_pages=_top_pages(graph, pages.ranks, batches),
        top_hosts=_top_hosts(graph, hosts.ranks),
        anchors=anchors(batches, graph.newest, runs),
        measures=measures_of(graph),
        backlinks=backlinks,
        site_links=site_links_of(runs, graph.newest),
        link_texts=link_texts_of(batches, runs, graph.newest, backlinks.link_targets),
        origin=origin,
    )


def _landing(names: Sequence[str], trusted: Collection[str]) -> Floats | None:
    """1 for each trusted host, 0 for the others; None when there is none."""
    wanted = np.fromiter((name in trusted for name in names), np.float64, len(names))
    return wanted if wanted.any() else None


def _before(store: RankStore) -> RankTable | None:
    """The ranks of the last time; damaged ones only cost some iterations."""
    try:
        return store.current()
    except (Corrupt, Incompatible):
        return None


def warm_start(old: Floats) -> Floats | None:
    """Earlier ranks, with the mean for vertices that are new; None when no vertex is known."""
    known = old > 0
    if not known.any():
        return None
    return np.where(known, old, old[known].mean())


def _top_pages(graph: LinkGraph, ranks: Floats, batches: Batches) -> tuple[TopRank, ...]:
    """The best pages whose address is known because they were read."""
    read = np.flatnonzero(np.isin(graph.page_keys, graph.newest.keys, assume_unique=True))
    best = _best(read, ranks)
    names = top_names(graph, best, batches)
    return tuple(TopRank(name, float(ranks[place])) for name, place in zip(names, best, strict=True))


def _top_hosts(graph: LinkGraph, ranks: Floats) -> tuple[TopRank, ...]:
    best = _best(np.arange(len(ranks)), ranks)
    return tuple(TopRank(graph.host_names[place], float(ranks[place])) for place in best)


def _best(places: Keys, ranks: Floats) -> list[int]:
    return [int(place) for place in places[np.lexsort((places, -ranks[places]))][:TOP_KEPT]]
