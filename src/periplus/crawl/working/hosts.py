"""A host while a worker has it: its waiting addresses, its rules, its clock."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from periplus.crawl.frontier.rows import HostChange
from periplus.crawl.rules.politeness import delay_in_force

if TYPE_CHECKING:
    from periplus.crawl.frontier.rows import HostRow, UrlRow
    from periplus.crawl.rules.host_rules import HostRules
    from periplus.settings import CrawlSettings

STEADY_ENOUGH = 0.003  # seconds by which two clocks may differ that were read one after the other
BURSTS = (256, 64, 16)  # addresses of a host before others that wait get its place, a level


class ActiveHost:
    """One connection at most: ``busy`` while a request is under way, ``ready_at`` the earliest time of the next."""

    def __init__(self, row: HostRow, urls: list[UrlRow], delay: float) -> None:
        self.row = row
        self.queue: deque[UrlRow] = deque(urls)
        self.rules: dict[str, HostRules] = {}
        self.ready_at = row.ready_at
        self.steady_ready = 0.0  # the same on a clock that nobody sets, once we have asked
        self.last_end = row.last_at
        self.delay = max(delay, row.delay)
        self.committed_delay = self.delay
        self.failures = row.failures
        self.reason = row.reason
        self.ip = ""
        self.busy = False
        self.doing: tuple[str, str, float] | None = None  # address, step, since when
        self.visits = 0
        self.taken: set[int] = set()  # addresses under way or not committed yet

    @property
    def key(self) -> int:
        return self.row.key

    @property
    def name(self) -> str:
        return self.row.name

    def steady_wait(self) -> float:
        """Seconds that are missing to the gap when the wall clock was set forward since the last request."""
        left = self.steady_ready - time.monotonic()
        return left if left > STEADY_ENOUGH else 0.0

    @property
    def burst(self) -> int:
        return BURSTS[min(self.row.level, len(BURSTS) - 1)]

    def learn_rules(self, origin: str, rules: HostRules, settings: CrawlSettings) -> bool:
        """Take rules over; whether the host must now be asked more slowly than the database knows."""
        self.rules[origin] = rules
        asked = [known.file.delay for known in self.rules.values() if known.file.delay is not None]
        self.delay = delay_in_force(settings, max(asked) if asked else None)
        return self.delay > self.committed_delay

    def change(self, requests: int) -> HostChange:
        return HostChange(self.ready_at, self.last_end, self.delay, self.failures, self.reason, self.ip, requests)
