"""One engine builds its index in a process of its own; prints what that took as JSON."""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.index.contenders import CONTENDERS, folder_of, single_thread
from bench.index.corpus import with_prior

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.index.corpus import Passage


def main(name: str, passages: Path, cache: Path, workers: int = 1) -> None:
    single_thread()
    contender, folder = CONTENDERS[name](), folder_of(name, cache)
    contender.workers = workers
    shutil.rmtree(folder, ignore_errors=True)
    if name.startswith("periplus"):
        from periplus.index import warm

        warm()
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = Rows(passages)
    began, cpu = time.perf_counter(), time.process_time() + _children()
    contender.build(iter(rows), folder)
    print(
        json.dumps(
            {
                "documents": rows.count,
                "wall": time.perf_counter() - began - rows.seconds,
                "cpu": time.process_time() + _children() - cpu - rows.seconds,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "peak_child_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
                "held_mb": held / 1024,
                "sizes": contender.sizes(folder),
                "kinds": contender.kinds_of_terms(folder) if name.startswith("periplus") else {},
            }
        )
    )


class Rows:
    """Passages one by one, so that none are held; the time that reading them and their priors takes is no engine's."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.count = 0
        self.seconds = 0.0

    def __iter__(self) -> Iterator[Passage]:
        with self._path.open(encoding="utf-8") as lines:
            began = time.thread_time()
            for line in lines:
                row = with_prior(json.loads(line), self.count)
                self.count += 1
                self.seconds += time.thread_time() - began
                yield row
                began = time.thread_time()


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *map(int, sys.argv[4:]))
