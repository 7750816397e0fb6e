"""The most frequent words of a generation, for building what needs very many of them at once.

Every segment names its most frequent words; each of these is then counted in all segments. Terms are decoded in long
runs and looked up in one call a segment, where ``Snapshot.prefix`` asks for one term at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.text import STEM_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from periplus.index.view import SegmentView

RUN = 1 << 16  # terms decoded at once
LEAST_NAMED = 64  # by a segment, and twice as many as are wanted: a word may be rare in each of many segments


def frequent_words(views: Sequence[SegmentView], limit: int) -> list[tuple[str, int]]:
    """Words (no stems) with the number of live documents that have them, most frequent first."""
    named = max(LEAST_NAMED, 2 * limit)
    terms = list(_most_frequent(views[0], named)) if len(views) == 1 else _of_all(views, named)
    if not terms:
        return []
    counts = np.zeros(len(terms), np.int64)
    for view in views:
        dictionary = view.segment.dictionary
        if len(dictionary):
            numbers = dictionary.find(terms)
            known = view.frequencies(0, len(dictionary))
            counts += np.where(numbers >= 0, known[np.maximum(numbers, 0)], 0)
    order = np.argsort(-counts, kind="stable")[:limit]
    return [(terms[place].decode("utf-8", "replace"), int(counts[place])) for place in order.tolist()]


def _of_all(views: Sequence[SegmentView], limit: int) -> list[bytes]:
    return sorted({term for view in views for term in _most_frequent(view, limit)})


def _most_frequent(view: SegmentView, limit: int) -> Iterator[bytes]:
    dictionary = view.segment.dictionary
    frequencies = view.frequencies(0, len(dictionary)).copy()
    low, high = dictionary.prefix_range(STEM_MARK.encode())
    frequencies[low:high] = 0
    wanted = np.flatnonzero(frequencies)
    if len(wanted) > limit:
        best = np.argsort(-frequencies[wanted], kind="stable")[:limit]
        wanted = np.sort(wanted[best])
    yield from _decoded(view, wanted)


def _decoded(view: SegmentView, numbers: NDArray[np.int64]) -> Iterator[bytes]:
    """The terms with these ascending numbers."""
    for first in range(0, len(view.segment.dictionary), RUN):
        begin, end = np.searchsorted(numbers, (first, first + RUN)).tolist()
        if begin < end:
            run = view.segment.dictionary.terms(first, int(numbers[end - 1]) + 1)
            yield from (run[number - first] for number in numbers[begin:end].tolist())
