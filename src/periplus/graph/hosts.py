"""What the links between hosts say of a host: who vouches for it, and whether its links can be bought by the dozen.

Signs, each from 0 to 1, and what is left of the weight of a host's links to other hosts:

    exchange   most sites that link to it are linked back:   ramp(share, 0.5, 0.9) * n / (n + 30),  n linking sites
    crowd      many hosts of few sites or addresses link in: ramp(1 - sites / hosts, 0.5, 0.9) * n / (n + 30),  n hosts
    unvouched  little trust arrives from the core of the web: 0.8 * (1 - ramp(trust, 0.05, 0.5))

    weight = (1 - 0.95 exchange) (1 - 0.95 crowd) (1 - unvouched);      spam score = 1 - weight

Besides, hosts with a trust below 0.05 are one voice all together, so a thousand of them count as eight.

Trust is PageRank on hosts that starts from the core only, and is 1 for the median host of the core. A host with one
link from a core host that links to seven has about 0.12. The core is what the caller trusts, or else what is left when
hosts are struck off, again and again, that have fewer than two unreturned links from sites that are still in. A ring
of hosts has one link in each, an exchange has only returned ones: neither is in the core, nor is what they point at.
A collection with a small core (``LEAST_CORE``) says too little, and then nobody is unvouched. What this does not see: a
farm of many hosts, on many addresses, whose links one to another are dense and unreturned. Name trusted hosts then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from periplus.graph import csr
from periplus.graph.pagerank import pagerank
from periplus.graph.reach import distances, harmonic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from periplus.graph.csr import Csr

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Pairs = NDArray[np.uint64]

CORE_LINKS: Final = 2  # unreturned links from sites of the core that make a host one of it
LEAST_CORE: Final = 10  # hosts
TRUST_RAMP: Final = (0.05, 0.5)  # from not vouched for at all to fully
EVIDENCE: Final = 30.0  # linking sites at which a sign weighs half
SHARE_RAMP: Final = (0.5, 0.9)
MOST: Final = 0.95  # what exchange or crowd can take away
UNVOUCHED: Final = 0.8
TRUST_TOLERANCE: Final = 1e-8

REASONS: Final = ("", "link-exchange", "links-from-few-addresses", "not-vouched-for")

_LOW = np.uint64(2**32 - 1)


class HostSigns(NamedTuple):
    """One value a host."""

    sites_in: Integers  # distinct other sites (or addresses) that link to it
    trust: Floats  # 1 for the median host of the core; 1 for all when there is no core to start from
    distance: Integers  # links from the nearest host of the core; -1 when none leads there
    centrality: Floats  # harmonic, about: mean of 1 / distance from all hosts
    spam: Floats  # 0 to 1: what the links to other hosts lose
    reason: NDArray[np.uint8]  # place in REASONS of the strongest sign

    @property
    def unvouched(self) -> Booleans:
        return self.trust < TRUST_RAMP[0]


def judge(edges: Pairs, voices: Integers, trusted: Integers | None = None) -> HostSigns:
    """Signs of the hosts of these links (``csr.pair``); hosts of one voice speak as one; ``trusted`` are the core."""
    hosts = len(voices)
    sources, targets = _ends(edges)
    other = voices[sources] != voices[targets]
    edges = csr.distinct(edges[other])
    sources, targets = _ends(edges)
    said = csr.distinct(csr.pair(voices[sources], targets))  # a voice that links to a host
    returned = _returned(said, sources, targets, voices)
    sites_in = _count(said, hosts)
    exchange = _sign(_count(said[returned], hosts) / np.maximum(sites_in, 1), sites_in)
    hosts_in = np.bincount(targets, minlength=hosts)
    crowd = _sign(1.0 - sites_in / np.maximum(hosts_in, 1), hosts_in)
    graph = csr.from_pairs(edges, hosts)
    core = _core(said[~returned], voices) if trusted is None else trusted
    known = len(core) >= (LEAST_CORE if trusted is None else 1)
    trust = _trust(graph, core) if known else np.ones(hosts)
    unvouched = UNVOUCHED * (1.0 - _ramp(trust, TRUST_RAMP))
    kept = (1.0 - MOST * exchange) * (1.0 - MOST * crowd) * (1.0 - unvouched)
    signs = np.stack((np.full(hosts, 0.05), exchange, crowd, unvouched))
    away = distances(graph, core) if known else np.full(hosts, -1, np.int64)
    return HostSigns(sites_in, trust, away, harmonic(graph), 1.0 - kept, signs.argmax(axis=0).astype(np.uint8))


def voices_of(names: Iterable[str]) -> Integers:
    """Numbers for names, the same for the same name."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _core(said: Pairs, voices: Integers) -> Integers:
    """Hosts left after striking off, again and again, those with too few links from voices that are still in."""
    speakers, targets = _ends(said)
    inside = np.ones(len(voices), np.bool_)
    while True:
        speaking = np.zeros(len(voices), np.bool_)
        speaking[voices[inside]] = True
        links = np.bincount(targets[speaking[speakers]], minlength=len(voices))
        left = inside & (links >= CORE_LINKS)
        if left.sum() == inside.sum():
            return np.flatnonzero(left)
        inside = left


def _returned(said: Pairs, sources: Integers, targets: Integers, voices: Integers) -> Booleans:
    """For each voice that links to a host, whether that host links to a host of the voice."""
    back = csr.distinct(csr.pair(voices[targets], sources))
    return np.isin(said, back, assume_unique=True)


def _trust(graph: Csr, core: Integers) -> Floats:
    teleport = np.zeros(graph.vertices)
    teleport[core] = 1.0
    ranks = pagerank(graph, teleport=teleport, tolerance=TRUST_TOLERANCE).ranks
    return ranks / float(np.median(ranks[core]))


def _sign(share: Floats, evidence: Integers) -> Floats:
    return np.asarray(_ramp(share, SHARE_RAMP) * evidence / (evidence + EVIDENCE), np.float64)


def _ramp(values: Floats, bounds: tuple[float, float]) -> Floats:
    """0 up to the lower bound, 1 from the upper one."""
    low, high = bounds
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def _count(pairs: Pairs, hosts: int) -> Integers:
    return np.bincount(_ends(pairs)[1], minlength=hosts)


def _ends(pairs: Pairs) -> tuple[Integers, Integers]:
    return (pairs & _LOW).astype(np.int64), (pairs >> np.uint64(32)).astype(np.int64)
