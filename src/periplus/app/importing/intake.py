"""Intake: what readers make of records becomes batches that are whole on disk; whoever leads publishes them in order.

This is the part of an import that may run in another process: it asks no database. It reads no file that is imported
either: that is for a confined process of its own (``reading_apart.py``).
"""

from __future__ import annotations

from array import array
from contextlib import suppress
from queue import Queue, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from periplus.app.importing import reading_apart
from periplus.app.importing.items import LeftOut, Outcome
from periplus.app.importing.report import ImportProblem, Tally
from periplus.app.importing.sources import Portion
from periplus.documents.batches import BatchFiles, BatchTables, StagedBatch, tables_of
from periplus.errors import Corrupt, OverBudget, PeriplusError, Truncated
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

    from periplus.records import Document
    from periplus.storage import Depot

# Reasons that end a strict import.
STOPPING = frozenset({"bad-record", "damaged", "too-large", "file-unreadable", "read-bound"})
BATCH = 1_000
BATCH_BYTES = 32_000_000


class Job(Struct, frozen=True):
    """Portions that are read one after the other, and become one batch where they are small."""

    portions: tuple[Portion, ...]
    place: int = 0  # that of its path among those of the import, where it is a stretch
    is_strict: bool = False  # ends at the first record that is damaged or no record


class Parsed(Struct):
    """What became of a job."""

    tally: Tally = field(default_factory=Tally)
    batches: list[StagedBatch] = field(default_factory=list)
    failure: Exception | None = None  # that ends the import once the batches are published
    is_cut_wrongly: bool = False  # nothing of the job counts: it has to be cut in another way
    is_fatal: bool = False  # nothing can be stored


def outcomes_of(portions: Iterable[Portion]) -> Iterator[Outcome]:
    """What comes of all records; a file that cannot be read further is a problem, and the next portion follows."""
    for portion in portions:
        try:
            yield from reading_apart.outcomes(portion)
        except Truncated:
            raise  # a stretch was cut wrongly
        except (PeriplusError, OSError) as error:
            yield failed("", error)


def failed(file: str, error: PeriplusError | OSError) -> LeftOut:
    what = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    reason = "read-bound" if isinstance(error, OverBudget) else "damaged"
    return LeftOut(reason, problem=ImportProblem(file, "", reason, what.removeprefix(f"{file}: ")))


class Intake:
    """Has jobs read, and stages what comes of them beside it: a thread that waits for the disk costs nothing."""

    def __init__(self, files: LocalFiles, answer: Callable[[Parsed], None], depot: Depot | None = None) -> None:
        """``answer`` is called by another thread when a job is done, in the order of jobs."""
        self._log = BatchFiles(files, depot=depot)
        self._answer = answer
        self._parsed: Queue[_BatchPart | None] = Queue(maxsize=1)
        self._stager = Thread(target=self._stage_all, daemon=True)
        self._stager.start()

    def take(self, job: Job) -> None:
        part = _BatchPart()
        try:
            for outcome in outcomes_of(job.portions):
                part.take(outcome)
                if job.is_strict and isinstance(outcome, LeftOut) and outcome.problem and outcome.reason in STOPPING:
                    part.failure = Corrupt(f"{outcome.problem}; what came before it is kept")
                    break
                if part.is_full:
                    self._hand_over(part)
                    part = _BatchPart()
        except Truncated:
            part.is_cut_wrongly = True
        part.is_last = True
        self._hand_over(part)

    def close(self) -> None:
        """Everything taken is staged and answered when this returns."""
        self._parsed.put(None)
        self._stager.join()

    def _hand_over(self, part: _BatchPart) -> None:
        part.make_tables()
        self._parsed.put(part)

    def _stage_all(self) -> None:
        parsed = Parsed()
        while (part := self._parsed.get()) is not None:
            parsed.tally.add(part.tally)
            parsed.tally.keys += part.keys.tobytes()
            parsed.failure = parsed.failure or part.failure
            parsed.is_cut_wrongly = parsed.is_cut_wrongly or part.is_cut_wrongly
            try:
                if part.tables is not None:
                    parsed.batches.append(self._log.stage(part.tables))
            except PeriplusError as error:
                parsed.failure = error
                parsed.is_fatal = True
            if part.is_last:
                self._answer(parsed)
                parsed = Parsed()


class _BatchPart:
    """What becomes one batch of a job."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.tally = Tally()
        self.size = 0
        self.is_last = False
        self.failure: Exception | None = None
        self.is_cut_wrongly = False
        self.keys = array("q")
        self.tables: BatchTables | None = None

    @property
    def is_full(self) -> bool:
        return len(self.documents) >= BATCH or self.size >= BATCH_BYTES

    def take(self, outcome: Outcome) -> None:
        self.tally.records += 1
        if isinstance(outcome, LeftOut):
            self.tally.leave_out(outcome.reason, outcome.kind, outcome.problem)
            return
        found = outcome.document
        self.documents.append(found)
        self.size += outcome.size
        if not found.indexable:
            self.tally.leave_out(found.refusal)
            return
        self.tally.documents += 1
        self.tally.without_address += outcome.is_without_address
        self.tally.cut += "truncated" in found.signals
        self.keys.append(found.key)

    def make_tables(self) -> None:
        """What is stored of it; the documents themselves are let go of."""
        if self.documents:
            self.tables = tables_of(self.documents)
        self.documents = []


def take_jobs(connection: Connection[Any, Any]) -> None:
    """The function that a helper runs: the folder and its depot come first, then jobs, which are answered in order."""
    folder, depot = connection.recv()
    intake = Intake(LocalFiles(folder), connection.send, depot)
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_read_ahead, args=(connection, jobs), daemon=True).start()
    while (job := jobs.get()) is not None:
        intake.take(job)


def _read_ahead(connection: Connection[Any, Any], jobs: SimpleQueue[Any]) -> None:
    """Take the next job while one is worked on. ``None`` says that the parent is gone."""
    with suppress(EOFError, OSError):
        while True:
            (job,) = connection.recv()
            jobs.put(job)
    jobs.put(None)
