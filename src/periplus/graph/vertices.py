"""Numbers of pages and hosts: vertices in the order of their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.graph.links import counted_links, look_up

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.graph.links import NewestPages
    from periplus.graph.runs import Run, Runs

    Integers = NDArray[np.int64]


class Vertices(NamedTuple):
    """All pages, sorted by key, and the hosts they are on."""

    keys: Integers
    hosts: Integers  # place in ``host_keys``
    host_keys: Integers
    host_names: list[str]

    def numbers(self, run: Run, pages: NewestPages) -> Integers:
        """For each page that a run mentions its vertex; -1 for those that are none."""
        if not len(self.keys) or not len(run.pages):
            return np.full(len(run.pages), -1, np.int64)
        keys, _ = pages.aliases.resolve(run.pages, np.zeros(len(run.pages), np.int64))
        places, found = look_up(self.keys, keys)
        return np.where(found, places, -1)


def find_vertices(runs: Runs, pages: NewestPages, *, followed: bool, uncrawled: bool) -> Vertices:
    """The pages that were read, and with ``uncrawled`` all that a link which counts leads to or comes from."""
    merged = _Merged(pages.keys, pages.hosts)
    if uncrawled:
        for number, run in runs:
            counted = counted_links(run, pages.counted[number], followed=followed)
            used = np.zeros(len(run.pages), np.bool_)
            used[run.doc_pages[run.link_rows[counted]]] = True
            used[run.link_targets[counted]] = True
            hosts = pages.host_table.of(run)[run.page_hosts[used]]
            merged.add(*pages.aliases.resolve(run.pages[used], hosts))
    keys, hosts = merged.all()
    met, places = np.unique(hosts, return_inverse=True)
    names = pages.host_table.names
    return Vertices(keys, places.astype(np.int64), pages.host_table.keys()[met], [names[number] for number in met])


class _Merged:
    """Distinct pages of many runs; what was added is merged whenever it doubled."""

    def __init__(self, keys: Integers, hosts: Integers) -> None:
        self._keys = [keys]
        self._hosts = [hosts]
        self._waiting = 0

    def add(self, keys: Integers, hosts: Integers) -> None:
        self._keys.append(keys)
        self._hosts.append(hosts)
        self._waiting += len(keys)
        if self._waiting > 1_000_000 + len(self._keys[0]):
            self._keys, self._hosts = ([column] for column in self.all())
            self._waiting = 0

    def all(self) -> tuple[Integers, Integers]:
        keys, first = np.unique(np.concatenate(self._keys), return_index=True)
        return keys, np.concatenate(self._hosts)[first]
