"""The documents of hosts and addresses that the operator has blocked, which no search shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus import addresses

if TYPE_CHECKING:
    from periplus.index.snapshot import Snapshot
    from periplus.search.columns import Numbers


class Hidden:
    """Their numbers in one generation, looked up once for each list."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._found: tuple[frozenset[str], Numbers] = (frozenset(), np.zeros(0, np.int64))

    def numbers(self, blocked: frozenset[str]) -> Numbers:
        """Ascending."""
        known, found = self._found
        if blocked != known:
            found = self._looked_up(blocked)
            self._found = (blocked, found)
        return found

    def _looked_up(self, blocked: frozenset[str]) -> Numbers:
        snapshot = self._snapshot
        hosts = [place for place, host in enumerate(snapshot.host_names()) if host and host in blocked]
        pages = [addresses.page_key(target) for target in blocked if "://" in target]  # http and https alike
        if not hosts and not pages:
            return np.zeros(0, np.int64)
        numbers = np.sort(snapshot.numbers())
        of_host = np.isin(snapshot.column("host", numbers), hosts)
        return numbers[of_host | np.isin(np.asarray(snapshot.column("page_key", numbers), np.int64), pages)]
