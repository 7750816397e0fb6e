"""From the log of batches to published ranks: graph, PageRank of pages and hosts, anchor text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.errors import Corrupt, Incompatible
from periplus.graph.anchors import anchors
from periplus.graph.backlinks import backlinks_of
from periplus.graph.block_pagerank import block_pagerank
from periplus.graph.block_travel import clear_sent
from periplus.graph.blocks import BlockGraph, BlockStorage
from periplus.graph.citations import citations_of
from periplus.graph.link_graph import LinkGraph, top_names
from periplus.graph.link_texts import link_texts_of
from periplus.graph.measures import measures_of
from periplus.graph.pagerank import PageRank, pagerank
from periplus.graph.ranks import TOP_KEPT, LinkFacts, TopRank, VertexRanks
from periplus.graph.runs import Runs
from periplus.graph.site_links import site_links_of
from periplus.settings import RankSettings
from periplus.storage import LocalFiles, SerialRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from periplus.graph.given_ranks import RankFile, RankOrigin
    from periplus.graph.ranks import RankStore, RankTable
    from periplus.graph.runs import Batches
    from periplus.storage import Depot, Runner

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]

DEFAULTS = RankSettings()
BLOCKS = "blocks"  # folder of a graph that outgrows the memory, while it is ranked


def refresh_ranks(
    batches: Batches,
    store: RankStore,
    settings: RankSettings = DEFAULTS,
    *,
    ips: Mapping[str, str] | None = None,
    given: RankFile | None = None,
    runner: Runner | None = None,
    depot: Depot | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> RankTable:
    """Computes and publishes the ranks of everything in the log; starts from the ranks published before.

    ``ips`` are the addresses of hosts as far as they are known (``host_addresses``): hosts of one address count as one
    voice. ``settings.trusted`` names the hosts that trust starts from; without, the core of the graph is found
    (``hosts``). With ``jump = "trusted"`` the random jumps lead to them alone; until one of them is known, anywhere.
    ``given`` has the ranks of pages from elsewhere; everything else is made of the links all the same. A graph that
    outgrows ``settings.memory`` is ranked in blocks, by ``runner``; where that works on other machines, what it
    needs and makes travels through ``depot``.
    """
    runs = Runs(batches, store.files)
    runs.forget_others()
    runner = runner or SerialRunner()
    depot = None if runner.is_local else depot
    runs.make_missing(runner, depot)
    blocks = BlockStorage(LocalFiles(store.files.path(BLOCKS)), settings.memory)
    graph = LinkGraph.build(
        batches,
        nofollow=settings.nofollow,
        uncrawled=settings.uncrawled,
        ips=ips,
        trusted=settings.trusted,
        runs=runs,
        blocks=blocks,
    )
    rank = _Solver(graph, settings, _before(store), runner, depot)
    pages, origin = (rank.pages(progress), None) if given is None else _given(given.fit(graph, runs))
    hosts = rank.hosts()
    table = store.publish(
        VertexRanks(
            graph.page_keys, pages.ranks, graph.pages.edges, pages.history, _top_pages(graph, pages.ranks, batches)
        ),
        VertexRanks(graph.host_keys, hosts.ranks, graph.hosts.edges, hosts.history, _top_hosts(graph, hosts.ranks)),
        last_batch=graph.last_batch,
        facts=_facts(batches, runs, graph),
        origin=origin,
    )
    blocks.clear()
    if depot is not None:
        clear_sent(depot)
    return table


def _facts(batches: Batches, runs: Runs, graph: LinkGraph) -> LinkFacts:
    backlinks = backlinks_of(runs, graph.newest)
    return LinkFacts(
        anchors(batches, graph.newest, runs),
        measures_of(graph),
        backlinks,
        site_links_of(runs, graph.newest),
        link_texts_of(batches, runs, graph.newest, backlinks.link_targets),
        citations_of(batches, runs, graph.newest),
    )


class _Solver:
    """Ranks of pages and of hosts, from those of the last time on."""

    def __init__(
        self, graph: LinkGraph, settings: RankSettings, old: RankTable | None, runner: Runner, depot: Depot | None
    ) -> None:
        self._graph = graph
        self._old = old
        self._runner, self._depot = runner, depot
        self._landing = _landing(graph.host_names, settings.trusted) if settings.jump == "trusted" else None
        self._options: dict[str, Any] = {
            "damping": settings.damping,
            "tolerance": settings.tolerance,
            "max_iterations": settings.max_iterations,
        }

    def pages(self, progress: Callable[[int, float], None] | None) -> PageRank:
        graph = self._graph
        options = self._options | {
            "start": warm_start(self._old.page(graph.page_keys)) if self._old else None,
            "teleport": None if self._landing is None else self._landing[graph.page_hosts],
            "progress": progress,
        }
        if isinstance(graph.pages, BlockGraph):
            return block_pagerank(graph.pages, runner=self._runner, depot=self._depot, **options)
        return pagerank(graph.pages, **options)

    def hosts(self) -> PageRank:
        start = warm_start(self._old.host(self._graph.host_keys)) if self._old else None
        return pagerank(self._graph.hosts, start=start, teleport=self._landing, **self._options)


def _given(fitted: tuple[Floats, RankOrigin]) -> tuple[PageRank, RankOrigin]:
    ranks, origin = fitted
    return PageRank(ranks, 0, converged=True, difference=0.0, seconds=0.0, history=()), origin


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
