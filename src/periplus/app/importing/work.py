"""The jobs of an import, in the order of its paths."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from periplus import archive
from periplus.app.importing import archives, sources
from periplus.app.importing.archives import ArchiveStretch, ReadPages
from periplus.app.importing.intake import BATCH, BATCH_BYTES, Job, failed
from periplus.errors import PeriplusError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from periplus.app.importing.items import Portion

LONGEST = 4_000_000  # bytes of a stretch, packed
SHORTEST = 250_000
SHARES = 3  # of what is left for each process: stretches become shorter, so that all end together
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
            if start or self._is_cut(path):
                yield from archives.parts(path, self._length_at, start, least)
            else:
                yield from sources.portions(path, self._base_url)
        except (PeriplusError, OSError) as error:
            yield ReadPages([failed(str(path), error)], 0)

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


def _fits(waiting: list[Portion], portion: Portion) -> bool:
    """Whether one more portion goes into the same batch."""
    return (
        sum(other.count for other in waiting) + portion.count <= BATCH
        and sum(other.size for other in waiting) + portion.size <= BATCH_BYTES
    )
