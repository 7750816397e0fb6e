"""Merging: several segments become one, without their deleted documents and still in address order.

Everything is read forwards in parts and written as a stream: documents in their new order (``merged_order``), columns
(``merged_columns``), stored texts, and lists a run of terms at a time (``merged_lists``). What is as long as the
documents is in mapped files. With a new norm epoch the impacts are folded again from the positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.index.format.postings import MAX_DOCUMENTS
from periplus.index.format.segment import SegmentWriter
from periplus.index.format.texts import sampled
from periplus.index.merging.merged_columns import MergedColumns
from periplus.index.merging.merged_lists import MergedLists, fields_of
from periplus.index.merging.merged_order import MergedOrder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from periplus.index.format.norms import Epoch
    from periplus.index.merging.merged_order import Source

TIER_FACTOR = 8  # segments of a size class that are merged together
SMALLEST_TIER = 1_000  # documents; smaller segments are all of one class
SMALL_SHARE = 0.25  # of the documents that are merged, up to which smaller segments are taken along
LARGEST_SHARE = 0.5  # of all documents, that the largest segment has at least
DELETED_SHARE = 0.3  # of a segment, above which it is written anew


def merges_due(sources: Sequence[Source]) -> list[list[int]]:
    """Which segments to merge now, by place in ``sources``.

    All of them, where none has half of the documents: so it is after a large update, and whenever the collection has
    doubled. A document is written at most twice more by that, however large the collection grows. Else full size
    classes, and segments that are mostly deleted.

    A size class takes those below it along, if these are small beside it: every segment takes time of every query, and
    they would have to be merged sooner or later. What would not fit into one segment stays apart.
    """
    every = list(range(len(sources)))
    largest = max([source.live for source in sources], default=0)
    if largest < LARGEST_SHARE * _live(sources, every) and _fits(sources, every):
        return [every]
    tiers: dict[int, list[int]] = {}
    for place, source in enumerate(sources):
        tiers.setdefault(tier(source.live), []).append(place)
    due: list[list[int]] = []
    taken: set[int] = set()
    for level in sorted(tiers, reverse=True):
        places = tiers[level]
        if len(places) < TIER_FACTOR or taken.issuperset(places) or not _fits(sources, places):
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


def tier(documents: int) -> int:
    size, level = SMALLEST_TIER, 0
    while documents > size:
        size *= TIER_FACTOR
        level += 1
    return level


def merge(folder: Path, sources: Sequence[Source], epoch: Epoch, memory: int) -> MergedOrder:
    """Write one segment with the live documents of all sources; where each of them comes from.

    ``memory`` bounds what is taken beside what is always there: a merge of any size takes no more.
    """
    order = MergedOrder(folder.parent, sources, memory)
    writer = SegmentWriter(folder, len(order), epoch)
    try:
        _copy_texts(writer, order)
        is_folded = all(source.segment.header.epoch == epoch.number for source in sources)
        fields = None if is_folded else fields_of(folder.parent, order, epoch)
        MergedLists(writer, order, memory, fields).write()
        writer.finish(MergedColumns(order))
    except BaseException:
        writer.abort()
        raise
    return order


def _copy_texts(writer: SegmentWriter, order: MergedOrder) -> None:
    """Each source is read forwards once, because every segment is in the same order."""
    places = sampled(len(order))
    samples = order.rows(places.start, places.stop, places.step)
    texts = [source.segment.texts for source in order.sources]
    sampled_rows = zip(samples.sources.tolist(), samples.numbers.tolist(), strict=True)
    writer.texts.learn([bytes(texts[place].packed(number)) for place, number in sampled_rows])
    streams = [_live_texts(source) for source in order.sources]
    for rows in order.parts():
        writer.texts.extend(next(streams[place]) for place in rows.sources.tolist())
        order.rest()


def _live_texts(source: Source) -> Iterator[bytes]:
    alive = source.alive
    return (packed for number, packed in enumerate(source.segment.texts.all_packed()) if alive[number])
