"""Lists made for one query: words in a row, any of some words, words in one field, everything.

They look to kernels as lists of the files do: rows of addresses, by segment (``core/layout/lists.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.index.retrieval.terms import KnownTerm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.retrieval.view import SegmentView

PADDING = 64  # bytes behind the last posting: kernels compare so many at once


class MadeList(Struct, frozen=True):
    """What a list is to hold. ``words`` are given by a prefix; the prefix alone stands for all that begin with it."""

    term: str = ""
    phrase: tuple[str, ...] = ()
    prefix: str = ""
    words: tuple[str, ...] | None = None
    everything: bool = False
    field: int = -1
    slop: int = 0
    ordered: bool = True


def made_list(entry: MadeList, views: Sequence[SegmentView], known: Callable[[str], KnownTerm]) -> KnownTerm:
    """The list in all segments, with deleted documents among the others."""
    from periplus.core.layout.documents import WINDOW_BITS
    from periplus.core.layout.lists import IMPACTS_AT, LENGTH, LIST_HEAD, LIST_ROW, MAXIMA, PLACES_AT

    rows, kept, count = np.zeros(LIST_ROW * len(views) + LIST_HEAD, np.int64), list[NDArray[np.uint8]](), 0
    for segment, view in enumerate(views):
        documents, impacts = view.made(entry, known)
        if not len(documents):
            continue
        windows = (documents >> WINDOW_BITS).astype(np.uint16).view(np.uint8)
        arrays = [_padded(windows), _padded(documents.astype(np.uint8)), _padded(impacts)]
        for column, array in zip((MAXIMA, PLACES_AT, IMPACTS_AT), arrays, strict=True):
            rows[segment * LIST_ROW + column] = array.ctypes.data
        rows[segment * LIST_ROW + LENGTH] = len(documents)
        kept += arrays
        count += len(documents)
    return KnownTerm(count, (), rows, rows.ctypes.data, rows.nbytes, kept)


def _padded(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    padded = np.zeros(len(values) + PADDING, np.uint8)
    padded[: len(values)] = values
    return padded
