"""The jobs of an import, in the order of its paths."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from periplus.app.importing import folders, reading_apart
from periplus.app.importing.archives import ArchiveStretch, ReadPages
from periplus.app.importing.intake import BATCH, BATCH_BYTES, Job, failed
from periplus.app.importing.sizes import Sizes
from periplus.app.importing.sources import FileContents
from periplus.errors import PeriplusError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from periplus.app.importing.sources import Portion

SIZES = Sizes()
GROWTH = 2  # how much longer a stretch is made that was cut wrongly


class Work:
    """Gives one job after the other. Small files are joined; large packed archives are cut."""

    def __init__(self, paths: Sequence[Path], base_url: str, workers: int, *, is_strict: bool = False) -> None:
        self._paths = list(paths)
        self._base_url = base_url
        self._workers = workers
        self._is_strict = is_strict
        self._jobs = self._all(0)
        self._first = list(islice(self._jobs, 2))

    @property
    def is_large(self) -> bool:
        """Whether there is enough for several processes."""
        return len(self._first) > 1

    def next(self) -> Job | None:
        """The next job; none at the end."""
        return self._first.pop(0) if self._first else next(self._jobs, None)

    def cut_again(self, job: Job) -> None:
        """Give up all jobs from a stretch on, which was cut wrongly, and begin there with a longer one."""
        start = min(part.stretch.start for part in job.portions if isinstance(part, ArchiveStretch))
        self._first = []
        self._jobs = self._all(job.place, start, GROWTH * sum(part.size for part in job.portions))

    def _all(self, first: int, start: int = 0, least: int = 1) -> Iterator[Job]:
        waiting: list[Portion] = []
        for place, path in enumerate(self._paths[first:], first):
            for portion in self._portions(path, start, least):
                if waiting and (isinstance(portion, ArchiveStretch) or not _fits(waiting, portion)):
                    yield self._job(waiting)
                    waiting = []
                waiting.append(portion)
                if isinstance(portion, ArchiveStretch):
                    yield self._job(waiting, place)
                    waiting = []
            start, least = 0, 1
        if waiting:
            yield self._job(waiting)

    def _job(self, portions: list[Portion], place: int = 0) -> Job:
        return Job(tuple(portions), place, self._is_strict)

    def _portions(self, path: Path, start: int, least: int) -> Iterator[Portion]:
        """What a path holds; where it cannot be read further, that is its last portion."""
        try:
            if path.is_dir():
                yield from folders.portions(path, self._base_url)
                return
            asked = FileContents(str(path), self._base_url, self._workers, start, least, SIZES)
            yield from reading_apart.contents(asked)
        except (PeriplusError, OSError) as error:
            yield ReadPages([failed(str(path), error)], 0)


def _fits(waiting: list[Portion], portion: Portion) -> bool:
    """Whether one more portion goes into the same batch."""
    return (
        sum(other.count for other in waiting) + portion.count <= BATCH
        and sum(other.size for other in waiting) + portion.size <= BATCH_BYTES
    )
