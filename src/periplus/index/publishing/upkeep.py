"""Upkeep: merges, new norm epochs and another number of shards, beside the writer.

Segments of a published generation, which is held, are read, and new ones are written apart, without the writer's lock.
Only to publish is that lock taken: documents that were deleted meanwhile are deleted in the new segments, and what was
added meanwhile stays beside them. Segments of two shards never become one.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.errors import StorageBusy
from periplus.index.building.sharding import shards_of
from periplus.index.format.fields import FIELDS
from periplus.index.format.norms import Epoch
from periplus.index.format.postings import MAX_DOCUMENTS
from periplus.index.merging.merged_order import Source
from periplus.index.merging.merging import merge, merges_due
from periplus.index.publishing.writing import SegmentPart, WritingSession
from periplus.storage import sync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.format.manifest import Manifest
    from periplus.index.merging.merged_order import MergedOrder
    from periplus.index.publishing.generations import Generations, Hold
    from periplus.index.publishing.writing import SegmentOpener

    Progress = Callable[[int, int], None]  # documents done, of how many

EPOCH_GROWTH = 4  # times the documents of an epoch, from which on its averages are looked at again
EPOCH_SHIFT = 0.1  # of an average length, from which on it is taken anew
ROUNDS = 3  # in which documents that came meanwhile are parted, before the writer has to wait for the rest


class Merge(Struct):
    """Segments whose documents of one shard become one segment."""

    parts: list[SegmentPart]
    shard: int


class Due(Struct):
    """What is to be written anew together, and the epoch and number of shards that it is written in."""

    merges: list[Merge]
    before: Epoch  # that its sources are of
    epoch: Epoch
    shards: int


class Merged(NamedTuple):
    """A segment that was written apart, and what it was made of."""

    folder: Path
    names: list[str]  # of its sources
    order: MergedOrder
    shard: int


class Upkeep:
    def __init__(
        self,
        generations: Generations,
        open_segment: SegmentOpener,
        memory: int,
        forget_all_but: Callable[[set[str]], None],
    ) -> None:
        """``memory`` bounds what a merge takes; ``forget_all_but`` lets go of segments that were opened."""
        self._generations = generations
        self._open_segment = open_segment
        self._memory = memory
        self._forget_all_but = forget_all_but

    def run(self) -> Manifest | None:
        """Merge until nothing is due; the last generation that was published, if any. One process at a time."""
        published = None
        with self._generations.merging() as is_alone:
            while is_alone and (step := self._step()) is not None:
                published = step
                self._forget_all_but({entry.name for entry in step.segments})  # files of merged ones take up the disk
        return published

    def reshard(self, shards: int, progress: Progress | None = None) -> Manifest:
        """The published documents in so many shards, as a new generation; nothing is done when they are already."""
        with self._generations.merging() as is_alone:
            if not is_alone:
                raise StorageBusy("segments are being merged or resharded; try again when that is done")
            holds = [self._generations.hold()]
            try:
                manifest = holds[0].manifest
                return manifest if manifest.shards == shards else self._resharded(shards, holds, progress)
            finally:
                for hold in holds:
                    hold.release()

    def _step(self) -> Manifest | None:
        """One merge; ``None`` when none is due."""
        hold = self._generations.hold()
        try:
            session = self._session(hold.manifest)
            due = self._due(session)
            if due is None:
                return None
            merged = [self._merged(session, one, due) for one in due.merges]
            with self._generations.publishing():
                return self._publish(due, merged, [hold])
        finally:
            hold.release()

    def _resharded(self, shards: int, holds: list[Hold], progress: Progress | None) -> Manifest:
        """Everything in its new shard, in rounds: what a writer adds during one is parted in the next."""
        merged: list[Merged] = []
        known: set[str] = set()
        session, done = self._session(holds[0].manifest), 0
        due = Due([], session.epoch, session.epoch, shards)
        for _ in range(ROUNDS):
            new = [part for part in session.parts if part.segment.name not in known]
            if not new or session.epoch != due.before:
                break
            total = done + sum(part.live for part in new)
            for one in _in_shards(new, shards):
                merged.append(self._merged(session, one, due))
                done += len(merged[-1].order)
                if progress:
                    progress(done, total)
            known.update(part.segment.name for part in new)
            holds.append(self._generations.hold())
            session = self._session(holds[-1].manifest)
        with self._generations.publishing():
            return self._publish(due, merged, holds)

    def _session(self, manifest: Manifest) -> WritingSession:
        return WritingSession(self._generations, manifest, self._open_segment)

    def _due(self, session: WritingSession) -> Due | None:
        by_shard = [[part for part in session.parts if part.shard == shard] for shard in range(session.shards)]
        epoch = renewed(session.epoch, by_shard)
        if epoch is not session.epoch:
            merges = [Merge(parts, shard) for shard, parts in enumerate(by_shard) if parts]
            return Due(merges, session.epoch, epoch, session.shards)
        for shard, parts in enumerate(by_shard):
            for places in merges_due([Source(part.segment, part.alive) for part in parts]):
                return Due([Merge([parts[place] for place in places], shard)], epoch, epoch, session.shards)
        return None

    def _merged(self, session: WritingSession, one: Merge, due: Due) -> Merged:
        folder = self._generations.merging_folder / session.new_folder().name
        sources = [Source(part.segment, _of_shard(part, one.shard, due.shards)) for part in one.parts]
        order = merge(folder, sources, due.epoch, self._memory)
        order.forget_new_numbers()
        self._generations.stage(folder)
        return Merged(folder, [part.segment.name for part in one.parts], order, one.shard)

    def _publish(self, due: Due, merged: Sequence[Merged], holds: Sequence[Hold]) -> Manifest:
        """Put the new segments in the place of their sources, in whatever generation is now published.

        A source that is no longer there has lost all its documents; unless everything was built anew meanwhile, in
        another epoch: then the new segments are thrown away.
        """
        manifest = self._generations.current()
        if manifest is None:  # removed under us: there is nothing left to keep up
            raise FileNotFoundError(self._generations.merging_folder)
        session = self._session(manifest)
        if session.epoch != due.before:
            for one in merged:
                shutil.rmtree(one.folder, ignore_errors=True)
            return manifest
        now = {part.segment.name: part for part in session.parts}
        replaced = {name for one in merged for name in one.names}
        new = [self._moved(one, now) for one in merged]
        session.parts = [part for part in session.parts if part.segment.name not in replaced] + new
        session.epoch, session.shards = due.epoch, due.shards
        self._take_latecomers(session, due, manifest.shards)
        for hold in holds:
            hold.release()  # so that its files can be swept
        return session.publish()

    def _moved(self, one: Merged, now: dict[str, SegmentPart]) -> SegmentPart:
        """A new segment at its final place, with deletes and priors of its sources as they are now."""
        one.folder.rename(self._generations.segments / one.folder.name)
        sync(self._generations.segments)
        part = SegmentPart(self._open_segment(one.folder.name), one.shard)
        _carry_over(part, [now.get(name) for name in one.names], one.order)
        return part

    def _take_latecomers(self, session: WritingSession, due: Due, shards: int) -> None:
        """Segments that came while all others were written in a new epoch or in other shards; few and small ones."""
        is_resharded = due.shards != shards
        for part in [part for part in session.parts if part.segment.header.epoch != due.epoch.number or is_resharded]:
            if part.entry is None:
                continue  # just written
            merges = _in_shards([part], due.shards) if is_resharded else [Merge([part], part.shard)]
            session.parts.remove(part)
            for one in merges:
                session.parts.append(self._moved(self._merged(session, one, due), {part.segment.name: part}))


def renewed(epoch: Epoch, shards: Sequence[Sequence[SegmentPart]]) -> Epoch:
    """The next epoch when the index has outgrown this one and its averages have moved; else the same one."""
    largest = max((sum(part.live for part in parts) for parts in shards), default=0)  # which becomes one segment
    every = [part for parts in shards for part in parts]
    live = sum(part.live for part in every)
    if not epoch.documents or live < EPOCH_GROWTH * epoch.documents or largest > MAX_DOCUMENTS:
        return epoch
    averages = sum((part.field_totals() for part in every), np.zeros(len(FIELDS))) / live
    before = np.maximum(np.asarray(epoch.averages), 1.0)
    if np.all(np.abs(np.maximum(averages, 1.0) - before) <= EPOCH_SHIFT * before):
        return epoch
    return Epoch(number=epoch.number + 1, documents=live, averages=tuple(averages.tolist()))


def _in_shards(parts: Sequence[SegmentPart], shards: int) -> Iterable[Merge]:
    """The merges that bring documents into their shards; of a shard with more than a segment takes, several."""
    there = [np.bincount(_shards(part, shards), weights=_alive(part), minlength=shards) for part in parts]
    for shard in range(shards):
        some: list[SegmentPart] = []
        size = 0
        for part, counts in zip(parts, there, strict=True):
            own = int(counts[shard])
            if some and size + own > MAX_DOCUMENTS:
                yield Merge(some, shard)
                some, size = [], 0
            if own:
                some.append(part)
                size += own
        if some:
            yield Merge(some, shard)


def _of_shard(part: SegmentPart, shard: int, shards: int) -> NDArray[np.uint8] | None:
    """The live documents of one shard; ``None`` when that is all of a segment."""
    if shards == 1:
        return part.alive
    own: NDArray[np.uint8] = (_shards(part, shards) == shard).astype(np.uint8)
    if part.alive is not None:
        own &= part.alive
    return own


def _shards(part: SegmentPart, shards: int) -> NDArray[np.int64]:
    return shards_of(part.segment.columns.key, shards)


def _alive(part: SegmentPart) -> NDArray[np.uint8]:
    return np.ones(part.segment.documents, np.uint8) if part.alive is None else part.alive


def _carry_over(merged: SegmentPart, sources: Sequence[SegmentPart | None], order: MergedOrder) -> None:
    """Deletes and priors of the sources as they are now, under the numbers of the merged segment."""
    sizes = [source.segment.documents for source in order.sources]
    gone = [np.zeros(size, np.uint8) for size in sizes]
    whole = [np.ones(size, np.uint8) for size in sizes]
    alive = order.joined(
        [
            gone[place] if part is None else whole[place] if part.alive is None else part.alive
            for place, part in enumerate(sources)
        ]
    )
    if not alive.all():
        merged.alive, merged.is_alive_new = alive, True
    if any(part is not None and part.prior is not None for part in sources):
        priors = [
            gone[place] if part is None or part.prior is None else part.prior for place, part in enumerate(sources)
        ]
        merged.prior, merged.is_prior_new = order.joined(priors), True
