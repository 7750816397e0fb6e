"""The web as a graph, of pages and of hosts, from the log of batches.

A vertex is a page with http and https folded; canonical duplicates and redirects count as the page they name. A page
links to another once, however many links it has. A site that links to one page from many of its own has less than
proportionally more to say:

    weight of one of k links from a site to a page = (1 + ln k) / k
    share of the rank that follows it              = weight / links of the linking page
    weight of host -> host over k linking pages    =  1 + ln k

What the weights take away is spread over all pages (``Csr.leak``). It must not be parted among the other links of a
page, or a thousand pages that link to nothing but one target would lose nothing by it. Who speaks with one voice is the
registered site, or what the caller knows better, such as the IP address of a host.

Links between the pages of one host count in the page graph and not in the host graph; links of a page to itself in
neither. Memory: some 200 bytes a vertex while building, 8 bytes a link, and 24 bytes a link for the finished graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from periplus import addresses
from periplus.graph import csr
from periplus.graph.links import link_rows, newest_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from periplus.graph.csr import Csr
    from periplus.graph.links import Batches, Pages, Texts

    Integers = NDArray[np.int64]
    Pairs = NDArray[np.uint64]

Nofollow = Literal["exclude", "keep"]

_LOW = np.uint64(2**32 - 1)


class LinkGraph(NamedTuple):
    """Pages and hosts with their links; vertex ``v`` of ``pages`` has the key ``page_keys[v]``."""

    page_keys: Integers  # sorted
    page_hosts: Integers  # vertex of the host graph
    pages: Csr
    host_keys: Integers
    host_names: Sequence[str]
    hosts: Csr
    urls: dict[int, str]  # of the pages that were read, by page key
    last_batch: int

    @classmethod
    def build(
        cls,
        batches: Batches,
        *,
        nofollow: Nofollow = "exclude",
        uncrawled: bool = True,
        voice: Callable[[str], str] = addresses.site,
        pages: Pages | None = None,
    ) -> LinkGraph:
        """The graph of the newest version of every page.

        ``uncrawled`` keeps targets that were never read; hosts of the same ``voice`` count as one site.
        """
        pages = pages or newest_pages(batches)
        vertices = _Vertices(pages)
        pairs = []
        for rows in link_rows(batches, pages):
            wanted = rows.followed if nofollow == "exclude" else slice(None)
            sources, targets = vertices.of(rows.sources)[wanted], vertices.of(rows.targets)[wanted]
            other = sources != targets
            pairs.append(csr.distinct(csr.pair(sources[other], targets[other])))
        edges = np.concatenate([np.empty(0, np.uint64), *pairs])
        return _graph(vertices, edges, pages, voice, uncrawled=uncrawled)


class _Vertices:
    """Numbers of pages as they are met, and the host of each."""

    def __init__(self, pages: Pages) -> None:
        self._numbers: dict[int, int] = {}
        self._aliases = pages.aliases
        self.hosts: dict[str, int] = {}
        self.host_of: list[int] = []
        for url in pages.urls.values():
            self.number(url)
        self.crawled = len(self.host_of)

    def number(self, url: str) -> int:
        key = addresses.page_key(url)
        if key in self._aliases:
            url = self._aliases[key]
            key = addresses.page_key(url)
        found = self._numbers.setdefault(key, len(self.host_of))
        if found == len(self.host_of):
            self.host_of.append(self.hosts.setdefault(addresses.host(url), len(self.hosts)))
        return found

    def of(self, texts: Texts) -> Integers:
        return np.array([self.number(url) for url in texts.distinct], np.int64)[texts.places]

    def keys(self) -> Integers:
        return np.fromiter(self._numbers, np.int64, len(self._numbers))


def _graph(
    vertices: _Vertices, edges: Pairs, pages: Pages, voice: Callable[[str], str], *, uncrawled: bool
) -> LinkGraph:
    sources, targets = (edges & _LOW).astype(np.int64), (edges >> np.uint64(32)).astype(np.int64)
    keys = vertices.keys()
    used = np.zeros(len(keys), np.bool_)
    used[: vertices.crawled] = True
    if uncrawled:
        used[sources] = used[targets] = True
    known = used[sources] & used[targets]
    numbers = _numbers_by_key(keys, used)
    edges = csr.distinct(csr.pair(numbers[sources[known]], numbers[targets[known]]))
    order = np.flatnonzero(used)[np.argsort(keys[used])]
    met, page_hosts = np.unique(np.array(vertices.host_of, np.int64)[order], return_inverse=True)
    names = list(vertices.hosts)
    host_names = [names[number] for number in met]
    return LinkGraph(
        keys[order],
        page_hosts,
        _page_graph(edges, _numbered(map(voice, host_names))[page_hosts]),
        np.array([addresses.host_key(name) for name in host_names], np.int64),
        host_names,
        _host_graph(edges, page_hosts, len(host_names)),
        pages.urls,
        pages.last_batch,
    )


def _numbers_by_key(keys: Integers, used: NDArray[np.bool_]) -> Integers:
    """From the number in order of meeting to the number in order of keys."""
    numbers = np.zeros(len(keys), np.int64)
    places = np.flatnonzero(used)
    numbers[places[np.argsort(keys[places])]] = np.arange(len(places))
    return numbers


def _page_graph(edges: Pairs, page_voices: Integers) -> Csr:
    """The more links one voice has for one page, the less each of them weighs."""
    vertices, sources = len(page_voices), (edges & _LOW).astype(np.int64)
    counts = _counts(csr.pair(page_voices[sources], edges >> np.uint64(32)))
    weights = (1.0 + np.log(counts)) / counts
    links = np.bincount(sources, minlength=vertices)
    leak = 1.0 - np.bincount(sources, weights, minlength=vertices) / np.maximum(links, 1)
    return csr.from_pairs(edges, vertices, weights, np.clip(leak, 0.0, 1.0))


def _numbered(names: Iterable[str]) -> Integers:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _host_graph(edges: Pairs, page_hosts: Integers, hosts: int) -> Csr:
    sources, target_hosts = edges & _LOW, page_hosts[(edges >> np.uint64(32)).astype(np.int64)]
    linking = csr.distinct(csr.pair(sources, target_hosts))
    from_host = page_hosts[(linking & _LOW).astype(np.int64)]
    to_host = (linking >> np.uint64(32)).astype(np.int64)
    other = from_host != to_host
    found = csr.pair(from_host[other], to_host[other])
    return csr.from_edges(from_host[other], to_host[other], hosts, 1.0 + np.log(_counts(found)))


def _counts(pairs: Pairs) -> Integers:
    """For each pair, how often it occurs."""
    if not len(pairs):
        return np.empty(0, np.int64)
    _, places, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    return np.asarray(counts[places], np.int64)
