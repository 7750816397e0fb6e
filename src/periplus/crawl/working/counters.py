"""The running figures of a crawl, and the status made from them."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from periplus.crawl.frontier.roster import WorkerStatus
from periplus.crawl.frontier.rows import FAILED, FETCHED, PAGE, REFUSED
from periplus.records import CrawlStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.crawl.asking.condition import CrawlCondition
    from periplus.crawl.frontier.rows import Visited

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
        self.pages_in_all = 0
        self.active = 0
        self.current = ""
        self.answers = [0, 0, 0, 0]  # 2xx, 3xx, 404, others and none
        self._max_rate = 0.0
        self._before = before
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
    def earlier(self) -> CrawlStatus:
        """What was done before this run began, and how long all of it took."""
        seconds = self._seconds_before + time.monotonic() - self._began
        return msgspec.structs.replace(self._before, seconds=seconds)

    def inherit(self, last: CrawlStatus, others: Iterable[WorkerStatus]) -> None:
        """Take over what a crawl did that no worker's row tells, given its last figures and the other workers."""
        listed = list(others)
        for name in ("pages", "unchanged", "failed", "refused", "bytes", "documents", "links"):
            ours = int(getattr(self, name))
            untold = int(getattr(last, name)) - ours - sum(int(getattr(other, name)) for other in listed)
            setattr(self, name, ours + max(0, untold))
            self._before = msgspec.structs.replace(
                self._before, **{name: int(getattr(self._before, name)) + max(0, untold)}
            )
        self._documents_before = self._before.documents
        self._seconds_before += max(0.0, last.seconds - self._seconds_before - time.monotonic() + self._began)

    def stored(self, documents: int) -> None:
        """So many documents are in batches since this run began."""
        self.documents = self._documents_before + documents

    def _count_page(self, visited: Visited) -> None:
        if visited.document is None and not visited.fresh_body:
            self.unchanged += 1
            return
        self.pages += 1
        self.links += visited.links
        self._recent.append(time.monotonic())

    def answered(self, status: int) -> None:
        """Count a response by its status, 0 when there was none."""
        place = 2 if status == 404 else {2: 0, 3: 1}.get(status // 100, 3)
        self.answers[place] += 1

    def progress(self, others: Iterable[WorkerStatus] = ()) -> int:
        """A number that grows whenever an address is settled or an answer helps, here or at another worker."""
        ours = self.pages + self.unchanged + self.failed + self.refused + sum(self.answers[:3])
        return ours + sum(
            one.pages + one.unchanged + one.failed + one.refused + one.answers_2xx + one.answers_3xx + one.answers_404
            for one in others
        )

    def status(self, now: CrawlCondition, others: Iterable[WorkerStatus] = ()) -> CrawlStatus:
        """The figures of the crawl: ours and those of other workers."""
        clock = time.monotonic()
        listed = list(others)

        def total(name: str) -> int:
            return int(getattr(self, name)) + sum(int(getattr(other, name)) for other in listed)

        current = self.current or next((other.current for other in listed if other.current), "")
        return CrawlStatus(
            state=now.state, reason=now.reason, since=now.since, stored=self.pages_in_all,
            pages=total("pages"), unchanged=total("unchanged"), failed=total("failed"),
            refused=total("refused"), queued=self.queued, hosts=self.hosts, active=total("active"),
            bytes=total("bytes"), documents=total("documents"), links=total("links"), limit=self.limit,
            rate=round(self._rate(clock) + sum(other.rate for other in listed), 2),
            seconds=round(self._seconds_before + clock - self._began, 3), current=current,
        )  # fmt: skip

    def worker(self, number: int, state: str, *, hosts: int, partitions: int) -> WorkerStatus:
        """Our own row of the roster: what this process did."""
        now = time.monotonic()
        before = self._before
        pages = self.pages - before.pages
        rate = self._rate(now)
        self._max_rate = max(self._max_rate, rate)
        return WorkerStatus(
            number=number, state=state, partitions=partitions, pages=pages, unchanged=self.unchanged - before.unchanged,
            failed=self.failed - before.failed, refused=self.refused - before.refused, bytes=self.bytes - before.bytes,
            documents=self.documents - before.documents, links=self.links - before.links, rate=round(rate, 2),
            max_rate=round(self._max_rate, 2), average_rate=round(pages / max(now - self._began, 0.1), 2),
            answers_2xx=self.answers[0], answers_3xx=self.answers[1], answers_404=self.answers[2],
            answers_other=self.answers[3], active=self.active, hosts=hosts, current=self.current,
        )  # fmt: skip

    def _rate(self, now: float) -> float:
        while self._recent and self._recent[0] < now - RATE_WINDOW:
            self._recent.popleft()
        return len(self._recent) / min(RATE_WINDOW, max(now - self._began, 1.0))
