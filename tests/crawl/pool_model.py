"""A model of crawls that share a limit of pages: the real pool on a real database, workers that are only played.

Everything that decides about places is the product's own (``Allowance``, ``PageAccount``, ``count_pool``, the tables).
Fetching is a coin, time is a number, and a seed draws what happens next: requests begin and end, commits begin, end
or are cut off, workers die and are replaced, the whole crawl is paused or started again, pages fail, are
taken down while they are under way, or are gone when visited again.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.crawl.asking.status import begin
from periplus.crawl.frontier import roster
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.page_pool import Allowance, PageAccount, count_pool
from periplus.crawl.frontier.rows import Bundle, FoundAddress

if TYPE_CHECKING:
    from periplus.storage import Database, Transaction

MOST_STEPS = 50_000
LEAST = 12  # of places that a hungry worker asks for, before they are multiplied


class Site:
    """One host: pages that wait to be fetched, and what they will turn out to be."""

    def __init__(self, name: str, pages: int) -> None:
        self.key = addresses.host_key(name)
        self.url = f"http://{name}/"
        self.waiting = pages
        self.stored = 0


class Player:
    """A worker: requests under way, pages since the last commit, and the bundle that is being committed."""

    def __init__(self, number: int, limit: int, crawl: int) -> None:
        self.number = number
        self.allowance = Allowance(LEAST, limited=True)
        self.account = PageAccount(limit, crawl, number)
        self.sites: list[Site] = []
        self.under_way: list[Site] = []
        self.open: list[tuple[Site, int]] = []  # what the commit will count; 0 for a page that was taken down
        self.closed: list[tuple[Site, int]] | None = None
        self.wish = 0

    @property
    def is_idle(self) -> bool:
        return not (self.under_way or self.open or self.closed is not None)


class PoolModel:
    def __init__(self, database: Database, seed: int) -> None:
        self.chance = random.Random(seed)
        self.database = database
        sizes = [self.chance.choice((1, 5, 30, 90)) for _ in range(self.chance.randrange(1, 7))]
        self.sites = [Site(f"s{number}.test", size) for number, size in enumerate(sizes)]
        self.limit = self.chance.randrange(1, sum(sizes) + 20)
        self.failures = self.chance.choice((0.0, 0.0, 0.2))
        self.accidents = self.chance.choice((0.0, 0.002, 0.01))  # deaths, restarts, pauses
        self.size = self.chance.randrange(1, 5)
        self.now = 0.0
        self.paused = False
        self.deaths = self.restarts = self.pauses = self.steps = 0
        found = [FoundAddress(addresses.key(site.url), site.url, addresses.host(site.url)) for site in self.sites]
        Frontier(database, lambda _: 0, host_queue=10, host_budget=10).commit(Bundle(found=found), 1.0)
        self._start()

    # What the crawl is

    def _start(self) -> None:
        """As the start of a crawl: nobody lives, the pool is counted."""
        with self.database.write() as tx:
            for (number,) in tx.rows("SELECT number FROM workers"):
                roster.end(tx, number)
            roster.forget_ended(tx)
        self.crawl, _ = begin(self.database)
        with self.database.write() as tx:
            count_pool(tx, self.crawl, self.limit)
        self.team = [self._join() for _ in range(self.size)]
        self._share()

    def _join(self) -> Player:
        return Player(roster.register(self.database, 60.0)[0], self.limit, self.crawl)

    def _share(self) -> None:
        """Hosts fall to workers by chance: often all of them to one."""
        for player in self.team:
            player.sites = []
        several = self.team if self.chance.random() < 0.5 else [self.chance.choice(self.team)]
        for site in self.sites:
            self.chance.choice(several).sites.append(site)

    # What happens

    def run(self) -> None:
        while not self._is_over():
            self.steps += 1
            assert self.steps < MOST_STEPS, self.story()
            self.now += self.chance.choice((0.01, 0.05, 0.3))
            self._accident()
            self._step(self.chance.choice(self.team))

    def _accident(self) -> None:
        if self.chance.random() >= self.accidents:
            return
        what = self.chance.choice(("die", "die", "restart", "pause", "share", "gone"))
        if what == "pause":
            self.paused = not self.paused
            self.pauses += 1
        elif what == "restart":
            self._restart()
        elif what == "die":
            self._die(self.chance.choice(self.team))
        elif what == "gone":
            self._lose_a_page(self.chance.choice(self.team))
        else:
            self._share()

    def _step(self, player: Player) -> None:
        what = self.chance.random()
        if what < 0.5:
            self._launch(player)
        elif what < 0.8:
            self._answer(player)
        elif player.closed is None:
            player.wish = player.allowance.wish(self.now)
            player.closed, player.open = player.open, []
        else:
            self._commit(player)
        if self.paused and self.chance.random() < 0.01:
            self.paused = False

    def _launch(self, player: Player) -> None:
        due = [site for site in player.sites if site.waiting]
        if self.paused or player.allowance.full or not due or not player.allowance.take():
            return
        site = self.chance.choice(due)
        site.waiting -= 1
        player.under_way.append(site)

    def _answer(self, player: Player) -> None:
        if not player.under_way:
            return
        site = player.under_way.pop(self.chance.randrange(len(player.under_way)))
        player.allowance.end()
        if self.chance.random() < self.failures:
            return
        player.allowance.spend(1)
        taken_down = self.chance.random() < self.failures / 4
        player.open.append((site, 0 if taken_down else 1))

    def _commit(self, player: Player) -> None:
        assert player.closed is not None
        with self.database.write() as tx:
            gained = self._store(tx, player.closed)
            grant = player.account.settle(tx, gained, player.wish, len(self.team))
            tx.execute("UPDATE workers SET state = 'running' WHERE number = ?", (player.number,))
        player.closed = None
        player.allowance.settle(grant)
        self.check()

    def _store(self, tx: Transaction, pages: list[tuple[Site, int]]) -> int:
        for site, gained in pages:
            site.stored += gained
            tx.execute("UPDATE hosts SET pages = pages + ? WHERE key = ?", (gained, site.key))
        return sum(gained for _, gained in pages)

    def _lose_a_page(self, player: Player) -> None:
        """A page that we have is visited again and gone."""
        site = next((site for site in self.sites if site.stored > 0), None)
        if site is not None and not any(site is one for other in self.team for one, _ in [*other.open]):
            player.allowance.spend(-1)
            player.open.append((site, -1))

    def _die(self, player: Player) -> None:
        """Requests are lost and wait again; what is archived is replayed; the places are counted again."""
        self._replay(player)
        with self.database.write() as tx:
            roster.end(tx, player.number)
            count_pool(tx, self.crawl, self.limit)
        self.deaths += 1
        heir = self._join()
        heir.sites = player.sites
        self.team[self.team.index(player)] = heir
        self.check()

    def _replay(self, player: Player) -> None:
        for site in player.under_way:
            site.waiting += 1
        with self.database.write() as tx:
            self._store(tx, [*player.open, *(player.closed or [])])

    def _restart(self) -> None:
        for player in self.team:
            self._replay(player)
        self.restarts += 1
        self._start()
        self.check()

    # What must be true

    def _is_over(self) -> bool:
        """As the leader decides it: nothing under way anywhere, and the crawl full or the frontier empty."""
        if self.paused or not all(player.is_idle for player in self.team):
            return False
        waiting = sum(site.waiting for site in self.sites)
        if waiting and not self.team[0].allowance.full:
            return False
        with self.database.write() as tx:
            if waiting and self.team[0].account.count(tx) > 0:
                self.team[0].allowance.full = False
                return False
        return True

    @property
    def stored(self) -> int:
        with self.database.read() as tx:
            return int(tx.value("SELECT SUM(pages) FROM hosts"))

    def check(self) -> None:
        with self.database.read() as tx:
            lent = int(tx.value("SELECT COALESCE(SUM(places), 0) FROM workers"))
            pool = int(tx.value("SELECT places FROM crawls WHERE id = ?", (self.crawl,)))
            stored = int(tx.value("SELECT SUM(pages) FROM hosts"))
        assert stored + pool + lent == self.limit, self.story()
        assert stored <= self.limit, self.story()
        assert pool >= 0, self.story()

    def check_end(self) -> None:
        waiting = sum(site.waiting for site in self.sites)
        assert self.stored == self.limit or (waiting == 0 and self.stored < self.limit), self.story()

    def story(self) -> str:
        team = [(p.number, p.allowance.free, len(p.under_way), sum(s.waiting for s in p.sites)) for p in self.team]
        return f"limit {self.limit}, stored {self.stored}, team {team}, deaths {self.deaths}, step {self.steps}"
