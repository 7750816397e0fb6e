"""Upkeep: merges and new norm epochs, beside the writer.

A merge reads segments of a published generation, which it holds, and writes the merged one apart, without the
writer's lock. Only to publish does it take that lock: documents that were deleted meanwhile are deleted in the merged
segment, and what was added meanwhile stays beside it. When a source is gone by then, the merge is thrown away.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.index.files import sync_folder
from periplus.index.merged_order import Source
from periplus.index.merging import merge, merges_due
from periplus.index.norms import Epoch
from periplus.index.postings import MAX_DOCUMENTS
from periplus.index.query import FIELDS
from periplus.index.writing import SegmentPart, WritingSession

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.generations import Generations, Hold
    from periplus.index.manifest import Manifest
    from periplus.index.merged_order import MergedOrder
    from periplus.index.writing import SegmentOpener

EPOCH_GROWTH = 4  # times the documents of an epoch, from which on its averages are looked at again
EPOCH_SHIFT = 0.1  # of an average length, from which on it is taken anew


class Due(Struct):
    """Segments to be merged, and the epoch in which they are folded."""

    parts: list[SegmentPart]
    epoch: Epoch


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

    def _step(self) -> Manifest | None:
        """One merge; ``None`` when none is due."""
        hold = self._generations.hold()
        try:
            session = self._session(hold.manifest)
            due = self._due(session)
            if due is None:
                return None
            folder = self._generations.merging_folder / session.new_folder().name
            order = merge(folder, [Source(part.segment, part.alive) for part in due.parts], due.epoch, self._memory)
            with self._generations.publishing():
                return self._publish(due, folder, order, hold)
        finally:
            hold.release()

    def _session(self, manifest: Manifest) -> WritingSession:
        return WritingSession(self._generations, manifest, self._open_segment)

    def _due(self, session: WritingSession) -> Due | None:
        epoch = renewed(session.epoch, session.parts)
        if epoch is not session.epoch:
            return Due(session.parts, epoch)
        for places in merges_due([Source(part.segment, part.alive) for part in session.parts]):
            return Due([session.parts[place] for place in places], epoch)
        return None

    def _publish(self, due: Due, folder: Path, order: MergedOrder, hold: Hold) -> Manifest:
        """Put the merged segment in the place of its sources, in whatever generation is now published."""
        manifest = self._generations.current()
        if manifest is None:  # removed under us: there is nothing left to keep up
            raise FileNotFoundError(folder)
        session = self._session(manifest)
        now = {part.segment.name: part for part in session.parts}
        sources = [now.get(part.segment.name) for part in due.parts]
        found = [part for part in sources if part is not None]
        if len(found) < len(due.parts) or session.epoch.number not in (due.epoch.number, due.epoch.number - 1):
            shutil.rmtree(folder, ignore_errors=True)
            return manifest
        merged = self._moved(folder)
        _carry_over(merged, found, order)
        session.parts = [part for part in session.parts if part not in found] + [merged]
        session.epoch = due.epoch
        self._fold_latecomers(session)
        hold.release()  # so that its files can be swept
        return session.publish()

    def _moved(self, folder: Path) -> SegmentPart:
        folder.rename(self._generations.segments / folder.name)
        sync_folder(self._generations.segments)
        return SegmentPart(self._open_segment(folder.name))

    def _fold_latecomers(self, session: WritingSession) -> None:
        """Segments that came while all others were folded in a new epoch; they are few and small."""
        for part in [part for part in session.parts if part.segment.header.epoch != session.epoch.number]:
            folder = session.new_folder()
            order = merge(folder, [Source(part.segment, part.alive)], session.epoch, self._memory)
            folded = SegmentPart(self._open_segment(folder.name))
            _carry_over(folded, [part], order)
            session.parts[session.parts.index(part)] = folded


def renewed(epoch: Epoch, parts: Sequence[SegmentPart]) -> Epoch:
    """The next epoch when the index has outgrown this one and its averages have moved; else the same one."""
    live = sum(part.live for part in parts)
    if not epoch.documents or not EPOCH_GROWTH * epoch.documents <= live <= MAX_DOCUMENTS:  # all become one segment
        return epoch
    averages = sum((part.field_totals() for part in parts), np.zeros(len(FIELDS))) / live
    before = np.maximum(np.asarray(epoch.averages), 1.0)
    if np.all(np.abs(np.maximum(averages, 1.0) - before) <= EPOCH_SHIFT * before):
        return epoch
    return Epoch(number=epoch.number + 1, documents=live, averages=tuple(averages.tolist()))


def _carry_over(merged: SegmentPart, sources: Sequence[SegmentPart], order: MergedOrder) -> None:
    """Deletes and priors of the sources as they are now, under the numbers of the merged segment."""
    alive = _joined([part.alive for part in sources], sources, order, missing=1)
    if not alive.all():
        merged.alive, merged.is_alive_new = alive, True
    if any(part.prior is not None for part in sources):
        merged.prior, merged.is_prior_new = _joined([part.prior for part in sources], sources, order, missing=0), True


def _joined(
    columns: Sequence[NDArray[np.uint8] | None], sources: Sequence[SegmentPart], order: MergedOrder, *, missing: int
) -> NDArray[np.uint8]:
    return order.joined(
        [
            np.full(part.segment.documents, missing, np.uint8) if column is None else column
            for column, part in zip(columns, sources, strict=True)
        ]
    )
