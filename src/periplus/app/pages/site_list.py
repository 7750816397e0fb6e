"""The sites of a collection: all hosts with documents, the best linked first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus import addresses
from periplus.errors import StorageError

if TYPE_CHECKING:
    from periplus.app.collection import Collection

PAGE = 100  # hosts on a page
MOST = 100_000  # hosts that are listed


class SiteList:
    """Kept until there is another generation; safe for several threads."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._made: tuple[object, list[str]] = (None, [])

    def page(self, text: str, number: int) -> dict[str, Any]:
        """One page of the hosts whose name holds ``text``."""
        wanted = text.strip().lower()
        hosts = [host for host in self._hosts() if wanted in host]
        first = (number - 1) * PAGE
        return {
            "text": text,
            "total": len(hosts),
            "first": first + 1,
            "hosts": hosts[first : first + PAGE],
            "page": number,
            "pages": max(1, -(-len(hosts) // PAGE)),
        }

    def _hosts(self) -> list[str]:
        engine = self._collection.engine
        known = engine.hosts()
        state = (engine.generation, known)
        if self._made[0] != state:
            self._made = (state, self._ordered(known))
        return self._made[1]

    def _ordered(self, hosts: tuple[str, ...]) -> list[str]:
        """By rank; where there are no ranks, by name."""
        try:
            table = self._collection.stores.ranks.current()
        except StorageError:
            table = None
        listed = sorted(hosts)
        if table is not None:
            ranks = table.host(np.array([addresses.host_key(host) for host in listed], np.int64))
            listed = [listed[place] for place in np.argsort(-ranks, kind="stable")]
        return listed[:MOST]
