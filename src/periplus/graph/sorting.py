"""Sorting links with bounded memory: they are dealt out by ranges of targets, and each range is sorted by itself."""

from __future__ import annotations

import tempfile
from typing import IO, TYPE_CHECKING

import numpy as np

from periplus.graph import csr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Pairs = NDArray[np.uint64]

BUDGET = 512 * 1024 * 1024  # bytes of pairs held in memory
RANGES = 64


class PairSorter:
    """Takes pairs (``csr.pair``) in runs and gives them back sorted and distinct, range after range."""

    def __init__(self, vertices: int) -> None:
        bounds = np.linspace(0, vertices, RANGES + 1).astype(np.uint64)
        self._bounds = bounds << np.uint64(32)
        self._held: list[Pairs] = []
        self.pairs = 0  # so far, some of them perhaps twice
        self._bytes = 0
        self._files: list[IO[bytes]] = []

    def add(self, pairs: Pairs) -> None:
        """Takes a sorted run."""
        self._held.append(pairs)
        self.pairs += len(pairs)
        self._bytes += pairs.nbytes
        if self._bytes > BUDGET:
            self._spill()

    def sorted(self) -> Iterator[Pairs]:
        """All distinct pairs in order, in parts that never part a target."""
        if not self._files:
            yield csr.distinct(np.concatenate([np.empty(0, np.uint64), *self._held]))
            return
        self._spill()
        for file in self._files:
            file.seek(0)
            yield csr.distinct(np.frombuffer(file.read(), np.uint64))
            file.close()
        self._files = []

    def _spill(self) -> None:
        if not self._files:
            self._files = [tempfile.TemporaryFile() for _ in range(RANGES)]  # noqa: SIM115 - closed when read
        for pairs in self._held:
            cuts = np.searchsorted(pairs, self._bounds[1:-1])
            for file, part in zip(self._files, np.split(pairs, cuts), strict=True):
                file.write(part.tobytes())
        self._held, self._bytes = [], 0
