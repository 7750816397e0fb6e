"""PageRank of the candidates as the reference profiles read it: classic scale for pages, 0..1 for hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from periplus.index.snapshot import Snapshot
    from periplus.search.columns import Numbers

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


class Ranks:
    """No ranks at all: every page is the mean page, every host the best host."""

    known = False

    def pages(self, snapshot: Snapshot, numbers: Numbers) -> FloatArray:
        return np.ones(len(numbers))

    def hosts(self, snapshot: Snapshot, numbers: Numbers) -> FloatArray:
        return np.ones(len(numbers))
