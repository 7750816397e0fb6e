"""A session: what one process does in a crawl besides its own worker. It begins the crawl or joins it, leads the
workers of its machine, obeys commands, and heals workers that died, wherever they were.

One session of a crawl conducts it (``Conductor``): it writes the figures of the whole, says when its state changes, and
decides when it is over. Each of them can; on one machine there is only one.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from periplus import addresses
from periplus.crawl.asking import control
from periplus.crawl.asking.condition import (
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
from periplus.crawl.asking.status import begin, forget, is_begun, is_closed, newest, save, status, totals
from periplus.crawl.asking.waits import host_waits
from periplus.crawl.fetching.pacing import DiskMark, Hours
from periplus.crawl.frontier import roster
from periplus.crawl.frontier.journal import keep_token
from periplus.crawl.frontier.page_pool import count_pool
from periplus.crawl.frontier.partitions import lease_seconds
from periplus.crawl.frontier.rows import Bundle, FoundAddress
from periplus.crawl.frontier.seeds import barren_seeds, known_seeds, try_again
from periplus.crawl.keeping.backlog import keep_languages
from periplus.crawl.keeping.takedown import sweep
from periplus.crawl.leading.conductor import Conductor
from periplus.crawl.leading.recovery import Recovery
from periplus.crawl.leading.team import WorkerTeam
from periplus.crawl.leading.undertaker import Undertaker
from periplus.crawl.working.worker import Worker
from periplus.errors import LeaseLost, PeriplusError, StorageAway, StorageBusy, UsageError, WrongState
from periplus.reasons import in_words
from periplus.storage import write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from periplus.crawl.frontier.roster import WorkerStatus
    from periplus.crawl.working.engine import CrawlEngine
    from periplus.records import CrawlStatus
    from periplus.settings import Settings
    from periplus.storage import Database, Depot, Transaction

    RankOf = Callable[[Sequence[int]], Sequence[float]]

PROGRESS_SECONDS = 0.25
FIGURES_SECONDS = 1.0
WATCH_SECONDS = 0.2  # between two looks after the workers
SUMS_SHARE = 0.02  # of the time may go into summing up the hosts, which takes long where there are millions
QUEUE_A_WORKER = 500  # when the number of workers is ours to choose, a further one pays from so many addresses on …
HOSTS_A_WORKER = 2  # … at so many hosts
ENTRY_SECONDS = 600.0  # to wait for a crawl that another machine begins or ends
ENTRY_PAUSE = 0.1
MOST_FRESH_STARTS = 20  # of the session's own worker, when it lost its lease


class Caller(Protocol):
    """Whoever runs a session: gives commands, hears of progress."""

    def take_command(self) -> str: ...

    def report(self, status: CrawlStatus) -> None: ...


class Session:
    """The parts of one run, and what watches over them."""

    def __init__(
        self, caller: Caller, folder: Path, database: Database, settings: Settings, depot: Depot | None = None
    ) -> None:
        self._depot = depot
        self._caller = caller
        self._folder = folder
        self._database = database
        self._settings = settings
        self._number = 0
        self._seeds: list[str] = []
        self._deadline = 0.0
        self._next = {"progress": 0.0, "figures": 0.0, "watch": 0.0}
        self._next_sums = 0.0
        self._conductor = Conductor(database)
        self._undertaker = Undertaker(folder, database, settings, depot)
        self._news: list[tuple[str, str]] = []  # for the operator, with the next commit: text and level
        self._first_event = 0
        self._leaving = False  # by the caller, or because its time is over
        self._called_off = False  # by the caller
        self._size = 0  # of the team, by order
        self._hours = Hours.parse(settings.crawl.hours)
        self._disk = DiskMark(folder)
        self._others: list[WorkerStatus] = []
        self._condition = CrawlCondition()
        self._progress = (0, time.time())  # how much was done, and when that last grew
        self._mode = (False, False, False)  # stopping, paused, by order
        self._watch: asyncio.Task[None] | None = None

    # Entering

    def prepare(
        self,
        seeds: list[str],
        *,
        recrawl: bool,
        rank_of: RankOf | None = None,
        alone: bool = False,
        join: bool = False,
    ) -> None:
        """Begin a crawl, or join the one that runs. ``alone``: nobody else can be at work in the collection."""
        self._seeds = seeds
        if not (seeds or known_seeds(self._database)):
            raise UsageError("nothing to crawl yet; name at least one address, such as https://example.org/")
        begins = self._enter(alone=alone)
        if begins and join:
            self._conductor.release()
            raise WrongState("no crawl runs that could be joined; periplus crawl without --join begins one")
        self._worker = Worker(self._folder, self._database, self._settings, seeds=seeds, depot=self._depot)
        earlier = self._begin(recrawl=recrawl, rank_of=rank_of) if begins else self._join()
        self._enroll(earlier)
        self._team = WorkerTeam(
            self._folder, self._database, self._settings, self._number, self._undertaker, self._depot
        )
        self._refresh_figures()

    def _enter(self, *, alone: bool) -> bool:
        """Whether the crawl is ours to begin; false when one runs that we can join."""
        limit = time.monotonic() + ENTRY_SECONDS
        while time.monotonic() < limit:
            self._undertaker.look(everyone=alone)
            conducts = self._conductor.take(alone=alone)
            with self._database.read() as tx:
                lives, runs = bool(roster.living(tx)), is_begun(tx)
            if conducts and not lives:
                return True
            if lives and runs:
                return False
            if conducts:
                self._conductor.keep()  # the last workers of a crawl that ended are still leaving
            time.sleep(ENTRY_PAUSE)
        raise StorageBusy(
            f"another machine begins or ends a crawl of {self._database.name} for long; look at its state"
        )

    def _begin(self, *, recrawl: bool, rank_of: RankOf | None) -> CrawlStatus | None:
        """Recover, then put the seeds into the frontier; the figures of a crawl that was interrupted."""
        crawl, worker = self._settings.crawl, self._worker
        with self._database.write() as tx:
            roster.forget_ended(tx)
        control.clear_commands(self._database)
        keep_token(self._database, self._settings.bot.name)
        keep_languages(self._database, crawl)
        self._recover().run(recrawl=recrawl)
        self._add_seeds()
        with self._database.write() as tx:
            try_again(tx, self._seeds)
        if rank_of is not None:
            worker.frontier.rank_hosts(rank_of)
        self._number, earlier = begin(self._database)
        with self._database.write() as tx:
            count_pool(tx, self._number, crawl.max_pages)
            how = "goes on where it was interrupted" if earlier else "begins"
            self._first_event = write_event(tx, "crawl", f"crawl {self._number} {how}")
        return earlier

    def _join(self) -> CrawlStatus | None:
        self._worker.frontier.parts = ()  # seeds go into the inboxes of whoever has their hosts
        self._add_seeds()
        self._recover().replay_leftovers(())
        with self._database.write() as tx:
            self._number = newest(tx)
            write_event(tx, "crawl", f"{socket.gethostname()} joins crawl {self._number}")
        return None

    def _add_seeds(self) -> None:
        bundle = Bundle(found=[_seed(url) for url in self._seeds], seeds=self._seeds)
        self._worker.frontier.commit(bundle, self._worker.clock())

    def _enroll(self, earlier: CrawlStatus | None) -> None:
        number, lease = roster.register(self._database, lease_seconds(self._settings.crawl.timeout))
        self._worker.enroll(self._number, number, lease, earlier=earlier, also=self._save)
        self._counters = self._worker.counters
        self._orders = control.WorkerOrders(self._database, number)

    def _recover(self) -> Recovery:
        worker = self._worker
        return Recovery(
            self._folder,
            self._database,
            self._settings.crawl,
            worker.frontier,
            worker.interpreter,
            clock=worker.clock,
            depot=self._depot,
        )

    # Working

    async def crawl(self, seconds: float) -> CrawlStatus:
        self._deadline = time.monotonic() + seconds if seconds else 0.0
        self._choose_workers()
        self._team.look()
        try:
            await self._work()
        except PeriplusError as error:
            self._tell_failure(error)
            raise
        finally:
            if self._watch is not None:
                await asyncio.wait([self._watch])
            await asyncio.to_thread(self._team.close)
        return await asyncio.to_thread(self._end)

    async def _work(self) -> None:
        """Let our worker work; one that lost its lease, or is to be restarted, is followed by another."""
        for _ in range(MOST_FRESH_STARTS):
            try:
                await self._worker.run(self._poll)
            except PeriplusError as error:
                if not (isinstance(error, LeaseLost) or self._is_replaced()):
                    raise
                self._tell(f"worker {self._worker.number} is lost: {error}", "warning")
            else:
                if self._orders.leave != "restart" or self._leaving:
                    return
                self._tell(f"worker {self._worker.number} has left")
            self._worker = Worker(self._folder, self._database, self._settings, depot=self._depot)
            earlier = self._counters.earlier
            self._enroll(earlier)
            self._refresh_figures()
            self._tell(f"worker {self._worker.number} joins")
        raise LeaseLost(
            f"{MOST_FRESH_STARTS} workers of this machine lost their leases; look at its clock and its load"
        )

    def _is_replaced(self) -> bool:
        """Whether our worker was healed: it slept, and what failed are its old connections."""
        with suppress(PeriplusError), self._database.read() as tx:
            sql = "SELECT state FROM workers WHERE number = ?"
            return not self._worker.has_left and bool(tx.value(sql, (self._worker.number,)) == roster.ENDED)
        return False

    def _poll(self, engine: CrawlEngine) -> None:
        """Called by the engine at every turn; does little most of the time."""
        now = time.monotonic()
        self._obey(self._caller.take_command())
        self._orders.look()
        if self._deadline and now >= self._deadline:
            self._leaving = True
        if now >= self._next["figures"]:
            self._next["figures"] = now + FIGURES_SECONDS
            self._conduct()
            self._refresh_figures(whole=False)
            self._choose_workers()
            self._judge(engine)
        self._steer(engine)
        if (engine.stopping, engine.paused, self._orders.paused) != self._mode:
            self._judge(engine)
        self._watch_team(engine, now)
        if now >= self._next["progress"]:
            self._next["progress"] = now + PROGRESS_SECONDS
            self._counters.active = engine.under_way
            self._caller.report(self._counters.status(self._condition, self._others))

    def _obey(self, command: str) -> None:
        """What the caller says; what rows say is read by all workers."""
        if command == "stop":
            self._leaving = self._called_off = True
        elif command:
            control.send_command(self._database, command)

    def _steer(self, engine: CrawlEngine) -> None:
        engine.ends = self._conductor.conducts
        engine.stopping = engine.stopping or self._leaving or self._orders.stop or self._orders.leave == "restart"
        engine.paused = self._orders.paused or not self._hours.is_open(time.time()) or bool(self._disk.look())
        if self._orders.leave == "shutdown":
            self._worker.rest()
        if self._leaving or self._orders.stop:
            self._team.stop()

    def _conduct(self) -> None:
        """Go on conducting, or begin to when nobody does."""
        before = self._conductor.conducts
        if self._conductor.keep() and not before:
            self._take_over_figures()
            self._tell(f"{socket.gethostname()} conducts crawl {self._number} now")

    def _take_over_figures(self) -> None:
        """What an earlier run of the crawl did is in no worker's row; the last conductor's figures have it."""
        rows = roster.workers(self._database)
        self._counters.inherit(status(self._database), [row for row in rows if row.number != self._worker.number])

    def _judge(self, engine: CrawlEngine) -> None:
        """Look at the figures, and tell the operator when they mean another state."""
        now = time.time()
        done = self._counters.progress(self._others)
        mode = engine.stopping, engine.paused, self._orders.paused
        if done != self._progress[0] or mode != self._mode:
            self._progress, self._mode = (done, now), mode
        before, self._condition = self._condition, condition(self._standing(engine, now))
        is_now = self._condition.state, self._condition.reason == STOPPING
        if (before.state, before.reason == STOPPING) != is_now and self._conductor.conducts:
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
            paused=self._orders.paused,
            closed_hours="" if self._hours.is_open(now) else self._settings.crawl.hours,
            disk=self._disk.lack,
            away=engine.away,
            may_send=engine.may_send,
            silent=tuple(one.number for one in self._others if one.state == roster.SILENT),
            waits=waits,
        )

    # Ending

    def _end(self) -> CrawlStatus:
        """Leave the crawl to others, or wait for them and close it."""
        with self._database.read() as tx:
            others, is_over = roster.living(tx), is_closed(tx, self._number)
        if not (others or is_over):
            self._conductor.take()  # whoever conducted it left: the last one closes the crawl
        if is_over or not self._conductor.conducts or (others and self._leaving and not self._orders.stop):
            self._conductor.release()
            return status(self._database)
        try:
            self._wait_for_others()
            return self._close()
        finally:
            self._conductor.release()

    def _wait_for_others(self) -> None:
        """The crawl is over: whoever else takes part leaves, or is healed when it cannot."""
        with self._database.write() as tx:
            if roster.living(tx) and not self._orders.stop:
                control.order_all(tx, control.OVER)
        while [seat for seat in roster.seats(self._database) if seat.number != self._worker.number]:
            self._undertaker.look()
            self._conductor.keep()
            with self._database.write() as tx:
                self._save(tx)
            time.sleep(ENTRY_PAUSE)

    def _close(self) -> CrawlStatus:
        recovery = self._recover()
        recovery.close_archive()
        recovery.store_pending()  # of a worker that lost its lease
        sweep(self._database, self._folder, self._depot)
        self._refresh_figures()
        found = self._counters.status(self._last_condition(), self._others)
        barren = barren_seeds(self._database, self._seeds, self._settings.crawl.max_pages)
        with self._database.write() as tx:
            save(tx, self._number, found, ended=self._worker.clock())
            self._tell_news(tx)
            for seed in barren:
                write_event(tx, "crawl", f"{seed.url} brought nothing: {in_words(seed.reason, seed.detail)}", "warning")
            if any((found.pages, found.unchanged, found.failed, found.refused, found.bytes)):
                write_event(tx, "crawl", _summary(self._number, found))
            else:
                forget(tx, self._number)
                tx.execute("DELETE FROM events WHERE id = ?", (self._first_event,))  # nothing was due: no news
        self._caller.report(found)
        return found

    def _last_condition(self) -> CrawlCondition:
        """The state of a crawl that is over; addresses that it left waiting have their reason."""
        if self._called_off or (self._orders.stop and not self._orders.is_over):
            return CrawlCondition(STOPPED, "by order; periplus crawl or up goes on", time.time())
        with self._database.read() as tx:
            waits = host_waits(tx)
        limit = self._settings.crawl.max_pages
        full = limit and self._counters.pages_in_all >= limit
        return CrawlCondition(DONE, "" if full else waiting_for(waits, time.time()), time.time())

    # Workers

    def _choose_workers(self) -> None:
        """As many as the settings say; left to us, one a core as soon as there is work for them."""
        if self._orders.size and self._orders.size != self._size:
            self._size = self._orders.size
            self._team.fewer = 0
        if self._size and self._conductor.conducts:
            self._team.wanted = self._size - 1
            return
        wanted = self._settings.crawl.workers
        if not wanted:
            paying = min(self._counters.queued // QUEUE_A_WORKER, self._counters.hosts // HOSTS_A_WORKER)
            wanted = max(1, min(_cores(), paying), self._team.wanted + 1)
        self._team.wanted = wanted - 1

    def _watch_team(self, engine: CrawlEngine, now: float) -> None:
        """Look after the other workers, beside the event loop: making good for a dead one takes a while."""
        if self._watch is not None:
            if not self._watch.done():
                return
            error = self._watch.exception()
            self._watch = None
            if error is not None and not isinstance(error, StorageAway):  # what waits for it is done with a later look
                engine.fail(error)
        if now >= self._next["watch"] and (self._team.wanted or self._team.size or self._is_shared):
            self._next["watch"] = now + WATCH_SECONDS
            self._watch = asyncio.create_task(asyncio.to_thread(self._team.look))

    @property
    def _is_shared(self) -> bool:
        """Whether other machines may take part."""
        return self._database.dialect != "sqlite"

    # The database

    def _save(self, tx: Transaction) -> None:
        if self._conductor.conducts:
            save(tx, self._number, self._counters.status(self._condition, self._others))
            self._conductor.keep_in(tx)
        self._tell_news(tx)

    def _tell_news(self, tx: Transaction) -> None:
        news, self._news = self._news, []
        for text, level in news:
            write_event(tx, "crawl", f"crawl {self._number} {text}", level)

    def _tell(self, text: str, level: str = "info") -> None:
        with self._database.write() as tx:
            write_event(tx, "crawl", text, level)

    def _tell_failure(self, error: PeriplusError) -> None:
        """As well as the database allows: it may be what failed."""
        with suppress(PeriplusError):
            self._tell(f"crawl {self._number} failed: {error}", "error")

    def _refresh_figures(self, *, whole: bool = True) -> None:
        """What the progress shows; without ``whole`` the hosts are summed up only when that is due."""
        began = time.monotonic()
        if whole or began >= self._next_sums:
            with self._database.read() as tx:
                self._counters.queued, self._counters.hosts, self._counters.pages_in_all = totals(tx)
            self._next_sums = began + (time.monotonic() - began) / SUMS_SHARE
        if whole or self._team.wanted or self._others or self._is_shared:
            ours = self._worker.number
            self._others = [other for other in roster.workers(self._database) if other.number != ours]


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
