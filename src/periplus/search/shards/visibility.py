"""Which documents of a shard may be found at all: fit for all ages, not blocked, of a part of the collection."""

from __future__ import annotations

from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from periplus import addresses
from periplus.index.format.marks import TABS, UNFIT
from periplus.search.shards.exchange import EVERYBODY, NOBODY

if TYPE_CHECKING:
    from periplus.index import Snapshot
    from periplus.search.shards.exchange import Mask, Numbers, Visibility

KEPT = 64  # lists of documents


class VisibleDocuments:
    """What is blocked is looked up once for each list."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._hidden = lru_cache(KEPT)(partial(hidden, snapshot))

    def masks(self, visibility: Visibility) -> dict[str, Numbers]:
        """The only documents that may be found and those that may not, ascending, as the index takes them."""
        if visibility is EVERYBODY:
            return {}
        found: dict[str, Numbers] = {}
        left_out, only = self._left_out(visibility), self._only(visibility)
        if len(left_out):
            found["without"] = left_out
        if only is not None:
            found["only"] = only
        return found

    def mask(self, visibility: Visibility, numbers: Numbers) -> Mask:
        """Which of some documents may be found."""
        admitted = np.ones(len(numbers), np.bool_)
        for name, found in self.masks(visibility).items():
            admitted &= np.isin(numbers, found, invert=name == "without")
        return admitted

    @cached_property
    def tabs(self) -> tuple[str, ...]:
        """Parts of the collection that there are documents of."""
        return tuple(name for name, mark in TABS.items() if len(self._marked[mark]))

    @cached_property
    def _marked(self) -> dict[int, Numbers]:
        """For each mark of ``index.format.marks`` the documents that have it, ascending."""
        numbers = np.sort(self._snapshot.numbers())
        marks = np.asarray(self._snapshot.column("marks", numbers), np.int64)
        return {mark: numbers[(marks & mark) > 0] for mark in (UNFIT, *TABS.values())}

    def _left_out(self, visibility: Visibility) -> Numbers:
        unfit = self._marked[UNFIT] if visibility.safe else NOBODY
        if not visibility.blocked:
            return unfit
        found = self._hidden(visibility.blocked)
        return np.union1d(unfit, found) if len(unfit) else found

    def _only(self, visibility: Visibility) -> Numbers | None:
        """Of a tab that nobody knows, nothing is found."""
        keys, tab = visibility.only, visibility.tab
        linking = None if keys is None else self._snapshot.find_all(keys)
        if not tab:
            return linking
        part = self._marked[TABS[tab]] if tab in TABS else NOBODY
        return part if linking is None else np.intersect1d(part, linking)


def hidden(snapshot: Snapshot, blocked: frozenset[str]) -> Numbers:
    """The documents of blocked hosts and addresses, ascending."""
    hosts = [place for place, host in enumerate(snapshot.host_names()) if host and host in blocked]
    pages = [addresses.page_key(target) for target in blocked if "://" in target]  # http and https alike
    if not hosts and not pages:
        return NOBODY
    numbers = np.sort(snapshot.numbers())
    of_host = np.isin(snapshot.column("host", numbers), hosts)
    return numbers[of_host | np.isin(np.asarray(snapshot.column("page_key", numbers), np.int64), pages)]
