"""Sharding: which shard a document belongs to.

A document's key decides its slice, and a shard is a range of slices; so the documents of one site spread like any
other. Every shard keeps the norm epoch of the whole. Given the statistics of the whole, it scores as the whole does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLICE_BITS = 10
SLICES = 1 << SLICE_BITS
MAX_SHARDS = SLICES
_MIXED = np.uint64(0x9E3779B97F4A7C15)


def shards_of(keys: NDArray[np.int64], shards: int) -> NDArray[np.int64]:
    """The shard of each document, by its key."""
    slices = (keys.astype(np.uint64) * _MIXED) >> np.uint64(64 - SLICE_BITS)
    found: NDArray[np.int64] = slices.astype(np.int64) * shards // SLICES
    return found


def checked_shards(shards: int) -> int:
    """A number of shards, if there may be so many."""
    if not 1 <= shards <= MAX_SHARDS:
        raise UsageError(f"{shards} shards are out of bounds; choose from 1 to {MAX_SHARDS:,}")
    return shards
