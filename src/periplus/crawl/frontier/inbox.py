"""What a worker found for hosts of others: an inbox a partition, which only its worker empties.

A commit writes rows of its own hosts only, so that workers never wait for each other's rows. Everything that it found
for other partitions is appended to their inboxes in the same transaction, one message a partition; their workers
take it out with their own commits. Nothing is lost between the two, and nothing is taken twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from periplus import addresses
from periplus.crawl.frontier.rows import FoundAddress

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from periplus.storage import Transaction

MOST_ADDRESSES = 20_000  # that one commit takes out of inboxes; the next goes on
MESSAGES_AT_ONCE = 200
MESSAGE_ADDRESSES = 1_000  # of one message


class InboxMessage(Struct, array_like=True):
    """What one commit found for the hosts of one partition."""

    found: list[FoundAddress] = field(default_factory=list)
    linked: dict[str, set[str]] = field(default_factory=dict)  # hosts, and sites that link to them
    seeds: list[str] = field(default_factory=list)

    def add(self, other: InboxMessage) -> None:
        self.found += other.found
        self.seeds += other.seeds
        for host, sites in other.linked.items():
            self.linked.setdefault(host, set()).update(sites)


class Inboxes:
    """The inboxes of a collection with so many partitions."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions

    def sort_out(self, tx: Transaction, everything: InboxMessage, own: Collection[int]) -> InboxMessage:
        """What is for ``own`` partitions; the rest goes into the inboxes of the others."""
        if len(own) == self._partitions:
            return everything
        mine, hosts = InboxMessage(), _Places(self._partitions)
        others: dict[int, InboxMessage] = {}
        keep = frozenset(own)

        def of(part: int) -> InboxMessage:
            return mine if part in keep else others.setdefault(part, InboxMessage())

        for one in everything.found:
            of(hosts[one.host]).found.append(one)
        for host, sites in everything.linked.items():
            of(hosts[host]).linked[host] = sites
        for url in everything.seeds:
            of(hosts[addresses.host(url)]).seeds.append(url)
        rows = [(part, message) for part in sorted(others) for message in _encoded(others[part])]
        tx.executemany("INSERT INTO arrivals (part, message) VALUES (?, ?)", rows)
        return mine

    def take(self, tx: Transaction, own: Iterable[int]) -> InboxMessage:
        """What others put into the inboxes of ``own`` partitions, the oldest first; it is gone from there."""
        taken = InboxMessage()
        parts = ", ".join(map(str, own))
        first = f"SELECT id FROM arrivals WHERE part IN ({parts}) ORDER BY id LIMIT {MESSAGES_AT_ONCE}"  # noqa: S608
        while parts and len(taken.found) < MOST_ADDRESSES:
            rows = tx.rows(f"DELETE FROM arrivals WHERE id IN ({first}) RETURNING id, message")  # noqa: S608
            for _, message in sorted(rows):
                taken.add(_DECODER.decode(message))
            if len(rows) < MESSAGES_AT_ONCE:
                break
        return taken


class _Places(dict[str, int]):
    """The partitions of hosts by their names."""

    def __init__(self, partitions: int) -> None:
        super().__init__()
        self._partitions = partitions

    def __missing__(self, name: str) -> int:
        part = self[name] = addresses.host_key(name) % self._partitions
        return part


_DECODER = msgspec.msgpack.Decoder(InboxMessage)


def _encoded(message: InboxMessage) -> Iterable[bytes]:
    """In pieces that nobody finds too large."""
    found = message.found
    yield msgspec.msgpack.encode(InboxMessage(found[:MESSAGE_ADDRESSES], message.linked, message.seeds))
    for start in range(MESSAGE_ADDRESSES, len(found), MESSAGE_ADDRESSES):
        yield msgspec.msgpack.encode(InboxMessage(found[start : start + MESSAGE_ADDRESSES]))
