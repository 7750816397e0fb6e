"""What ``/metrics`` says of a collection: crawl, index, ranks, jobs and disk as they are, searches as they went.

Reading is bounded and done at most once in ``KEPT_SECONDS``, however many ask.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from bisect import bisect_left
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from periplus import __version__, crawl
from periplus.app.console.backup_reports import BACKUP_LOCK, last_backup
from periplus.errors import PeriplusError
from periplus.jobs import index_status, rank_status
from periplus.storage import holder_of
from periplus.web import BUCKETS, CRAWL_STATES, LACKS, OUTCOMES, PARTS, Figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.records import SearchAnswer, SearchRequest
    from periplus.storage import Transaction

    Values = dict[tuple[str, ...], float]
    Times = dict[tuple[str, ...], tuple[list[int], float]]

KEPT_SECONDS: Final = 5.0
DISK_SECONDS: Final = 60.0  # between two walks over the files
TOLERANCE: Final = 0.005  # seconds of a gap, as the audit has it
LOCKS: Final = {
    "crawl": "crawl.lock",
    "build": "building.lock",
    "merge": "index/merger.lock",
    "backup": BACKUP_LOCK,
    "takedown": crawl.TAKEDOWN_LOCK,
}
_REQUESTS: Final = (
    "SELECT outcome, COUNT(*), SUM(bytes), COUNT(*) FILTER (WHERE gap >= 0 AND gap < delay - ?)"
    " FROM journal WHERE id > ? AND id <= ? GROUP BY outcome"
)


class SearchFigures:
    """How searches went in this process; told by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.searches = self.zero = self.failures = 0
        self.degraded = dict.fromkeys(LACKS, 0)
        self.times: dict[str, list[int]] = {}
        self.seconds: dict[str, float] = {}

    def answered(self, request: SearchRequest, answer: SearchAnswer) -> None:
        operation = "explain" if request.explain else "counts" if request.counts else "search"
        lacks = {what.partition(":")[0] for what in answer.degraded}
        with self._lock:
            self.searches += 1
            for what in lacks:
                self.degraded[what if what in self.degraded else "other"] += 1
            self._took(operation, answer.took_ms / 1000)

    def found_nothing(self) -> None:
        """A first page had neither results nor an answer or a panel beside them."""
        with self._lock:
            self.zero += 1

    def took(self, operation: str, seconds: float) -> None:
        with self._lock:
            self._took(operation, seconds)

    def failed(self) -> None:
        with self._lock:
            self.failures += 1

    def _took(self, operation: str, seconds: float) -> None:
        times = self.times.setdefault(operation, [0] * (len(BUCKETS) + 1))
        times[bisect_left(BUCKETS, seconds)] += 1
        self.seconds[operation] = self.seconds.get(operation, 0.0) + seconds


class CollectionFigures:
    """All figures of a collection, by the names of ``web.metric_table``."""

    def __init__(self, collection: Collection, searches: SearchFigures) -> None:
        self._collection = collection
        self._searches = searches
        self._lock = threading.Lock()
        self._read_at = self._walked_at = float("-inf")
        self._state = Figures()
        self._disk: dict[tuple[str, ...], float] = {}
        self._journal = -1  # the last row that was counted
        self._outcomes: dict[str, int] = {}
        self._bytes = self._short = 0

    def figures(self) -> Figures:
        with self._lock:
            if time.monotonic() - self._read_at >= KEPT_SECONDS:
                self._state = self._read()
                self._read_at = time.monotonic()
            state = self._state
        return Figures({**state.values, **self._counted()}, self._times())

    def _counted(self) -> dict[str, Values]:
        found = self._searches
        engine = self._collection.known_engine
        return {
            "periplus_searches": {(): found.searches},
            "periplus_search_zero_results": {(): found.zero},
            "periplus_search_failures": {(): found.failures},
            "periplus_search_degraded": {(what,): count for what, count in found.degraded.items()},
            "periplus_search_cached": {(): engine.kept_answers if engine is not None else 0},
        }

    def _times(self) -> dict[str, Times]:
        found = self._searches
        times: Times = {(name,): (list(counts), found.seconds[name]) for name, counts in list(found.times.items())}
        return {"periplus_search_seconds": times}

    def _read(self) -> Figures:
        """Everything that can be read; what cannot is left out, as the others must be seen then most of all."""
        values: dict[str, Values] = {"periplus_info": {(__version__,): 1}}
        for part in (self._of_crawl, self._of_index, self._of_files):
            with suppress(PeriplusError, OSError):
                for name, labels, value in part():
                    values.setdefault(name, {})[labels] = value
        return Figures(values)

    def _of_crawl(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        database = self._collection.database
        yield "periplus_state_lost", (), float(bool(self._collection.notice))
        status = crawl.status(database)
        for state in CRAWL_STATES:
            yield "periplus_crawl_state", (state,), float(status.state == state)
        yield "periplus_crawl_active", (), status.active
        with database.read() as tx:
            pages, queued, hosts, failing = tx.row(
                "SELECT COALESCE(SUM(pages), 0), COALESCE(SUM(queued), 0), COUNT(*),"
                " COUNT(*) FILTER (WHERE failures > 0) FROM hosts"
            ) or (0, 0, 0, 0)
            self._count_requests(tx)
        yield "periplus_crawl_pages", (), pages
        yield "periplus_crawl_queue", (), queued
        yield "periplus_crawl_hosts", (), hosts
        yield "periplus_crawl_hosts_failing", (), failing
        for outcome, count in self._outcomes.items():
            yield "periplus_crawl_requests", (outcome,), count
        yield "periplus_crawl_bytes", (), self._bytes
        yield "periplus_crawl_short_gaps", (), self._short
        yield "periplus_crawl_write_timestamp_seconds", (), crawl.last_sign(database)

    def _count_requests(self, tx: Transaction) -> None:
        """Add what the journal has got since the last look; nothing of before the first one."""
        last = int(tx.value("SELECT COALESCE(MAX(id), 0) FROM journal") or 0)
        if self._journal < 0:
            self._journal = last
        for outcome, count, size, short in tx.rows(_REQUESTS, (TOLERANCE, self._journal, last)):
            known = (outcome or "ok") if (outcome or "ok") in OUTCOMES else "other"
            self._outcomes[known] = self._outcomes.get(known, 0) + int(count)
            self._bytes += int(size or 0)
            self._short += int(short)
        self._journal = last

    def _of_index(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        database = self._collection.database
        index, last = index_status(self._collection.stores), 0
        if index is not None:
            last = index.last_batch
            yield "periplus_index_documents", (), index.documents
            yield "periplus_index_segments", (), index.segments
            yield "periplus_index_generation", (), index.generation
            yield "periplus_index_published_timestamp_seconds", (), index.created
        with database.read() as tx:
            newest = tx.value("SELECT MAX(created) FROM batches WHERE number <= ?", (last,))
            waiting = tx.value("SELECT COUNT(*) FROM batches WHERE number > ?", (last,))
        if newest:
            yield "periplus_index_newest_page_timestamp_seconds", (), float(newest)
        yield "periplus_index_waiting_batches", (), int(waiting or 0)
        yield "periplus_index_backlog_pages", (), crawl.backlog_size(database)
        ranks = rank_status(self._collection.stores)
        if ranks is not None:
            yield "periplus_ranks_pages", (), ranks.pages
            yield "periplus_ranks_published_timestamp_seconds", (), ranks.created
        backup = last_backup(self._collection)
        if backup is not None:
            yield "periplus_backup_timestamp_seconds", (), backup.made

    def _of_files(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        folder = self._collection.folder
        yield "periplus_damaged_files", (), len(self._collection.damage)
        for job, lock in LOCKS.items():
            yield "periplus_job_running", (job,), float(holder_of(folder / lock) is not None)
        yield "periplus_disk_free_bytes", (), shutil.disk_usage(folder).free
        if time.monotonic() - self._walked_at >= DISK_SECONDS:
            self._disk = disk_by_part(folder)
            self._walked_at = time.monotonic()
        for labels, size in self._disk.items():
            yield "periplus_disk_bytes", labels, size


def disk_by_part(folder: Path) -> dict[tuple[str, ...], float]:
    """Bytes of a collection's files by what they belong to; one that vanishes while we look does not count."""
    sizes = dict.fromkeys(PARTS, 0)
    for base, _, names in os.walk(folder):
        top = os.path.relpath(base, folder).partition(os.sep)[0]
        for name in names:
            part = top if top in sizes else "state" if top == "." and name.startswith("state.db") else "other"
            with suppress(OSError):
                sizes[part] += os.stat(os.path.join(base, name), follow_symlinks=False).st_size  # noqa: PTH116, PTH118
    return {(part,): float(size) for part, size in sizes.items()}
