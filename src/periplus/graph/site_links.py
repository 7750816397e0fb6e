"""The hosts that link to a host and those that it links to, with how many links: for the page of a site.

Counts every link of the newest version of a page to another host, whatever its rel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from periplus import addresses
from periplus.graph import csr
from periplus.graph.counting import PairCounts
from periplus.graph.links import counted_links
from periplus.graph.measures import flat_texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from periplus.graph.links import NewestPages
    from periplus.graph.runs import Run

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.uint32]

MOST = 12  # hosts of each direction that are kept by name; of all, how many there are

_LOW = np.uint64(2**32 - 1)
_THIRTY_TWO = np.uint64(32)


class Linked(NamedTuple):
    host: str
    links: int


class Neighbours(NamedTuple):
    """Other hosts, those with most links first, and how many there are in all."""

    inwards: tuple[Linked, ...] = ()
    outwards: tuple[Linked, ...] = ()
    hosts_in: int = 0
    hosts_out: int = 0


class SiteLinks(NamedTuple):
    """By places of hosts in the sorted keys, rows as in ``Backlinks``."""

    site_keys: Integers
    site_names: NDArray[np.uint8]  # UTF-8, in the order of the offsets
    site_name_offsets: Integers
    site_hosts_in: Numbers
    site_hosts_out: Numbers
    site_in_offsets: Integers
    site_in: Numbers  # places of hosts
    site_in_links: Numbers
    site_out_offsets: Integers
    site_out: Numbers
    site_out_links: Numbers

    def of(self, host: str) -> Neighbours:
        key = addresses.host_key(host)
        place = int(np.searchsorted(self.site_keys, key))
        if place == len(self.site_keys) or self.site_keys[place] != key:
            return Neighbours()
        return Neighbours(
            self._row(place, self.site_in_offsets, self.site_in, self.site_in_links),
            self._row(place, self.site_out_offsets, self.site_out, self.site_out_links),
            int(self.site_hosts_in[place]),
            int(self.site_hosts_out[place]),
        )

    def _row(self, place: int, offsets: Integers, hosts: Numbers, links: Numbers) -> tuple[Linked, ...]:
        row = slice(int(offsets[place]), int(offsets[place + 1]))
        pairs = zip(hosts[row].tolist(), links[row].tolist(), strict=True)
        return tuple(Linked(self._name(host), count) for host, count in pairs)

    def _name(self, place: int) -> str:
        start, stop = self.site_name_offsets[place : place + 2]
        return self.site_names[start:stop].tobytes().decode("utf-8", "replace")


def site_links_of(runs: Iterable[tuple[int, Run]], pages: NewestPages) -> SiteLinks:
    """Takes at most ``MOST`` rows of 8 bytes a host and direction, 40 bytes a host, and the names."""
    between = PairCounts()
    for number, run in runs:
        counted = counted_links(run, pages.counted[number], followed=False)
        hosts = pages.host_table.of(run)[run.page_hosts]
        sources, targets = hosts[run.doc_pages[run.link_rows[counted]]], hosts[run.link_targets[counted]]
        other = sources != targets
        between.add(csr.pair(sources[other], targets[other]))
    pairs, counts = between.all()
    return _table(pairs, counts, pages.host_table.keys(), pages.host_table.names)


def _table(pairs: NDArray[np.uint64], counts: Integers, keys: Integers, names: list[str]) -> SiteLinks:
    sources, targets = (pairs & _LOW).astype(np.int64), (pairs >> _THIRTY_TWO).astype(np.int64)
    met = np.unique(np.concatenate((sources, targets)))
    met = met[np.argsort(keys[met])]
    places = np.zeros(len(keys), np.int64)
    places[met] = np.arange(len(met))
    named = [names[number] for number in met.tolist()]
    by_name = np.empty(len(named), np.int64)
    by_name[sorted(range(len(named)), key=named.__getitem__)] = np.arange(len(named))
    sources, targets = places[sources], places[targets]
    return SiteLinks(
        keys[met],
        *flat_texts([name.encode() for name in named]),
        np.bincount(targets, minlength=len(met)).astype(np.uint32),
        np.bincount(sources, minlength=len(met)).astype(np.uint32),
        *_rows(targets, sources, counts, by_name),
        *_rows(sources, targets, counts, by_name),
    )


def _rows(hosts: Integers, others: Integers, counts: Integers, by_name: Integers) -> tuple[Any, Any, Any]:
    """For each host the others with most links, of equal ones the first by name."""
    order = np.lexsort((by_name[others], -counts, hosts))
    hosts = hosts[order]
    order = order[np.arange(len(hosts)) - np.searchsorted(hosts, hosts) < MOST]
    sizes = np.minimum(np.bincount(hosts, minlength=len(by_name)), MOST)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))
    return offsets, others[order].astype(np.uint32), counts[order].astype(np.uint32)
