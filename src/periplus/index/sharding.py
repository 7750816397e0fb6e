"""Sharding: one index parted into several.

A document's key decides its slice, and a shard is a range of slices; so the documents of one site spread like any
other. Every shard keeps the norm epoch of the whole. Given the statistics of the whole, it scores as the whole does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.index.manifest import Manifest
from periplus.index.merged_order import Source
from periplus.index.merging import merge
from periplus.index.opening import Losses
from periplus.index.segment import Segment
from periplus.index.snapshot import Snapshot
from periplus.index.view import SegmentView

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SLICE_BITS = 10
SLICES = 1 << SLICE_BITS
MEMORY = 64_000_000  # bytes that the writing of a shard takes
_MIXED = np.uint64(0x9E3779B97F4A7C15)


def shards_of(keys: NDArray[np.int64], shards: int) -> NDArray[np.int64]:
    """The shard of each document, by its key."""
    slices = (keys.astype(np.uint64) * _MIXED) >> np.uint64(64 - SLICE_BITS)
    found: NDArray[np.int64] = slices.astype(np.int64) * shards // SLICES
    return found


def parted(whole: Snapshot, folder: Path, shards: int) -> list[Snapshot]:
    """The shards of a snapshot, written below ``folder``, open."""
    return [_part(whole, folder / str(number), number, shards) for number in range(shards)]


def _part(whole: Snapshot, folder: Path, number: int, shards: int) -> Snapshot:
    """The live documents of one shard, in one segment."""
    sources = []
    for view in whole.views:
        chosen = shards_of(view.segment.columns.key, shards) == number
        sources.append(Source(view.segment, view.live_mask() & chosen))
    order = merge(folder, sources, whole.manifest.epoch, MEMORY)
    priors = [view.prior for view in whole.views]
    prior = order.joined(priors) if all(len(prior) for prior in priors) else np.empty(0, np.uint8)
    view = SegmentView(Segment(folder), 0, whole.manifest.epoch, None, prior)
    manifest = Manifest(generation=whole.generation, documents=len(order), epoch=whole.manifest.epoch)
    return Snapshot(manifest, [view], _Unheld(), Losses())


class _Unheld:
    """Files that nobody else may remove."""

    def release(self) -> None:
        """Nothing to let go of."""
