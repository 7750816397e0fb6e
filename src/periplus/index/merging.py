"""Merging: several segments become one, without their deleted documents and still in address order.

Lists are merged a run of terms at a time, positions are copied as they are, blocks of text are packed anew;
nothing grows with the corpus but the columns. With a new norm epoch the impacts are folded again from the positions.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index.columns import NAMED, PLAIN, TEXTUAL, ColumnTable
from periplus.index.dictionary import JoinedTerms
from periplus.index.inversion import bounded_runs
from periplus.index.norms import field_factors
from periplus.index.postings import MAX_DOCUMENTS
from periplus.index.query import FIELDS
from periplus.index.segment import SegmentWriter
from periplus.index.texts import sampled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.segment import Segment

TIER_FACTOR = 8  # segments of a size class that are merged together
SMALLEST_TIER = 1_000  # documents; smaller segments are all of one class
SMALL_SHARE = 0.25  # of the documents that are merged, up to which smaller segments are taken along
DELETED_SHARE = 0.3  # of a segment, above which it is written anew
RUN_POSTINGS = 4_000_000


class Source:
    """A segment with the documents of it that are still live."""

    def __init__(self, segment: Segment, alive: NDArray[np.uint8] | None) -> None:
        self.segment = segment
        self.alive = np.ones(segment.documents, np.uint8) if alive is None else alive

    @property
    def live(self) -> int:
        return int(self.alive.sum())


def merges_due(sources: Sequence[Source], factor: int = TIER_FACTOR) -> list[list[int]]:
    """Which segments to merge now, by place in ``sources``: full size classes, and those mostly deleted.

    A size class takes those below it along, if these are small beside it: every segment takes time of every query, and
    they would have to be merged sooner or later. What would not fit into one segment stays apart.
    """
    tiers: dict[int, list[int]] = {}
    for place, source in enumerate(sources):
        tiers.setdefault(tier(source.live, factor), []).append(place)
    due: list[list[int]] = []
    taken: set[int] = set()
    for level in sorted(tiers, reverse=True):
        places = tiers[level]
        if len(places) < factor or taken.issuperset(places) or not _fits(sources, places):
            continue
        below = [place for other in tiers if other < level for place in tiers[other] if place not in taken]
        together = sorted([*places, *below])
        if _live(sources, below) <= SMALL_SHARE * _live(sources, places) and _fits(sources, together):
            places = together
        due.append(places)
        taken.update(places)
    due += [
        [place]
        for place, source in enumerate(sources)
        if place not in taken and source.live < source.segment.documents * (1 - DELETED_SHARE)
    ]
    return due


def _fits(sources: Sequence[Source], places: Sequence[int]) -> bool:
    return _live(sources, places) <= MAX_DOCUMENTS


def _live(sources: Sequence[Source], places: Sequence[int]) -> int:
    return sum(sources[place].live for place in places)


def tier(documents: int, factor: int = TIER_FACTOR) -> int:
    size, level = SMALLEST_TIER, 0
    while documents > size:
        size *= factor
        level += 1
    return level


def merge(folder: Path, sources: Sequence[Source], epoch: Epoch) -> NDArray[np.int64]:
    """Write one segment with the live documents of all sources; for each its place in ``sources`` and number there."""
    order = _merged_order(sources)
    writer = SegmentWriter(folder, len(order), epoch)
    try:
        columns = _merged_columns(sources, order)
        _copy_texts(writer, sources, order)
        _Merge(writer, sources, order, columns, epoch).run()
        writer.finish(columns)
    except BaseException:
        writer.abort()
        raise
    return order


def _merged_order(sources: Sequence[Source]) -> NDArray[np.int64]:
    """Rows (source, number) of the live documents, in the order of their addresses, then keys."""
    rows: list[tuple[bytes, int, int, int]] = []
    for place, source in enumerate(sources):
        orders, keys = source.segment.columns.all_texts("order"), source.segment.columns.key
        rows += [(orders[number], int(keys[number]), place, number) for number in np.flatnonzero(source.alive).tolist()]
    rows.sort()
    return np.array([(place, number) for _, _, place, number in rows], np.int64).reshape(-1, 2)


def _merged_columns(sources: Sequence[Source], order: NDArray[np.int64]) -> ColumnTable:
    base = np.concatenate([[0], np.cumsum([source.segment.documents for source in sources])]).astype(np.int64)
    rows = base[order[:, 0]] + order[:, 1]

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([source.segment.columns.array(name) for source in sources])

    arrays: dict[str, NDArray[Any]] = {name: joined(name)[rows] for name in PLAIN}
    arrays["lengths"] = joined("lengths").reshape(-1, len(FIELDS))[rows].reshape(-1)
    arrays["starts"] = joined("starts").reshape(-1, len(FIELDS) + 1)[rows].reshape(-1)
    names: dict[str, list[str]] = {}
    for name in NAMED:
        arrays[name], names[name] = _merged_names(sources, name, rows)
    return ColumnTable(arrays, names, {name: _merged_texts(sources, name, rows) for name in TEXTUAL})


def _merged_texts(sources: Sequence[Source], name: str, rows: NDArray[np.int64]) -> list[bytes]:
    every = [text for source in sources for text in source.segment.columns.all_texts(name)]
    return [every[row] for row in rows.tolist()]


def _merged_names(
    sources: Sequence[Source], name: str, rows: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], list[str]]:
    """A named column under the names that are still in use."""
    every = sorted({entry for source in sources for entry in source.segment.columns.names[name]})
    numbers = {entry: number for number, entry in enumerate(every)}
    translated = []
    for source in sources:
        table = np.array([numbers[entry] for entry in source.segment.columns.names[name]], np.uint32)
        translated.append(table[source.segment.columns.array(name)] if len(table) else np.empty(0, np.uint32))
    values = np.concatenate(translated)[rows]
    used, compact = np.unique(values, return_inverse=True)
    return compact.astype(np.uint32), [every[number] for number in used.tolist()]


def _copy_texts(writer: SegmentWriter, sources: Sequence[Source], order: NDArray[np.int64]) -> None:
    """Each source is read forwards once, because every segment is in the same order."""
    samples = [(sources[place].segment.texts, number) for place, number in order[sampled(len(order))].tolist()]
    writer.texts.learn([bytes(texts.packed(number)) for texts, number in samples])
    streams = [_numbered_texts(source) for source in sources]
    writer.texts.extend(next(streams[place]) for place in order[:, 0].tolist())


def _numbered_texts(source: Source) -> Any:
    alive = source.alive
    return (packed for number, packed in enumerate(source.segment.texts.all_packed()) if alive[number])


class _Merge:
    """The lists of several segments, run by run."""

    def __init__(
        self,
        writer: SegmentWriter,
        sources: Sequence[Source],
        order: NDArray[np.int64],
        columns: ColumnTable,
        epoch: Epoch,
    ) -> None:
        self._writer = writer
        self._segments = [source.segment for source in sources]
        self._renumbered = [np.full(source.segment.documents, -1, np.int64) for source in sources]
        for place, renumbered in enumerate(self._renumbered):
            rows = np.flatnonzero(order[:, 0] == place)
            renumbered[order[rows, 1]] = rows
        self._fold_again = any(segment.header.epoch != epoch.number for segment in self._segments)
        lengths = columns.arrays["lengths"].reshape(-1, len(FIELDS))
        self._fields = (columns.arrays["starts"], field_factors(epoch, lengths).reshape(-1), epoch.k1)

    def run(self) -> None:
        for ranges in self._runs():
            self._write_run(ranges)

    def _runs(self) -> list[list[tuple[int, int]]]:
        """For each run the range of term numbers in every segment; the one with most postings says where to cut."""
        leader = max(self._segments, key=lambda segment: segment.header.postings)
        counts = leader.postings.frequencies(0, leader.header.terms)
        cuts = [leader.dictionary.term(low) for low, _ in bounded_runs(counts, RUN_POSTINGS)[1:]]
        bounds = [
            [0, *(segment.dictionary.lower_bound(cut) for cut in cuts), len(segment.dictionary)]
            for segment in self._segments
        ]
        return [[(bound[run], bound[run + 1]) for bound in bounds] for run in range(len(cuts) + 1)]

    def _write_run(self, ranges: list[tuple[int, int]]) -> None:
        terms, targets = _merged_terms(self._segments, ranges)
        gathered = [self._gathered(place, low, high, targets[place]) for place, (low, high) in enumerate(ranges)]
        keys, impacts, counts = (np.concatenate([part[field] for part in gathered]) for field in (0, 1, 3))
        order = np.argsort(keys, kind="stable")
        keys, impacts, counts = keys[order], impacts[order], counts[order]
        steps = self._copied(gathered, order, counts)
        documents = (keys & 0xFFFF_FFFF).astype(np.uint32)
        if self._fold_again:
            from periplus.index.kernels.merging import fold_again

            fold_again(documents, counts, steps, *self._fields, impacts)
        frequency = np.bincount(keys >> 32, minlength=len(terms)).astype(np.uint32)
        present = frequency > 0
        kept = [term for term, there in zip(terms, present.tolist(), strict=True) if there]
        self._writer.append_terms(JoinedTerms.of(kept), frequency[present], documents, impacts, counts, steps)

    def _gathered(self, place: int, low: int, high: int, target: NDArray[np.uint32]) -> tuple[NDArray[Any], ...]:
        from periplus.index.kernels.merging import gather_postings

        segment = self._segments[place]
        size = int(segment.postings.frequencies(low, high).sum())
        keys, ordinals = np.empty(size, np.int64), np.empty(size, np.int64)
        impacts, counts = np.empty(size, np.uint8), np.empty(size, np.uint32)
        count = gather_postings(
            *segment.postings.tables,
            *segment.positions.tables,
            low,
            high,
            target,
            self._renumbered[place],
            keys,
            impacts,
            ordinals,
            counts,
        )
        return keys[:count], impacts[:count], ordinals[:count], counts[:count]

    def _copied(
        self, gathered: list[tuple[NDArray[Any], ...]], order: NDArray[np.int64], counts: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Positions of all postings, in their new order, as steps."""
        from periplus.index.kernels.merging import copy_positions

        ends = np.cumsum(counts, dtype=np.int64)
        targets = np.empty(len(order), np.int64)
        targets[order] = ends - counts
        steps = np.empty(int(ends[-1]) if len(ends) else 0, np.uint32)
        first = 0
        for segment, (keys, _, ordinals, _) in zip(self._segments, gathered, strict=True):
            copy_positions(*segment.positions.tables, ordinals, targets[first : first + len(keys)], steps)
            first += len(keys)
        return steps


def _merged_terms(
    segments: Sequence[Segment], ranges: list[tuple[int, int]]
) -> tuple[list[bytes], list[NDArray[np.uint32]]]:
    """All terms of the ranges in byte order, and for each segment where its terms went."""
    lists = [segment.dictionary.terms(low, high) for segment, (low, high) in zip(segments, ranges, strict=True)]
    terms: list[bytes] = []
    for term in heapq.merge(*lists):
        if not terms or terms[-1] != term:
            terms.append(term)
    numbers = {term: number for number, term in enumerate(terms)}
    return terms, [np.array([numbers[term] for term in entries], np.uint32) for entries in lists]
