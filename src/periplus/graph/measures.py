"""Columns of a generation besides the ranks: what else the graph says of pages and hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.graph.hosts import REASONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.graph.link_graph import LinkGraph

    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]


class HostNote(Struct, frozen=True):
    """What is known of one host."""

    sites: int  # other sites (or addresses) that link to it
    trust: float  # 1 for the median host of the core
    distance: int  # links from the nearest trusted host, or host of the core; -1 when no way leads there
    centrality: float  # harmonic, from 0 to 1
    spam: float  # what its links to other hosts lose, from 0 to 1
    reason: str  # why, one of ``hosts.REASONS``


class Measures(NamedTuple):
    """In the order of the keys of pages, or of hosts."""

    page_sites: NDArray[np.uint32]
    host_sites: NDArray[np.uint32]
    host_trust: Floats
    host_distance: NDArray[np.int16]
    host_centrality: Floats
    host_spam: Floats
    host_reason: NDArray[np.uint8]
    host_names: NDArray[np.uint8]  # UTF-8, in the order of the offsets
    host_name_offsets: Keys

    def sorted(self, page_keys: Keys, host_keys: Keys) -> Measures:
        """These measures in the ascending order of keys."""
        pages, hosts = np.argsort(page_keys, kind="stable"), np.argsort(host_keys, kind="stable")
        names = [self.name(place).encode() for place in hosts.tolist()]
        columns: list[Any] = [self.page_sites[pages], *(column[hosts] for column in self[1:-2]), *flat_texts(names)]
        return Measures(*columns)

    def name(self, place: int) -> str:
        start, stop = self.host_name_offsets[place : place + 2]
        return self.host_names[start:stop].tobytes().decode("utf-8", "replace")

    def note(self, place: int) -> HostNote:
        sites, trust, distance, centrality, spam, reason = (column[place].item() for column in self[1:-2])
        return HostNote(sites, trust, distance, centrality, spam, REASONS[reason] if reason < len(REASONS) else "")


def measures_of(graph: LinkGraph) -> Measures:
    signs = graph.signs
    return Measures(
        graph.page_sites.astype(np.uint32),
        signs.sites_in.astype(np.uint32),
        signs.trust.astype(np.float32),
        signs.distance.astype(np.int16),
        signs.centrality.astype(np.float32),
        signs.spam.astype(np.float32),
        signs.reason,
        *flat_texts([name.encode() for name in graph.host_names]),
    )


def flat_texts(encoded: list[bytes]) -> tuple[NDArray[np.uint8], Keys]:
    """Texts one behind the other, and where each begins and the last ends."""
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))
    return np.frombuffer(b"".join(encoded), np.uint8), offsets
