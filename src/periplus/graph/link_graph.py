"""The web as a graph, of pages and of hosts, from the log of batches.

A vertex is a page with http and https folded; canonical duplicates and redirects count as the page they name. A page
links to another once, however many links it has. A site that links to one page from many of its own has less than
proportionally more to say:

    weight of one of k links from a voice to a page = (1 + ln k) / k
    share of the rank that follows it               = weight * (1 - spam of the host) / links of the linking page
    weight of host -> host over k linking pages     =  1 + ln k, treated in the same way

where the logarithm between hosts knows no k above 20 (a voice is worth four links at most), and the spam score
(``hosts.judge``) is taken off links to other hosts only. What the weights take away is spread over all pages
(``Csr.leak``). It must not be parted among the other links of a page, or a thousand pages that link only to one target
would lose nothing by it. A voice is a registered site, or the IP address of a host where it is known; hosts nobody
vouches for are one voice all together.

Links between the pages of one host count in the page graph and not in the host graph; links of a page to itself in
neither. Links marked nofollow, ugc or sponsored count nowhere (``exclude``), or in the page graph for a tenth
(``discount``; unless the page has a plain link to the same target), or like all others (``keep``).

Memory: some 40 bytes a document and 30 a page, 12 a link for the finished graph and 28 while it is made of sorted
links; of unsorted ones at most ``sorting.BUDGET``, and what is more waits on disk; 8 for a discounted one. A graph in
blocks (``blocks.py``) takes no memory a link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from periplus import addresses
from periplus.graph import csr
from periplus.graph.blocks import BlockWriter
from periplus.graph.counting import PairCounts
from periplus.graph.hosts import HostSigns, judge, voices_of
from periplus.graph.links import counted_links, look_up, newest_pages
from periplus.graph.runs import Runs
from periplus.graph.sorting import PairSorter
from periplus.graph.vertices import find_vertices

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from periplus.graph.blocks import BlockGraph, BlockStorage
    from periplus.graph.csr import Csr
    from periplus.graph.links import NewestPages
    from periplus.graph.runs import Batches, Run
    from periplus.graph.vertices import Vertices

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Pairs = NDArray[np.uint64]

Nofollow = Literal["exclude", "discount", "keep"]

ENOUGH = 20  # links of one voice to one page; more say nothing new
DISCOUNTED = 0.1  # weight of a link with a rel, when those are discounted

_LOW = np.uint64(2**32 - 1)


class LinkGraph(NamedTuple):
    """Pages and hosts with their links; vertex ``v`` of ``pages`` has the key ``page_keys[v]``."""

    page_keys: Integers  # sorted
    page_hosts: Integers  # vertex of the host graph
    pages: Csr | BlockGraph
    page_sites: Integers  # distinct sites that link to each page, its own not counted
    host_keys: Integers
    host_names: Sequence[str]
    hosts: Csr
    signs: HostSigns  # of the hosts
    newest: NewestPages
    last_batch: int

    @classmethod
    def build(
        cls,
        batches: Batches,
        *,
        nofollow: Nofollow = "exclude",
        uncrawled: bool = True,
        voice: Callable[[str], str] = addresses.site,
        ips: Mapping[str, str] | None = None,
        trusted: Collection[str] = (),
        runs: Runs | None = None,
        blocks: BlockStorage | None = None,
    ) -> LinkGraph:
        """The graph of the newest version of every page.

        ``uncrawled`` keeps targets that were never read. Hosts of the same ``voice`` count as one site, and so do hosts
        of the same address in ``ips``. ``trusted`` hosts are where trust starts from. ``blocks`` take the links between
        pages when they outgrow what memory may hold.
        """
        runs = runs or Runs(batches)
        pages = newest_pages(runs)
        followed = nofollow == "exclude"
        vertices = find_vertices(runs, pages, followed=followed, uncrawled=uncrawled)
        sorter, between, weak = PairSorter(len(vertices.keys)), PairCounts(), [np.empty(0, np.uint64)]
        for number, run in runs:
            edges = _edges(run, pages, vertices, counted_links(run, pages.counted[number], followed=followed))
            sorter.add(edges)
            if nofollow == "discount":
                plain = _edges(run, pages, vertices, counted_links(run, pages.counted[number], followed=True))
                weak.append(np.setdiff1d(edges, plain, assume_unique=True))
                edges = plain
            between.add(_host_pairs(edges, vertices.hosts))
        sites = voices_of(map(voice, vertices.host_names))
        voices = voices_of((ips or {}).get(name) or voice(name) for name in vertices.host_names)
        known = [number for number, name in enumerate(vertices.host_names) if name in trusted] if trusted else None
        host_edges, counts = between.all()
        signs = judge(host_edges, voices, None if known is None else np.array(known, np.int64))
        voices = np.where(signs.unvouched, -1, voices) + 1
        store: CsrMaker | BlockWriter = CsrMaker(len(vertices.keys))
        if blocks is not None and blocks.is_wanted(sorter.pairs, len(vertices.keys)):
            store = BlockWriter(blocks.files, len(vertices.keys))
        weigher = _Weigher(vertices.hosts, voices, sites, signs.spam, csr.distinct(np.concatenate(weak)))
        page_sites = weigher.weigh(sorter, store)
        return cls(
            vertices.keys,
            vertices.hosts,
            store.finish(),
            page_sites,
            vertices.host_keys,
            vertices.host_names,
            _host_graph(host_edges, counts, voices, signs.spam),
            signs,
            pages,
            pages.last_batch,
        )


def _edges(run: Run, pages: NewestPages, vertices: Vertices, counted: NDArray[np.bool_]) -> Pairs:
    """The links of a run as pairs of vertices, without those from a page to itself."""
    numbers = vertices.numbers(run, pages)
    sources = numbers[run.doc_pages[run.link_rows[counted]]]
    targets = numbers[run.link_targets[counted]]
    kept = (sources != targets) & (sources >= 0) & (targets >= 0)
    return csr.distinct(csr.pair(sources[kept], targets[kept]))


def _host_pairs(edges: Pairs, page_hosts: Integers) -> Pairs:
    """Pairs of hosts, one for each page of the one that links to the other."""
    sources, target_hosts = edges & _LOW, page_hosts[(edges >> np.uint64(32)).astype(np.int64)]
    linking = csr.distinct(csr.pair(sources, target_hosts))
    from_host = page_hosts[(linking & _LOW).astype(np.int64)]
    to_host = (linking >> np.uint64(32)).astype(np.int64)
    other = from_host != to_host
    return csr.pair(from_host[other], to_host[other])


class CsrMaker:
    """Takes sorted edges in parts, as ``BlockWriter`` does, and keeps them in memory."""

    def __init__(self, vertices: int) -> None:
        self._vertices = vertices
        self._parts = [np.empty(0, np.uint64)]
        self._weights = [np.empty(0)]

    def add(self, edges: Pairs, weights: Floats) -> None:
        self._parts.append(edges)
        self._weights.append(weights)

    def finish(self) -> Csr:
        return _weighted(np.concatenate(self._parts), self._vertices, np.concatenate(self._weights), None)


class _Weigher(NamedTuple):
    """Weighs links between pages: the more links one voice has for one page, the less each of them weighs."""

    page_hosts: Integers
    voices: Integers
    sites: Integers
    spam: Floats
    weak: Pairs  # discounted links

    def weigh(self, sorter: PairSorter, store: CsrMaker | BlockWriter) -> Integers:
        """All links with their weights go to ``store``; for each page how many other sites link to it."""
        page_hosts, sites = self.page_hosts, self.sites
        linking_sites = np.zeros(len(page_hosts), np.int64)
        for edges in sorter.sorted():
            sources, targets = (edges & _LOW).astype(np.int64), (edges >> np.uint64(32)).astype(np.int64)
            hosts, own = page_hosts[sources], page_hosts[targets]
            factor = np.where(hosts == own, 1.0, 1.0 - self.spam[hosts])
            if len(self.weak):
                factor *= np.where(look_up(self.weak, edges)[1], DISCOUNTED, 1.0)
            store.add(edges, diminished(csr.pair(self.voices[hosts], targets), hosts == own) * factor)
            other = sites[hosts] != sites[own]
            said = csr.distinct(csr.pair(sites[hosts[other]], targets[other]))
            linking_sites += np.bincount((said >> np.uint64(32)).astype(np.int64), minlength=len(page_hosts))
        return linking_sites


def _host_graph(edges: Pairs, counts: Integers, voices: Integers, spam: Floats) -> Csr:
    sources, targets = (edges & _LOW).astype(np.int64), edges >> np.uint64(32)
    plain = 1.0 + np.log(np.minimum(counts, ENOUGH))
    alone = np.zeros(len(edges), np.bool_)
    weights = plain * diminished(csr.pair(voices[sources], targets), alone) * (1.0 - spam[sources])
    return _weighted(edges, len(voices), weights, plain)


def _weighted(edges: Pairs, vertices: int, weights: Floats, plain: Floats | None) -> Csr:
    """The graph in which what the weights lack of the ``plain`` ones (1 when None) follows no link."""
    sources = (edges & _LOW).astype(np.int64)
    whole = np.bincount(sources, plain, minlength=vertices)
    left = np.bincount(sources, weights, minlength=vertices)
    return csr.from_pairs(edges, vertices, weights, csr.lacking(left, whole))


def diminished(pairs: Pairs, own: NDArray[np.bool_]) -> Floats:
    """(1 + ln k) / k for each of k equal pairs; between hosts the sum grows no more from ``ENOUGH`` links on."""
    if not len(pairs):
        return np.empty(0)
    _, places, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    within, between = 1.0 + np.log(counts), 1.0 + np.log(np.minimum(counts, ENOUGH))
    return np.where(own, (within / counts)[places], (between / counts)[places])


def top_names(graph: LinkGraph, vertices: Iterable[int], batches: Batches) -> list[str]:
    """Addresses of pages; empty for those that were never read."""
    wanted = list(vertices)
    names = [""] * len(wanted)
    if not len(graph.newest.keys):
        return names
    places, read = look_up(graph.newest.keys, graph.page_keys[wanted])
    for number in np.unique(graph.newest.batches[places[read]]).tolist():
        urls = batches.document_table(number, ("url",)).column("url")
        for slot in np.flatnonzero(read & (graph.newest.batches[places] == number)).tolist():
            names[slot] = urls[int(graph.newest.rows[places[slot]])].as_py()
    return names
