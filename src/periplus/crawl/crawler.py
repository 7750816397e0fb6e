"""``Crawler``: wires one worker from settings, recovers, runs it, and obeys commands from anywhere."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.archive import ArchiveWriter
from periplus.crawl import control
from periplus.crawl.committer import ARCHIVE, Committer
from periplus.crawl.counters import Counters
from periplus.crawl.engine import Engine
from periplus.crawl.fetcher import VERSION, Fetcher
from periplus.crawl.frontier import Frontier
from periplus.crawl.interpretation import Interpreter
from periplus.crawl.journal import keep_token
from periplus.crawl.ledger import Ledger
from periplus.crawl.links import LinkFilter
from periplus.crawl.pacing import Hours
from periplus.crawl.recovery import Recovery
from periplus.crawl.requests import Requester
from periplus.crawl.robots_visit import RobotsVisit
from periplus.crawl.rows import Bundle, Found
from periplus.crawl.scope import Scope, canonical_seeds
from periplus.crawl.status import begin, forget, save, stored_pages
from periplus.crawl.takedown import removed_targets
from periplus.crawl.traps import TrapRules
from periplus.crawl.visitor import Visitor
from periplus.errors import UsageError
from periplus.storage import Leases, folder_lock

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from periplus.records import CrawlStatus
    from periplus.settings import Settings
    from periplus.storage import Database, Transaction

LOCK = "crawl.lock"
LEASE = "crawl"
LEASE_SECONDS = 365 * 86_400.0  # held as long as the folder's lock, which ends with the process
COMMAND_SECONDS = 0.5
PROGRESS_SECONDS = 0.25
FIGURES_SECONDS = 1.0


class Crawler:
    """One crawl of a collection. ``run`` blocks; ``stop``, ``pause`` and ``resume`` may be called from any thread."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        settings: Settings,
        progress: Callable[[CrawlStatus], None] | None = None,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._folder = folder
        self._database = database
        self._settings = settings
        self._progress = progress
        self._tls = tls
        self._command = ""
        self._lock = threading.Lock()

    def run(self, seeds: Sequence[str] = (), recrawl: bool = False, seconds: float = 0) -> CrawlStatus:
        """Crawl from ``seeds`` and everything known before, until nothing is due, or for so many seconds."""
        listed = canonical_seeds(seeds)
        with folder_lock(self._folder / LOCK, "crawling"):
            session = _Session(self, self._folder, self._database, self._settings, self._tls)
            session.prepare(listed, recrawl=recrawl)
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
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
        self._deadline = 0.0
        self._next = {"command": 0.0, "progress": 0.0, "figures": 0.0}
        self._seen_command = ""
        self._ordered_to_stop = False
        self._ordered_to_pause = False
        self._hours = Hours.parse(settings.crawl.hours)

    def prepare(self, seeds: list[str], *, recrawl: bool) -> None:
        """Recover, then put the seeds into the frontier."""
        crawl = self._settings.crawl
        known = self._all_seeds(seeds)
        self._traps = TrapRules()
        self._load_traps()
        self._removed = removed_targets(self._database)
        self._links = LinkFilter(Scope(crawl, known, self._removed), self._traps)
        self._frontier = Frontier(
            self._database, _levels(known), host_queue=crawl.host_queue, host_budget=crawl.host_budget
        )
        self._interpreter = Interpreter(crawl, self._links, self._traps)
        control.clear_commands(self._database)
        keep_token(self._database, self._settings.bot.name)
        Recovery(self._folder, self._database, crawl, self._frontier, self._interpreter).run(recrawl=recrawl)
        self._frontier.commit(Bundle(found=[_seed(url) for url in seeds], seeds=seeds), time.time())
        self._number, earlier = begin(self._database)
        self._counters = Counters(crawl.max_pages, earlier)
        self._refresh_figures()

    async def crawl(self, seconds: float) -> CrawlStatus:
        self._deadline = time.monotonic() + seconds if seconds else 0.0
        crawl = self._settings.crawl
        leases = Leases(self._database)
        with self._database.write() as tx:  # we hold the folder's lock: whoever had the lease is dead
            tx.execute("UPDATE leases SET expires = 0 WHERE name = ?", (LEASE,))
        lease = leases.acquire(LEASE, f"{socket.gethostname()}:{os.getpid()}", LEASE_SECONDS)
        if lease is None:
            raise UsageError(f"another crawl of {self._database.name} is running; stop it first")

        def check(tx: Transaction) -> None:
            leases.check(tx, lease)
            save(tx, self._number, self._counters.status(self._state()))

        writer = ArchiveWriter(self._folder / ARCHIVE, self._settings.archive.rotate_bytes, f"Periplus/{VERSION}")
        ledger = Ledger(writer, self._counters)
        committer = Committer(self._folder, self._database, self._frontier, check, crawl.delay)
        token = self._settings.bot.name
        self._engine = engine = Engine(
            crawl, token, self._frontier, committer, ledger, self._links,
            stored_pages=stored_pages(self._database), poll=self._poll,
        )  # fmt: skip
        try:
            async with Fetcher(self._settings, tls=self._tls) as fetcher:
                requester = Requester(crawl, fetcher, ledger)
                robots = RobotsVisit(requester, engine.borrow)
                engine.visitor = Visitor(crawl, token, requester, robots, self._interpreter, self._links, ledger)
                await engine.run()
        finally:
            committer.close()
            writer.close()
        self._counters.stored(committer.documents)
        self._close_marks()
        self._refresh_figures()
        status = self._counters.status("stopped" if self._ordered_to_stop else "done")
        with self._database.write() as tx:
            save(tx, self._number, status, ended=time.time())
            if not self._counters.did_anything:
                forget(tx, self._number)
        leases.release(lease)
        self._crawler.report(status)
        return status

    # Watching

    def _poll(self) -> None:
        """Called by the engine at every turn; does little most of the time."""
        now = time.monotonic()
        self._obey(self._crawler.take_command())
        self._engine.paused = self._ordered_to_pause or not self._hours.is_open(time.time())
        if self._deadline and now >= self._deadline:
            self._engine.stopping = True
        if now >= self._next["command"]:
            self._next["command"] = now + COMMAND_SECONDS
            command = control.read_command(self._database)
            if command != self._seen_command:
                self._seen_command = command
                self._obey(command)
        if now >= self._next["figures"]:
            self._next["figures"] = now + FIGURES_SECONDS
            self._refresh_figures()
            self._refresh_removed()
        if now >= self._next["progress"]:
            self._next["progress"] = now + PROGRESS_SECONDS
            self._counters.active = self._engine.under_way
            self._crawler.report(self._counters.status(self._state()))

    def _obey(self, command: str) -> None:
        if command == "stop":
            self._engine.stopping = self._ordered_to_stop = True
        elif command in ("pause", "resume"):
            self._ordered_to_pause = command == "pause"

    def _state(self) -> str:
        if self._engine.stopping:
            return "stopping"
        return "paused" if self._engine.paused else "running"

    def _refresh_figures(self) -> None:
        with self._database.read() as tx:
            row = tx.row("SELECT COALESCE(SUM(queued), 0), COUNT(*) FROM hosts") or (0, 0)
        self._counters.queued, self._counters.hosts = int(row[0]), int(row[1])

    def _refresh_removed(self) -> None:
        """A takedown holds at once, also for what is queued."""
        removed = removed_targets(self._database)
        if removed != self._removed:
            self._removed = removed
            self._links.scope = self._links.scope.with_removed(removed)

    # The database

    def _all_seeds(self, seeds: list[str]) -> list[str]:
        """These and those of earlier runs."""
        with self._database.read() as tx:
            known = [str(url) for (url,) in tx.rows("SELECT url FROM seeds")]
        if not (seeds or known):
            raise UsageError("nothing to crawl yet; name at least one address, such as https://example.org/")
        return list(dict.fromkeys([*known, *seeds]))

    def _load_traps(self) -> None:
        sql = "SELECT h.name, p.pattern, p.reason FROM closed_patterns p JOIN hosts h ON h.key = p.host"
        with self._database.read() as tx:
            for host, pattern, reason in tx.rows(sql):
                self._traps.close(host, pattern, reason)

    def _close_marks(self) -> None:
        """All is committed: the next start need not look into these files."""
        sizes = {path.name: path.stat().st_size for path in (self._folder / ARCHIVE).glob("periplus-*.warc.gz")}
        with self._database.read() as tx:
            marks: dict[str, int] = dict(tx.rows("SELECT file, place FROM archive_marks"))
        changed = {name: size for name, size in sizes.items() if name in marks and marks[name] != size}
        if changed:
            self._frontier.commit(Bundle(marks=changed), time.time())


def _levels(seeds: list[str]) -> Callable[[str], int]:
    """Seeds' hosts first, then the rest of their sites, then all others."""
    hosts = {addresses.host(url) for url in seeds}
    sites = {addresses.site(url) for url in seeds}

    def level(name: str) -> int:
        if name in hosts:
            return 0
        return 1 if addresses.site(name) in sites else 2

    return level


def _seed(url: str) -> Found:
    return Found(addresses.key(url), url, addresses.host(url))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop
