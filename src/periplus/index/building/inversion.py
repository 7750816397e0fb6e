"""Inversion: streams of word numbers in the order of documents become lists in the order of terms.

All occurrences, as positions in the segment, are put at the places of their terms in as few runs over the stream as
memory allows, most often one; postings are made of them a part at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.core.layout.scores import LARGEST_IMPACT
from periplus.core.layout.streams import ALONE, MAX_POSITIONS, SHARE, DocumentRanges, EncodedPostings, Pieces
from periplus.errors import StorageError
from periplus.index.building.arena import Arena
from periplus.index.format.aligned import bounded_runs
from periplus.index.format.norms import field_factors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.index.building.vocabulary import SortedTerms
    from periplus.index.format.norms import Epoch
    from periplus.index.format.segment import SegmentWriter

RUN_OCCURRENCES = 40_000_000  # occurrences that are put at their places at once, four bytes each
PART_OCCURRENCES = 1_000_000  # and those that become postings at once, which stay in the cache until they are written


class Inversion:
    """The occurrences of the words of a builder, turned round by kernels.

    ``bases`` are the first positions of its documents and their end, ``lengths`` has a row a document.
    """

    def __init__(
        self,
        pieces: Pieces,
        bases: NDArray[np.uint32],
        lengths: NDArray[np.uint32],
        epoch: Epoch,
        scratch: Scratch | None = None,
    ) -> None:
        self._pieces = pieces
        owners = np.searchsorted(bases, np.arange(0, int(bases[-1]), SHARE, dtype=np.uint32), "right") - 1
        factors = field_factors(epoch, lengths).reshape(-1)
        alone = impacts_alone(factors, epoch.k1)
        self._documents = DocumentRanges(bases, owners.astype(np.uint32), alone, factors, epoch.k1)
        self._scratch = scratch or Scratch()
        self.largest = np.zeros(len(lengths), np.uint32)

    def write(self, writer: SegmentWriter, sorted_terms: SortedTerms) -> None:
        from periplus.core.build import count_terms, scatter

        pieces = self._pieces
        counts = np.zeros(len(sorted_terms.order), np.int64)
        count_terms(pieces, counts)
        for low, high in bounded_runs(counts, RUN_OCCURRENCES):
            start = np.zeros(high - low + 1, np.int64)
            np.cumsum(counts[low:high], out=start[1:])
            occurrences = self._scratch.occurrences(int(start[-1]))
            scatter(pieces, low, high, start[:-1].astype(np.uint64), occurrences)
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
        from periplus.core.build import encode

        size, terms = len(occurrences), len(start) - 1
        frequency, totals = np.zeros(terms, np.uint32), np.zeros(1, np.int64)
        found, impacts, counts = self._scratch.postings(size)
        counted = sorted_terms.is_word[low : low + terms]
        postings = EncodedPostings(frequency, found, impacts, counts, occurrences, self.largest, totals)
        encode(start, occurrences, self._documents, counted, postings)
        end = int(totals[0])
        present = frequency > 0  # not those that only replaced documents had, or an earlier segment
        names = sorted_terms.joined(low + np.flatnonzero(present))
        writer.append_terms(names, frequency[present], found[:end], impacts[:end])
        writer.append_positions(counts[:end], occurrences)


class Scratch:
    """Memory that parts and segments use one after the other: having it from the system anew takes time."""

    def __init__(self) -> None:
        self.packed = Arena()  # documents until they are stored
        self.words = Arena()
        self._occurrences = np.empty(0, np.uint32)
        self._postings = np.empty(0, np.uint32), np.empty(0, np.uint8), np.empty(0, np.uint32)

    def clear(self) -> None:
        """What was collected is written."""
        self.packed.clear()
        self.words.clear()

    def occurrences(self, size: int) -> NDArray[np.uint32]:
        """Where documents were, when these are stored; else by themselves."""
        lent = self.packed.lent(size * self._occurrences.itemsize)
        if lent is not None:
            return lent.view(np.uint32)
        if len(self._occurrences) < size:
            self._occurrences = np.empty(0, np.uint32)  # before the larger one is asked for
            self._occurrences = np.empty(min(size + size // 8, max(size, RUN_OCCURRENCES)), np.uint32)
        return self._occurrences[:size]

    def postings(self, size: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8], NDArray[np.uint32]]:
        """Documents, impacts and counts of a part."""
        if len(self._postings[0]) < size:
            room = max(size, min(2 * size, PART_OCCURRENCES))
            self._postings = np.empty(room, np.uint32), np.empty(room, np.uint8), np.empty(room, np.uint32)
        return self._postings


def impacts_alone(factors: NDArray[np.float64], k1: float) -> NDArray[np.uint8]:
    """Impacts of one to four occurrences in one field, for each field of each document: most postings are such."""
    alone = np.empty((len(factors), ALONE), np.uint8)
    for count in range(1, ALONE + 1):
        weight = count * factors
        alone[:, count - 1] = np.clip(np.floor(LARGEST_IMPACT * weight / (k1 + weight) + 0.5), 1, LARGEST_IMPACT)
    return alone.reshape(-1)


def first_positions(starts: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The first position of every document in the segment, and the end of them; ``starts`` has a row a document."""
    bases = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(starts[:, -1], dtype=np.int64, out=bases[1:])
    if int(bases[-1]) > MAX_POSITIONS:
        raise StorageError(f"the texts of one segment have more than {MAX_POSITIONS:,} words; index with less memory")
    return bases.astype(np.uint32)
