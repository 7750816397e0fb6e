"""Building segments as tasks, which any process can do, on any machine, with the same bytes.

Batches are cut into tasks by their bytes and by the memory that a builder may take, never by how many work on them. So
the segments are a function of the batches. They are written apart, in ``built/``, and moved when their turn comes.

Of an index that has no norm epoch yet, the first task with documents freezes the averages, and the others wait for that
before they write. Each leaves what it knows in ``built/epochs-…/<place>``, for those behind it, and holds a lock on
``<place>.lock`` while it works: a lock that nobody holds and no word beside it say that it failed.
"""

from __future__ import annotations

import fcntl
import secrets
import time
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct, structs
from xxhash import xxh3_64_hexdigest

from periplus.errors import StorageError
from periplus.index.building.budget import PROCESS_BYTES, TAKEN_A_BYTE, Budget, lanes
from periplus.index.building.builder import SegmentBuilder
from periplus.index.format.files import write_atomically
from periplus.index.format.norms import Epoch
from periplus.index.format.postings import MAX_DOCUMENTS
from periplus.index.format.stored import page_key_of
from periplus.storage import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.building.sources import DocumentSource
    from periplus.records import Anchor, Document
    from periplus.storage import Depot

    AnchorSource = Callable[[int], Sequence[Anchor]]

FUNCTION: Final = f"{__name__}:build_segments"
LEAST_BYTES: Final = 4_000_000  # of batches, packed: less is not worth a task
FEW: Final = 4  # tasks that batches are parted into before memory asks for more
MEMORY_A_BYTE: Final = 8  # that a builder counts for each byte of batches
WORDS_MEMORY: Final = 30_000_000  # that it counts for words, however few documents there are
EPOCH_SECONDS: Final = 600.0  # that a task waits for those before it
LOCK: Final = ".lock"
POLL: Final = 0.005


class SegmentTask(NamedTuple):
    """Some batches that follow one another."""

    name: str  # says all that the segments depend on
    place: int
    last: int  # number of the last batch
    sources: tuple[DocumentSource, ...]
    anchors: AnchorSource | None
    folder: Path
    shards: int
    memory: int  # that a builder may count before it writes
    epoch: Epoch
    epochs: Path  # folder in which tasks tell each other of the epoch
    depot: Depot | None = None  # takes the segments, where the folder is of another machine

    @property
    def digest(self) -> str:
        """What the folders of its segments begin with."""
        return xxh3_64_hexdigest(self.name.encode())


class BuiltPart(Struct, frozen=True):
    """What was written at once: a segment for each shard that has documents, and the keys of all that was met."""

    names: tuple[str, ...]  # empty for a shard without documents
    keys: bytes  # 64-bit numbers: older versions of these do not count any more
    files: tuple[Stored, ...] = ()  # of the segments, as objects, where they were built on another machine


class BuiltSegments(Struct, frozen=True):
    """What came of a task."""

    parts: tuple[BuiltPart, ...]
    rows: int
    epoch: Epoch


def cut(sizes: Sequence[int], memory: int) -> list[range]:
    """Places of batches with these sizes that are one task each; ``memory`` is what a builder may count."""
    total = sum(sizes)
    parts = _parts(total, memory)
    full = [
        min(reached * parts // max(total, 1), parts - 1) for reached in accumulate(sizes)
    ]  # parts, up to each batch
    ends = [place for place, (before, after) in enumerate(pairwise([0, *full]), 1) if after > before]
    bounds = sorted({0, *ends, len(sizes)})
    return [range(start, stop) for start, stop in pairwise(bounds)]


def _parts(total: int, memory: int) -> int:
    """One, or an even number, so that neither of two processes waits for the other."""
    wanted = min(FEW, total // LEAST_BYTES)
    needed = -(-total * MEMORY_A_BYTE // memory)
    parts = max(1, wanted - wanted % 2, needed if total >= 2 * LEAST_BYTES else 1)
    return parts + parts % 2 if parts > 1 else 1


def most_processes(sizes: Sequence[int], memory: int) -> int:
    """How many can build segments of batches with these sizes at once, within ``memory`` for all of them."""
    budget = Budget.of(memory, lanes(memory))
    largest = max((sum(sizes[place] for place in part) for part in cut(sizes, budget.building)), default=0)
    counted = min(budget.building, WORDS_MEMORY + MEMORY_A_BYTE * largest)
    return max(1, int((memory - budget.merging) / (PROCESS_BYTES + TAKEN_A_BYTE * counted)))


def build_segments(task: SegmentTask) -> BuiltSegments:
    """Index the documents of a task."""
    if task.epoch.documents:
        return _Build(task).run()
    path = Path(task.epochs, f"{task.place}{LOCK}")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}-{secrets.token_hex(4)}")
    with temporary.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        temporary.replace(path)  # nobody sees it before it is held
        return _Build(task).run()


class _Build:
    def __init__(self, task: SegmentTask) -> None:
        self._task = task
        self._builder = _Spare.take(task.memory)
        self._met: set[int] = set()
        self._epoch = task.epoch
        self._parts: list[BuiltPart] = []

    def run(self) -> BuiltSegments:
        rows = 0
        for source in self._task.sources:
            for document in source:
                self._add(document)
                rows += 1
        if self._met:
            self._write()
        if not self._epoch.documents:
            self._find_epoch()
        _Spare.keep(self._builder)
        return BuiltSegments(tuple(self._parts), rows, self._epoch)

    def _add(self, document: Document) -> None:
        self._met.add(document.key)
        if document.refusal:
            self._builder.discard(document.key)
            return
        anchors = self._task.anchors
        self._builder.add(document, anchors(page_key_of(document)) if anchors else ())
        if self._builder.memory >= self._task.memory or len(self._builder) >= MAX_DOCUMENTS:
            self._write()

    def _write(self) -> None:
        names: tuple[str, ...] = ()
        if len(self._builder):
            if not self._epoch.documents:
                self._find_epoch()
            stem = f"{self._task.digest}-{secrets.token_hex(4)}"
            folders = [Path(self._task.folder, f"{stem}-{shard}") for shard in range(self._task.shards)]
            names = tuple(self._builder.write(folders, self._epoch))
            self._builder = self._builder.successor(self._task.memory)
        met = np.fromiter(self._met, np.int64, len(self._met))
        files = _pushed(self._task.depot, self._task.folder, names) if self._task.depot is not None else ()
        self._parts.append(BuiltPart(names, np.sort(met).tobytes(), files))
        self._met = set()

    def _find_epoch(self) -> None:
        """That of the tasks before this one, or of the documents collected here; and tell those behind."""
        self._epoch = wait_for_epoch(self._task)
        documents = len(self._builder)
        if not self._epoch.documents and documents:
            averages = tuple((self._builder.field_totals() / documents).tolist())
            self._epoch = structs.replace(
                self._epoch, number=self._epoch.number + 1, documents=documents, averages=averages
            )
        tell_epoch(self._task, self._epoch)


def _pushed(depot: Depot, folder: Path, names: Sequence[str]) -> tuple[Stored, ...]:
    """The files of segments as objects, by the names that they have below the folder of the collection.

    They stay nowhere else: the machine that they were built on may never hear what became of them.
    """
    paths = [path for name in names if name for path in sorted(Path(folder, name).iterdir())]
    stored = tuple(depot.push(path.resolve().relative_to(depot.files.root).as_posix()) for path in paths)
    for one in stored:
        depot.drop(one.name)
    for name in filter(None, names):
        Path(folder, name).rmdir()
    return stored


class _Spare:
    """The builder of the last task in this process: its words need not be looked up again."""

    builder: SegmentBuilder | None = None

    @classmethod
    def take(cls, memory: int) -> SegmentBuilder:
        spare, cls.builder = cls.builder, None
        return spare.successor(memory) if spare is not None else SegmentBuilder()

    @classmethod
    def keep(cls, builder: SegmentBuilder) -> None:
        cls.builder = builder


def forget_builder() -> None:
    """Let go of what this process remembers between two tasks."""
    _Spare.builder = None


def tell_epoch(task: SegmentTask, epoch: Epoch) -> None:
    path = Path(task.epochs, str(task.place))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, msgspec.json.encode(epoch))


def wait_for_epoch(task: SegmentTask) -> Epoch:
    """The epoch as the tasks before this one leave it; nothing is frozen yet where they had no documents."""
    until = time.monotonic() + EPOCH_SECONDS
    while True:
        for place in range(task.place):
            told = _told(Path(task.epochs, str(place)))
            if told is None:
                break
            if told.documents:
                return told
        else:
            return task.epoch
        path = Path(task.epochs, str(place))
        if (_is_abandoned(path) and _told(path) is None) or time.monotonic() > until:
            raise StorageError(f"{task.name} comes after batches that could not be indexed; index again when they can")
        time.sleep(POLL)


def _is_abandoned(path: Path) -> bool:
    """Whether the task that would tell its epoch there has begun and ended."""
    try:
        with path.with_name(f"{path.name}{LOCK}").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, BlockingIOError):
        return False
    return True


def _told(path: Path) -> Epoch | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Epoch)
    except FileNotFoundError:
        return None


def task_name(sources: Sequence[tuple[int, Any]], others: str) -> str:
    """For people, and with a checksum of all else that the segments depend on."""
    first, last = sources[0][0], sources[-1][0]
    which = f"batch {last}" if first == last else f"batches {first} to {last}"
    digest = xxh3_64_hexdigest(f"{others} {[source.name for _, source in sources]}".encode())
    return f"{which} ({digest[:8]})"
