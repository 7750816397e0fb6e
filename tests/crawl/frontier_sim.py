"""Many workers on one frontier, played: the real frontier, leases, inboxes, pool and healing on one database.

Only fetching and time are made up. Workers join, die, freeze and thaw in storms that a seed draws. With every request
that is played it is proved that a host belongs to one worker at a time and keeps its gap.
``make soak-sim-frontier`` plays 1,000 workers and 100,000 hosts on PostgreSQL; the suite a few of each.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from msgspec import Struct
from msgspec.structs import replace

from periplus import addresses
from periplus.crawl.asking.status import begin
from periplus.crawl.frontier import roster
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.page_pool import Allowance, PageAccount, count_pool
from periplus.crawl.frontier.partitions import Partitions, lease_seconds
from periplus.crawl.frontier.rows import FETCHED, Bundle, FoundAddress, HostChange, Rest, Visited
from periplus.crawl.leading.undertaker import GRACE, Undertaker
from periplus.errors import LeaseLost
from periplus.settings import CrawlSettings, Settings
from periplus.storage import Database

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.crawl.frontier.rows import ActiveRow, Committed
    from periplus.storage import Transaction

TIMEOUT = 10.0
DELAY = 1.0
LINKS = 10
ROUND = 1.0  # seconds between two commits of a worker
HOSTS_AT_ONCE = 20
_CLOCKED = ("frontier.roster.database_time", "asking.status.database_time", "frontier.clock.database_time")
_STEADY = ("frontier.partitions.steady", "leading.undertaker.steady", "frontier.roster.steady")


class Figures(Struct):
    pages: int = 0
    sent: int = 0
    joins: int = 0
    deaths: int = 0
    freezes: int = 0
    lost: int = 0  # workers that thawed and found themselves replaced
    statements: int = 0
    most_waiting: int = 0  # messages in inboxes at once
    longest_wait: float = 0.0  # of a message, in seconds of the play
    busiest: str = ""  # what was asked of the database most, a page


class Player:
    """A worker without a network."""

    def __init__(self, play: Play) -> None:
        self.number, lease = roster.register(play.database, lease_seconds(TIMEOUT))
        self.frontier = Frontier(play.database, lambda _: 2, host_queue=1_000, host_budget=10_000, worker=self.number)
        self.frontier.parts = ()
        self.partitions = Partitions(play.database, self.number, lease, timeout=TIMEOUT, clock=play.clock)
        self.account = PageAccount(play.limit, play.crawl, self.number)
        self.allowance = Allowance(HOSTS_AT_ONCE, limited=True)
        self.hosts: dict[int, ActiveRow] = {}
        self.bundle = Bundle()
        self.next_round = play.now
        self.frozen_until = 0.0


class Play:
    def __init__(self, database: Database, folder: Path, *, workers: int, hosts: int, limit: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.database = database
        self.limit = limit
        self.names = [f"h{number}.test" for number in range(hosts)]
        self.now = 1_000_000.0
        self.figures = Figures()
        self.asked: dict[int, tuple[float, int]] = {}  # by host: when, and by whom
        self.counts: Counter[str] = Counter()
        self.waiting: dict[int, float] = {}
        crawl = CrawlSettings(delay=DELAY, timeout=TIMEOUT, max_pages=limit, ip_delay=0.0)
        self.undertaker = Undertaker(folder, database, Settings(crawl=crawl))
        self.crawl, _ = begin(database)
        first = Frontier(database, lambda _: 2, host_queue=1_000, host_budget=10_000)
        first.commit(Bundle(found=[self._found(name, 0) for name in self.names[: max(1, hosts // 10)]]), self.now)
        with database.write() as tx:
            count_pool(tx, self.crawl, limit)
        self.team = [self._join() for _ in range(workers)]

    def clock(self) -> float:
        return self.now

    def _join(self) -> Player:
        self.figures.joins += 1
        return Player(self)

    def _found(self, name: str, page: int) -> FoundAddress:
        url = f"http://{name}/{page}"
        return FoundAddress(addresses.key(url), url, name)

    # What happens

    def run(self, seconds: float, accidents: float) -> Figures:
        end = self.now + seconds
        next_look = self.now
        while self.now < end:
            self.now += 0.05
            for player in list(self.team):
                if player in self.team and player.next_round <= self.now and player.frozen_until <= self.now:
                    self._turn(player)
            if self.chance.random() < accidents:
                self._accident()
            if self.now >= next_look:
                next_look = self.now + GRACE / 2
                self.undertaker.look()
                self._measure()
        self._settle()
        return self.figures

    def _turn(self, player: Player) -> None:
        player.next_round = self.now + ROUND * (0.8 + 0.4 * self.chance.random())
        try:
            self._commit(player)
            self._send(player)  # what it brings waits for the next turn, which may never come
        except LeaseLost:
            self.figures.lost += 1
            self.team.remove(player)
            self.team.append(self._join())

    def _send(self, player: Player) -> None:
        """A request to each host whose time has come, if the lease allows; the invariant is proved at each."""
        for key, active in list(player.hosts.items()):
            if not active.urls:
                player.bundle.resting[key] = Rest.LATER
                del player.hosts[key]
                continue
            if active.host.ready_at > self.now or not player.partitions.may_send() or not player.allowance.take():
                continue
            before, by = self.asked.get(key, (0.0, 0))
            assert self.now - before >= DELAY, f"{active.host.name}: by {by} and {player.number} within the gap"
            self.asked[key] = self.now, player.number
            self.figures.sent += 1
            self._answer(player, active)

    def _answer(self, player: Player, active: ActiveRow) -> None:
        row = active.urls.pop(0)
        host = active.host
        links = [self._found(self.chance.choice(self.names), self.chance.randrange(50)) for _ in range(LINKS)]
        fetched = replace(row, state=FETCHED, fetched_at=self.now, tried_at=self.now, next_at=1e15)
        gained = int(row.state != FETCHED)
        player.bundle.visited.append(Visited(fetched, row.state, found=links, fresh_body=False))
        player.allowance.end()
        player.allowance.spend(gained)
        host.ready_at = self.now + DELAY
        player.bundle.hosts[host.key] = HostChange(host.ready_at, self.now, DELAY, 0, "", "", 1)

    def _commit(self, player: Player) -> None:
        bundle, player.bundle = player.bundle, Bundle()
        wish = player.allowance.wish(self.now)

        def settle(tx: Transaction, committed: Committed) -> None:
            grant = player.account.settle(tx, committed.gained, wish, len(roster.living(tx)))
            tx.execute("UPDATE workers SET state = 'running' WHERE number = ?", (player.number,))
            player.allowance.settle(grant)

        self.figures.pages += player.frontier.commit(bundle, self.now, player.partitions.check, settle).gained
        with self.database.read() as tx:
            living = roster.living(tx)
        place = living.index(player.number) if player.number in living else len(living)
        used = {player.frontier.partition(key) for key in player.hosts}
        player.partitions.tick(max(len(living), place + 1), used, place=place)
        player.frontier.parts = player.partitions.usable
        own = frozenset(player.frontier.parts)
        for key in [key for key in player.hosts if player.frontier.partition(key) not in own]:
            player.bundle.resting[key] = Rest.MORE
            del player.hosts[key]
        wanted = HOSTS_AT_ONCE - len(player.hosts)
        if wanted > 0 and own:
            new = player.frontier.activate(self.now, wanted, DELAY)
            player.hosts |= {active.host.key: active for active in new}

    def _accident(self) -> None:
        what = self.chance.choice(("join", "leave", "die", "die", "freeze", "freeze", "storm"))
        if what == "storm":
            for player in self.chance.sample(self.team, max(1, len(self.team) // 4)):
                self._strike(player, self.chance.choice(("die", "freeze")))
        elif what == "join":
            self.team.append(self._join())
        else:
            self._strike(self.chance.choice(self.team), what)

    def _strike(self, player: Player, how: str) -> None:
        if how == "freeze":
            self.figures.freezes += 1
            player.frozen_until = self.now + self.chance.choice((5.0, 20.0, 40.0))
            return
        self.figures.deaths += 1
        self.team.remove(player)
        self.team.append(self._join())

    def _settle(self) -> None:
        """The dead are healed, all others leave: nothing is held by anybody, and the limit is exact."""
        for player in self.team:
            player.frozen_until = 0.0
        self.now += lease_seconds(TIMEOUT) + 1
        for _ in range(2):
            self.undertaker.look()
            self.now += GRACE + 1
        self.undertaker.look(everyone=True)
        with self.database.read() as tx:
            assert not tx.value("SELECT COUNT(*) FROM hosts WHERE active > 0")
            assert not tx.value("SELECT COUNT(*) FROM partitions WHERE worker > 0")
            stored, pool = tx.value("SELECT SUM(pages) FROM hosts"), tx.value("SELECT MAX(places) FROM crawls")
        assert stored == self.figures.pages
        assert stored + pool == self.limit, (stored, pool)

    def _measure(self) -> None:
        with self.database.read() as tx:
            there = {number for (number,) in tx.rows("SELECT id FROM arrivals")}
        self.waiting = {number: self.waiting.get(number, self.now) for number in there}
        self.figures.most_waiting = max(self.figures.most_waiting, len(there))
        oldest = max((self.now - since for since in self.waiting.values()), default=0.0)
        self.figures.longest_wait = max(self.figures.longest_wait, oldest)


def played(database: Database, folder: Path, *, seconds: float, accidents: float, **size: int) -> Figures:
    """One play, with the clocks of the crawl replaced by its own and every statement counted."""
    backend = type(database.backend)
    counts: Counter[str] = Counter()

    def counted(method: str) -> Callable[..., Any]:
        real = getattr(backend, method)

        def run(self: Any, connection: Any, sql: str, *rest: Any) -> Any:
            counts[" ".join(sql.split()[:4])] += 1
            return real(self, connection, sql, *rest)

        return run

    with ExitStack() as stack:
        play: list[Play] = []

        def now(*_: object) -> float:
            return play[0].now if play else 1_000_000.0

        for name in (*_CLOCKED, *_STEADY):
            stack.enter_context(mock.patch(f"periplus.crawl.{name}", now))
        stack.enter_context(mock.patch("periplus.storage.leases.database_time", now))
        stack.enter_context(mock.patch("periplus.storage.leases.steady", now))
        # All are this process.
        stack.enter_context(mock.patch("periplus.crawl.leading.undertaker.is_dead", return_value=False))
        play.append(Play(database, folder, **size))
        for method in ("run", "run_many", "run_each"):
            stack.enter_context(mock.patch.object(backend, method, counted(method)))
        figures = play[0].run(seconds, accidents)
    figures.statements = sum(counts.values())
    busiest = [f"{sql} {count / max(1, figures.pages):.2f}" for sql, count in counts.most_common(5)]
    figures.busiest = "; ".join(busiest)
    return figures


def main() -> None:
    from support.postgres import PostgresServer, find_binaries

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1_000)
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=120.0, help="of the play")
    parser.add_argument("--accidents", type=float, default=0.05, help="chance of one in a twentieth of a second")
    parser.add_argument("--limit", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    binaries = find_binaries()
    if binaries is None:
        sys.exit("PostgreSQL is missing (Debian: postgresql)")
    server = PostgresServer(binaries)
    try:
        with tempfile.TemporaryDirectory() as folder, Database.open(server.create()) as database:
            figures = played(
                database, Path(folder), seconds=options.seconds, accidents=options.accidents,
                workers=options.workers, hosts=options.hosts, limit=options.limit, seed=options.seed,
            )  # fmt: skip
    finally:
        server.stop()
    lines = [f"{name}: {getattr(figures, name)}\n" for name in Figures.__struct_fields__]
    each = figures.statements / max(1, figures.pages)
    sys.stdout.write("".join(lines) + f"statements a page: {each:.1f}\nevery host belonged to one worker at a time\n")


if __name__ == "__main__":
    main()
