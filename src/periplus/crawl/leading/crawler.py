"""``Crawler``: one machine's part in a crawl of a collection, and its whole where the state is a file.

The first worker runs in the process of the caller, further ones in processes of their own (``WorkerTeam``). ``Session``
leads them. Where machines share a PostgreSQL server, whoever runs a crawl first begins it, and others join it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from periplus.crawl.asking.checks import check
from periplus.crawl.asking.condition import STALLED
from periplus.crawl.leading.session import Session
from periplus.crawl.leading.team import wait_for_old_workers
from periplus.crawl.rules.scope import canonical_seeds
from periplus.crawl.working.uploads import PAUSE
from periplus.crawl.working.worker import loop_factory
from periplus.errors import StorageAway
from periplus.records import CrawlStatus
from periplus.storage import folder_lock, make_private_folder, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from periplus.settings import Settings
    from periplus.storage import Database, Depot

LOCK = "crawl.lock"


class Crawler:
    """One crawl of a collection. ``run`` blocks; ``stop``, ``pause`` and ``resume`` may be called from any thread.

    ``rank_of`` tells the ranks (0 to 1) of hosts by their keys: where many wait, the higher come first. ``begun`` is
    called when nothing can refuse the crawl any more, before its first request. ``depot``: of a collection on many
    machines.
    """

    def __init__(
        self,
        folder: Path,
        database: Database,
        settings: Settings,
        progress: Callable[[CrawlStatus], None] | None = None,
        *,
        rank_of: Callable[[Sequence[int]], Sequence[float]] | None = None,
        begun: Callable[[], None] | None = None,
        depot: Depot | None = None,
    ) -> None:
        self._folder = folder
        self._database = database
        self._settings = settings
        self._progress = progress
        self._rank_of = rank_of
        self._begun = begun
        self._depot = depot
        self._command = ""
        self._lock = threading.Lock()

    def run(
        self, seeds: Sequence[str] = (), recrawl: bool = False, seconds: float = 0, *, join: bool = False
    ) -> CrawlStatus:
        """Crawl from ``seeds`` and everything known before, until nothing is due, or for so many seconds.

        With ``join`` only as part of a crawl that runs: ``WrongState`` when there is none.
        """
        listed = canonical_seeds(seeds)
        check(self._settings.crawl)
        self._await_store()
        with self._alone() as alone:
            session = Session(self, self._folder, self._database, self._settings, self._depot)
            session.prepare(listed, recrawl=recrawl, rank_of=self._rank_of, alone=alone, join=join)
            if self._begun is not None:
                self._begun()
            with asyncio.Runner(loop_factory=loop_factory()) as runner:
                return runner.run(session.crawl(seconds))

    def _await_store(self) -> None:
        """Begin when the object store answers, as a crawl that runs waits for it; an order to stop ends the waiting."""
        since = 0.0
        while self._depot is not None:
            try:
                self._depot.objects.check()
            except StorageAway as error:
                if self.take_command() == "stop":
                    raise
                if not since:
                    since = time.time()
                    self._tell(f"a crawl waits for the object store before it begins: {error}", "warning")
                self.report(CrawlStatus(STALLED, f"it waits and begins by itself: {error}", since))
                time.sleep(PAUSE)
            else:
                if since:
                    self._tell("a crawl begins: the object store answers again")
                return

    def _tell(self, text: str, level: str = "info") -> None:
        with self._database.write() as tx:
            write_event(tx, "crawl", text, level)

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """A collection in a file is crawled by one machine and one crawl at a time; others share one crawl."""
        if self._database.dialect != "sqlite":
            make_private_folder(self._folder)
            yield False
            return
        with folder_lock(self._folder / LOCK, "crawling"):
            wait_for_old_workers(self._folder)
            yield True

    def stop(self) -> None:
        """End soon: requests under way are finished, everything is committed."""
        self._order("stop")

    def pause(self) -> None:
        self._order("pause")

    def resume(self) -> None:
        self._order("resume")

    def take_command(self) -> str:
        with self._lock:
            command, self._command = self._command, ""
        return command

    def report(self, status: CrawlStatus) -> None:
        if self._progress is not None:
            self._progress(status)

    def _order(self, command: str) -> None:
        with self._lock:
            if self._command != "stop":
                self._command = command
