"""``safe``: the documents that are not fit for all ages, by the share of telling words that parsing measured.

Read from the batches that the open generation was built of (two columns of each, newest version winning). A density of
words is no verdict on pictures, and says nothing in languages that its list does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from periplus.search.folding import newest
from periplus.search.links import document_columns

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.index.snapshot import Snapshot
    from periplus.search.columns import Numbers

SIGNAL = "adult_words"
MOST = 0.01  # of the words of a page

Keys = np.ndarray[Any, np.dtype[np.int64]]


def unfit(folder: Path, last_batch: int, snapshot: Snapshot) -> Numbers | None:
    """Numbers of the documents to leave out, ascending; none at all (``None``) where no batch tells."""
    keys: list[Keys] = []
    marks: list[Keys] = []
    for table in document_columns(folder, last_batch, ["key", "signals"], snapshot):
        keys.append(np.asarray(table.column("key").to_numpy(), np.int64))
        marks.append(_marked(table.column("signals")))
    if not keys:
        return None
    numbers = np.sort(snapshot.numbers())
    wanted = np.asarray(snapshot.column("key", numbers), np.int64)
    return numbers[newest(np.concatenate(keys), np.concatenate(marks), wanted) > 0]


def _marked(signals: Any) -> Keys:
    """1 for each document whose share is too high."""
    import pyarrow.compute as pc

    marks = np.zeros(len(signals), np.int64)
    suspected = pc.match_substring(signals, f'"{SIGNAL}"').to_numpy(zero_copy_only=False)
    for place in np.flatnonzero(suspected).tolist():
        marks[place] = msgspec.json.decode(signals[place].as_py()).get(SIGNAL, 0.0) >= MOST
    return marks
