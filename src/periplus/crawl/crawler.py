"""``Crawler``: one crawl of a collection. Recovers, leads the workers, and obeys commands from anywhere.

The first worker runs in the process of the caller, further ones in processes of their own (``WorkerTeam``). The first
also owns what concerns all: the start, the figures of the whole crawl, pause and stop, and when it is over.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.crawl import control, partitions, roster
from periplus.crawl.backlog import keep_languages
from periplus.crawl.checks import check
from periplus.crawl.committer import ARCHIVE
from periplus.crawl.condition import (
    DONE,
    PAUSED,
    QUIET,
    STALLED,
    STOPPED,
    STOPPING,
    CrawlCondition,
    Standing,
    condition,
    waiting_for,
)
from periplus.crawl.journal import keep_token
from periplus.crawl.pacing import Hours
from periplus.crawl.page_pool import count_pool
from periplus.crawl.recovery import Recovery
from periplus.crawl.rows import Bundle, FoundAddress
from periplus.crawl.scope import canonical_seeds
from periplus.crawl.seeds import barren_seeds, known_seeds, try_again
from periplus.crawl.status import begin, forget, save, totals
from periplus.crawl.takedown import sweep
from periplus.crawl.team import WorkerTeam, wait_for_old_workers
from periplus.crawl.waits import host_waits
from periplus.crawl.worker import Worker, loop_factory
from periplus.errors import PeriplusError, UsageError
from periplus.reasons import in_words
from periplus.storage import folder_lock, write_event

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from periplus.crawl.engine import CrawlEngine
    from periplus.crawl.roster import WorkerStatus
    from periplus.records import CrawlStatus
    from periplus.settings import Settings
    from periplus.storage import Database, Transaction

LOCK = "crawl.lock"
COMMAND_SECONDS = 0.5
PROGRESS_SECONDS = 0.25
FIGURES_SECONDS = 1.0
SUMS_SHARE = 0.02  # of the time may go into summing up the hosts, which takes long where there are millions
QUEUE_A_WORKER = 500  # when the number of workers is ours to choose, a further one pays from so many addresses on …
HOSTS_A_WORKER = 2  # … at so many hosts


class Crawler:
    """One crawl of a collection. ``run`` blocks; ``stop``, ``pause`` and ``resume`` may be called from any thread.

    ``rank_of`` tells the ranks (0 to 1) of hosts by their keys: where many wait, the higher come first. ``begun`` is
    called when nothing can refuse the crawl any more, before its first request.
    """

    def __init__(
        self,
        folder: Path,
        database: Database,
        settings: Settings,
        progress: Callable[[CrawlStatus], None] | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        rank_of: Callable[[Sequence[int]], Sequence[float]] | None = None,
        begun: Callable[[], None] | None = None,
    ) -> None:
        self._folder = folder
        self._database = database
        self._settings = settings
        self._progress = progress
        self._tls = tls
        self._rank_of = rank_of
        self._begun = begun
        self._command = ""
        self._lock = threading.Lock()

    def run(self, seeds: Sequence[str] = (), recrawl: bool = False, seconds: float = 0) -> CrawlStatus:
        """Crawl from ``seeds`` and everything known before, until nothing is due, or for so many seconds."""
        listed = canonical_seeds(seeds)
        check(self._settings.crawl)
        with folder_lock(self._folder / LOCK, "crawling"):
            wait_for_old_workers(self._folder)
            session = _Session(self, self._folder, self._database, self._settings, self._tls)
            session.prepare(listed, recrawl=recrawl, rank_of=self._rank_of)
            if self._begun is not None:
                self._begun()
            with asyncio.Runner(loop_factory=loop_factory()) as runner:
                return runner.run(session.crawl(seconds))

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


class _Session:
    """The parts of one run, and what watches over them."""

    def __init__(
        self,
        crawler: Crawler,
        folder: Path,
        database: Database,
        settings: Settings,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._crawler = crawler
        self._folder = folder
        self._database = database
        self._settings = settings
        self._tls = tls
        self._number = 0
        self._seeds: list[str] = []
        self._deadline = 0.0
        self._next = {"command": 0.0, "progress": 0.0, "figures": 0.0}
        self._next_sums = 0.0
        self._seen_command = ("", 0.0)
        self._news: list[tuple[str, str]] = []  # for the operator, with the next commit: text and level
        self._first_event = 0
        self._stopping = self._ordered_to_stop = False
        self._ordered_to_pause = False
        self._hours = Hours.parse(settings.crawl.hours)
        self._others: list[WorkerStatus] = []
        self._condition = CrawlCondition()
        self._progress = (0, time.time())  # how much was done, and when that last grew
        self._mode = (False, False, False)  # stopping, paused, by order
        self._watch: asyncio.Task[None] | None = None

    def prepare(
        self,
        seeds: list[str],
        *,
        recrawl: bool,
        rank_of: Callable[[Sequence[int]], Sequence[float]] | None = None,
    ) -> None:
        """Recover, then put the seeds into the frontier."""
        crawl = self._settings.crawl
        self._seeds = seeds
        if not (seeds or known_seeds(self._database)):
            raise UsageError("nothing to crawl yet; name at least one address, such as https://example.org/")
        with self._database.write() as tx:  # we hold the folder's lock: whoever had leases is dead
            partitions.free_all(tx)
            roster.forget_all(tx)
        self._worker = worker = Worker(self._folder, self._database, self._settings, seeds=seeds, tls=self._tls)
        control.clear_commands(self._database)
        keep_token(self._database, self._settings.bot.name)
        keep_languages(self._database, crawl)
        self._recovery = Recovery(self._folder, self._database, crawl, worker.frontier, worker.interpreter)
        self._recovery.run(recrawl=recrawl)
        worker.frontier.commit(Bundle(found=[_seed(url) for url in seeds], seeds=seeds), time.time())
        with self._database.write() as tx:
            try_again(tx, seeds)
        if rank_of is not None:
            worker.frontier.rank_hosts(rank_of)
        self._number, earlier = begin(self._database)
        with self._database.write() as tx:
            count_pool(tx, self._number, crawl.max_pages)
            how = "goes on where it was interrupted" if earlier else "begins"
            self._first_event = write_event(tx, "crawl", f"crawl {self._number} {how}")
        worker.enroll(self._number, roster.register(self._database), leads=True, earlier=earlier, also=self._save)
        self._counters = worker.counters
        self._team = WorkerTeam(self._folder, self._database, self._settings, self._number)
        self._refresh_figures()

    async def crawl(self, seconds: float) -> CrawlStatus:
        self._deadline = time.monotonic() + seconds if seconds else 0.0
        self._choose_workers()
        self._team.look()
        try:
            await self._worker.run(self._poll)
        except PeriplusError as error:
            self._tell_failure(error)
            raise
        finally:
            if self._watch is not None:
                await asyncio.wait([self._watch])
            await asyncio.to_thread(self._team.close)
        self._close_marks()
        self._recovery.store_pending()  # of a worker that lost its leases
        sweep(self._database, self._folder)
        self._refresh_figures()
        status = self._counters.status(self._end(), self._others)
        barren = barren_seeds(self._database, self._seeds, self._settings.crawl.max_pages)
        with self._database.write() as tx:
            save(tx, self._number, status, ended=time.time())
            self._tell_news(tx)
            for seed in barren:
                write_event(tx, "crawl", f"{seed.url} brought nothing: {in_words(seed.reason, seed.detail)}", "warning")
            if any((status.pages, status.unchanged, status.failed, status.refused, status.bytes)):
                write_event(tx, "crawl", _summary(self._number, status))
            else:
                forget(tx, self._number)
                tx.execute("DELETE FROM events WHERE id = ?", (self._first_event,))  # nothing was due: no news
        self._crawler.report(status)
        return status

    # Watching

    def _poll(self, engine: CrawlEngine) -> None:
        """Called by the engine at every turn; does little most of the time."""
        now = time.monotonic()
        self._obey(self._crawler.take_command())
        if self._deadline and now >= self._deadline:
            self._stopping = True
        if now >= self._next["command"]:
            self._next["command"] = now + COMMAND_SECONDS
            command = control.read_command(self._database)
            if command != self._seen_command:
                self._seen_command = command
                self._obey(command[0])
        if now >= self._next["figures"]:
            self._next["figures"] = now + FIGURES_SECONDS
            self._refresh_figures(whole=False)
            self._choose_workers()
            self._judge(engine)
        self._steer(engine)
        if (engine.stopping, engine.paused, self._ordered_to_pause) != self._mode:
            self._judge(engine)
        self._watch_team(engine)
        if now >= self._next["progress"]:
            self._next["progress"] = now + PROGRESS_SECONDS
            self._counters.active = engine.under_way
            self._crawler.report(self._counters.status(self._condition, self._others))

    def _obey(self, command: str) -> None:
        if command == "stop":
            self._stopping = self._ordered_to_stop = True
        elif command in ("pause", "resume"):
            self._ordered_to_pause = command == "pause"
        elif command.startswith("restart "):
            self._team.dismiss(int(command.removeprefix("restart ")))
        elif command.startswith("workers "):
            self._team.wanted = int(command.removeprefix("workers ")) - 1
            self._chosen = True

    def _steer(self, engine: CrawlEngine) -> None:
        """All workers do as the crawl as a whole."""
        engine.stopping = engine.stopping or self._stopping
        engine.paused = self._ordered_to_pause or not self._hours.is_open(time.time())
        if engine.stopping or engine.paused or self._team.size:
            self._team.order("stop" if engine.stopping else "pause" if engine.paused else "resume")

    def _judge(self, engine: CrawlEngine) -> None:
        """Look at the figures, and tell the operator when they mean another state."""
        now = time.time()
        done = self._counters.progress(self._others)
        mode = engine.stopping, engine.paused, self._ordered_to_pause
        if done != self._progress[0] or mode != self._mode:
            self._progress, self._mode = (done, now), mode
        before, self._condition = self._condition, condition(self._standing(engine, now))
        if (before.state, before.reason == STOPPING) != (self._condition.state, self._condition.reason == STOPPING):
            self._news.append(_news(self._condition))

    def _standing(self, engine: CrawlEngine, now: float) -> Standing:
        quiet = now - self._progress[1] >= QUIET
        with self._database.read() as tx:
            waits = host_waits(tx) if quiet and not engine.paused else ()
        return Standing(
            now=now,
            progress_at=self._progress[1],
            queued=self._counters.queued,
            stopping=engine.stopping,
            paused=self._ordered_to_pause,
            closed_hours="" if self._hours.is_open(now) else self._settings.crawl.hours,
            may_send=engine.may_send,
            silent=tuple(one.number for one in self._others if one.state == roster.SILENT),
            waits=waits,
        )

    def _end(self) -> CrawlCondition:
        """The state of a crawl that is over; addresses that it left waiting have their reason."""
        if self._ordered_to_stop:
            return CrawlCondition(STOPPED, "by order; periplus crawl or up goes on", time.time())
        with self._database.read() as tx:
            waits = host_waits(tx)
        limit = self._settings.crawl.max_pages
        full = limit and self._counters.pages_in_all >= limit
        return CrawlCondition(DONE, "" if full else waiting_for(waits, time.time()), time.time())

    # Workers

    _chosen = False  # by a command

    def _choose_workers(self) -> None:
        """As many as the settings say; left to us, one a core as soon as there is work for them."""
        if self._tls is not None or self._chosen:  # a TLS context cannot be handed to another process
            return
        wanted = self._settings.crawl.workers
        if not wanted:
            paying = min(self._counters.queued // QUEUE_A_WORKER, self._counters.hosts // HOSTS_A_WORKER)
            wanted = max(1, min(_cores(), paying), self._team.wanted + 1)
        self._team.wanted = wanted - 1

    def _watch_team(self, engine: CrawlEngine) -> None:
        """Look after the other workers, beside the event loop: making good for a dead one takes a while."""
        if self._watch is not None:
            if not self._watch.done():
                return
            error = self._watch.exception()
            self._watch = None
            if error is not None:
                engine.fail(error)
        if self._team.wanted or self._team.size:
            self._watch = asyncio.create_task(asyncio.to_thread(self._team.look))

    # The database

    def _save(self, tx: Transaction) -> None:
        save(tx, self._number, self._counters.status(self._condition, self._others))
        self._tell_news(tx)

    def _tell_news(self, tx: Transaction) -> None:
        news, self._news = self._news, []
        for text, level in news:
            write_event(tx, "crawl", f"crawl {self._number} {text}", level)

    def _tell_failure(self, error: PeriplusError) -> None:
        """As well as the database allows: it may be what failed."""
        with suppress(PeriplusError), self._database.write() as tx:
            write_event(tx, "crawl", f"crawl {self._number} failed: {error}", "error")

    def _refresh_figures(self, *, whole: bool = True) -> None:
        """What the progress shows; without ``whole`` the hosts are summed up only when that is due."""
        began = time.monotonic()
        if whole or began >= self._next_sums:
            with self._database.read() as tx:
                self._counters.queued, self._counters.hosts, self._counters.pages_in_all = totals(tx)
            self._next_sums = began + (time.monotonic() - began) / SUMS_SHARE
        if self._team.wanted or self._others:
            ours = self._worker.number
            self._others = [other for other in roster.workers(self._database) if other.number != ours]

    def _close_marks(self) -> None:
        """All is committed: the next start need not look into these files."""
        sizes = {path.name: path.stat().st_size for path in (self._folder / ARCHIVE).glob("periplus-*.warc.gz")}
        with self._database.read() as tx:
            marks: dict[str, int] = dict(tx.rows("SELECT file, place FROM archive_marks"))
        changed = {name: size for name, size in sizes.items() if name in marks and marks[name] != size}
        if changed:
            self._worker.frontier.commit(Bundle(marks=changed), time.time())


def _news(now: CrawlCondition) -> tuple[str, str]:
    if now.state == STALLED:
        return f"stalls: {now.reason}", "warning"
    if now.reason == STOPPING:
        return "stops", "info"
    return ("pauses" if now.state == PAUSED else "goes on"), "info"


def _summary(number: int, status: CrawlStatus) -> str:
    return (
        f"crawl {number} {status.state}: {status.pages:,} pages, {status.unchanged:,} unchanged,"
        f" {status.failed:,} failed, {status.refused:,} refused in {status.seconds:,.0f} s"
    )


def _cores() -> int:
    """That we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _seed(url: str) -> FoundAddress:
    return FoundAddress(addresses.key(url), url, addresses.host(url))
