"""One worker: its filters, its engine, its archive file. In the process of the crawl, or in one of its own.

``python -m periplus.crawl.working.worker`` is started by ``WorkerTeam``: the first line of its input says what to
crawl; commands are rows (``control``). When its input ends, so does it, at once: whoever started it is dead, and the
next start replays its archive. A shared lock on ``WORKERS_LOCK`` tells that start when the last of them is gone.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus import addresses, log_lines
from periplus.archive import ArchiveWriter
from periplus.crawl.asking.control import WorkerOrders
from periplus.crawl.fetching.fetcher import VERSION, Fetcher
from periplus.crawl.fetching.heavy_lane import HeavyLane
from periplus.crawl.fetching.loop_lag import LoopLag
from periplus.crawl.fetching.pacing import Bandwidth, DiskMark, Hours
from periplus.crawl.frontier import roster
from periplus.crawl.frontier.address_slots import SharedAddressSlots
from periplus.crawl.frontier.address_windows import AddressWindows
from periplus.crawl.frontier.clock import CrawlClock
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.page_pool import PageAccount
from periplus.crawl.frontier.partitions import Partitions
from periplus.crawl.frontier.removed import removed_targets
from periplus.crawl.frontier.seeds import known_seeds
from periplus.crawl.keeping.retention import ARCHIVE, rotate_seconds
from periplus.crawl.rules.interpretation import Interpreter
from periplus.crawl.rules.links import LinkFilter
from periplus.crawl.rules.scope import Scope
from periplus.crawl.rules.traps import TrapRules
from periplus.crawl.working.committer import Committer
from periplus.crawl.working.counters import Counters
from periplus.crawl.working.engine import CrawlEngine
from periplus.crawl.working.ledger import Ledger
from periplus.crawl.working.member import Member
from periplus.crawl.working.reading_line import ReadingLine
from periplus.crawl.working.requests import Requester
from periplus.crawl.working.robots_visit import RobotsVisit
from periplus.crawl.working.visitor import Visitor
from periplus.errors import LeaseLost, PeriplusError, StorageError
from periplus.settings import Settings
from periplus.storage import Blocklist, Database, Depot, Follower, Lease, LocalFiles, SharedCopies, open_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from periplus.crawl.frontier.address_slots import AddressSlots
    from periplus.records import CrawlStatus
    from periplus.settings import CrawlSettings
    from periplus.storage import Transaction

WORKERS_LOCK = "crawl.workers.lock"
SLOTS = "crawl.slots"
BANDWIDTH = "crawl.bandwidth"
REFRESH_SECONDS = 1.0
LEFT_ALONE, LOST = 3, 4  # exit codes: our starter is gone; another took our hosts over


class WorkerTask(Struct):
    """What a worker process is told first."""

    folder: str
    database: str
    settings: Settings
    crawl: int
    number: int
    lease: Lease
    files: str = ""  # the object store of a collection on many machines


class Worker:
    """One worker's parts; ``enroll`` makes it a member of a crawl, ``run`` lets it work."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        settings: Settings,
        *,
        seeds: Sequence[str] = (),
        depot: Depot | None = None,
    ) -> None:
        self._depot = depot
        self._folder = folder
        self._database = database
        self._settings = settings
        self._seeds = list(dict.fromkeys([*known_seeds(database), *seeds]))
        self._blocklist = Blocklist(LocalFiles(folder), lambda: database)
        copies = (SharedCopies(database, depot),) if depot is not None else ()
        self._shared = Follower(self._blocklist, *copies)
        self._shared.look(database)
        self._removed, self._blocked = removed_targets(database), self._blocklist.targets()
        self._next_refresh = 0.0
        self.clock = CrawlClock.of(database)
        crawl = settings.crawl
        traps = _closed_traps(database)
        self.links = LinkFilter(Scope(crawl, self._seeds, self._removed, self._blocked), traps)
        self.frontier = Frontier(
            database, _levels(self._seeds), host_queue=crawl.host_queue, host_budget=crawl.host_budget
        )
        self.interpreter = Interpreter(crawl, self.links, traps)

    def enroll(
        self,
        crawl: int,
        number: int,
        lease: Lease,
        *,
        earlier: CrawlStatus | None = None,
        also: Callable[[Transaction], None] | None = None,
    ) -> None:
        """Take part in a crawl with the number and the lease that the roster gave."""
        settings = self._settings.crawl
        self.number = self.frontier.worker = number
        self.counters = Counters(settings.max_pages, earlier)
        partitions = Partitions(self._database, number, lease, timeout=settings.timeout, wall=self.clock)
        account = PageAccount(settings.max_pages, crawl, number)
        self._member = Member(
            self._database, self.frontier, partitions, account, self.counters, self._address_slots(), also
        )

    @property
    def _is_shared(self) -> bool:
        """Whether other machines may take part."""
        return self._database.dialect != "sqlite"

    def _address_slots(self) -> AddressSlots:
        gap = self._settings.crawl.ip_delay
        return AddressWindows(gap) if self._is_shared else SharedAddressSlots(self._folder / SLOTS, gap)

    @property
    def has_left(self) -> bool:
        """Whether it gave everything back by itself; nobody heals it then."""
        return self._member.has_left

    def rest(self) -> None:
        """Give all hosts to others, and take no more."""
        self._member.resting = True

    async def run(self, poll: Callable[[CrawlEngine], None]) -> None:
        """Work until there is nothing to do, or until ``poll`` stops the engine."""
        settings, token = self._settings.crawl, self._settings.bot.name
        writer = ArchiveWriter(
            self._folder / ARCHIVE,
            self._settings.archive.rotate_bytes,
            f"Periplus/{VERSION}",
            self._settled,
            part_of=f"w{self.number}-{token_hex(4)}" if self._depot is not None else "",
            rotate_seconds=rotate_seconds(self._settings.archive.keep_days),
        )
        ledger = Ledger(writer, self.counters, self.clock)
        committer = Committer(
            self._folder, self._database, self.frontier, self._member, settings.delay, self.clock, writer, self._depot
        )
        engine = CrawlEngine(
            settings, token, self.frontier, committer, ledger, self.links, self._member,
            poll=lambda: self._poll(engine, poll),
        )  # fmt: skip
        line = ReadingLine()
        try:
            with HeavyLane() as lane:
                lag = LoopLag()
                async with Fetcher(
                    self._settings, bandwidth=self._bandwidth(), lane=lane, lag=lag, clock=self.clock
                ) as fetcher:
                    requester = Requester(settings, fetcher, ledger, self._member.slots, may_send=self._member.may_send)
                    robots = RobotsVisit(requester, engine.borrow, self.links.forbids)
                    engine.visitor = Visitor(
                        settings, token, requester, robots, self.interpreter, self.links, ledger, lane, lag, line
                    )
                    await engine.run()
        finally:
            line.close()
            committer.close()
            self._member.slots.close()
            writer.close()
        self.counters.stored(committer.documents)

    def _bandwidth(self) -> Bandwidth:
        """The cap of the crawl: shared by the workers of one machine, divided among those of many."""
        cap = self._settings.crawl.max_bandwidth
        if self._is_shared:
            return Bandwidth(cap, among=lambda: self._member.workers)
        return Bandwidth(cap, self._folder / BANDWIDTH)

    def _settled(self) -> dict[str, int]:
        """Archive files of earlier crawls, and up to where all that they hold is part of the state."""
        with self._database.read() as tx:
            return dict(tx.rows("SELECT file, place FROM archive_marks"))

    def _poll(self, engine: CrawlEngine, poll: Callable[[CrawlEngine], None]) -> None:
        now = time.monotonic()
        if now >= self._next_refresh:
            self._next_refresh = now + REFRESH_SECONDS
            self._refresh()
        poll(engine)

    def _refresh(self) -> None:
        """A takedown or a block holds at once, also for what is queued; so does a seed that another saw moving."""
        self._shared.look(self._database)
        removed, blocked = removed_targets(self._database), self._blocklist.targets()
        if (removed, blocked) != (self._removed, self._blocked):
            self._removed, self._blocked = removed, blocked
            self.links.scope = self.links.scope.without(removed, blocked)
        for url in known_seeds(self._database, len(self._seeds)):
            self._seeds.append(url)
            self.links.scope = self.links.scope.with_seed(url)


def _closed_traps(database: Database) -> TrapRules:
    traps = TrapRules()
    sql = "SELECT h.name, p.pattern, p.reason FROM closed_patterns p JOIN hosts h ON h.key = p.host"
    with database.read() as tx:
        for host, pattern, reason in tx.rows(sql):
            traps.close(host, pattern, reason)
    return traps


def _levels(seeds: list[str]) -> Callable[[str], int]:
    """Seeds' hosts first, then the rest of their sites, then all others."""
    hosts = {addresses.host(url) for url in seeds}
    sites = {addresses.site(url) for url in seeds}

    def level(name: str) -> int:
        if name in hosts:
            return 0
        return 1 if addresses.site(name) in sites else 2

    return level


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


# A process of its own


class _Obedience:
    """What rows and signals say, done by a worker in a process of its own; it ends with whoever started it."""

    def __init__(self, folder: Path, database: Database, number: int, settings: CrawlSettings) -> None:
        self._orders = WorkerOrders(database, number)
        self._hours = Hours.parse(settings.hours)
        self._disk = DiskMark(folder)
        self._is_ended = False
        threading.Thread(target=self._end_with_starter, name="periplus-starter", daemon=True).start()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the starter hears it too and tells us
        signal.signal(signal.SIGTERM, self._end)

    def _end(self, *_: object) -> None:
        self._is_ended = True

    def _end_with_starter(self) -> None:
        sys.stdin.read()
        os._exit(LEFT_ALONE)

    def obey(self, engine: CrawlEngine) -> None:
        self._orders.look()
        engine.stopping = engine.stopping or self._is_ended or self._orders.stop or bool(self._orders.leave)
        engine.paused = self._orders.paused or not self._hours.is_open(time.time()) or bool(self._disk.look())


def open_workers_lock(folder: Path) -> BinaryIO:
    """The file whose lock tells whether workers of the folder live; raises ``StorageError``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / WORKERS_LOCK).open("ab")
    except OSError as error:
        raise StorageError(f"{folder / WORKERS_LOCK} cannot be opened: {error.strerror}; check the disk") from error


@contextmanager
def _shared_lock(folder: Path) -> Iterator[None]:
    with open_workers_lock(folder) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def _work(task: WorkerTask) -> None:
    folder = Path(task.folder)
    with _shared_lock(folder), Database.open(task.database) as database:
        depot = Depot(LocalFiles(folder), open_objects(task.files)) if task.files else None
        worker = Worker(folder, database, task.settings, depot=depot)
        worker.enroll(task.crawl, task.number, task.lease)
        with database.write() as tx:
            roster.take_seat(tx, task.number)
        told = _Obedience(folder, database, task.number, task.settings.crawl)
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(worker.run(told.obey))


def main() -> int:
    log_lines.begin("crawl-worker")
    task = msgspec.json.decode(sys.stdin.readline(), type=WorkerTask)
    try:
        _work(task)
    except LeaseLost:
        return LOST
    except PeriplusError as error:
        sys.stdout.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
