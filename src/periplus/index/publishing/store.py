"""IndexStore: builds generations from batches of documents and opens them for searching."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from periplus.errors import INDEX_PART, Corrupt, Missing, NotFound, NotReady, StorageBusy
from periplus.index.building.budget import DEFAULT_MEMORY, Budget, lanes
from periplus.index.building.sharding import checked_shards
from periplus.index.building.sources import DocumentSource
from periplus.index.format.files import storage_errors
from periplus.index.format.manifest import FILE_NAME, Manifest
from periplus.index.format.segment import Segment, read_header
from periplus.index.publishing.generations import Generations
from periplus.index.publishing.upkeep import Upkeep
from periplus.index.publishing.writing import WritingSession, few_looks_for_cycles
from periplus.index.reading.generation_files import GenerationFiles
from periplus.index.reading.opening import Opening
from periplus.index.reading.snapshot import Snapshot
from periplus.storage import SerialRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.publishing.generations import Hold
    from periplus.index.publishing.writing import AnchorSource, PriorSource
    from periplus.records import Document
    from periplus.storage import Catalog, Runner

    Batches = Iterable[tuple[int, Iterable[Document]]]

OPEN_ATTEMPTS = 3


class IndexStore:
    """The index of one collection; one writer at a time, any number of readers, in any number of processes."""

    def __init__(
        self,
        folder: Path,
        *,
        memory: int = DEFAULT_MEMORY,
        runner: Runner | None = None,
        shards: int = 1,
        catalog: Catalog | None = None,
    ) -> None:
        """``memory`` bounds what building and merging take, in all processes of ``runner`` together (``budget.py``).

        These build segments of stored batches; without a runner this process does, and what it builds is the same.
        ``shards`` is for the first generation; later ones keep its number, however they are built, until ``reshard``.
        With a ``catalog``, generations are those of all machines, and ``folder`` is this machine's copy.
        """
        self._shards = checked_shards(shards)
        self._generations = _generations(folder, catalog)
        self._memory = memory
        self._runner = runner or SerialRunner()
        self._segments: dict[str, Segment] = {}
        self._opening = threading.Lock()

    def manifest(self) -> Manifest | None:
        """The published generation; ``None`` when there is none yet."""
        return self._generations.current()

    def newest(self) -> int:
        """The number of the published generation; 0 when there is none yet. Cheap enough to be asked all the time."""
        return self._generations.published()

    def file_names(self) -> list[str]:
        """The files of the published generation, below the folder of the index; none when there is none yet."""
        manifest = self.manifest()
        return self._generations.names(manifest) if manifest is not None else []

    def check_format(self) -> None:
        """Raise ``Incompatible`` when the published generation is of another format, so that only a rebuild helps."""
        manifest = self.manifest()
        if manifest is not None:
            self._generations.fetch_headers(manifest)
        for entry in manifest.segments if manifest else ():
            read_header(self._generations.segments / entry.name)

    def open(self, *, partial: bool = False, shard: int | None = None) -> Snapshot:
        """The published generation, open for searching; ``NotReady`` when there is none yet.

        With ``shard``, only the documents of that one: its own statistics are then not those of the collection, and
        whoever asks gives those along. With ``partial``, damaged segments and priors are left out as long as a segment
        is left: ``Snapshot.losses`` says which files are damaged, and what answers lack.
        """
        for attempt in range(OPEN_ATTEMPTS):
            hold = self._generations.hold(shard)
            try:
                return self._snapshot(hold, shard, partial=partial)
            except NotFound:
                hold.release()
                if attempt + 1 == OPEN_ATTEMPTS or not self._is_replaced(hold):
                    raise
            except BaseException:
                hold.release()
                raise
        raise AssertionError("unreachable")

    def reopen(self, manifest: Manifest) -> Snapshot:
        """A generation that another process has open and keeps open for as long as this one uses it."""
        opening = Opening(manifest, self._generations.overlays, self._segment)
        return Snapshot(*opening.views(partial=False), _HeldElsewhere(), opening.losses)

    def open_files(self) -> GenerationFiles:
        """The published generation without its segments: all that is known of the collection as a whole.

        ``NotReady`` when there is none yet; ``UsageError`` for a collection in one shard, which has no such files.
        """
        hold = self._generations.hold(summary_only=True)
        try:
            return GenerationFiles(hold.manifest, self._generations.summaries, hold)
        except BaseException:
            hold.release()
            raise

    def held(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of many address keys have a document in the published generation."""
        found = np.zeros(len(keys), np.bool_)
        with self.open() as snapshot:
            for view in snapshot.views:
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
        with self._writing(anchors=anchors, prior=prior) as session:
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
        """Build the index from nothing, in a new norm epoch; the old generation serves until the new one is whole."""
        with self._writing(anchors=anchors, prior=prior, fresh=True) as session:
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

    def drop_replaced(self) -> None:
        """A further generation; its publication clears away the files of all those before, on every machine's behalf.

        Machines that have such a generation open keep their copies until they take up this one.
        """
        self.remove(())
        self._generations.drop_replaced()

    def merge(self) -> Manifest | None:
        """Do the merges that are due, beside a writer and readers; the generation that was published, if any.

        Only one process merges at a time; to a second one nothing is due.
        """
        if self.manifest() is None:
            return None
        with storage_errors("the index"):
            return self._upkeep().run()

    def reshard(self, shards: int, progress: Callable[[int, int], None] | None = None) -> Manifest:
        """All documents in another number of shards, as a new generation, beside a writer and readers.

        ``progress`` is told how many documents are done, of how many. ``StorageBusy`` while segments are merged.
        """
        checked_shards(shards)
        if self.manifest() is None:
            raise NotReady("no index is published yet; run periplus index")
        with storage_errors("the index"):
            published = self._upkeep().reshard(shards, progress)
        self._forget_all_but({entry.name for entry in published.segments})
        if published.shards != shards:
            raise StorageBusy("the index was built anew meanwhile; run periplus reshard again")
        return published

    def _upkeep(self) -> Upkeep:
        memory = Budget.of(self._memory, lanes(self._memory)).merging
        return Upkeep(self._generations, self._segment, memory, self._forget_all_but)

    def _kept_up(self, published: Manifest, *, merge: bool) -> Manifest:
        return (self.merge() if merge else None) or published

    @contextmanager
    def _writing(
        self,
        *,
        anchors: AnchorSource | None = None,
        prior: PriorSource | None = None,
        fresh: bool = False,
    ) -> Iterator[WritingSession]:
        """A session from the published generation on, after removing what a crashed writer may have left."""
        with storage_errors("the index"), self._generations.writing(fresh=fresh), few_looks_for_cycles():
            before = self._before(fresh=fresh)
            self._generations.sweep()
            session = WritingSession(
                self._generations,
                before,
                self._segment,
                anchors=anchors,
                prior=prior,
                memory=Budget.of(self._memory, lanes(self._memory)).building,
                fresh=fresh,
            )
            try:
                yield session
            finally:
                session.close()

    def _before(self, *, fresh: bool) -> Manifest:
        """What a session starts from. One that makes everything anew needs nothing of a damaged generation."""
        old = self._generations.whole() if fresh else self.manifest()
        if old is None:
            known = self._generations.recorded_shards()
            return Manifest(generation=self._generations.highest_number(), shards=known or self._shards)
        return old

    def _run(
        self,
        session: WritingSession,
        batches: Batches,
        progress: Callable[[int], None] | None,
        *,
        publish_early: bool,
    ) -> Manifest:
        begun = session.last_batch
        published = self.manifest() if publish_early else None
        due = ((number, documents) for number, documents in batches if number > begun)
        try:
            for taken in self._taken(session, due, progress):
                session.last_batch = max(session.last_batch, taken)
                if publish_early and session.has_flushed:  # what is done is kept, whatever happens to the rest
                    published = session.publish()
        except Exception:
            if publish_early and session.is_between_batches and session.has_news:
                session.publish()
            raise
        if published is None or session.has_news or published.last_batch != session.last_batch:
            published = session.publish()
        return published

    def _taken(
        self, session: WritingSession, batches: Batches, progress: Callable[[int], None] | None
    ) -> Iterator[int]:
        """Take batches in; the number up to which that is done, again and again."""
        for is_stored, some in groupby(batches, lambda one: isinstance(one[1], DocumentSource)):
            if is_stored:
                stored = [(number, source) for number, source in some if isinstance(source, DocumentSource)]
                yield from session.build(stored, self._runner, progress)
                continue
            for number, documents in some:
                session.take(documents, progress)
                yield number

    def verify(self) -> Manifest:
        """Compare every byte of the published generation that carries a checksum; raises what is wrong."""
        with self.open() as snapshot:
            for entry in snapshot.manifest.segments:
                self._segment(entry.name, entry.seal).verify()
            if snapshot.manifest.summary:
                self.open_files().close()  # which compares all of them
            highest, named = self._generations.highest_number(), self.newest()
            if highest > named:
                raise Corrupt(f"{FILE_NAME} is of generation {named}, but {highest} was published", INDEX_PART)
            return snapshot.manifest

    def verify_segment(self, name: str) -> None:
        """Compare all that carries a checksum in one segment; ``NotFound`` when the published generation lacks it."""
        manifest = self.manifest()
        seals = {entry.name: entry.seal for entry in manifest.segments} if manifest else {}
        if name not in seals:
            raise NotFound(f"{name} is not in the published generation")
        if not self._generations.is_here(name):
            raise NotFound(f"{name} is not on this machine")
        try:
            Segment(self._generations.segments / name, seals[name]).verify()
        except Missing:
            newer = self.manifest()
            if newer is None or all(entry.name != name for entry in newer.segments):
                raise NotFound(f"{name} was swept") from None
            raise

    def _snapshot(self, hold: Hold, shard: int | None, *, partial: bool) -> Snapshot:
        manifest = hold.manifest if shard is None else hold.manifest.of_shard(shard)
        self._forget_all_but({entry.name for entry in manifest.segments})
        opening = Opening(manifest, self._generations.overlays, self._segment)
        manifest, views = opening.views(partial=partial)
        if opening.losses.damage and self._is_replaced(hold):
            raise NotFound(f"generation {manifest.generation} was replaced; open the newer one")
        return Snapshot(manifest, views, hold, opening.losses)

    def _is_replaced(self, hold: Hold) -> bool:
        newer = self.manifest()
        return newer is not None and newer.generation != hold.manifest.generation

    def _segment(self, name: str, seal: str = "") -> Segment:
        """A segment is mapped and checked once, however many snapshots and writers share it."""
        with self._opening:
            segment = self._segments.get(name)
            if segment is None:
                segment = self._segments[name] = Segment(self._generations.segments / name, seal)
            return segment

    def _forget_all_but(self, names: set[str]) -> None:
        """Let go of segments of older generations; snapshots that still use them keep them."""
        with self._opening:
            self._segments = {name: segment for name, segment in self._segments.items() if name in names}


class _HeldElsewhere:
    """Nothing is held here, and so nothing is let go of."""

    def release(self) -> None:
        return


def _generations(folder: Path, catalog: Catalog | None) -> Generations:
    if catalog is None:
        return Generations(folder)
    from periplus.index.publishing.shared_generations import SharedGenerations

    return SharedGenerations(folder, catalog)
