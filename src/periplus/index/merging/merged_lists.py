"""Lists of a merged segment: terms, postings and positions of its sources, a run of terms at a time.

A run takes as many terms as their postings leave room for. A term with more than that is taken by ranges of documents:
its places and impacts (five bytes each) wait until the last, its positions are written as they come.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.core.layout.segment_tables import COLUMNS, TERMS, MergedPostings
from periplus.index.format.aligned import aligned_ranges, bounded_runs
from periplus.index.format.dictionary import JoinedTerms
from periplus.index.format.fields import FIELDS
from periplus.index.format.norms import field_factors
from periplus.index.merging.mapped import mapped_array

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.format.norms import Epoch
    from periplus.index.format.segment import Segment, SegmentWriter
    from periplus.index.merging.merged_order import MergedOrder

    Ranges = list[tuple[int, int]]  # terms of each source

POSTING_BYTES = 80  # memory that a posting of a run takes, until it is written
TERM_BYTES = 320  # the same of a term of one source
STEP_BYTES = 10  # and of a position, with room to pack it
LEAST_POSTINGS, LEAST_STEPS = 1 << 6, 1 << 6
RESTED_AFTER = 16  # runs, the pages of the sources that were read are let go of


class GatheredLists(NamedTuple):
    """Postings of a run as the sources have them, one source behind the other."""

    bounds: NDArray[np.int64]  # of the sources
    keys: NDArray[np.int64]  # term of the run << 32 | new document
    impacts: NDArray[np.uint8]
    ordinals: NDArray[np.uint32]
    counts: NDArray[np.uint32]


class Fields(NamedTuple):
    """What impacts are folded from, by new document."""

    starts: NDArray[np.uint32]
    factors: NDArray[np.float64]
    k1: float


class MergedLists:
    def __init__(self, writer: SegmentWriter, order: MergedOrder, memory: int, fields: Fields | None) -> None:
        """``memory`` bounds what a run takes; with ``fields``, impacts are folded again."""
        self._writer = writer
        self._order = order
        self._segments = [source.segment for source in order.sources]
        self._fields = fields
        self._most = max(LEAST_POSTINGS, memory // 2 // POSTING_BYTES)
        self._most_steps = max(LEAST_STEPS, memory // 4 // STEP_BYTES)

    def write(self) -> None:
        every = aligned_ranges([_Terms(segment) for segment in self._segments], POSTING_BYTES * self._most)
        for number, ranges in enumerate(every, 1):
            terms, targets = _merged_terms(self._segments, ranges)
            if len(terms) == 1:
                self._write_term(terms[0], targets, ranges)
            else:
                self._write_run(terms, targets, ranges)
            if not number % RESTED_AFTER:
                self._order.rest()

    def _write_run(self, terms: list[bytes], targets: list[NDArray[np.uint32]], ranges: Ranges) -> None:
        keys, impacts = self._moved(self._gathered(ranges, targets, 0, len(self._order)))
        frequency = np.bincount(keys >> 32, minlength=len(terms)).astype(np.uint32)
        present = frequency > 0
        kept = [term for term, there in zip(terms, present.tolist(), strict=True) if there]
        self._writer.append_terms(JoinedTerms.of(kept), frequency[present], _documents(keys), impacts)

    def _write_term(self, term: bytes, targets: list[NDArray[np.uint32]], ranges: Ranges) -> None:
        """One term, by ranges of documents when it has many."""
        documents, impacts = [], []
        for first in range(0, len(self._order), self._most):
            keys, some = self._moved(self._gathered(ranges, targets, first, first + self._most))
            documents.append(_documents(keys))
            impacts.append(some)
        frequency = np.array([sum(map(len, documents))], np.uint32)
        if frequency[0]:
            self._writer.append_terms(
                JoinedTerms.of([term]), frequency, np.concatenate(documents), np.concatenate(impacts)
            )

    def _gathered(self, ranges: Ranges, targets: list[NDArray[np.uint32]], first: int, last: int) -> GatheredLists:
        """The live postings of these terms in the new documents [first, last)."""
        from periplus.core.build import gather_postings

        sizes = [
            min(int(segment.postings.frequencies(low, high).sum()), (last - first) * (high - low))
            for segment, (low, high) in zip(self._segments, ranges, strict=True)
        ]
        room = sum(sizes)
        keys, impacts = np.empty(room, np.int64), np.empty(room, np.uint8)
        ordinals, counts = np.empty(room, np.uint32), np.empty(room, np.uint32)
        bounds = np.zeros(len(ranges) + 1, np.int64)
        for place, (low, high) in enumerate(ranges):
            at = int(bounds[place])
            found = MergedPostings(keys[at:], impacts[at:], ordinals[at:], counts[at:])
            where = (low, high, first, last, targets[place], self._order.renumbered[place])
            segment = self._segments[place]
            bounds[place + 1] = at + gather_postings(segment.postings.tables, segment.positions.tables, *where, found)
        end = int(bounds[-1])
        return GatheredLists(bounds, keys[:end], impacts[:end], ordinals[:end], counts[:end])

    def _moved(self, gathered: GatheredLists) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Keys and impacts in their order; the positions are written."""
        order = np.argsort(gathered.keys, kind="stable")
        keys, impacts, counts = gathered.keys[order], gathered.impacts[order], gathered.counts[order]
        ends = np.cumsum(counts, dtype=np.int64)
        targets = np.empty(len(order), np.int64)
        targets[order] = ends - counts
        for low, high in bounded_runs(counts, self._most_steps):
            begin, end = int(ends[low] - counts[low]), int(ends[high - 1])
            steps = self._steps(gathered, targets, begin, end)
            if self._fields is not None:
                from periplus.core.build import fold_again

                fold_again(_documents(keys[low:high]), counts[low:high], steps, *self._fields, impacts[low:high])
            self._writer.append_positions(counts[low:high], steps)
        return keys, impacts

    def _steps(self, gathered: GatheredLists, targets: NDArray[np.int64], begin: int, end: int) -> NDArray[np.uint32]:
        """The positions [begin, end) of a run, as steps; those of a source are in the same order as in the run."""
        from periplus.core.build import copy_positions

        steps = np.empty(end - begin, np.uint32)
        for place, segment in enumerate(self._segments):
            first, last = gathered.bounds[place : place + 2].tolist()
            low, high = (first + np.searchsorted(targets[first:last], (begin, end))).tolist()
            copy_positions(segment.positions.tables, gathered.ordinals[low:high], targets[low:high] - begin, steps)
        return steps


class _Terms:
    """The terms of a segment, by the bytes that their postings take in a run."""

    def __init__(self, segment: Segment) -> None:
        self._dictionary = segment.dictionary
        self._postings = segment.postings
        self._blocks = segment.postings.blocks[::COLUMNS]  # postings before every 16 terms
        self.weight = POSTING_BYTES * segment.header.postings + TERM_BYTES * len(self)

    def __len__(self) -> int:
        return len(self._dictionary)

    def at(self, place: int) -> bytes:
        return self._dictionary.term(place)

    def before(self, value: bytes) -> int:
        return self._dictionary.lower_bound(value)

    def reach(self, low: int, share: int) -> int:
        """By whole blocks where the share allows for that, else by terms."""
        begun = low // TERMS
        most = self._weight_before(begun) + share
        high = bisect_right(range(begun, len(self._blocks)), most, key=self._weight_before) + begun - 1
        if TERMS * high > low:
            return min(TERMS * high, len(self))
        last = min(low + 2 * TERMS, len(self))
        weights = TERM_BYTES + POSTING_BYTES * self._postings.frequencies(low, last)
        return low + int(np.searchsorted(np.cumsum(weights), share, "right"))

    def _weight_before(self, block: int) -> int:
        return POSTING_BYTES * int(self._blocks[block]) + TERM_BYTES * TERMS * block


def fields_of(folder: Path, order: MergedOrder, epoch: Epoch) -> Fields:
    """Where fields begin and what an occurrence in them is worth, in mapped files of 76 bytes a document."""
    count = len(FIELDS)
    starts = mapped_array(folder, "<u4", (count + 1) * len(order)).reshape(-1, count + 1)
    factors = mapped_array(folder, "<f8", count * len(order)).reshape(-1, count)
    lengths = [source.segment.columns.lengths for source in order.sources]
    begins = [source.segment.columns.starts.reshape(-1, count + 1) for source in order.sources]
    for rows in order.parts():
        here = slice(rows.first, rows.first + len(rows.sources))
        starts[here] = rows.of(begins)
        factors[here] = field_factors(epoch, rows.of(lengths))
    return Fields(starts.reshape(-1), factors.reshape(-1), epoch.k1)


def _merged_terms(segments: Sequence[Segment], ranges: Ranges) -> tuple[list[bytes], list[NDArray[np.uint32]]]:
    """All terms of the ranges in byte order, and for each segment where its terms went."""
    lists = [segment.dictionary.terms(low, high) for segment, (low, high) in zip(segments, ranges, strict=True)]
    terms = list(dict.fromkeys(sorted(chain.from_iterable(lists))))
    numbers = {term: number for number, term in enumerate(terms)}
    return terms, [np.array([numbers[term] for term in entries], np.uint32) for entries in lists]


def _documents(keys: NDArray[np.int64]) -> NDArray[np.uint32]:
    return keys.astype(np.uint32)  # the lower half
