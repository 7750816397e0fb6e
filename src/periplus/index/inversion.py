"""Inversion: streams of word numbers in the order of documents become lists in the order of terms, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index.norms import field_factors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.segment import SegmentWriter
    from periplus.index.vocabulary import SortedTerms

RUN_OCCURRENCES = 8_000_000  # occurrences that are inverted at once


class Inversion:
    """The occurrences of the words of a builder, turned round by kernels.

    ``pieces`` are the stream, the order of the pieces, where each begins in the stream, its document, its first
    position, and the forms of every word, as ``kernels.building.scatter`` takes them.
    """

    def __init__(
        self, pieces: tuple[Any, ...], starts: NDArray[np.uint32], lengths: NDArray[np.uint32], epoch: Epoch
    ) -> None:
        self._pieces = pieces
        self._starts = starts
        self._factors = field_factors(epoch, lengths).reshape(-1)
        self._k1 = epoch.k1
        self.largest = np.zeros(len(lengths), np.uint32)

    def write(self, writer: SegmentWriter, sorted_terms: SortedTerms) -> None:
        from periplus.index.kernels.building import count_terms

        _, order, piece_start, _, _, form_start, forms = self._pieces
        counts = np.zeros(len(sorted_terms.order), np.int64)
        count_terms(self._pieces[0], order, piece_start, form_start, forms, counts)
        for low, high in bounded_runs(counts, RUN_OCCURRENCES):
            self._write_run(writer, sorted_terms, counts, low, high)

    def _write_run(
        self, writer: SegmentWriter, sorted_terms: SortedTerms, counts: NDArray[np.int64], low: int, high: int
    ) -> None:
        from periplus.index.kernels.building import encode, scatter

        start = np.zeros(high - low + 1, np.int64)
        np.cumsum(counts[low:high], out=start[1:])
        size = int(start[-1])
        occurrences = np.empty(size, np.uint64)
        scatter(*self._pieces, low, high, start[:-1].copy(), occurrences)
        frequency = np.zeros(high - low, np.uint32)
        found, impacts, positions = np.empty(size, np.uint32), np.empty(size, np.uint8), np.empty(size, np.uint32)
        steps, totals = occurrences.view(np.uint32), np.zeros(1, np.int64)
        encode(
            start,
            occurrences,
            self._starts,
            self._factors,
            self._k1,
            sorted_terms.is_word[low:high],
            frequency,
            found,
            impacts,
            positions,
            steps,
            self.largest,
            totals,
        )
        postings = int(totals[0])
        present = frequency > 0  # not those that only replaced documents had, or an earlier segment
        terms = sorted_terms.joined(low + np.flatnonzero(present))
        writer.append_terms(
            terms, frequency[present], found[:postings], impacts[:postings], positions[:postings], steps[:size]
        )


def bounded_runs(counts: NDArray[np.int64], limit: int) -> list[tuple[int, int]]:
    """Consecutive ranges whose counts add up to at most ``limit`` (or that hold a single entry)."""
    ends = np.cumsum(counts)
    runs, low = [], 0
    while low < len(counts):
        before = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + limit, "right")))
        runs.append((low, high))
        low = high
    return runs
