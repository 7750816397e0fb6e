"""What the live documents of some segments are, counted: by host and language, and which marks there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.index.format.meant_for import text_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from periplus.index.retrieval.view import SegmentView

ROWS = 1 << 20  # documents that are looked at together


def named_counts(views: Sequence[SegmentView], column: str) -> dict[str, int]:
    """Live documents by the names of a column, in the order of the names; names that only deleted ones had are gone."""
    found: dict[str, int] = {}
    for view in views:
        names = view.segment.columns.names[column]
        counts = _counts(view, view.segment.columns.array(column), len(names))
        for entry, count in zip(names, counts.tolist(), strict=True):
            name = text_language(entry) if column == "language" else entry
            if count:
                found[name] = found.get(name, 0) + count
    return dict(sorted(found.items()))


def marks_there(views: Sequence[SegmentView]) -> int:
    """All marks that any live document has."""
    found = 0
    for view in views:
        counts = _counts(view, view.segment.columns.array("marks"), 1 << 8)
        for mark in np.flatnonzero(counts).tolist():
            found |= mark
    return found


def _counts(view: SegmentView, values: NDArray[np.uint32] | NDArray[np.uint8], kinds: int) -> NDArray[np.int64]:
    counts = np.zeros(kinds, np.int64)
    for first in range(0, len(values), ROWS):
        some = values[first : first + ROWS]
        live = some if view.alive is None else some[view.alive[first : first + ROWS] > 0]
        counts += np.bincount(live, minlength=kinds)
    return counts
