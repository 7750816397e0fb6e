"""One engine builds its index in a process of its own; prints what that took as JSON.

With ``--turns`` it says ``turn`` before each stretch of passages and waits for a line, so that ``bench.index.turns``
can let several engines build at once, a stretch each: what the machine does to one, it does to the others.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from bench.index.contenders import BUILT_ONLY, CONTENDERS, folder_of, single_thread
from bench.index.corpus import with_prior

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.index.corpus import Passage


STRETCH = 1_000  # passages that are read at once, and of a turn


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench.index.build", description=__doc__)
    options.add_argument("name", choices=CONTENDERS | BUILT_ONLY)
    options.add_argument("passages", type=Path)
    options.add_argument("cache", type=Path)
    options.add_argument("--turns", action="store_true")
    return options.parse_args()


def main() -> None:
    options = read_options()
    single_thread()
    name: str = options.name
    contender, folder = (CONTENDERS | BUILT_ONLY)[name](), folder_of(name, options.cache)
    shutil.rmtree(folder, ignore_errors=True)
    if name.startswith("periplus"):
        from periplus.index.building.builder import load_kernels

        load_kernels()
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = Rows(options.passages, turns=options.turns)
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
    """Passages a stretch at a time; the time that reading them and their priors takes is no engine's."""

    def __init__(self, path: Path, *, turns: bool = False) -> None:
        self._path = path
        self._turns = turns
        self.count = 0
        self.seconds = 0.0

    def __iter__(self) -> Iterator[Passage]:
        with self._path.open(encoding="utf-8") as lines:
            while some := self._stretch(lines):
                if self._turns:
                    print("turn", flush=True)
                    sys.stdin.readline()
                yield from some

    def _stretch(self, lines: Iterator[str]) -> list[Passage]:
        began = time.thread_time()
        some = [with_prior(json.loads(line), number) for number, line in enumerate(islice(lines, STRETCH), self.count)]
        self.count += len(some)
        self.seconds += time.thread_time() - began
        return some


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
