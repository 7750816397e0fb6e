"""Patience with an object store: what needs it is tried again until it answers, while the worker keeps its lease.

The upload runs in a thread beside the one that waits for it, so that a slow store costs no lease. An operator is told
when the waiting begins and when it ends.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

from periplus.errors import StorageAway
from periplus.storage import write_event

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.crawl.working.committer import CommitOrder
    from periplus.crawl.working.member import Member
    from periplus.storage import Database

T = TypeVar("T")
BEAT = 1.0  # seconds between two signs of life while something is uploaded
PAUSE = 2.0  # between two tries; each of them lasts for some seconds by itself
LAST_SECONDS = 30.0  # that a worker which ends waits for a store that is away …
LAST_PAUSE = 0.2  # … and its pause


class UploadPatience:
    """Of one worker; ``run`` is called by the thread of its commits only."""

    def __init__(self, database: Database, member: Member, worker: int) -> None:
        self._database = database
        self._member = member
        self._worker = worker
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="periplus-upload")
        self._ends = threading.Event()
        self._give_up_at = 0.0
        self.away = ""  # why we wait

    def run(self, action: Callable[[], T], order: CommitOrder) -> T:
        """What ``action`` gives, however long the store is away; raises what else goes wrong, a lost lease too."""
        while True:
            try:
                result = self._awaited(self._executor.submit(action), order)
            except StorageAway as error:
                self._wait(error, order)
            else:
                self._tell_back()
                return result

    def hurry(self) -> None:
        """The worker ends: give up when the store does not come back soon."""
        self._give_up_at = time.monotonic() + LAST_SECONDS
        self._ends.set()

    def close(self) -> None:
        self._executor.shutdown(wait=True)

    def _awaited(self, work: Future[T], order: CommitOrder) -> T:
        while not wait([work], timeout=BEAT).done:
            self._member.stay(order)
        return work.result()

    def _wait(self, error: StorageAway, order: CommitOrder) -> None:
        if self._give_up_at and time.monotonic() >= self._give_up_at:
            raise error
        if not self.away:
            self.away = str(error)
            self._tell(f"worker {self._worker} waits for the object store: {error}", "warning")
        self._member.stay(order)
        if self._ends.wait(PAUSE):
            time.sleep(LAST_PAUSE)

    def _tell_back(self) -> None:
        if self.away:
            self.away = ""
            self._tell(f"worker {self._worker} goes on: the object store answers again")

    def _tell(self, text: str, level: str = "info") -> None:
        with self._database.write() as tx:
            write_event(tx, "crawl", text, level)
