"""The links that count: of every page its newest version, and of pages that stand for one another the last.

Which rows count is known after a walk over the documents of all runs. Memory holds some 40 bytes a document; links are
looked at one run at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from periplus.graph.runs import ADDRESS, LINKS, READ

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from periplus.graph.runs import Run

    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.int64]

FOLLOWED_ALIASES = 8  # hops from a page to the address that stands for it


class HostTable:
    """Numbers of hosts over all runs."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self.names: list[str] = []

    def of(self, run: Run) -> Integers:
        """For each host of a run its number here."""
        keys = run.host_keys.tolist()
        numbers = self._numbers
        if any(key not in numbers for key in keys):
            for key, name in zip(keys, run.names(), strict=True):
                if numbers.setdefault(key, len(self.names)) == len(self.names):
                    self.names.append(name)
        return np.array([numbers[key] for key in keys], np.int64)

    def keys(self) -> Integers:
        return np.fromiter(self._numbers, np.int64, len(self._numbers))


class PageAliases(NamedTuple):
    """Pages that count as another one."""

    keys: Integers  # sorted
    ends: Integers
    hosts: Integers  # of the ends

    def resolve(self, keys: Integers, hosts: Integers) -> tuple[Integers, Integers]:
        """Pages and their hosts, with aliases replaced."""
        if not len(self.keys):
            return keys, hosts
        places, found = look_up(self.keys, keys)
        return np.where(found, self.ends[places], keys), np.where(found, self.hosts[places], hosts)


class NewestPages(NamedTuple):
    """The newest version of every address in the log."""

    keys: Integers  # sorted page keys of what was read
    hosts: Integers
    batches: Integers  # where each was read last
    rows: Integers
    counted: dict[int, Booleans]  # by batch: rows whose links count
    aliases: PageAliases
    host_table: HostTable
    last_batch: int


class _Documents(NamedTuple):
    """Documents of all batches."""

    keys: Integers
    pages: Integers
    hosts: Integers
    states: NDArray[np.uint8]
    named: Integers  # page key that an alias names
    named_hosts: Integers  # -1 where it names none
    batches: Integers
    rows: Integers

    def at(self, wanted: Integers | Booleans) -> _Documents:
        columns: list[Any] = [column[wanted] for column in self]
        return _Documents(*columns)


def newest_pages(runs: Iterable[tuple[int, Run]]) -> NewestPages:
    """Which rows count, and which pages stand for others."""
    hosts = HostTable()
    parts, sizes = [_documents(0, None, hosts)], {}
    for number, run in runs:
        parts.append(_documents(number, run, hosts))
        sizes[number] = len(run.doc_keys)
    everything = _Documents(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    everything = everything.at((everything.states & ADDRESS) > 0)
    newest = everything.at(_last_of_each(everything.keys))
    read = newest.at((newest.states & READ) > 0)
    read = read.at(_last_of_each(read.pages))
    counted = {number: np.zeros(size, np.bool_) for number, size in sizes.items()}
    linking = newest.at((newest.states & LINKS) > 0)
    for number, mask in counted.items():
        mask[linking.rows[linking.batches == number]] = True
    return NewestPages(
        read.pages, read.hosts, read.batches, read.rows, counted, _aliases(newest), hosts, max(counted, default=0)
    )


def counted_links(run: Run, counted: Booleans, *, followed: bool) -> Booleans:
    """Which links of a run count."""
    mask = counted[run.link_rows]
    return mask & run.link_followed if followed else mask


def links_to_read(run: Run, pages: NewestPages, number: int) -> tuple[Booleans, Integers]:
    """Which followed links of a run count and lead to a page that was read, and the places of those pages."""
    counted = counted_links(run, pages.counted[number], followed=True)
    if not len(pages.keys) or not len(run.pages):
        return np.zeros(len(counted), np.bool_), np.empty(0, np.int64)
    keys, _ = pages.aliases.resolve(run.pages, run.page_hosts.astype(np.int64))
    places, read = look_up(pages.keys, keys)
    wanted = counted & read[run.link_targets]
    return wanted, places[run.link_targets[wanted]]


def look_up(known: NDArray[Any], keys: NDArray[Any]) -> tuple[Integers, Booleans]:
    """Places of keys in ``known``, which is sorted and not empty, and which of them are there."""
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return places, known[places] == keys


def _documents(number: int, run: Run | None, table: HostTable) -> _Documents:
    if run is None:
        none = np.empty(0, np.int64)
        return _Documents(none, none, none, np.empty(0, np.uint8), none, none, none, none)
    hosts = table.of(run)[run.page_hosts]
    named = run.doc_named.astype(np.int64) - 1
    rows = np.arange(len(run.doc_keys), dtype=np.int64)
    return _Documents(
        run.doc_keys,
        run.pages[run.doc_pages],
        hosts[run.doc_pages],
        run.doc_states,
        run.pages[named] if len(run.pages) else named,
        np.where(named >= 0, hosts[named], -1) if len(hosts) else named,
        np.full(len(rows), number),
        rows,
    )


def _last_of_each(keys: Integers) -> Integers:
    """Places of the last occurrence of every key, in the order of keys."""
    _, places = np.unique(keys[::-1], return_index=True)
    return len(keys) - 1 - places


def _aliases(newest: _Documents) -> PageAliases:
    """From each page that names another one to the last of the chain; a chain that turns in a circle is left alone."""
    naming = newest.at((newest.named_hosts >= 0) & (newest.named != newest.pages))
    naming = naming.at(_last_of_each(naming.pages))
    keys, ends, hosts = naming.pages, naming.named, naming.named_hosts
    if not len(keys):
        return PageAliases(keys, ends, hosts)
    direct = PageAliases(keys, ends, hosts)
    for _ in range(FOLLOWED_ALIASES - 1):
        ends, hosts = direct.resolve(ends, hosts)
    _, unfinished = look_up(keys, ends)
    kept = ~unfinished
    return PageAliases(keys[kept], ends[kept], hosts[kept])
