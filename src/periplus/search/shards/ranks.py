"""PageRank of the candidates as the reference profiles read it: classic scale for pages, 0..1 for hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus import addresses
from periplus.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from periplus.graph import RankStore, RankTable
    from periplus.index import Snapshot
    from periplus.search.shards.exchange import Numbers

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
MEAN = 1.0  # the classic rank of the mean page; what a document without an address is given


class Ranks:
    """The published ranks, or none: then every page is the mean page and every host the best host."""

    def __init__(
        self, table: RankTable | None = None, damage: str = "", policies: Mapping[str, RankTable] | None = None
    ) -> None:
        self.damage = damage  # why there is none, where there should be
        self._table = table if table is not None and (table.pages or table.hosts) else None
        self._policies = {name: Ranks(own) for name, own in (policies or {}).items()}
        self.backlinks = table.backlinks if table is not None else None
        self._link_texts = table.link_texts if table is not None else None

    @classmethod
    def open(cls, store: RankStore, *, bare: bool = False) -> Ranks:
        """The published ranks; damaged or missing ones degrade the answer and never prevent it.

        ``bare`` ones are without links, for which a broker is asked and not a shard.
        """
        from periplus.graph import POLICIES, store_of

        try:
            own = {name: _table(store_of(store, name), bare=bare) for name in POLICIES}
            policies = {name: table for name, table in own.items() if table is not None}
            return cls(_table(store, bare=bare), policies=policies)
        except StorageError as error:
            return cls(damage=str(error))

    def of(self, profile: str) -> Ranks:
        """Those that a profile reads: computed as its source does, where that was done; else ours."""
        return self._policies.get(profile, self)

    @property
    def known(self) -> bool:
        return self._table is not None

    def link_texts(self, blocked: frozenset[str]) -> dict[str, int]:
        """What links say, with how many say it; those that lead to what is ``blocked`` say nothing."""
        return self._link_texts.counts(blocked) if self._link_texts is not None else {}

    def pages(self, snapshot: Snapshot, numbers: Numbers) -> FloatArray:
        """Rank times number of pages; the least rank for a page that the graph does not know."""
        if self._table is None or not self._table.pages:
            return np.full(len(numbers), MEAN)
        ranks = self._table.page(np.asarray(snapshot.column("page_key", numbers), dtype=np.int64))
        classic = np.maximum(ranks, float(self._table.page_ranks.min())) * self._table.pages
        return np.where(_without_host(snapshot, numbers), MEAN, classic)

    def hosts(self, snapshot: Snapshot, numbers: Numbers) -> FloatArray:
        """Rank of the host over that of the best host."""
        if self._table is None or not self._table.hosts:
            return np.ones(len(numbers))
        places = np.asarray(snapshot.column("host", numbers), dtype=np.int64)
        names = snapshot.host_names()
        keys = np.array([addresses.host_key(names[place]) for place in places.tolist()], dtype=np.int64)
        share = self._table.host(keys) / float(self._table.host_ranks.max())
        return np.where(_without_host(snapshot, numbers), 1.0, share)


def _without_host(snapshot: Snapshot, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    names = snapshot.host_names()
    nameless = [place for place, name in enumerate(names) if not name]
    return np.isin(snapshot.column("host", numbers), nameless)


def _table(store: RankStore, *, bare: bool) -> RankTable | None:
    return store.bare() if bare else store.current()
