"""Pairs of vertices with how often each was met; what was added is merged whenever it doubled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pairs = NDArray[np.uint64]


class PairCounts:
    def __init__(self) -> None:
        self._pairs = [np.empty(0, np.uint64)]
        self._counts = [np.empty(0, np.int64)]
        self._waiting = 0

    def add(self, pairs: Pairs) -> None:
        """Takes pairs (``csr.pair``) in any order."""
        distinct, counts = np.unique(pairs, return_counts=True)
        self._pairs.append(distinct)
        self._counts.append(counts)
        self._waiting += len(distinct)
        if self._waiting > 1_000_000 + len(self._pairs[0]):
            merged, sums = self.all()
            self._pairs, self._counts, self._waiting = [merged], [sums], 0

    def all(self) -> tuple[Pairs, NDArray[np.int64]]:
        """All distinct pairs in order, and how often each was met."""
        pairs, counts = np.concatenate(self._pairs), np.concatenate(self._counts)
        order = np.argsort(pairs, kind="stable")  # runs that are in order by themselves are merged
        pairs, counts = pairs[order], counts[order]
        first = np.flatnonzero(np.concatenate((pairs[:1] == pairs[:1], pairs[1:] != pairs[:-1])))
        return pairs[first], np.add.reduceat(counts, first) if len(first) else counts
