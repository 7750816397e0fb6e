"""The running figures of a crawl, and the status made from them."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from periplus.crawl.rows import FAILED, FETCHED, PAGE, REFUSED
from periplus.records import CrawlStatus

if TYPE_CHECKING:
    from periplus.crawl.rows import Visited

RATE_WINDOW = 10.0  # seconds over which the rate is taken


class Counters:
    """Figures of one crawl; ``earlier`` is the last status of the same crawl when it was interrupted."""

    def __init__(self, limit: int, earlier: CrawlStatus | None = None) -> None:
        before = earlier or CrawlStatus()
        self.limit = limit
        self.pages = before.pages
        self.unchanged = before.unchanged
        self.failed = before.failed
        self.refused = before.refused
        self.bytes = before.bytes
        self.documents = before.documents
        self.links = before.links
        self.queued = 0
        self.hosts = 0
        self.active = 0
        self.current = ""
        self._seconds_before = before.seconds
        self._documents_before = before.documents
        self._began = time.monotonic()
        self._recent: deque[float] = deque()

    def visited(self, visited: Visited) -> None:
        """Count an address that a visit settled."""
        row = visited.row
        if row.state == FETCHED and row.kind == PAGE and not row.reason:
            self._count_page(visited)
        elif row.state == FAILED:
            self.failed += 1
        elif row.state == REFUSED:
            self.refused += 1

    @property
    def did_anything(self) -> bool:
        return any((self.pages, self.unchanged, self.failed, self.refused, self.bytes))

    def stored(self, documents: int) -> None:
        """So many documents are in batches since this run began."""
        self.documents = self._documents_before + documents

    def _count_page(self, visited: Visited) -> None:
        if visited.document is None:
            self.unchanged += 1
            return
        self.pages += 1
        self.links += len(visited.document.links)
        self._recent.append(time.monotonic())

    def status(self, state: str) -> CrawlStatus:
        now = time.monotonic()
        while self._recent and self._recent[0] < now - RATE_WINDOW:
            self._recent.popleft()
        window = min(RATE_WINDOW, max(now - self._began, 0.1))
        return CrawlStatus(
            state=state, pages=self.pages, unchanged=self.unchanged, failed=self.failed, refused=self.refused,
            queued=self.queued, hosts=self.hosts, active=self.active, bytes=self.bytes, documents=self.documents,
            links=self.links, limit=self.limit, rate=round(len(self._recent) / window, 2),
            seconds=round(self._seconds_before + now - self._began, 3), current=self.current,
        )  # fmt: skip
