"""Near-duplicates: pages of nearly the same text, of which a list shows the best only.

The 64-bit fingerprints of the parsed texts are read from the batches that the open generation was built of (two columns
of each, newest version winning): 8 bytes a document in memory. Two texts are near when their fingerprints differ in
at most ``NEAR_BITS``; only the first results of a list are compared (``LEAST_COMPARED``). A collection whose
batches were moved away folds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index.view import NUMBER_BITS
from periplus.search.links import document_columns

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.index.snapshot import Snapshot
    from periplus.search.columns import Numbers

NEAR_BITS = 3
LEAST_COMPARED = 64  # results that are compared for near-duplicates; three times those wanted, when that is more
_LOCAL = (1 << NUMBER_BITS) - 1

Keys = np.ndarray[Any, np.dtype[np.int64]]


class Fingerprints:
    """The fingerprint of every document by its number in one snapshot; 0 for one without words."""

    def __init__(self, numbers: Keys, values: Keys) -> None:
        """``numbers`` ascending."""
        segments, local = numbers >> NUMBER_BITS, numbers & _LOCAL
        sizes = np.zeros(int(segments[-1]) + 1 if len(segments) else 0, np.int64)
        np.maximum.at(sizes, segments, local + 1)
        self.starts = np.cumsum(sizes) - sizes  # of each segment
        self.values = np.zeros(int(sizes.sum()), np.int64)  # those that are not live have none
        self.values[self.starts[segments] + local] = values
        self._count = len(numbers)

    @classmethod
    def read(cls, folder: Path, last_batch: int, snapshot: Snapshot) -> Fingerprints:
        keys: list[Keys] = [np.zeros(0, np.int64)]
        values: list[Keys] = [np.zeros(0, np.int64)]
        for table in document_columns(folder, last_batch, ["key", "fingerprint"], snapshot):
            keys.append(np.asarray(table.column("key").to_numpy(), np.int64))
            values.append(np.asarray(table.column("fingerprint").to_numpy(), np.int64))
        numbers = np.sort(snapshot.numbers())
        wanted = np.asarray(snapshot.column("key", numbers), np.int64)
        return cls(numbers, newest(np.concatenate(keys), np.concatenate(values), wanted))

    def __len__(self) -> int:
        return self._count

    def of(self, numbers: Keys) -> Keys:
        """Those of live documents of the snapshot."""
        found: Keys = self.values[self.starts[numbers >> NUMBER_BITS] + (numbers & _LOCAL)]
        return found


def newest(keys: Keys, values: Keys, wanted: Keys) -> Keys:
    """The last value of each wanted key; 0 for one that has none."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64)
    order = np.argsort(keys, kind="stable")
    places = np.searchsorted(keys[order], wanted, "right") - 1
    found = keys[order][places] == wanted
    return np.where(found & (places >= 0), values[order][places], 0)


def folds(fingerprints: Fingerprints, numbers: Numbers) -> tuple[Keys, Keys]:
    """For each of ``numbers``, best first: the place of the one it is folded into (its own when it is shown), and how
    many are folded into it."""
    from periplus.search.kernels.folding import fold

    into, counts = np.empty(len(numbers), np.int64), np.zeros(len(numbers), np.int64)
    if len(numbers):
        fold(fingerprints.of(numbers), NEAR_BITS, into, counts)
    return into, counts
