"""Ranks as the sources of the reference profiles computed them: their vertices, sinks, self-links and stopping rules.

    r(v) = (1 - d) + d · sum over u -> v of  r(u) / links out of u,   d = 0.85, every vertex begins with 1

on the classic scale (the mean is 1 where nothing is lost), over the plain links of the pages that were read: each
counts once and in full, whatever its rel. http and https of an address are one vertex. What a source does not say is
our choice, beside it. Ranks of a policy are published in a folder of their own, ``ranks/<policy>``, and read by the
profile of that name.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from periplus.errors import UsageError
from periplus.graph import csr
from periplus.graph.links import counted_links, newest_pages
from periplus.graph.pagerank import DAMPING, Convergence, Dangling
from periplus.graph.ranks import NO_VERTICES, RankStore, VertexRanks
from periplus.graph.runs import Runs
from periplus.graph.vertices import find_vertices

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from periplus.graph.csr import Csr
    from periplus.graph.links import NewestPages
    from periplus.graph.ranks import RankTable
    from periplus.graph.runs import Batches, Run
    from periplus.graph.vertices import Vertices

    Floats = NDArray[np.float64]
    Pairs = NDArray[np.uint64]

OURS = "ours"


class Policy(Struct, frozen=True):
    vertices: Literal["pages", "hosts"]
    dangling: Dangling  # what becomes of the rank of a page without links
    self_links: bool
    tolerance: float  # largest difference of two iterations at which it ends; 0: it runs to the last
    iterations: int  # at most
    every: int = 1  # the test is made after so many


POLICIES = {
    # Normalised to the initial sum, self-links kept, 18 iterations.
    "grs2": Policy("pages", "normalise", self_links=True, tolerance=0.0, iterations=18),
    # Domains with their subdomains apart, back-edges from sinks, no self-links, ends at 0.1 or after 100.
    "cosine-bonus": Policy("hosts", "back-edges", self_links=False, tolerance=0.1, iterations=100),
    # Lost rank spread evenly, tested every three iterations; threshold, cap and self-links are ours.
    "tfidf-pagerank": Policy("pages", "spread", self_links=True, tolerance=0.001, iterations=100, every=3),
    # Sinks ignored, 40 iterations; self-links are ours.
    "bm25-pagerank": Policy("pages", "ignore", self_links=True, tolerance=0.0, iterations=40),
    # Ends at 0.001; sinks, self-links and the cap are ours.
    "multiplicative": Policy("pages", "spread", self_links=True, tolerance=0.001, iterations=100),
}


class PolicyRanks(Struct, frozen=True):
    ranks: Floats  # on the classic scale
    history: tuple[Convergence, ...]


def policy(name: str) -> Policy:
    """The policy of that name; an unknown one is the caller's mistake."""
    known = POLICIES.get(name)
    if known is None:
        raise UsageError(f"unknown policy {name!r}; choose one of {', '.join((OURS, *POLICIES))}")
    return known


def store_of(store: RankStore, name: str) -> RankStore:
    """Where the ranks of a policy are published."""
    return RankStore(store.files.path(name))


def refresh_policy_ranks(
    batches: Batches, store: RankStore, name: str, progress: Callable[[int, float], None] | None = None
) -> RankTable:
    """Computes the ranks of everything in the log as a policy has it, and publishes them beside ours."""
    chosen = policy(name)
    runs = Runs(batches, store.files)
    pages = newest_pages(runs)
    vertices = find_vertices(runs, pages, followed=False, uncrawled=False)
    edges = _edges(runs, pages, vertices)
    if chosen.vertices == "hosts":
        pairs = csr.pair(vertices.hosts[_sources(edges)], vertices.hosts[_targets(edges)])
        found = ranks_by(chosen, _graph(pairs, len(vertices.host_keys), chosen), progress)
        keys = vertices.host_keys
    else:
        found = ranks_by(chosen, _graph(edges, len(vertices.keys), chosen), progress)
        keys = vertices.keys
    given = VertexRanks(keys, found.ranks / max(len(found.ranks), 1))
    ranked, hosts = (NO_VERTICES, given) if chosen.vertices == "hosts" else (given, NO_VERTICES)
    # The one graph there is counts as that of pages, whatever its vertices.
    ranked = ranked._replace(links=len(edges), history=found.history)
    return store_of(store, name).publish(ranked, hosts, last_batch=pages.last_batch)


def _edges(runs: Runs, pages: NewestPages, vertices: Vertices) -> Pairs:
    parts = [np.empty(0, np.uint64)]
    for number, run in runs:
        parts.append(_edges_of(run, pages, vertices, counted_links(run, pages.counted[number], followed=False)))
    return csr.distinct(np.concatenate(parts))


def _edges_of(run: Run, pages: NewestPages, vertices: Vertices, counted: NDArray[np.bool_]) -> Pairs:
    numbers = vertices.numbers(run, pages)
    sources, targets = numbers[run.doc_pages[run.link_rows[counted]]], numbers[run.link_targets[counted]]
    known = (sources >= 0) & (targets >= 0)
    return csr.distinct(csr.pair(sources[known], targets[known]))


def _sources(edges: Pairs) -> NDArray[np.int64]:
    return (edges & np.uint64(2**32 - 1)).astype(np.int64)


def _targets(edges: Pairs) -> NDArray[np.int64]:
    return (edges >> np.uint64(32)).astype(np.int64)


def _graph(pairs: Pairs, vertices: int, chosen: Policy) -> Csr:
    graph = csr.from_pairs(csr.distinct(pairs), vertices)
    return graph if chosen.self_links else csr.without_self_links(graph)


def ranks_by(chosen: Policy, graph: Csr, progress: Callable[[int, float], None] | None = None) -> PolicyRanks:
    """Plain iteration from 1 everywhere, until the policy says that it ends."""
    if chosen.dangling == "back-edges":
        graph = csr.with_back_edges(graph)
    count, targets, sinks = graph.vertices, graph.targets, graph.sinks
    share = np.divide(1.0, graph.out_weight, out=np.zeros(count), where=~sinks)[graph.sources]
    ranks: Floats = np.ones(count)
    history, started = list[Convergence](), time.perf_counter()
    for iteration in range(1, chosen.iterations + 1):
        arrived = np.bincount(targets, ranks[graph.sources] * share, minlength=count)
        new = (1.0 - DAMPING) + DAMPING * (arrived + _lost(chosen, ranks, sinks))
        if chosen.dangling == "normalise" and count:
            new *= count / new.sum()
        difference = float(np.abs(new - ranks).max()) if count else 0.0
        ranks = np.asarray(new, np.float64)
        if iteration % chosen.every and iteration < chosen.iterations:
            continue
        history.append(Convergence(iteration, difference, time.perf_counter() - started))
        if progress is not None:
            progress(iteration, difference)
        if difference <= chosen.tolerance:
            break
    return PolicyRanks(ranks, tuple(history))


def _lost(chosen: Policy, ranks: Floats, sinks: NDArray[np.bool_]) -> float:
    """What every vertex gets of the rank on sinks."""
    spreads = chosen.dangling in ("spread", "back-edges")
    return float(ranks[sinks].sum()) / max(len(ranks), 1) if spreads else 0.0
