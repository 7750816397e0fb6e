"""Near-duplicates: pages of nearly the same text, of which a list shows the best only.

The 64-bit fingerprints of the parsed texts are read from the batches that the open generation was built of (two columns
of each, newest version winning): 16 bytes a document in memory. Two texts are near when their fingerprints differ in
at most ``NEAR_BITS``. A collection whose batches were moved away folds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.errors import Corrupt
from periplus.search.links import read_columns

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.index.snapshot import Snapshot
    from periplus.search.columns import Numbers

NEAR_BITS = 3
MAX_COMPARED = 400  # results of a list, from the best on

Keys = np.ndarray[Any, np.dtype[np.int64]]


class Fingerprints:
    """The fingerprint of every document by key; 0 for one without words."""

    def __init__(self, keys: Keys, values: Keys) -> None:
        """Pairs in the order of the batches: of one key the last counts."""
        order = np.argsort(keys, kind="stable")
        last = np.append(keys[order][1:] != keys[order][:-1], [True] * bool(len(keys)))
        self._keys, self._values = keys[order][last.astype(bool)], values[order][last.astype(bool)]

    @classmethod
    def read(cls, folder: Path, last_batch: int) -> Fingerprints:
        keys: list[Keys] = [np.zeros(0, np.int64)]
        values: list[Keys] = [np.zeros(0, np.int64)]
        for path in sorted(folder.joinpath("documents").glob("*.parquet")):
            if path.stem.isdigit() and int(path.stem) <= last_batch:
                try:
                    table = read_columns(path, ["key", "fingerprint"])
                except Corrupt:  # what cannot be read is not folded
                    continue
                keys.append(np.asarray(table.column("key").to_numpy(), np.int64))
                values.append(np.asarray(table.column("fingerprint").to_numpy(), np.int64))
        return cls(np.concatenate(keys), np.concatenate(values))

    def __len__(self) -> int:
        return len(self._keys)

    def of(self, keys: Keys) -> Keys:
        if not len(self._keys):
            return np.zeros(len(keys), np.int64)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._values[places], 0)


def folds(snapshot: Snapshot, fingerprints: Fingerprints, numbers: Numbers) -> tuple[Keys, Keys]:
    """For each of ``numbers``, best first: the place of the one it is folded into (its own when it is shown), and how
    many are folded into it."""
    into, counts = np.arange(len(numbers)), np.zeros(len(numbers), np.int64)
    head = numbers[:MAX_COMPARED]
    prints = fingerprints.of(np.asarray(snapshot.column("key", head), np.int64)).view(np.uint64)
    known = np.flatnonzero(prints)
    if len(known) < 2:
        return into, counts
    near = np.bitwise_count(prints[known][:, None] ^ prints[known][None, :]) <= NEAR_BITS
    near &= np.tri(len(known), k=-1, dtype=bool)  # only with better ones
    for later in np.flatnonzero(near.any(axis=1)).tolist():
        earlier = next((int(e) for e in np.flatnonzero(near[later]) if into[known[e]] == known[e]), None)
        if earlier is not None:
            into[known[later]] = known[earlier]
            counts[known[earlier]] += 1
    return into, counts
