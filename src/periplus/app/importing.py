"""Import of what others made: archives, ``.jsonl``, Parquet, folders of HTML files (``sources``).

Everything becomes rows of the document log, as if it had been crawled; the index then takes it in like any batch. A
damaged record ends its file with an error that names it; what came before is kept. Work is dealt out to processes
(``intake``): items that were read here, or stretches of a packed archive, which they read themselves. Batches are
published here, in the order of the files.
"""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import msgspec

from periplus import archive
from periplus.app.intake import Intake, Parsed, chunks
from periplus.app.sources import items_of
from periplus.archive import Stretch
from periplus.documents import BatchLog, parse
from periplus.errors import ParseError, StorageError
from periplus.index.processes import Helper, answered
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from periplus.app.collection import Collection
    from periplus.app.intake import Chunk, Job

AHEAD = 2  # jobs that a process may have
LONGEST = 4_000_000  # bytes of a stretch, packed
SHORTEST = 250_000
SHARES = 3  # of what is left for each process: stretches become shorter, so that all end together
LOADING = (
    b"<html lang=en><title>Tides</title><link rel=canonical href=/>"
    b"<p>High water at noon, low water six hours later; <a href=/b>more</a>."
)


class ImportReport(msgspec.Struct, frozen=True):
    documents: int
    refused: int  # stored with a refusal, or without a document in them
    seconds: float


def import_paths(
    collection: Collection, paths: list[Path], base_url: str = "", progress: Callable[[int], None] | None = None
) -> ImportReport:
    """Read all of ``paths`` into the collection; unknown kinds are refused before anything is read."""
    started = time.perf_counter()
    for path in paths:
        items_of(path, base_url)
    workers = collection.create().settings.index.workers or len(os.sched_getaffinity(0))
    work = _Work(paths, base_url, workers)
    with _Intakes(collection, workers if work.is_large else 1) as intakes:
        log = BatchLog(collection.files, collection.database)
        leader = _Leader(log, work, intakes, progress)
        leader.run()
    return ImportReport(leader.found, leader.refused, time.perf_counter() - started)


class _Work:
    """The jobs of an import, in order. ``read_on`` gives up all that were not settled, and begins again there."""

    def __init__(self, paths: Sequence[Path], base_url: str, workers: int) -> None:
        self._paths = list(paths)
        self._base_url = base_url
        self._workers = workers
        self._first: Chunk | Stretch | None = None
        self.place = 0  # of the path that the last job begins with
        self._jobs = self._all(0, 0)
        self._first = self.next()

    @property
    def is_large(self) -> bool:
        """Whether there is enough for several processes."""
        return isinstance(self._first, Stretch) or (self._first is not None and self._first.is_full)

    def next(self) -> Chunk | Stretch | None:
        """The next job; none at the end."""
        first, self._first = self._first, None
        return first if first is not None else next(self._jobs, None)

    def read_on(self, place: int, start: int) -> None:
        """Begin again at an offset in a path, and do not cut it: it was cut wrongly, or is damaged."""
        self._jobs = self._all(place, start, is_whole=True)

    def _all(self, first: int, start: int, *, is_whole: bool = False) -> Iterator[Chunk | Stretch]:
        """Jobs from a path on, of which ``start`` bytes are done."""
        whole: list[tuple[Path, int]] = []  # read here, and joined to batches
        for place, path in enumerate(self._paths[first:], first):
            if (is_whole and place == first) or not self._is_cut(path):
                whole.append((path, start if place == first else 0))
                continue
            yield from self._chunks(whole)
            whole, end, self.place = [], 0, place
            for stretch in archive.stretches(path, self._length_at):
                if stretch is None:
                    whole.append((path, end))
                    break
                end = stretch.end
                yield stretch
        yield from self._chunks(whole)

    def _chunks(self, whole: list[tuple[Path, int]]) -> Iterator[Chunk]:
        yield from chunks(item for path, start in whole for item in items_of(path, self._base_url, start))

    def _is_cut(self, path: Path) -> bool:
        return (
            self._workers > 1
            and path.is_file()
            and path.name.lower().endswith(archive.SUFFIXES)
            and path.stat().st_size >= 2 * SHORTEST
            and archive.can_be_cut(path)
        )

    def _length_at(self, left: int) -> int:
        return min(LONGEST, max(SHORTEST, left // (SHARES * self._workers)))


class _Task(msgspec.Struct):
    """A job that was dealt out, and what became of it."""

    place: int  # of its path
    stretch: Stretch | None  # where it was read by another process
    failure: Exception | None  # that ends all work behind it
    parsed: Parsed | None = None


class _Leader:
    """Deals jobs out, and publishes what comes of them in their order."""

    def __init__(self, log: BatchLog, work: _Work, intakes: _Intakes, progress: Callable[[int], None] | None) -> None:
        self._log = log
        self._work = work
        self._intakes = intakes
        self._progress = progress
        self._tasks: deque[_Task] = deque()  # in the order of the files
        self._is_dealt = False  # all of it
        self.found = 0
        self.refused = 0

    def run(self) -> None:
        try:
            while self._deal():
                self._intakes.hear()
                while self._tasks and (parsed := self._tasks[0].parsed) is not None:
                    self._settle(self._tasks[0], parsed)
        finally:
            self._forget()

    def _deal(self) -> bool:
        """Give every process that may have another job the next one; False when nothing is left to wait for."""
        while not self._is_dealt and self._intakes.has_room:
            job = self._work.next()
            if job is None:
                self._is_dealt = True
            elif isinstance(job, Stretch):
                self._give(_Task(self._work.place, job, None), job)
            else:
                self._is_dealt = job.failure is not None
                self._give(_Task(self._work.place, None, job.failure), job.items)
        return bool(self._tasks)

    def _give(self, task: _Task, job: Job) -> None:
        self._tasks.append(task)
        self._intakes.give(task, job)

    def _settle(self, task: _Task, parsed: Parsed) -> None:
        if parsed.failure is not None and (parsed.is_fatal or task.stretch is None):
            raise parsed.failure
        if parsed.failure is not None and task.stretch is not None:
            self._forget()
            self._work.read_on(task.place, task.stretch.start)
            self._is_dealt = False
            return
        for batch in parsed.batches:
            self._log.publish(batch)
        self._tasks.popleft()
        self.found += parsed.found
        self.refused += parsed.refused
        if self._progress:
            self._progress(self.found + self.refused)
        if task.failure is not None:
            raise task.failure

    def _forget(self) -> None:
        """Remove what was parsed and is not to be published."""
        self._intakes.drain()
        for task in self._tasks:
            for batch in task.parsed.batches if task.parsed else ():
                self._log.discard(batch)
        self._tasks.clear()


class _Intakes:
    """The processes that parse: some helpers, or with ``count`` 1 this process alone."""

    def __init__(self, collection: Collection, count: int) -> None:
        self._files = collection.files
        self._helpers: list[Helper] = []
        self._given: list[deque[_Task]] = []
        self._is_busy = False
        if count > 1:
            _load()
        for _ in range(count if count > 1 else 0):
            self._helpers.append(Helper("periplus.app.intake:take_jobs", may_copy=True))
            self._helpers[-1].send(str(collection.folder))
            self._given.append(deque())

    @property
    def has_room(self) -> bool:
        return any(len(given) < AHEAD for given in self._given) if self._helpers else not self._is_busy

    def give(self, task: _Task, job: Job) -> None:
        if not self._helpers:
            intake = Intake(self._files, lambda parsed: setattr(task, "parsed", parsed))
            intake.take(job)
            intake.close()
            self._is_busy = True
            return
        place = min(range(len(self._given)), key=lambda place: len(self._given[place]))
        self._given[place].append(task)
        self._helpers[place].send(job)

    def hear(self) -> None:
        """Wait until a job is done."""
        self._is_busy = False
        if not any(self._given):
            return
        for place in answered(self._helpers):
            self._given[place].popleft().parsed = self._helpers[place].receive()

    def drain(self) -> None:
        """Wait for all that was given; a helper that has ended answers no more."""
        with suppress(StorageError):
            while any(self._given):
                self.hear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for helper in self._helpers:
            helper.close()


def _load() -> None:
    """What parsing needs, so that copies of this process need not load it again."""
    from periplus.app.quickening import quicken  # loads LLVM, which is for many pages only

    quicken()
    with suppress(ParseError):
        parse(Page("http://harbour.example/", LOADING, "text/html"))
