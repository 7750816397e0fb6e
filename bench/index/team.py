"""One process and several build the same index from stored batches, in turns: ``python -m bench.index.team PASSAGES``.

Documents come as ``periplus index`` reads them: from batches on disk, which every process reads for itself. Kernels
are loaded before the clock runs. Both cores have to be free: what is printed beside each figure says whether they were.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.index.build import Rows
from bench.index.contenders import as_document

if TYPE_CHECKING:
    from collections.abc import Iterator

BATCH = 1_000


def main() -> None:
    options = argparse.ArgumentParser(prog="bench.index.team", description=__doc__)
    options.add_argument("passages", type=Path)
    options.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--documents", type=int, default=None, help="at most so many")
    given = options.parse_args()
    from periplus.index.building.builder import load_kernels

    load_kernels()
    with tempfile.TemporaryDirectory(prefix="bench-team-") as name:
        folder = Path(name)
        batches = store(given.passages, folder / "batches", given.documents)
        walls: dict[int, list[float]] = {count: [] for count in given.processes}
        for _, count in itertools.product(range(given.rounds), given.processes):
            wall, cpu = build(folder, batches, count)
            walls[count].append(wall)
            print(
                f"{count} processes: {wall:.2f} s of wall, {cpu:.2f} of CPU, load {os.getloadavg()[0]:.1f}", flush=True
            )
        medians = {count: statistics.median(times) for count, times in walls.items()}
        first = medians[given.processes[0]]
        print(", ".join(f"{count} processes: {wall:.2f} s, {first / wall:.2f} x" for count, wall in medians.items()))


def store(passages: Path, folder: Path, most: int | None) -> int:
    """The passages as batches of a collection; how many batches."""
    from periplus.app import Collection
    from periplus.documents import BatchLog

    with Collection(folder) as collection:
        log = BatchLog(collection.create().files, collection.database)
        rows = itertools.islice(Rows(passages), most)
        for part in parts(map(as_document, rows)):
            log.append(part)
        return len(log.numbers())


def parts(documents: Iterator[object]) -> Iterator[list[object]]:
    while part := list(itertools.islice(documents, BATCH)):
        yield part


def build(folder: Path, batches: int, processes: int) -> tuple[float, float]:
    """Seconds of wall and of CPU until the generation is published."""
    from periplus.documents.batches import BatchFiles
    from periplus.index import IndexStore
    from periplus.jobs.runners import ProcessRunner
    from periplus.jobs.sources import StoredBatch
    from periplus.storage import LocalFiles

    shutil.rmtree(folder / "index", ignore_errors=True)
    cpu, began = _cpu(), time.perf_counter()
    stored = BatchFiles(LocalFiles(folder / "batches"))
    with ProcessRunner(processes) as runner:
        store = IndexStore(folder / "index", runner=runner)
        store.update([(number, StoredBatch(stored, number)) for number in range(1, batches + 1)], merge=False)
    return time.perf_counter() - began, _cpu() - cpu


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
