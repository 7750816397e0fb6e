"""Writing: one update of the index, from batches of documents to a published generation.

A session starts from the published generation and ends with a new one. Nothing it writes counts before ``publish``
swaps the manifest; what a crash leaves behind is swept by the next writer. Merges are made elsewhere (``upkeep``) and
published by a session like any update.
"""

from __future__ import annotations

import gc
import secrets
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from periplus import addresses
from periplus.errors import NotFound
from periplus.index.building.budget import DEFAULT_MEMORY, Budget
from periplus.index.building.builder import SegmentBuilder, give_memory_back, load_kernels
from periplus.index.building.segment_tasks import (
    FUNCTION,
    SegmentTask,
    build_segments,
    cut,
    forget_builder,
    task_name,
    tell_epoch,
)
from periplus.index.format.fields import FIELDS
from periplus.index.format.files import storage_errors
from periplus.index.format.manifest import Manifest, SegmentEntry
from periplus.index.format.norms import Epoch
from periplus.index.format.overlays import quantized_prior, read_live, read_prior, write_live, write_prior
from periplus.index.format.postings import MAX_DOCUMENTS
from periplus.index.format.stored import page_key_of
from periplus.index.reading.generation_files import write_summary
from periplus.index.reading.opening import Opening
from periplus.storage import outcome_of, sync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.building.segment_tasks import BuiltPart, BuiltSegments
    from periplus.index.building.sources import DocumentSource
    from periplus.index.format.segment import Segment
    from periplus.index.publishing.generations import Generations
    from periplus.index.retrieval.view import SegmentView
    from periplus.records import Anchor, Document
    from periplus.storage import Depot, Runner, TaskOutcome

    AnchorSource = Callable[[int], Sequence[Anchor]]
    PriorSource = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
    SegmentOpener = Callable[..., Segment]  # by its name, and the seal that it must have

ROWS = 1 << 16  # documents that are looked at together
PUBLISHED_TOGETHER = 4  # tasks, when a generation may be published on the way
NEW_OBJECTS = 50_000  # between two looks for cycles: documents have none, and every look goes through many of them


@contextmanager
def few_looks_for_cycles() -> Iterator[None]:
    """Let the interpreter look for garbage in cycles less often while documents are taken."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], NEW_OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class SegmentPart:
    """A segment as the session sees it: live documents and prior may change, the files do not."""

    def __init__(self, segment: Segment, shard: int, entry: SegmentEntry | None = None) -> None:
        self.segment = segment
        self.shard = shard
        self.entry = entry  # as published; None for a new segment
        self.alive: NDArray[np.uint8] | None = None
        self.prior: NDArray[np.uint8] | None = None
        self.is_alive_new = False
        self.is_prior_new = False

    @property
    def live(self) -> int:
        return self.segment.documents if self.alive is None else int(self.alive.sum())

    def delete(self, keys: NDArray[np.int64]) -> None:
        found = self.segment.columns.find(keys)
        found = found[found >= 0]
        alive = np.ones(self.segment.documents, np.uint8) if self.alive is None else self.alive
        if alive[found].any():
            self.alive = alive.copy()
            self.alive[found] = 0
            self.is_alive_new = True

    def field_totals(self) -> NDArray[np.float64]:
        """Words by field, over the live documents."""
        lengths, totals = self.segment.columns.lengths, np.zeros(len(FIELDS))
        for first in range(0, len(lengths), ROWS):
            some = lengths[first : first + ROWS]
            live = some if self.alive is None else some[self.alive[first : first + ROWS] > 0]
            totals += live.sum(axis=0, dtype=np.float64)
        return totals

    def computed_prior(self, prior: PriorSource) -> NDArray[np.uint8]:
        columns, found = self.segment.columns, np.empty(self.segment.documents, np.uint8)
        hosts = np.array([addresses.host_key(host) for host in columns.read_names("host")], np.int64)
        pages, owners = columns.array("page_key"), columns.array("host")
        for first in range(0, len(found), ROWS):
            some = slice(first, first + ROWS)
            found[some] = quantized_prior(prior(pages[some], hosts[owners[some]]))
        return found


class WritingSession:
    def __init__(
        self,
        generations: Generations,
        old: Manifest,
        open_segment: SegmentOpener,
        *,
        anchors: AnchorSource | None = None,
        prior: PriorSource | None = None,
        memory: int = Budget.of(DEFAULT_MEMORY, 1).building,
        fresh: bool = False,
    ) -> None:
        """With ``fresh``, nothing of ``old`` is kept but its numbers: of the generation, the epoch and shards."""
        self._generations = generations
        self._old = old
        self._is_fresh = fresh
        self.shards = old.shards
        self._open_segment = open_segment
        self._anchors = anchors
        self._prior = prior
        self._memory = memory
        self._builder = SegmentBuilder()
        self._touched: set[int] = set()  # keys of documents in the builder, or refused since the last flush
        self.epoch = Epoch(number=old.epoch.number, documents=0) if fresh else old.epoch
        self.parts = [] if fresh else [self.opened(entry) for entry in old.segments]
        self.last_batch = 0 if fresh else old.last_batch
        self.has_flushed = False  # so much since the last publication that the next is worth the while
        self.has_news = False  # anything since then
        self._tasks_taken = 0
        self.taken = 0  # documents so far

    def close(self) -> None:
        self._builder = SegmentBuilder()  # what it holds can go back only when nobody has it
        forget_builder()
        give_memory_back()

    def take(self, documents: Iterable[Document], progress: Callable[[int], None] | None = None) -> None:
        """Take the rows of a batch; segments are written whenever the memory is used up."""
        for document in documents:
            self.add(document)
            self.taken += 1
            if progress:
                progress(self.taken)

    @property
    def is_between_batches(self) -> bool:
        """Whether it holds whole batches only: no rows wait to be written."""
        return not self._touched

    def add(self, document: Document) -> None:
        """Take one row of a batch: a document to be found, or one that replaces an older version by nothing."""
        self.has_news = True
        self._touched.add(document.key)
        if document.refusal:
            self._builder.discard(document.key)
            return
        self._builder.add(document, self._anchors(page_key_of(document)) if self._anchors else ())
        if self._builder.memory >= self._memory or len(self._builder) >= MAX_DOCUMENTS:
            self.flush()

    def holds(self, key: int) -> bool:
        """Whether a live document has this key."""
        wanted = np.array([key], np.int64)
        for part in self.parts:
            place = int(part.segment.columns.find(wanted)[0])
            if place >= 0 and (part.alive is None or part.alive[place]):
                return True
        return False

    def delete(self, keys: Iterable[int]) -> None:
        self._touched.update(keys)
        self.has_news = True

    def flush(self) -> None:
        """Delete older versions and write what was collected as a segment."""
        self._delete(np.sort(np.fromiter(self._touched, np.int64, len(self._touched))))
        if len(self._builder):
            self._begin_epoch(len(self._builder), self._builder.field_totals)
            self._append(self._builder.write(self._new_folders(), self.epoch))
            self._builder = self._builder.successor(self._memory)
        self._touched = set()
        self.has_flushed = True

    def set_prior(self, prior: PriorSource | None) -> None:
        """A new prior for all documents; ``None`` drops it."""
        for part in self.parts:
            part.prior = part.computed_prior(prior) if prior else None
            part.is_prior_new = True

    def publish(self) -> Manifest:
        """Make everything so far the new generation."""
        self.flush()
        self.parts = [part for part in self.parts if part.live]
        generation = self._old.generation + 1
        entries = tuple(self._written_entry(part, generation) for part in self.parts)
        sync(self._generations.overlays)
        manifest = self._summarized(
            Manifest(
                generation=generation,
                last_batch=self.last_batch,
                segments=entries,
                documents=sum(entry.live for entry in entries),
                created=time.time(),
                epoch=self.epoch,
                statistics=self._statistics(),
                shards=self.shards,
            )
        )
        with storage_errors("the manifest"):
            self._generations.publish(manifest)
        self._go_on_from(manifest)
        self._generations.sweep()
        self.has_flushed = self.has_news = False
        return manifest

    def _summarized(self, manifest: Manifest) -> Manifest:
        """With the files that say what the whole is, where it is in several shards."""
        if manifest.shards == 1:
            return manifest
        folder = self._generations.summaries
        folder.mkdir(exist_ok=True)
        summary = write_summary(folder, manifest, self._views, None if self._is_fresh else self._old)
        sync(folder)
        return structs.replace(manifest, summary=summary)

    def _views(self, manifest: Manifest) -> list[SegmentView]:
        return Opening(manifest, self._generations.overlays, self._open_segment).views(partial=False)[1]

    def build(
        self, batches: Sequence[tuple[int, DocumentSource]], runner: Runner, progress: Callable[[int], None] | None
    ) -> Iterator[int]:
        """Take stored batches by tasks; comes back with the number up to which they are taken, task by task.

        What fails is raised when all others are done, with everything before it taken.
        """
        tasks = self._tasks(batches, None if runner.is_local else self._generations.depot)
        self._clear_built({task.digest for task in tasks})
        if len(tasks) > 1 and runner.is_local and runner.workers > 1:
            load_kernels()  # before this process is copied
        done: dict[int, BuiltSegments] = {}
        following, errors = 0, dict[int, Exception]()
        for outcome in self._outcomes(tasks, runner):
            if outcome.error is not None:
                errors[outcome.place] = outcome.error
                continue
            done[outcome.place] = outcome.result
            self.taken += outcome.result.rows
            if progress:
                progress(self.taken)
            while following in done:
                self._take_built(done.pop(following))
                following += 1
                yield tasks[following - 1].last
        if errors:
            raise errors[min(errors)]
        self._clear_built(set())
        self._clear_objects(tasks)

    def _tasks(self, batches: Sequence[tuple[int, DocumentSource]], depot: Depot | None) -> list[SegmentTask]:
        folder = self._generations.built_folder
        epochs = folder / f"epochs-{secrets.token_hex(8)}"
        given = (self._anchors, folder, self.shards, self._memory, self.epoch, epochs, depot)
        known = f"{getattr(self._anchors, 'name', '')} {self.shards} {self._memory} {self.epoch}"
        tasks: list[SegmentTask] = []
        for part in cut([source.size for _, source in batches], self._memory):
            some = batches[part.start : part.stop]
            name = task_name(some, known)
            tasks.append(SegmentTask(name, len(tasks), some[-1][0], tuple(source for _, source in some), *given))
            known = known if self.epoch.documents else f"{known} {name}"  # those before it freeze the epoch
        return tasks

    def _outcomes(self, tasks: Sequence[SegmentTask], runner: Runner) -> Iterator[TaskOutcome]:
        """Outcomes of tasks; one that was done earlier and whose segments are gone is done again.

        What only one can do at a time is done here where the others are on other machines: the last of all, and those
        before there is an epoch, of which tasks that do not share a folder cannot tell each other.
        """
        epoch, alone = self.epoch, 0
        while not runner.is_local and alone < len(tasks) and (not epoch.documents or len(tasks) == alone + 1):
            outcome = outcome_of(build_segments, alone, tasks[alone]._replace(epoch=epoch, depot=None))
            yield outcome
            if outcome.error is not None:
                return  # nobody knows the epoch of those behind it
            epoch, alone = outcome.result.epoch, alone + 1
        left = [task._replace(epoch=epoch) for task in tasks[alone:]]
        for outcome in runner.run(FUNCTION, left):
            task = left[outcome.place]
            if outcome.error is None and not self._is_whole(outcome.result):
                outcome = outcome_of(build_segments, outcome.place, task)  # noqa: PLW2901
            if outcome.error is None and not task.epoch.documents:
                tell_epoch(task, outcome.result.epoch)
            yield outcome._replace(place=outcome.place + alone)

    def _is_whole(self, built: BuiltSegments) -> bool:
        """Whether all segments of a task are here; those from other machines are pulled."""
        folder, depot = self._generations.built_folder, self._generations.depot
        if depot is not None:
            try:
                for stored in (stored for part in built.parts for stored in part.files):
                    depot.pull(stored)
            except NotFound:
                return False
        return all((folder / name).is_dir() for part in built.parts for name in part.names if name)

    def _take_built(self, built: BuiltSegments) -> None:
        """Delete older versions, and move the segments of a task to where they count."""
        self.epoch = built.epoch if not self.epoch.documents else self.epoch
        for part in built.parts:
            self._delete(np.frombuffer(part.keys, np.int64))
            folders = self._new_folders()
            for name, folder in zip(part.names, folders, strict=False):
                if name:
                    (self._generations.built_folder / name).rename(folder)
            self._append([folder.name if name else "" for name, folder in zip(part.names, folders, strict=False)])
            self._forget_objects(part)
        sync(self._generations.segments)
        self._tasks_taken += 1
        self.has_flushed = self.has_flushed or self._tasks_taken % PUBLISHED_TOGETHER == 0
        self.has_news = True

    def _forget_objects(self, part: BuiltPart) -> None:
        """What came from other machines is here now, and is uploaded with the generation that it is published in."""
        depot = self._generations.depot
        if depot is not None:
            for stored in part.files:
                depot.objects.remove(stored.name)

    def _clear_built(self, kept: set[str]) -> None:
        """Remove what tasks left that nobody goes on from."""
        folder = self._generations.built_folder
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name.partition("-")[0] not in kept:
                shutil.rmtree(path, ignore_errors=True)

    def _clear_objects(self, tasks: Sequence[SegmentTask]) -> None:
        """Remove what tasks uploaded that died before they could say so."""
        depot = next((task.depot for task in tasks if task.depot is not None), None)
        if depot is not None:
            folder = self._generations.built_folder.resolve().relative_to(depot.files.root)
            for name in depot.objects.names(f"{folder.as_posix()}/"):
                depot.objects.remove(name)

    def _append(self, names: Sequence[str]) -> None:
        """Segments that were just written, one a shard. They were read once, to be checked, and may never be again."""
        new = [SegmentPart(self._open_segment(name), shard) for shard, name in enumerate(names) if name]
        for part in new:
            part.segment.rest()
        self.parts += new

    def _delete(self, keys: NDArray[np.int64]) -> None:
        for part in self.parts:
            part.delete(keys)

    def _begin_epoch(self, documents: int, totals: Callable[[], NDArray[np.float64]]) -> None:
        """Freeze the average lengths of the first documents; later ones are a matter of upkeep."""
        if not self.epoch.documents and documents:
            averages = tuple((totals() / documents).tolist())
            self.epoch = Epoch(number=self.epoch.number + 1, documents=documents, averages=averages)

    # Opening and writing

    def opened(self, entry: SegmentEntry) -> SegmentPart:
        part = SegmentPart(self._open_segment(entry.name, entry.seal), entry.shard, entry)
        overlays = self._generations.overlays
        if entry.live_file:
            part.alive = read_live(overlays / entry.live_file, part.segment, entry.live_seal).alive
        if entry.prior_file:
            part.prior = read_prior(overlays / entry.prior_file, part.segment, entry.prior_seal)
        return part

    def new_folder(self) -> Path:
        """A name that no other segment has had, so that an open segment is never mistaken for another."""
        return self._generations.segments / f"{self._old.generation + 1:08d}-{secrets.token_hex(4)}"

    def _new_folders(self) -> list[Path]:
        """One for each shard."""
        return [self.new_folder() for _ in range(self.shards)]

    def _written_entry(self, part: SegmentPart, generation: int) -> SegmentEntry:
        """The part as it stands in the manifest; overlays that changed are written."""
        name, overlays = part.segment.name, self._generations.overlays
        live_file, live_seal = (part.entry.live_file, part.entry.live_seal) if part.entry else ("", 0)
        prior_file, prior_seal = (part.entry.prior_file, part.entry.prior_seal) if part.entry else ("", 0)
        if self._prior and part.prior is None and not part.is_prior_new:
            part.prior = part.computed_prior(self._prior)
            part.is_prior_new = True
        if part.is_alive_new and part.alive is not None:
            live_file = f"{name}.{generation}.live"
            live_seal = write_live(overlays / live_file, part.segment, part.alive)
        if part.is_prior_new:
            prior_file = f"{name}.{generation}.prior" if part.prior is not None else ""
            prior_seal = write_prior(overlays / prior_file, part.prior) if part.prior is not None else 0
        sizes, files = (part.segment.documents, part.live), (live_file, prior_file)
        return SegmentEntry(name, *sizes, *files, part.segment.seal, live_seal, prior_seal, part.shard)

    def _go_on_from(self, manifest: Manifest) -> None:
        """The session may add more after publishing."""
        self._old, self._is_fresh = manifest, False
        for part, entry in zip(self.parts, manifest.segments, strict=True):
            part.entry = entry
            part.is_alive_new = part.is_prior_new = False

    def _statistics(self) -> dict[str, float]:
        live = sum(part.live for part in self.parts)
        totals = sum((part.field_totals() for part in self.parts), np.zeros(len(FIELDS)))
        statistics = {
            f"average_{field}": float(total) / max(1, live) for field, total in zip(FIELDS, totals, strict=True)
        }
        statistics["postings"] = float(sum(part.segment.header.postings for part in self.parts))
        statistics["bytes"] = float(sum(sum(part.segment.header.files.values()) for part in self.parts))
        return statistics
