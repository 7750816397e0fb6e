"""IndexStore: builds generations from batches of documents and opens them for searching."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from periplus.errors import NotFound
from periplus.index.files import storage_errors
from periplus.index.generations import Generations
from periplus.index.manifest import Manifest
from periplus.index.overlays import read_live, read_prior
from periplus.index.segment import Segment
from periplus.index.snapshot import Snapshot
from periplus.index.upkeep import Upkeep
from periplus.index.view import SegmentView
from periplus.index.writing import DEFAULT_MEMORY, WritingSession, few_looks_for_cycles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.generations import Hold
    from periplus.index.manifest import SegmentEntry
    from periplus.index.writing import AnchorSource, PriorSource
    from periplus.records import Document

    Batches = Iterable[tuple[int, Iterable[Document]]]

OPEN_ATTEMPTS = 3


class IndexStore:
    """The index of one collection; one writer at a time, any number of readers, in any number of processes."""

    def __init__(self, folder: Path, *, memory: int = DEFAULT_MEMORY, workers: int = 1) -> None:
        """``memory`` bounds what is collected before it is written, in all ``workers`` processes together."""
        self._generations = Generations(folder)
        self._memory = memory
        self._workers = workers
        self._segments: dict[str, Segment] = {}
        self._opening = threading.Lock()

    def manifest(self) -> Manifest | None:
        """The published generation; ``None`` when there is none yet."""
        return self._generations.current()

    def open(self) -> Snapshot:
        """The published generation, open for searching; ``NotReady`` when there is none yet."""
        for attempt in range(OPEN_ATTEMPTS):
            hold = self._generations.hold()
            try:
                return self._snapshot(hold)
            except NotFound:
                hold.release()
                newer = self.manifest()
                if attempt + 1 == OPEN_ATTEMPTS or newer is None or newer.generation == hold.manifest.generation:
                    raise
            except BaseException:
                hold.release()
                raise
        raise AssertionError("unreachable")

    def held(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of many address keys have a document in the published generation."""
        found = np.zeros(len(keys), np.bool_)
        with self.open() as snapshot:
            for view in snapshot._views:  # noqa: SLF001 - of the same room
                local = view.segment.columns.find(keys)
                found |= (local >= 0) & (view.live_mask()[local] > 0)
        return found

    def update(
        self,
        batches: Batches,
        *,
        anchors: AnchorSource | None = None,
        prior: PriorSource | None = None,
        progress: Callable[[int], None] | None = None,
        merge: bool = True,
    ) -> Manifest:
        """Bring the index up to the last of ``batches``; those it already holds are passed over.

        ``anchors`` gives the anchor texts of a page key, ``prior`` a value from 0 to 1 for arrays of page and host
        keys; ``progress`` is told how many rows were taken. What is new is published before anything is merged.
        """
        with self._writing(anchors=anchors, prior=prior, workers=self._workers) as session:
            published = self._run(session, batches, progress, publish_early=True)
        return self._kept_up(published, merge=merge)

    def rebuild(
        self,
        batches: Batches,
        *,
        anchors: AnchorSource | None = None,
        prior: PriorSource | None = None,
        progress: Callable[[int], None] | None = None,
        merge: bool = True,
    ) -> Manifest:
        """The same from nothing, in a new norm epoch; the old generation serves until the new one is whole."""
        with self._writing(anchors=anchors, prior=prior, workers=self._workers, fresh=True) as session:
            published = self._run(session, batches, progress, publish_early=False)
        return self._kept_up(published, merge=merge)

    def replace(
        self,
        documents: Iterable[Document],
        *,
        anchors: AnchorSource | None = None,
        prior: PriorSource | None = None,
        progress: Callable[[int], None] | None = None,
        merge: bool = True,
    ) -> Manifest:
        """Take the newest version of some documents again, because their anchor texts changed; no batch is passed.

        Only documents that the index holds are replaced, so that nothing removed since comes back.
        """
        with self._writing(anchors=anchors, prior=prior) as session:
            for taken, document in enumerate(documents, 1):
                if session.holds(document.key):
                    session.add(document)
                if progress:
                    progress(taken)
            published = session.publish()
        return self._kept_up(published, merge=merge)

    def refresh_prior(self, prior: PriorSource | None) -> Manifest:
        """A new generation with new priors and the same segments."""
        with self._writing() as session:
            session.set_prior(prior)
            return session.publish()

    def remove(self, keys: Iterable[int]) -> Manifest:
        """A new generation without the documents of these address keys."""
        with self._writing() as session:
            session.delete(keys)
            published = session.publish()
        return self._kept_up(published, merge=True)

    def merge(self) -> Manifest | None:
        """Do the merges that are due, beside a writer and readers; the generation that was published, if any.

        Only one process merges at a time; to a second one nothing is due.
        """
        if self.manifest() is None:
            return None
        with storage_errors("the index"):
            return Upkeep(self._generations, self._segment).run()

    def _kept_up(self, published: Manifest, *, merge: bool) -> Manifest:
        return (self.merge() if merge else None) or published

    @contextmanager
    def _writing(
        self,
        *,
        anchors: AnchorSource | None = None,
        prior: PriorSource | None = None,
        workers: int = 1,
        fresh: bool = False,
    ) -> Iterator[WritingSession]:
        """A session from the published generation on, after removing what a crashed writer may have left."""
        with storage_errors("the index"), self._generations.writing(), few_looks_for_cycles():
            self._generations.sweep()
            session = WritingSession(
                self._generations,
                self.manifest() or Manifest(),
                self._segment,
                anchors=anchors,
                prior=prior,
                memory=self._memory,
                workers=workers,
                fresh=fresh,
            )
            try:
                yield session
            finally:
                session.close()

    def _run(
        self,
        session: WritingSession,
        batches: Batches,
        progress: Callable[[int], None] | None,
        *,
        publish_early: bool,
    ) -> Manifest:
        begun = session.last_batch
        published = self.manifest()
        for number, documents in batches:
            if number <= begun:
                continue
            session.take(documents, progress)
            session.last_batch = max(session.last_batch, number)
            if session.has_flushed and publish_early:  # what is done is kept, whatever happens to the rest
                published = session.publish()
        is_current = published is not None and published.last_batch == session.last_batch and publish_early
        return published if is_current and published is not None and not session.has_flushed else session.publish()

    def _snapshot(self, hold: Hold) -> Snapshot:
        manifest = hold.manifest
        self._forget_all_but({entry.name for entry in manifest.segments})
        views = [self._view(entry, place, manifest) for place, entry in enumerate(manifest.segments)]
        return Snapshot(manifest, views, hold)

    def _view(self, entry: SegmentEntry, ordinal: int, manifest: Manifest) -> SegmentView:
        segment = self._segment(entry.name)
        overlays = self._generations.overlays
        live = read_live(overlays / entry.live_file, segment) if entry.live_file else None
        prior = read_prior(overlays / entry.prior_file, segment) if entry.prior_file else None
        return SegmentView(segment, ordinal, manifest.epoch, live, prior)

    def _segment(self, name: str) -> Segment:
        """A segment is mapped and checked once, however many snapshots and writers share it."""
        with self._opening:
            segment = self._segments.get(name)
            if segment is None:
                segment = self._segments[name] = Segment(self._generations.segments / name)
            return segment

    def _forget_all_but(self, names: set[str]) -> None:
        """Let go of segments of older generations; snapshots that still use them keep them."""
        with self._opening:
            self._segments = {name: segment for name, segment in self._segments.items() if name in names}
