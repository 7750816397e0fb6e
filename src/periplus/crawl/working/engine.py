"""The loop of one worker: hosts by ready time, requests within the limit, a group commit now and then.

Invariants: a host has one request at a time; no request leaves before the host's ready time; a host's activation is
committed before its first request; memory holds the active hosts and one bundle, whatever the size of the frontier.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from periplus import addresses
from periplus.crawl.frontier.budgets import remember
from periplus.crawl.frontier.page_pool import Allowance
from periplus.crawl.frontier.roster import SlotStatus
from periplus.crawl.frontier.rows import FETCHED, NEVER, PAGE, Rest
from periplus.crawl.rules.host_rules import rules_of
from periplus.crawl.working.committer import CommitOrder
from periplus.crawl.working.hosts import ActiveHost
from periplus.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from periplus.crawl.frontier.frontier import Frontier
    from periplus.crawl.frontier.rows import ActiveRow, Bundle, HostRow, UrlRow
    from periplus.crawl.rules.links import LinkFilter
    from periplus.crawl.rules.robots import Verdict
    from periplus.crawl.working.committer import Committer, Round
    from periplus.crawl.working.ledger import Ledger
    from periplus.crawl.working.member import Member
    from periplus.crawl.working.visitor import Visitor
    from periplus.settings import CrawlSettings

PARK_SECONDS = 15.0  # a host that must wait longer than this gives its place away
HOSTS_A_SLOT = 8  # active hosts for each request under way: most of them are waiting
MOST_HOSTS = 2_000
ACTIVATION_PAUSE = 0.25  # between two looks for hosts, while there is work
TICK = 0.1  # the longest sleep: commands are looked at so often
LONGEST_IDLE = 60.0  # a crawl with nothing to do before that time is over
STOP_GRACE = 5.0  # requests under way may go on so long after an order to stop
BEAT = 1.0  # seconds between two signs of life in the database
ASKING_PAUSE = 0.2  # between two requests for places that other workers have
RESERVING_PAUSE = 0.05  # between two reservations for IP addresses
BORROW_PAUSE = 0.1  # between two tries to get a host that another worker has
REFUSALS_A_TURN = 200  # addresses that one turn of a host may settle without asking …
REFUSING_SECONDS = 0.05  # … and the time that it may take for that: rules of a host may be slow to match


class _Errand(NamedTuple):
    """An address that may be asked for: scope and rules have passed it."""

    row: UrlRow
    verdict: Verdict | None  # none: the robots.txt comes first


class CrawlEngine:
    """Runs until ``stopping`` is set, or for one that ``ends`` by itself, until there is nothing to do for anybody.

    One that does not waits: others may find work for it.
    """

    def __init__(
        self,
        settings: CrawlSettings,
        token: str,
        frontier: Frontier,
        committer: Committer,
        ledger: Ledger,
        links: LinkFilter,
        member: Member,
        *,
        poll: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._token = token
        self._frontier = frontier
        self._committer = committer
        self._ledger = ledger
        self._clock = ledger.clock
        self._links = links
        self._member = member
        self._poll = poll
        self.ends = False
        self._allowance = Allowance(settings.concurrency, limited=bool(settings.max_pages))
        self._hosts: dict[int, ActiveHost] = {}
        self._heap: list[tuple[float, int]] = []
        self._held: list[ActiveHost] = []  # wait for a commit
        self._tasks: set[asyncio.Task[None]] = set()
        self._commit: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._reserving: asyncio.Task[None] | None = None
        self._next_reserving = 0.0
        self._next_activation = 0.0
        self._next_beat = 0.0
        self._next_look = 0.0
        self._parts: frozenset[int] = frozenset()
        self._asked_back: set[int] = set()  # hosts that other workers need
        self._next_asking = 0.0
        self._crowded = False
        self._error: BaseException | None = None
        self.visitor: Visitor | None = None
        self.stopping = False
        self.paused = False

    async def run(self) -> None:
        """Work until done; what was begun is finished and committed in any case."""
        try:
            while not self.stopping and self._error is None:
                self._poll()
                now = self._clock()
                if not self.paused:
                    self._launch(now)
                self._commit_if_due(now)
                self._reserve_if_due(now)
                if self._is_idle() and not self.paused and self._is_over(now):
                    break
                await self._sleep(now)
        finally:
            await self._finish()
        if self._error is not None:
            raise self._error

    def fail(self, error: BaseException) -> None:
        """End with this error."""
        self._error = self._error or error
        self._wake.set()

    @property
    def under_way(self) -> int:
        return len(self._tasks)

    @property
    def may_send(self) -> bool:
        return self._member.may_send()

    @property
    def away(self) -> str:
        """What keeps commits from ending; nothing as a rule."""
        return self._committer.away

    @property
    def hosts(self) -> int:
        return len(self._hosts)

    @property
    def state(self) -> str:
        if self.stopping:
            return "stopping"
        if self.paused:
            return "paused"
        return "idle" if self._is_idle() else "running"

    def slots(self) -> list[SlotStatus]:
        """What the requests under way are doing."""
        worker = self._frontier.worker
        return [SlotStatus(worker, *host.doing) for host in self._hosts.values() if host.busy and host.doing]

    @asynccontextmanager
    async def borrow(self, name: str) -> AsyncIterator[ActiveHost]:
        """Hold a host for one request outside its queue, at its time."""
        key = addresses.host_key(name)
        host = self._hosts.get(key)
        if host is None:
            row = await self._borrowed(name)
            host = self._hosts.setdefault(key, ActiveHost(row, [], self._settings.delay))
        while host.busy:  # noqa: ASYNC110 - rare: a robots.txt that redirects to a busy host
            await asyncio.sleep(TICK / 10)
        host.busy = True
        try:
            await asyncio.sleep(max(0.0, host.ready_at - self._clock()))
            yield host
        finally:
            host.busy = False
            self._hosts[key] = host
            self._push(host)

    async def _borrowed(self, name: str) -> HostRow:
        """Wait for a host that is not ours, or not yet given back; whoever has it lets it go when asked."""
        limit = time.monotonic() + 2 * self._settings.timeout
        while True:
            row = await asyncio.to_thread(self._frontier.activate_one, name, self._clock(), self._settings.delay)
            if row is not None:
                return row
            self._ledger.bundle.urgent = True  # it may be one that we are about to give back
            if time.monotonic() > limit or self.stopping:
                await asyncio.to_thread(self._frontier.give_up, name)
                raise FetchError("robots-unreachable", f"{name} is busy; its robots.txt is asked for later")
            await asyncio.sleep(BORROW_PAUSE)

    # Launching

    def _launch(self, now: float) -> None:
        if not self._member.may_send() or (self._commit is not None and self._ledger.is_heavy):
            return
        while self._heap and self._heap[0][0] <= now and len(self._tasks) < self._settings.concurrency:
            _, key = heapq.heappop(self._heap)
            host = self._hosts.get(key)
            if host is None or host.busy:
                continue  # given back, or borrowed: who holds it puts it here again
            if host.ready_at > now:
                self._push(host)
                continue
            self._turn(host, now)

    def _turn(self, host: ActiveHost, now: float) -> None:
        """Give a host its next request, or give it back."""
        if self._is_foreign(host) or (self._crowded and host.visits >= host.burst):
            self._rest(host, Rest.MORE)
            return
        errand = self._next_errand(host, now)
        if errand is None:
            self._no_errand(host, now)
            return
        row = errand.row
        if _is_new_page(row) and not self._allowance.take():
            host.queue.appendleft(row)  # the requests under way may fill the crawl's last places
            self._push(host, now + TICK / 4)
            return
        host.busy = True
        host.visits += 1
        host.doing = (row.url, "waiting", now)
        host.taken.add(row.key)
        task = asyncio.create_task(self._visit(host, errand))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _is_foreign(self, host: ActiveHost) -> bool:
        """Borrowed, wanted by another worker, or of a partition that we leave."""
        return self._frontier.partition(host.key) not in self._parts or host.key in self._asked_back

    def _next_errand(self, host: ActiveHost, now: float) -> _Errand | None:
        """The next address that may be asked for; none when no more are due, or the turn is used up."""
        limit = time.perf_counter() + REFUSING_SECONDS
        for _ in range(REFUSALS_A_TURN):
            if not host.queue and not self._refill(host, now):
                return None
            row = host.queue.popleft()
            if _is_new_page(row) and self._has_enough_of(host):
                continue
            errand = self._judged(host, row, now)
            if errand is not None:
                return errand
            if time.perf_counter() > limit:
                break
        return None

    def _no_errand(self, host: ActiveHost, now: float) -> None:
        if host.queue:  # the turn was used up by refusals; other hosts come first now
            self._push(host, now + TICK / 4)
        else:
            self._rest(host, Rest.REVISITS if self._allowance.full else Rest.LATER)

    def _judged(self, host: ActiveHost, row: UrlRow, now: float) -> _Errand | None:
        """None when a filter or a rule refuses the address, which is then done with."""
        assert self.visitor is not None
        verdict = None
        reason = self._links.scope.refusal(row.url, row.depth)
        detail = ""
        if not reason:
            rules = self.visitor.rules(host, row.url, now)
            verdict = rules.file.verdict(row.url) if rules else None
            if verdict is None or verdict.allowed:
                return _Errand(row, verdict)
            reason, detail = "robots-disallowed", str(verdict)
        host.taken.add(row.key)
        self.visitor.refuse(row, reason, detail)
        return None

    def _refill(self, host: ActiveHost, now: float) -> bool:
        host.queue.extend(self._frontier.more(host.row, now, host.taken, revisits_only=self._allowance.full))
        return bool(host.queue)

    async def _visit(self, host: ActiveHost, errand: _Errand) -> None:
        assert self.visitor is not None
        self._ledger.counters.current = errand.row.url
        try:
            gained = await self.visitor.visit(host, errand.row, errand.verdict)
        finally:
            if _is_new_page(errand.row):
                self._allowance.end()
            host.busy = False
        self._allowance.spend(gained)
        self._after(host)

    def _after(self, host: ActiveHost) -> None:
        """Where a host goes after its turn: to the heap, to wait for a commit, or back to the database."""
        if host.ready_at - self._clock() > PARK_SECONDS:
            self._rest(host, Rest.MORE)
        elif host.delay > host.committed_delay:
            self._held.append(host)
        else:
            self._push(host)

    def _push(self, host: ActiveHost, at: float = 0.0) -> None:
        heapq.heappush(self._heap, (max(host.ready_at, at), host.key))
        self._wake.set()

    def _rest(self, host: ActiveHost, rest: Rest) -> None:
        self._hosts.pop(host.key, None)
        self._ledger.host(host)
        self._ledger.rest(host.key, rest)

    def _activate_soon(self) -> None:
        """Other hosts may be due: at once when this worker has nothing to do, else with one of the next commits."""
        pause = ACTIVATION_PAUSE if self._tasks else 0.0
        self._next_activation = min(self._next_activation, self._clock() + pause)

    # The limit of pages

    def _has_enough_of(self, host: ActiveHost) -> bool:
        return self._allowance.full or host.row.pages >= self._frontier.budget(host.row)

    # The gap of IP addresses

    def _reserve_if_due(self, now: float) -> None:
        """Requests wait for windows of their IP addresses, which the database gives: apart from commits, and sooner."""
        if self._member.slots.hungry and self._reserving is None and now >= self._next_reserving:
            self._next_reserving = now + RESERVING_PAUSE
            self._reserving = asyncio.create_task(self._reserve_now())
            self._reserving.add_done_callback(self._reserved)

    async def _reserve_now(self) -> None:
        slots = self._member.slots
        slots.grant(await asyncio.to_thread(self._member.reserve, slots.wishes()))

    def _reserved(self, task: asyncio.Task[None]) -> None:
        self._reserving = None
        self._note_error(task)

    # Committing

    def _commit_if_due(self, now: float) -> None:
        if self._commit is not None:
            return
        wanted = self._hosts_wanted(now)
        if not (wanted or now >= self._next_beat or self._is_commit_due(now)):
            return
        self._next_beat = now + BEAT
        order = self._order(wanted)
        bundle = self._ledger.swap()
        bundle.traps = self._links.take_traps()
        bundle.linked = self._links.take_linked()
        self._commit = asyncio.create_task(self._commit_now(bundle, order))
        self._commit.add_done_callback(self._commit_done)

    def _is_commit_due(self, now: float) -> bool:
        bundle = self._ledger.bundle
        if self._allowance.hungry and now >= self._next_asking:
            return True
        if not bundle:
            return False
        late = self._ledger.age(now) >= self._settings.commit_seconds
        idle = not self._tasks and (not self._heap or self._heap[0][0] > now + TICK)
        return late or idle or bundle.urgent or bool(self._held) or self._ledger.is_full(self._settings.commit_pages)

    def _hosts_wanted(self, now: float) -> int:
        if self.paused or now < self._next_activation:
            return 0
        room = min(self._settings.concurrency * HOSTS_A_SLOT, MOST_HOSTS) - len(self._hosts)
        return max(0, min(room, 200))

    def _order(self, hosts: int, *, last: bool = False) -> CommitOrder:
        if self._allowance.hungry:
            self._next_asking = self._clock() + ASKING_PAUSE
        used = frozenset(self._frontier.partition(key) for key in self._hosts)
        wish = self._allowance.wish(time.monotonic(), last=last)
        return CommitOrder(hosts, self._allowance.full, wish, used, self._member.status(self), self.slots(), last)

    async def _commit_now(self, bundle: Bundle, order: CommitOrder) -> None:
        held, self._held = self._held, []
        done = await self._committer.run(bundle, order)
        self._take_over(bundle, done)
        for host in held:
            self._push(host)

    def _take_over(self, bundle: Bundle, done: Round) -> None:
        for key, change in bundle.hosts.items():
            host = self._hosts.get(key)
            if host is not None:
                host.committed_delay = change.delay
        for item in bundle.visited:
            host = self._hosts.get(item.row.host)
            if host is not None:
                host.taken.discard(item.row.key)
        for key in done.committed.yields.keys() & self._hosts.keys():
            remember(self._hosts[key].row, *done.committed.yields[key])
        self._links.forget(done.committed.dropped)
        self._ledger.counters.stored(self._committer.documents)
        self._allowance.settle(done.grant)
        self._parts = frozenset(done.parts)
        self._let_go(done)
        if done.asked:
            self._crowded = len(done.activated) >= done.asked
            self._next_activation = 0.0 if self._crowded else done.next_due
        elif done.news:
            self._next_activation = min(self._next_activation, done.next_due)  # others may have found something for us
        if bundle.resting or not done.committed.hosts <= self._hosts.keys():
            self._activate_soon()
        for active in done.activated:
            self._install(active)

    def _let_go(self, done: Round) -> None:
        """Hosts that others need, or whose partition we leave, go back without waiting for their time."""
        self._asked_back = set(done.wanted)
        for host in [host for host in self._hosts.values() if not host.busy and self._is_foreign(host)]:
            self._rest(host, Rest.MORE)

    def _install(self, active: ActiveRow) -> None:
        known = self._hosts.get(active.host.key)
        if known is not None:  # borrowed meanwhile
            known.queue.extend(active.urls)
            return
        host = ActiveHost(active.host, active.urls, self._settings.delay)
        for row in active.robots:
            host.learn_rules(row.origin, rules_of(row, self._token), self._settings)
        host.delay = max(host.delay, active.host.delay if not active.robots else 0.0)
        self._hosts[host.key] = host
        self._push(host)

    # Waiting and ending

    def _is_idle(self) -> bool:
        return not (self._tasks or self._hosts or self._held or self._commit or self._ledger.bundle)

    def _is_over(self, now: float) -> bool:
        """Nothing is under way here: is anything left to do, for any worker, that is worth waiting for?"""
        if not self.ends or now < self._next_look or now >= self._next_activation:
            return False
        self._next_look = now + TICK / 4
        outlook = self._frontier.outlook(self._settings.retries)
        if outlook.busy or outlook.next_at <= now:
            self._next_activation = min(self._next_activation, now + TICK)
            return False
        patience = max(LONGEST_IDLE, self._settings.max_delay)
        if self._allowance.full or outlook.soonest >= NEVER or outlook.soonest - now > patience:
            return not self._goes_on(now)
        self._next_activation = min(self._next_activation, max(outlook.soonest, now + TICK))
        return False

    def _goes_on(self, now: float) -> bool:
        """A last look: pages that went while others came have left places to be filled."""
        if not self._member.more_to_fetch(now):
            return False
        self._allowance.full = False
        self._next_activation = now
        return True

    async def _sleep(self, now: float) -> None:
        until = now + TICK
        if self._heap and len(self._tasks) < self._settings.concurrency and not self.paused:
            until = min(until, self._heap[0][0])
        if until <= self._clock():
            await asyncio.sleep(0)
            return
        self._wake.clear()
        try:
            async with asyncio.timeout(until - self._clock()):
                await self._wake.wait()
        except TimeoutError:
            pass

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._note_error(task)

    def _commit_done(self, task: asyncio.Task[None]) -> None:
        self._commit = None
        self._note_error(task)

    def _note_error(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._error = self._error or task.exception()
        self._wake.set()

    async def _finish(self) -> None:
        """Let requests under way end, give all hosts back, commit everything."""
        limit = time.monotonic() + STOP_GRACE
        self._committer.hurry()
        while self._tasks or self._commit is not None or self._reserving is not None:
            if time.monotonic() > limit:
                for task in self._tasks:
                    task.cancel()
            await self._sleep(self._clock())
        if self._error is not None:
            return
        for host in list(self._hosts.values()):
            self._rest(host, Rest.MORE if host.queue else Rest.LATER)
        order = self._order(0, last=True)
        await self._committer.run(self._ledger.swap(), order)


def _is_new_page(row: UrlRow) -> bool:
    """Whether the limit of pages has a say: also for what failed before and is tried again."""
    return row.state != FETCHED and row.kind == PAGE
