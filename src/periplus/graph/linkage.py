"""The links between pages in both directions, as compressed sparse rows that a reader maps into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.graph.csr import Csr

    Integers = NDArray[np.int64]
    Places = NDArray[np.uint32]


class Linkage(NamedTuple):
    """By places of pages in the sorted keys: ``in_sources[in_offsets[p]:in_offsets[p + 1]]`` link to page ``p``."""

    in_offsets: Integers
    in_sources: Places
    out_offsets: Integers
    out_targets: Places

    def linking(self, place: int) -> Places:
        """Pages that link to one."""
        return self.in_sources[self.in_offsets[place] : self.in_offsets[place + 1]]

    def linked(self, place: int) -> Places:
        """Pages that one links to."""
        return self.out_targets[self.out_offsets[place] : self.out_offsets[place + 1]]


def linkage_of(graph: Csr) -> Linkage:
    offsets = np.zeros(graph.vertices + 1, np.int64)
    np.cumsum(np.bincount(graph.sources, minlength=graph.vertices), out=offsets[1:])
    order = np.argsort(graph.sources, kind="stable")  # by source, and for one source by target
    return Linkage(graph.offsets, graph.sources, offsets, graph.targets[order])
