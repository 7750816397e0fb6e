"""Inversion: streams of word numbers in the order of documents become lists in the order of terms.

All occurrences, as positions in the segment, are put at the places of their terms in as few runs over the stream as
memory allows, most often one; postings are made of them a part at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.index.norms import field_factors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.segment import SegmentWriter
    from periplus.index.vocabulary import SortedTerms

RUN_OCCURRENCES = 40_000_000  # occurrences that are put at their places at once, four bytes each
PART_OCCURRENCES = 4_000_000  # and those that become postings at once
SHARE = 64  # kernels.building: positions that share an entry of owners
MAX_POSITIONS = (1 << 32) - 1  # of a segment


class Pieces(NamedTuple):
    """The texts of a builder as ``kernels.building.scatter`` takes them."""

    stream: NDArray[np.uint32]  # words of all pieces
    order: NDArray[np.int64]  # pieces that count, by document
    start: NDArray[np.int64]  # where each begins in the stream
    position: NDArray[np.uint32]  # its first position in the segment
    form_start: NDArray[np.int64]  # of every word
    forms: NDArray[np.uint32]


class Inversion:
    """The occurrences of the words of a builder, turned round by kernels; ``starts`` and ``lengths`` by document."""

    def __init__(self, pieces: Pieces, starts: NDArray[np.uint32], lengths: NDArray[np.uint32], epoch: Epoch) -> None:
        self._pieces = pieces
        bases = first_positions(starts)
        owners = np.searchsorted(bases, np.arange(0, int(bases[-1]), SHARE, dtype=np.uint32), "right") - 1
        factors = field_factors(epoch, lengths).reshape(-1)
        self._documents = (bases, owners.astype(np.uint32), starts.reshape(-1), factors, epoch.k1)
        self.largest = np.zeros(len(lengths), np.uint32)

    def write(self, writer: SegmentWriter, sorted_terms: SortedTerms) -> None:
        from periplus.index.kernels.building import count_terms, scatter

        pieces = self._pieces
        counts = np.zeros(len(sorted_terms.order), np.int64)
        count_terms(pieces.stream, pieces.order, pieces.start, pieces.form_start, pieces.forms, counts)
        for low, high in bounded_runs(counts, RUN_OCCURRENCES):
            start = np.zeros(high - low + 1, np.int64)
            np.cumsum(counts[low:high], out=start[1:])
            occurrences = np.empty(int(start[-1]), np.uint32)
            scatter(*pieces, low, high, start[:-1].copy(), occurrences)
            for first, last in bounded_runs(counts[low:high], PART_OCCURRENCES):
                part = occurrences[start[first] : start[last]]
                self._write_part(writer, sorted_terms, start[first : last + 1] - start[first], part, low + first)

    def _write_part(
        self,
        writer: SegmentWriter,
        sorted_terms: SortedTerms,
        start: NDArray[np.int64],
        occurrences: NDArray[np.uint32],
        low: int,
    ) -> None:
        """Postings of the terms from ``low`` on; their occurrences are overwritten by the steps between positions."""
        from periplus.index.kernels.building import encode

        size, terms = len(occurrences), len(start) - 1
        frequency, totals = np.zeros(terms, np.uint32), np.zeros(1, np.int64)
        found, impacts, counts = np.empty(size, np.uint32), np.empty(size, np.uint8), np.empty(size, np.uint32)
        counted = sorted_terms.is_word[low : low + terms]
        postings = (frequency, found, impacts, counts, occurrences, self.largest, totals)
        encode(start, occurrences, *self._documents, counted, *postings)
        end = int(totals[0])
        present = frequency > 0  # not those that only replaced documents had, or an earlier segment
        names = sorted_terms.joined(low + np.flatnonzero(present))
        writer.append_terms(names, frequency[present], found[:end], impacts[:end], counts[:end], occurrences)


def first_positions(starts: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The first position of every document in the segment, and the end of them; ``starts`` has a row a document."""
    bases = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(starts[:, -1], dtype=np.int64, out=bases[1:])
    return bases.astype(np.uint32)


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
