"""New addresses on their way into the frontier: which are known, which their host's queue has room for, their rows.

Most addresses that pages name are known already, so the known ones are looked up first, in order of their keys. Where
one writer has the database alone (SQLite) the rest is written by the cheapest statement there is; where writers run
side by side, each row tells whether it was new after all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import addresses
from periplus.crawl.rows import NEVER, NEW_COLUMNS, PAGE, PARTITIONS, QUEUED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from periplus.crawl.rows import Committed, Found
    from periplus.storage import Transaction

IN_LIST = 500  # values of one IN (…)
HEAD_START = 10.0  # seconds by which the highest rank (1) comes earlier among hosts that wait; never before ready_at
_INSERT = f"INSERT INTO urls ({', '.join(NEW_COLUMNS)}) VALUES ({', '.join('?' * len(NEW_COLUMNS))})"  # noqa: S608
_INSERT_PLAIN = (
    "INSERT INTO urls (key, url, host, depth, priority, parent, found_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, 0)"
)


def partition(host: int) -> int:
    return host % PARTITIONS


class Arrivals:
    """``level_of`` places a new host by its name; a host's queue takes ``host_queue`` addresses."""

    def __init__(self, level_of: Callable[[str], int], host_queue: int) -> None:
        self._level_of = level_of
        self._host_queue = host_queue

    def write(self, tx: Transaction, named: Iterable[Found], now: float, result: Committed) -> None:
        """Write what is new of ``named`` and tell ``result``."""
        found: dict[int, Found] = {}
        for one in named:
            found.setdefault(one.key, one)
        for key in _known(tx, sorted(found)):
            del found[key]
        if not found:
            return
        hosts = {name: addresses.host_key(name) for name in {one.host for one in found.values()}}
        kept = self._within_caps(tx, found, hosts, result)
        fresh = kept if not tx.row_lock else _insert_beside_others(tx, kept, hosts, now)
        if not tx.row_lock:
            _insert(tx, kept, hosts, now)
        _count(tx, fresh, hosts, result)

    def ensure_hosts(self, tx: Transaction, names: dict[int, str]) -> None:
        columns = ("key", "name", "site", "part", "level", "next_at")
        rows = [
            (key, name, addresses.site(name), partition(key), self._level_of(name), NEVER)
            for key, name in sorted(names.items())
        ]
        tx.insert_new("hosts", columns, rows, "key")

    def _within_caps(
        self, tx: Transaction, found: dict[int, Found], hosts: dict[str, int], result: Committed
    ) -> list[Found]:
        """Leave out what a full queue cannot take; it is found again on a later visit of the page that names it."""
        room = self._room(tx, hosts)
        kept = []
        for key in sorted(found):
            one = found[key]
            if one.state == QUEUED:
                if room[one.host] <= 0:
                    result.dropped.append(key)
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


def _known(tx: Transaction, keys: list[int]) -> Iterator[int]:
    for part in parts_of(keys):
        for (key,) in tx.rows(f"SELECT key FROM urls WHERE key IN ({marks(part)})", part):  # noqa: S608
            yield key


def _insert(tx: Transaction, kept: list[Found], hosts: dict[str, int], now: float) -> None:
    plain = [one for one in kept if _is_plain(one)]
    tx.executemany(
        _INSERT_PLAIN,
        [(one.key, one.url, hosts[one.host], one.depth, one.priority, one.parent, now) for one in plain],
    )
    if len(plain) < len(kept):
        tx.executemany(_INSERT, [_row(one, hosts, now) for one in kept if not _is_plain(one)])


def _insert_beside_others(tx: Transaction, kept: list[Found], hosts: dict[str, int], now: float) -> list[Found]:
    new = set(tx.insert_new("urls", NEW_COLUMNS, [_row(one, hosts, now) for one in kept], "key"))
    return [one for one in kept if one.key in new]


def _is_plain(one: Found) -> bool:
    return one.state == QUEUED and one.kind == PAGE and not (one.next_at or one.hops or one.reason or one.detail)


def _row(one: Found, hosts: dict[str, int], now: float) -> tuple[object, ...]:
    return (
        one.key, one.url, hosts[one.host], one.kind, one.depth, one.priority, one.state, one.next_at, one.reason,
        one.detail, one.parent, one.hops, one.chain, now,
    )  # fmt: skip


def _count(tx: Transaction, fresh: list[Found], hosts: dict[str, int], result: Committed) -> None:
    added: dict[int, int] = {}
    for one in fresh:
        if one.state == QUEUED:
            key = hosts[one.host]
            added[key] = added.get(key, 0) + 1
    result.new = len(fresh)
    result.queued = sum(added.values())
    result.hosts = set(added)
    tx.executemany(
        "UPDATE hosts SET queued = queued + ?,"
        " next_at = CASE WHEN next_at > ready_at THEN ready_at - rank * ? ELSE next_at END WHERE key = ?",
        [(count, HEAD_START, host) for host, count in sorted(added.items())],
    )


def marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def parts_of(values: Iterable[int]) -> Iterator[list[int]]:
    listed = list(values)
    for start in range(0, len(listed), IN_LIST):
        yield listed[start : start + IN_LIST]
