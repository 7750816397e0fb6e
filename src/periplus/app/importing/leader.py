"""Leading an import: jobs are dealt out to processes (``intake``), and what comes of them is published in order.

A process reads its portion by itself where it can: a stretch of a packed archive, files of a folder. Lines and rows are
read for the leader, which costs a twentieth of parsing them, and parsed there. Neither reads what strangers wrote
itself: each has a confined process that does (``reading_apart``).
"""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import msgspec

from periplus.app.importing import reading_apart
from periplus.app.importing.intake import Intake, Job, Parsed
from periplus.app.importing.report import COMPARED, ImportReport, Tally, report_of
from periplus.app.importing.sources import check
from periplus.app.importing.work import Work
from periplus.documents import BatchLog
from periplus.errors import StorageError
from periplus.storage.helper_processes import HelperProcess, answered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from periplus.app.collection import Collection

AHEAD = 2  # jobs that a process may have
NAMED, NAMED_LENGTH = 3, 300  # paths that are kept with what came of them, and their characters
_KEY = 8  # bytes


def import_paths(
    collection: Collection,
    paths: list[Path],
    base_url: str = "",
    progress: Callable[[int], None] | None = None,
    *,
    strict: bool = False,
) -> ImportReport:
    """Read all of ``paths`` into the collection; unknown kinds are refused before anything is read.

    What cannot be read is left out and reported. With ``strict`` the first such record raises ``Corrupt``; what came
    before it is kept.
    """
    started = time.perf_counter()
    for path in paths:
        check(path, base_url)
        if path.is_file():
            reading_apart.check(str(path))
    workers = collection.create().in_force().values.index.workers or len(os.sched_getaffinity(0))
    work = Work(paths, base_url, workers, is_strict=strict)
    with _Intakes(collection, workers if work.is_large else 1) as intakes:
        log = BatchLog(collection.files, collection.database, collection.depot)
        leader = _Leader(log, work, intakes, progress, _named(paths))
        leader.run()
    return report_of(leader.tally, bytes(leader.keys), time.perf_counter() - started)


def _named(paths: list[Path]) -> str:
    """What an import reads, for the inspector: without folders, which are nobody else's business."""
    names = ", ".join(path.resolve().name for path in paths[:NAMED])[:NAMED_LENGTH]
    return f"{names} and {len(paths) - NAMED} more" if len(paths) > NAMED else names


class _Task(msgspec.Struct):
    """A job that was dealt out, and what became of it."""

    job: Job
    parsed: Parsed | None = None


class _Leader:
    """Deals jobs out, and publishes what comes of them in their order."""

    def __init__(
        self, log: BatchLog, work: Work, intakes: _Intakes, progress: Callable[[int], None] | None, source: str
    ) -> None:
        self._log = log
        self._source = source
        self._work = work
        self._intakes = intakes
        self._progress = progress
        self._tasks: deque[_Task] = deque()  # in the order of the files
        self._is_dealt = False  # all of it
        self.tally = Tally()
        self.keys = bytearray()  # of the documents

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
            else:
                self._tasks.append(_Task(job))
                self._intakes.give(self._tasks[-1])
        return bool(self._tasks)

    def _settle(self, task: _Task, parsed: Parsed) -> None:
        if parsed.is_fatal and parsed.failure is not None:
            raise parsed.failure
        if parsed.is_cut_wrongly:
            self._forget()
            self._work.cut_again(task.job)
            self._is_dealt = False
            return
        for batch in parsed.batches:
            self._log.publish(batch, source=self._source)
        self._tasks.popleft()
        self.tally.add(parsed.tally)
        if len(self.keys) < COMPARED * _KEY:
            self.keys += parsed.tally.keys
        if self._progress:
            self._progress(self.tally.records)
        if parsed.failure is not None:
            raise parsed.failure

    def _forget(self) -> None:
        """Remove what was parsed and is not to be published."""
        self._intakes.drain()
        for task in self._tasks:
            for batch in task.parsed.batches if task.parsed else ():
                self._log.discard(batch)
        self._tasks.clear()


class _Intakes:
    """The processes that take in: some helpers, or with ``count`` 1 this process alone."""

    def __init__(self, collection: Collection, count: int) -> None:
        self._files, self._depot = collection.files, collection.depot
        self._helpers: list[HelperProcess] = []
        self._given: list[deque[_Task]] = []
        self._is_busy = False
        for _ in range(count if count > 1 else 0):
            self._helpers.append(HelperProcess("periplus.app.importing.intake:take_jobs", may_copy=True))
            self._helpers[-1].send(str(collection.folder), self._depot)
            self._given.append(deque())

    @property
    def has_room(self) -> bool:
        return any(len(given) < AHEAD for given in self._given) if self._helpers else not self._is_busy

    def give(self, task: _Task) -> None:
        if not self._helpers:
            intake = Intake(self._files, lambda parsed: setattr(task, "parsed", parsed), self._depot)
            intake.take(task.job)
            intake.close()
            self._is_busy = True
            return
        place = min(range(len(self._given)), key=lambda place: len(self._given[place]))
        self._given[place].append(task)
        self._helpers[place].send(task.job)

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

    def __exit__(self, *_: object) -> None:
        for helper in self._helpers:
            helper.close()
