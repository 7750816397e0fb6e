"""New addresses on their way into the frontier: which are known, which their host's queue has room for, their rows.

Most addresses that pages name are known already, so the known ones are looked up first, in order of host and key. Where
one writer has the database alone (SQLite) the rest is written by the cheapest statement there is; where writers run
side by side, each row tells whether it was new after all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.crawl.frontier.rows import NEVER, NEW_COLUMNS, PAGE, QUEUED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from periplus.crawl.frontier.rows import Committed, FoundAddress
    from periplus.storage import Transaction

IN_LIST = 500  # values of one IN (…)
HEAD_START = 10.0  # seconds by which the highest rank (1) comes earlier among hosts that wait; never before ready_at
_INSERT = f"INSERT INTO urls ({', '.join(NEW_COLUMNS)}) VALUES ({', '.join('?' * len(NEW_COLUMNS))})"  # noqa: S608
_COME_FORWARD = "UPDATE hosts SET next_at = ready_at - rank * ? WHERE key = ? AND next_at > ready_at"
# The same on PostgreSQL, all in one statement each; LIMIT keeps it from reading the whole table for a join.
_KNOWN = (
    "SELECT u.host, u.key FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[])) AS asked (host, key) CROSS JOIN LATERAL"
    " (SELECT host, key FROM urls WHERE urls.host = asked.host AND urls.key = asked.key LIMIT 1) AS u"
)
_ADD_QUEUED = (
    "UPDATE hosts SET queued = queued + given.count"
    " FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[])) AS given (key, count) WHERE hosts.key = given.key"
)
_ALL_COME_FORWARD = (
    "UPDATE hosts SET next_at = ready_at - rank * ? WHERE key = ANY(CAST(? AS bigint[])) AND next_at > ready_at"
)
_INSERT_PLAIN = (
    "INSERT INTO urls (key, url, host, depth, priority, parent, found_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, 0)"
)


Place = tuple[int, int]  # an address by the keys of its host and its own


def place_of(url: str) -> Place:
    return addresses.host_key(addresses.host(url)), addresses.key(url)


class Arrivals:
    """``level_of`` places a new host by its name; a host's queue takes ``host_queue`` addresses."""

    def __init__(self, level_of: Callable[[str], int], host_queue: int, partitions: int) -> None:
        self._level_of = level_of
        self._host_queue = host_queue
        self._partitions = partitions

    def write(self, tx: Transaction, named: Iterable[FoundAddress], now: float, result: Committed) -> None:
        """Write what is new of ``named`` and tell ``result``."""
        hosts: dict[str, int] = {}
        found: dict[Place, FoundAddress] = {}
        for one in named:
            host = hosts.get(one.host)
            if host is None:
                host = hosts[one.host] = addresses.host_key(one.host)
            found.setdefault((host, one.key), one)
        for place in known_of(tx, sorted(found)):
            del found[place]
        if not found:
            return
        kept = self._within_caps(tx, found, result)
        fresh = kept if not tx.row_lock else _insert_beside_others(tx, kept, hosts, now)
        if not tx.row_lock:
            _insert(tx, kept, hosts, now)
        _count(tx, fresh, hosts, result)

    def lock_hosts(self, tx: Transaction, names: dict[int, str], others: Iterable[int]) -> None:
        """Where writers run side by side: keep these hosts as they are, made when missing, in one order for all."""
        keys = sorted({*names, *others})
        sql = "SELECT key FROM hosts WHERE key = ANY(CAST(? AS bigint[]))"
        there = {key for (key,) in tx.rows(sql, (number_list(names),))}
        self.ensure_hosts(tx, {key: name for key, name in names.items() if key not in there})
        tx.rows(f"{sql} ORDER BY key{tx.row_lock}", (number_list(keys),))

    def ensure_hosts(self, tx: Transaction, names: dict[int, str]) -> None:
        columns = ("key", "name", "site", "part", "level", "next_at")
        rows = [
            (key, name, addresses.site(name), key % self._partitions, self._level_of(name), NEVER)
            for key, name in sorted(names.items())
        ]
        tx.insert_new("hosts", columns, rows, "key")

    def _within_caps(self, tx: Transaction, found: dict[Place, FoundAddress], result: Committed) -> list[FoundAddress]:
        """Leave out what a full queue cannot take; it is found again on a later visit of the page that names it."""
        room = self._room(tx, {one.host: host for (host, _), one in found.items()})
        kept = []
        for place in sorted(found):
            one = found[place]
            if one.state == QUEUED:
                if room[one.host] <= 0:
                    result.dropped.append(one.key)
                    continue
                room[one.host] -= 1
            kept.append(one)
        return kept

    def _room(self, tx: Transaction, hosts: dict[str, int]) -> dict[str, int]:
        """How much each queue can take; hosts that are not there yet are made."""
        queued: dict[int, int] = {}
        for part in parts_of(sorted(hosts.values())):
            queued.update(tx.rows(f"SELECT key, queued FROM hosts WHERE key IN ({marks(part)})", part))  # noqa: S608
        self.ensure_hosts(tx, {key: name for name, key in hosts.items() if key not in queued})
        return {name: self._host_queue - queued.get(key, 0) for name, key in hosts.items()}


def known_of(tx: Transaction, places: Sequence[Place]) -> Iterator[Place]:
    """Those that are in the table already; best asked in order."""
    if tx.row_lock:
        yield from tx.rows(_KNOWN, (number_list(host for host, _ in places), number_list(key for _, key in places)))
        return
    for start in range(0, len(places), IN_LIST):
        part = places[start : start + IN_LIST]
        yield from tx.rows(_known_sql(len(part)), [number for place in part for number in place])


@lru_cache(maxsize=IN_LIST)
def _known_sql(count: int) -> str:
    """One walk on the index for each; the order of the tables is what CROSS JOIN tells SQLite."""
    return (
        f"WITH asked (host, key) AS (VALUES {', '.join(['(?, ?)'] * count)})"  # noqa: S608
        " SELECT u.host, u.key FROM asked CROSS JOIN urls AS u WHERE u.host = asked.host AND u.key = asked.key"
    )


def _insert(tx: Transaction, kept: list[FoundAddress], hosts: dict[str, int], now: float) -> None:
    plain = [one for one in kept if _is_plain(one)]
    tx.executemany(
        _INSERT_PLAIN,
        [(one.key, one.url, hosts[one.host], one.depth, one.priority, one.parent, now) for one in plain],
    )
    if len(plain) < len(kept):
        tx.executemany(_INSERT, [_row(one, hosts, now) for one in kept if not _is_plain(one)])


def _insert_beside_others(
    tx: Transaction, kept: list[FoundAddress], hosts: dict[str, int], now: float
) -> list[FoundAddress]:
    new = set(tx.insert_new("urls", NEW_COLUMNS, [_row(one, hosts, now) for one in kept], "host, key"))
    return [one for one in kept if (hosts[one.host], one.key) in new]


def _is_plain(one: FoundAddress) -> bool:
    return one.state == QUEUED and one.kind == PAGE and not (one.next_at or one.hops or one.reason or one.detail)


def _row(one: FoundAddress, hosts: dict[str, int], now: float) -> tuple[object, ...]:
    return (
        one.key, one.url, hosts[one.host], one.kind, one.depth, one.priority, one.state, one.next_at, one.reason,
        one.detail, one.parent, one.hops, one.chain, now,
    )  # fmt: skip


def _count(tx: Transaction, fresh: list[FoundAddress], hosts: dict[str, int], result: Committed) -> None:
    added: dict[int, int] = {}
    for one in fresh:
        if one.state == QUEUED:
            key = hosts[one.host]
            added[key] = added.get(key, 0) + 1
    result.new = len(fresh)
    result.queued = sum(added.values())
    result.hosts = set(added)
    rows = sorted(added.items())
    if tx.row_lock:
        keys = number_list(added)
        tx.execute(_ADD_QUEUED, (keys, number_list(added.values())))
        tx.execute(_ALL_COME_FORWARD, (HEAD_START, keys))
        return
    tx.executemany("UPDATE hosts SET queued = queued + ? WHERE key = ?", [(count, host) for host, count in rows])
    tx.executemany(_COME_FORWARD, [(HEAD_START, host) for host, _ in rows])  # apart: few do, and an index is in it


def number_list(numbers: Iterable[int]) -> str:
    """As PostgreSQL reads an array."""
    return f"{{{','.join(map(str, numbers))}}}"


def marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def parts_of(values: Iterable[int]) -> Iterator[list[int]]:
    listed = list(values)
    for start in range(0, len(listed), IN_LIST):
        yield listed[start : start + IN_LIST]
