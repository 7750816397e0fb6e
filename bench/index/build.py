"""One engine builds its index in a process of its own; prints what that took as JSON."""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from pathlib import Path

from bench.index import corpus
from bench.index.contenders import CONTENDERS, folder_of, single_thread


def main(name: str, passages: Path, cache: Path) -> None:
    single_thread()
    contender, folder = CONTENDERS[name](), folder_of(name, cache)
    shutil.rmtree(folder, ignore_errors=True)
    if name.startswith("periplus"):
        from periplus.index import warm

        warm()
    rows = corpus.read(passages)  # read beforehand: JSON is no part of any engine
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, cpu = time.perf_counter(), time.process_time() + _children()
    contender.build(iter(rows), folder)
    print(
        json.dumps(
            {
                "documents": len(rows),
                "wall": time.perf_counter() - began,
                "cpu": time.process_time() + _children() - cpu,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "held_mb": held / 1024,
                "sizes": contender.sizes(folder),
            }
        )
    )


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
