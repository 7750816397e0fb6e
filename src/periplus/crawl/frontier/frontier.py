"""The frontier on SQL: which addresses are known, which host is due, which address of it comes next.

Two stages after Mercator: hosts wait by level and time, addresses wait by priority inside their host. Memory holds
only what a worker has taken; everything else is a row. All writes come in group commits (``commit``), so a crash
leaves the state as one of them left it.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from periplus import addresses, archive
from periplus.crawl.frontier.arrivals import HEAD_START, Arrivals, marks, number_list, parts_of, place_of
from periplus.crawl.frontier.bodies import Owner, forget_former, owners_of
from periplus.crawl.frontier.budgets import FAMOUS, IN_BUDGET, LEVELS, budget_arguments, budget_of, judge
from periplus.crawl.frontier.inbox import Inboxes, InboxMessage
from periplus.crawl.frontier.journal import write_requests
from periplus.crawl.frontier.partitions import partition_count
from periplus.crawl.frontier.removed import hold_back
from periplus.crawl.frontier.rows import (
    CHANGED_COLUMNS,
    FETCHED,
    NEVER,
    QUEUED,
    URL_COLUMNS,
    ActiveRow,
    Bundle,
    Committed,
    HostRow,
    Outlook,
    Rest,
    RobotsRow,
    UrlRow,
    Visited,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from periplus.storage import Database, Transaction

TAKE = 32  # addresses of one host in memory
LEAST_OF_A_PART, MARGIN = 8, 4  # hosts looked at in a partition: so many times its share, and at least a few
RANKED_AT_ONCE = 5_000

_URL_SELECT = f"SELECT {', '.join(URL_COLUMNS)} FROM urls"  # noqa: S608
_URL_UPDATE = f"UPDATE urls SET {', '.join(f'{name} = ?' for name in CHANGED_COLUMNS)} WHERE host = ? AND key = ?"  # noqa: S608
_ACTIVATE = (
    "UPDATE hosts SET active = ?, activated_at = ?, delay = CASE WHEN delay < ? THEN ? ELSE delay END"
    " WHERE key = ? AND active = 0"
)
_HOST_COLUMNS = "key, name, level, ready_at, last_at, delay, failures, pages, queued, reason, linked, judged, findable"


class Frontier:
    """The tables ``hosts`` and ``urls`` and what hangs on them, as one worker sees them.

    ``level_of`` places a new host by its name. Hosts are taken from ``parts`` only, and marked with ``worker``.
    """

    def __init__(
        self, database: Database, level_of: Callable[[str], int], *, host_queue: int, host_budget: int, worker: int = 1
    ) -> None:
        self._database = database
        self._partitions = partition_count(database)
        self._arrivals = Arrivals(level_of, host_queue, self._partitions)
        self._inboxes = Inboxes(self._partitions)
        self._host_budget = host_budget
        self.worker = worker
        self.parts: tuple[int, ...] = tuple(range(self._partitions))

    def partition(self, host: int) -> int:
        """In which a host lies, by its key."""
        return host % self._partitions

    def budget(self, host: HostRow) -> int:
        """Pages that we want of a host."""
        return budget_of(host, self._host_budget)

    # Taking

    def activate(
        self, now: float, count: int, delay: float, *, revisits_only: bool = False, spare: Collection[int] = ()
    ) -> list[ActiveRow]:
        """Hosts that are due, marked active before anyone may ask them; with their first addresses."""
        with self._database.write() as tx:
            hosts = [host for host in self._due(tx, now, count) if host.key not in spare]
            tx.executemany(_ACTIVATE, [(self.worker, now, delay, delay, host.key) for host in hosts])
            if tx.row_lock:  # another worker may have borrowed one of them meanwhile
                ours = {key for (key,) in tx.rows("SELECT key FROM hosts WHERE active = ?", (self.worker,))}
                hosts = [host for host in hosts if host.key in ours]
            urls = self._take_each(tx, hosts, now, TAKE, revisits_only=revisits_only)
            robots = tx.each("SELECT * FROM robots WHERE host = ?", [(host.key,) for host in hosts])
            return [
                ActiveRow(host, urls[host.key], [RobotsRow(*row) for row in rules])
                for host, rules in zip(hosts, robots, strict=True)
            ]

    def activate_one(self, name: str, now: float, delay: float) -> HostRow | None:
        """A certain host, made when missing: for a request that is not about an address of the queue.

        None while another worker has it, who is asked to give it back.
        """
        key = addresses.host_key(name)
        wish = (key, self.worker)
        with self._database.write() as tx:
            self._arrivals.ensure_hosts(tx, {key: name})
            if not tx.execute(_ACTIVATE, (self.worker, now, delay, delay, key)):
                tx.execute("INSERT INTO wanted_hosts (host, worker) VALUES (?, ?) ON CONFLICT DO NOTHING", wish)
                return None
            tx.execute("DELETE FROM wanted_hosts WHERE host = ? AND worker = ?", wish)
            return HostRow(*tx.rows(f"SELECT {_HOST_COLUMNS} FROM hosts WHERE key = ?", (key,))[0])  # noqa: S608

    def give_up(self, name: str) -> None:
        """A host is no longer wanted."""
        with self._database.write() as tx:
            tx.execute(
                "DELETE FROM wanted_hosts WHERE host = ? AND worker = ?", (addresses.host_key(name), self.worker)
            )

    def wanted(self) -> list[int]:
        """Hosts that other workers ask for."""
        with self._database.read() as tx:
            return [key for (key,) in tx.rows("SELECT host FROM wanted_hosts WHERE worker <> ?", (self.worker,))]

    def more(
        self, host: HostRow, now: float, exclude: Collection[int], *, count: int = TAKE, revisits_only: bool = False
    ) -> list[UrlRow]:
        """The next addresses of an active host, without those in ``exclude``."""
        with self._database.read() as tx:
            found = self._take_each(tx, [host], now, count + len(exclude), revisits_only=revisits_only)[host.key]
        return [row for row in found if row.key not in exclude][:count]

    def outlook(self, failures: int) -> Outlook:
        """What is left to do, for all workers together and in one snapshot."""
        with self._database.read() as tx:
            busy = any(tx.value(sql) for sql in _WORK_UNDER_WAY)
            due = _first_due(tx, tuple(range(self._partitions)))
            soonest = tx.value(
                f"SELECT MIN(next_at) FROM hosts WHERE active = 0 AND queued > 0 AND failures <= ? AND {IN_BUDGET}",  # noqa: S608
                (failures, *budget_arguments(self._host_budget)),
            )
        return Outlook(busy, due, _least([soonest]))

    def soonest(self, failures: int) -> float:
        """When the next host with a queue is due that failed at most so often; ``NEVER`` when none is."""
        return self.outlook(failures).soonest

    def next_due(self) -> float:
        """When the next host of ours that waits is due for anything at all."""
        with self._database.read() as tx:
            return _first_due(tx, self.parts)

    def find(self, url: str) -> UrlRow | None:
        with self._database.read() as tx:
            row = tx.row(f"{_URL_SELECT} WHERE host = ? AND key = ?", place_of(url))
        return UrlRow(*row) if row else None

    def _due(self, tx: Transaction, now: float, count: int) -> list[HostRow]:
        """The levels share the places: the first takes what it can, but leaves a part to each of the others."""
        each = max(LEAST_OF_A_PART, MARGIN * count // max(1, len(self.parts)))
        found = [
            [HostRow(*row) for row in _due_of(tx, self.parts, level, now, each)[:count]] for level in range(LEVELS)
        ]
        chosen: list[HostRow] = []
        for level, hosts in enumerate(found):
            left = count - len(chosen)
            others = sum(map(len, found[level + 1 :]))
            share = left if not others else max(left - others, left * 2 // 3, 1)
            chosen += hosts[: min(share, left)]
        return chosen

    def _take_each(
        self, tx: Transaction, hosts: Sequence[HostRow], now: float, count: int, *, revisits_only: bool
    ) -> dict[int, list[UrlRow]]:
        """The next addresses of each host: new ones while it is within its budget, then visits that are due again."""
        found: dict[int, list[tuple[Any, ...]]] = {host.key: [] for host in hosts}

        def look(keys: list[int], which: str, order: str) -> None:
            sql = f"{_URL_SELECT} WHERE host = ? AND {which} AND next_at <= ? ORDER BY {order} LIMIT ?"
            rows = tx.each(sql, [(key, now, count - len(found[key])) for key in keys])
            for key, more in zip(keys, rows, strict=True):
                found[key] += more

        fresh = {host.key for host in hosts if not revisits_only and host.pages < self.budget(host)}
        look([key for key in found if key in fresh], "state = 0", "priority")
        short = [key for key, rows in found.items() if len(rows) < count]
        look([key for key in short if key in fresh], "state > 0", "next_at")
        look([key for key in short if key not in fresh], f"state > 0 AND {_HELD}", "next_at")
        return {key: [UrlRow(*row) for row in rows] for key, rows in found.items()}

    def rank_hosts(self, rank_of: Callable[[Sequence[int]], Sequence[float]]) -> None:
        """Take over what a published generation says of hosts, by their keys: 0 to 1, 0 when it knows nothing."""
        last = -(1 << 63)
        while True:
            with self._database.write() as tx:
                rows = tx.rows("SELECT key FROM hosts WHERE key > ? ORDER BY key LIMIT ?", (last, RANKED_AT_ONCE))
                keys = [key for (key,) in rows]
                ranks = [min(max(float(rank), 0.0), 1.0) for rank in rank_of(keys)] if keys else []
                tx.executemany("UPDATE hosts SET rank = ? WHERE key = ?", list(zip(ranks, keys, strict=True)))
            if not keys:
                return
            last = keys[-1]

    # Writing

    def commit(
        self,
        bundle: Bundle,
        now: float,
        check: Callable[[Transaction], None] | None = None,
        after: Callable[[Transaction, Committed], None] | None = None,
        *,
        held_by: Collection[int] | None = None,
    ) -> Committed:
        """Write a bundle in one transaction; ``check`` raises when this worker may not write any more.

        ``after`` joins the transaction at its end. With ``held_by``, visits count only of hosts that one of these
        workers has, or nobody.
        """
        result = Committed()
        with self._database.write() as tx:
            if check is not None:
                check(tx)
            arrived = self._inboxes.take(tx, self.parts) if after is not None else InboxMessage()  # as their holder
            self._lock_hosts(tx, bundle, arrived)
            if held_by is not None:
                bundle.visited = _of_hosts_held_by(tx, bundle.visited, {0, *held_by})
            hold_back(tx, bundle.visited)
            self._mark_same(tx, bundle.visited, result)
            forget_former(tx, bundle.visited)
            self._write_visited(tx, bundle.visited, result)
            mine = self._inboxes.sort_out(tx, _finds(bundle), self.parts)
            mine.add(arrived)
            self._arrivals.write(tx, mine.found, now, result)
            self._write_linked(tx, mine.linked)
            self._write_seeds(tx, _seeds(bundle), mine.seeds, now)
            self._write_hosts(tx, bundle)
            self._write_rest(tx, bundle, now)
            self._let_go(tx, bundle.resting)
            if after is not None:
                after(tx, result)
        return result

    def _lock_hosts(self, tx: Transaction, bundle: Bundle, arrived: InboxMessage) -> None:
        """Where writers run side by side, all take the rows that they share in one order, so that none deadlocks."""
        if not tx.row_lock:
            return
        named = {one.host for one in (*arrived.found, *_finds(bundle).found)}
        keys = {addresses.host_key(name): name for name in named}
        own = frozenset(self.parts)
        names = {key: name for key, name in keys.items() if self.partition(key) in own}
        others = {*bundle.hosts, *bundle.resting, *(item.row.host for item in bundle.visited)}
        self._arrivals.lock_hosts(tx, names, others)

    def _mark_same(self, tx: Transaction, visited: list[Visited], result: Committed) -> None:
        """The content-seen test: a body that another address gave before makes this one a duplicate."""
        owners = owners_of(tx, visited)
        for item in visited:
            owner = owners.get(item.row.body_hash) if item.fresh_body else None
            if owner is not None and owner.key != item.row.key:
                result.dropped += [one.key for one in item.found]
                result.duplicates += 1
                _make_duplicate(item, owner)
            if item.document is not None:
                result.documents.append((item.document, item.row.tried_at))

    def _write_visited(self, tx: Transaction, visited: list[Visited], result: Committed) -> None:
        rows = [
            (*(getattr(item.row, name) for name in CHANGED_COLUMNS), item.row.host, item.row.key) for item in visited
        ]
        tx.executemany(_URL_UPDATE, rows)
        counts: dict[int, list[int]] = {}
        for item in visited:
            count = counts.setdefault(item.row.host, [0, 0])
            count[0] += (item.row.state == QUEUED) - (item.was == QUEUED)
            count[1] += (item.row.state == FETCHED and not item.row.kind) - (item.was == FETCHED and not item.row.kind)
        result.gained = sum(pages for _, pages in counts.values())
        tx.executemany(
            "UPDATE hosts SET queued = queued + ?, pages = pages + ? WHERE key = ?",
            [(queued, pages, host) for host, (queued, pages) in counts.items() if queued or pages],
        )
        result.yields = judge(tx, visited)

    def _write_linked(self, tx: Transaction, linked: dict[str, set[str]]) -> None:
        """Remember which sites link to a host, until it is famous."""
        keys = {addresses.host_key(name): sites for name, sites in linked.items()}
        pairs: list[tuple[int, int]] = []
        for part in parts_of(sorted(keys)):
            sql = f"SELECT key FROM hosts WHERE key IN ({marks(part)}) AND linked < {FAMOUS}"  # noqa: S608
            pairs += [(key, addresses.host_key(site)) for (key,) in tx.rows(sql, part) for site in sorted(keys[key])]
        new = tx.insert_new("site_links", ("host", "site"), pairs, "host, site") if pairs else []
        counts = Counter(host for host, _ in new)
        tx.executemany("UPDATE hosts SET linked = linked + ? WHERE key = ?", [(n, key) for key, n in counts.items()])

    def _write_seeds(self, tx: Transaction, seeds: list[str], mine: list[str], now: float) -> None:
        """Seeds and their hosts come first, however they were found before; ``mine`` are those of our partitions."""
        rows = [(addresses.key(url), url, now) for url in seeds]
        tx.insert_new("seeds", ("key", "url", "added_at"), rows, "key")
        places = [place_of(url) for url in mine]
        tx.executemany("UPDATE urls SET depth = 0, priority = 0 WHERE host = ? AND key = ?", places)
        tx.executemany("UPDATE hosts SET level = 0 WHERE key = ?", [(host,) for host, _ in places])

    def _write_hosts(self, tx: Transaction, bundle: Bundle) -> None:
        sql = (
            "UPDATE hosts SET ready_at = ?, last_at = ?, delay = ?, failures = ?, reason = ?, ip = ?,"
            " requests = requests + ? WHERE key = ?"
        )
        rows = [
            (c.ready_at, c.last_at, c.delay, c.failures, c.reason, c.ip, c.requests, key)
            for key, c in bundle.hosts.items()
        ]
        tx.executemany(sql, rows)

    def _write_rest(self, tx: Transaction, bundle: Bundle, now: float) -> None:
        write_requests(tx, bundle.journal)
        tx.executemany(
            "INSERT INTO robots (origin, host, fetched_at, expires_at, status, reason, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (origin) DO UPDATE SET fetched_at = excluded.fetched_at, expires_at = excluded.expires_at,"
            " status = excluded.status, reason = excluded.reason, body = excluded.body",
            [(r.origin, r.host, r.fetched_at, r.expires_at, r.status, r.reason, r.body) for r in bundle.robots],
        )
        tx.executemany(
            "INSERT INTO archive_marks (file, place) VALUES (?, ?)"
            " ON CONFLICT (file) DO UPDATE SET place = excluded.place",
            list(bundle.marks.items()),
        )
        archive.write_parts(tx, bundle.parts)
        archive.settle_parts(tx, bundle.settled)
        tx.executemany(
            "INSERT INTO closed_patterns (host, pattern, reason, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(addresses.host_key(host), pattern, reason, now) for host, pattern, reason in bundle.traps],
        )
        tx.executemany(
            "UPDATE urls SET pending = 0, batch = ? WHERE key = ? AND tried_at = ? AND pending = 1",
            bundle.batched,
        )

    def _let_go(self, tx: Transaction, resting: dict[int, Rest]) -> None:
        """Hosts that the worker gives back: due again when their politeness and their queue allow."""
        due = self._earliest(tx, {key: rest for key, rest in resting.items() if rest is not Rest.MORE})
        tx.executemany(
            "UPDATE hosts SET active = 0,"
            " next_at = CASE WHEN ready_at > ? THEN ready_at - rank * ? ELSE ? END WHERE key = ?",
            [(at, HEAD_START, at, key) for key in resting for at in [due.get(key, 0.0)]],
        )

    def _earliest(self, tx: Transaction, resting: dict[int, Rest]) -> dict[int, float]:
        """When the first address of each host is due."""
        hosts: list[HostRow] = []
        for part in parts_of(sorted(resting)):
            sql = f"SELECT {_HOST_COLUMNS} FROM hosts WHERE key IN ({marks(part)})"  # noqa: S608
            hosts += [HostRow(*row) for row in tx.rows(sql, part)]
        fresh = [host.key for host in hosts if resting[host.key] is Rest.LATER and host.pages < self.budget(host)]
        full = [host.key for host in hosts if host.key not in set(fresh)]
        due = dict.fromkeys(resting, NEVER)
        for keys, which in ((fresh, "state = 0"), (fresh, "state > 0"), (full, f"state > 0 AND {_HELD}")):
            sql = f"SELECT MIN(next_at) FROM urls WHERE host = ? AND {which}"  # noqa: S608
            for key, [(at,)] in zip(keys, tx.each(sql, [(key,) for key in keys]), strict=True):
                due[key] = min(due[key], _least([at]))
        return due

    def reopen(self, tx: Transaction, now: float) -> int:
        """Hosts that were passed over because the crawl was full, and have addresses that are due: due again."""
        return tx.execute(
            f"UPDATE hosts SET next_at = ready_at WHERE active = 0 AND queued > 0 AND ready_at <= ? AND next_at > ?"  # noqa: S608
            f" AND {IN_BUDGET}"
            " AND EXISTS (SELECT 1 FROM urls WHERE urls.host = hosts.key AND urls.state = 0 AND urls.next_at <= ?)",
            (now, now, *budget_arguments(self._host_budget), now),
        )


_WORK_UNDER_WAY = ("SELECT 1 FROM hosts WHERE active > 0 LIMIT 1", "SELECT 1 FROM arrivals LIMIT 1")
_HELD = "(state = 1 OR kind <> 0)"  # visits that bring no page more than there is
_FIRST = "FROM unnest(CAST(? AS bigint[])) AS p (part) CROSS JOIN LATERAL"
_DUE_BESIDE = (
    f"SELECT {_HOST_COLUMNS} {_FIRST} (SELECT {_HOST_COLUMNS}, next_at FROM hosts WHERE active = 0"  # noqa: S608
    " AND hosts.part = p.part AND level = ? AND next_at <= ? ORDER BY next_at LIMIT ?) AS due ORDER BY next_at"
)
_MINIMUM_BESIDE = (
    f"SELECT MIN(next_at) {_FIRST} (SELECT next_at FROM hosts WHERE active = 0 AND hosts.part = p.part"  # noqa: S608
    " AND level = ? ORDER BY next_at LIMIT 1) AS firsts"
)


@lru_cache(maxsize=64)
def _due_sql(parts: tuple[int, ...], level: int) -> str:
    """The first hosts of each partition, each by one short walk on the index, then in order."""
    columns = f"SELECT {_HOST_COLUMNS}, next_at FROM hosts WHERE active = 0"  # noqa: S608
    one = "SELECT * FROM ({} AND part = {} AND level = {} AND next_at <= ? ORDER BY next_at LIMIT ?) AS p{}"
    walks = " UNION ALL ".join(one.format(columns, part, level, part) for part in parts)
    return f"SELECT {_HOST_COLUMNS} FROM ({walks}) AS due ORDER BY next_at"  # noqa: S608


def _due_of(tx: Transaction, parts: tuple[int, ...], level: int, now: float, each: int) -> list[tuple[Any, ...]]:
    if not parts:
        return []
    if tx.row_lock:  # a server has a statement for any number of partitions
        return tx.rows(_DUE_BESIDE, (number_list(parts), level, now, each))
    return tx.rows(_due_sql(parts, level), (now, each) * len(parts))


@lru_cache(maxsize=64)
def _minima(parts: tuple[int, ...]) -> tuple[str, ...]:
    """For each level, the statement that tells when the first host of these partitions is due."""
    one = "SELECT MIN(next_at) AS at FROM hosts WHERE active = 0 AND part = {} AND level = {}"
    return tuple(
        f"SELECT MIN(at) FROM ({' UNION ALL '.join(one.format(part, level) for part in parts)}) AS firsts"  # noqa: S608
        for level in range(LEVELS)
        if parts
    )


def _first_due(tx: Transaction, parts: tuple[int, ...]) -> float:
    """When the first host of these partitions is due."""
    if tx.dialect == "postgresql":
        return _least(tx.value(_MINIMUM_BESIDE, (number_list(parts), level)) for level in range(LEVELS))
    return _least(tx.value(sql) for sql in _minima(parts))


def _least(times: Iterable[float | None]) -> float:
    return min((float(time) for time in times if time is not None), default=NEVER)


def _finds(bundle: Bundle) -> InboxMessage:
    """Everything that a bundle found, for whichever hosts."""
    found = [*bundle.found, *(one for item in bundle.visited for one in item.found)]
    return InboxMessage(found, bundle.linked, _seeds(bundle))


def _seeds(bundle: Bundle) -> list[str]:
    return [*bundle.seeds, *(item.seed for item in bundle.visited if item.seed)]


def _of_hosts_held_by(tx: Transaction, visited: list[Visited], workers: set[int]) -> list[Visited]:
    holders: dict[int, int] = {}
    for part in parts_of(sorted({item.row.host for item in visited})):
        holders.update(tx.rows(f"SELECT key, active FROM hosts WHERE key IN ({marks(part)})", part))  # noqa: S608
    return [item for item in visited if holders.get(item.row.host, 0) in workers]


def _make_duplicate(item: Visited, owner: Owner) -> None:
    """Keep the page, explain it, follow none of its links: they lead where the first copy's lead."""
    item.row.same_as = owner.key
    item.found = []
    if not item.row.refusal:
        item.row.refusal = "duplicate"
        item.row.detail = owner.url
        item.document = replace(item.document, refusal="duplicate") if item.document is not None else None
