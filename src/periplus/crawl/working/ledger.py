"""The open bundle of a worker: everything since the last group commit, gathered in one place.

The ledger also writes responses to the archive at once, so that a killed process loses none of them: the operating
system has them, and the next start replays what the last commit did not cover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import addresses
from periplus.crawl.frontier.rows import Bundle

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.archive import ArchiveWriter, Revisit
    from periplus.crawl.frontier.rows import FoundAddress, JournalRow, Rest, RobotsRow, Visited
    from periplus.crawl.working.counters import Counters
    from periplus.crawl.working.hosts import ActiveHost
    from periplus.records import ArchiveLocation, Exchange

BYTES_AT_ONCE = 64_000_000  # of documents in one bundle
MOST_PAGES = 10_000  # in one that waits for a commit that cannot end


class Ledger:
    def __init__(self, archive: ArchiveWriter, counters: Counters, clock: Callable[[], float]) -> None:
        self._archive = archive
        self.clock = clock
        self.counters = counters
        self.bundle = Bundle()
        self._bytes = 0
        self._ends: dict[str, int] = {}  # files written since the last commit, and where they end
        self._hosts: dict[str, set[int]] = {}  # of records in files that travel with the next commit
        self._open: set[tuple[str, int]] = set()  # records whose meaning is not in a bundle yet

    def swap(self) -> Bundle:
        """The bundle to commit; a fresh one takes its place."""
        bundle, self.bundle, self._bytes = self.bundle, Bundle(), 0
        self._archive.cut()
        bundle.cut, self._hosts = self._hosts, {}
        bundle.marks = {file: self._mark(file, end) for file, end in self._ends.items()}
        still_open = {file for file, _ in self._open}
        self._ends = {file: end for file, end in self._ends.items() if file in still_open}
        return bundle

    def age(self, now: float) -> float:
        return now - self.bundle.began if self.bundle.began else 0.0

    def is_full(self, pages: int) -> bool:
        return len(self.bundle.visited) >= pages or self._bytes >= BYTES_AT_ONCE

    @property
    def is_heavy(self) -> bool:
        """Whether no more should be fetched before it is committed."""
        return self._bytes >= BYTES_AT_ONCE or len(self.bundle.visited) >= MOST_PAGES

    def archive(self, exchange: Exchange, revisit: Revisit | None) -> ArchiveLocation:
        """Write a response down; it stays open until ``settle``, so that a crash in between replays it."""
        location = self._archive.append(exchange, revisit)
        self._begin()
        self._ends[location.file] = location.offset + location.length
        self._open.add((location.file, location.offset))
        if self._archive.in_parts:
            self._hosts.setdefault(location.file, set()).add(addresses.host_key(addresses.host(exchange.url)))
        return location

    def settle(self, location: ArchiveLocation | None) -> None:
        """What the record means is in the bundle now."""
        if location is not None:
            self._open.discard((location.file, location.offset))

    def _mark(self, file: str, end: int) -> int:
        """How far a file is part of the state once the bundle is committed."""
        return min((offset for name, offset in self._open if name == file), default=end)

    def journal(self, row: JournalRow) -> None:
        self._begin()
        self.bundle.journal.append(row)

    def visited(self, visited: Visited) -> None:
        self._begin()
        self.bundle.visited.append(visited)
        self.counters.visited(visited)
        if visited.document is not None:
            self._bytes += len(visited.document.text) + len(visited.document.boilerplate)

    def found(self, found: list[FoundAddress]) -> None:
        self._begin()
        self.bundle.found += found

    def robots(self, row: RobotsRow) -> None:
        self._begin()
        self.bundle.robots.append(row)

    def host(self, host: ActiveHost, *, requests: int = 0, urgent: bool = False) -> None:
        """Remember what a host's clock says now; ``urgent`` when it must be on disk soon."""
        self._begin()
        before = self.bundle.hosts.get(host.key)
        self.bundle.hosts[host.key] = host.change(requests + (before.requests if before else 0))
        self.bundle.urgent |= urgent

    def rest(self, key: int, rest: Rest) -> None:
        self._begin()
        self.bundle.resting[key] = rest

    def _begin(self) -> None:
        if not self.bundle.began:
            self.bundle.began = self.clock()
