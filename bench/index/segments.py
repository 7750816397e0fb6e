"""What many small segments cost, and the time from a new process to its first answer.

    python -m bench.index.segments PASSAGES FOLDER [--documents 5000] [--segments 50]

The same passages in one segment and in many (merging is switched off for that), the same questions to both in turn.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, median
from typing import Any
from unittest.mock import patch

from bench.index import corpus
from bench.index.contenders import Periplus, as_document

FIRST_ANSWER = """
import sys, time
from pathlib import Path
began = time.perf_counter()
from periplus.index import Group, IndexQuery, IndexStore
from periplus.text import analyze
with IndexStore(Path(sys.argv[1])).open() as snapshot:
    groups = tuple(Group(forms=token.forms) for token in analyze(sys.argv[2], "en"))
    found = snapshot.top(IndexQuery(should=groups), 10)
    print(len(found.numbers), time.perf_counter() - began)
"""


def build(rows: list[Any], folder: Path, segments: int) -> None:
    from periplus.index import IndexStore
    from periplus.index.publishing.upkeep import Upkeep

    shutil.rmtree(folder, ignore_errors=True)
    store = IndexStore(folder)
    with patch.object(Upkeep, "run", lambda _: None):
        for part in range(segments):
            store.update([(part + 1, [as_document(row) for row in rows[part::segments]])])


def compare(folders: list[Path], texts: list[str], rounds: int) -> dict[str, list[float]]:
    engines = [Periplus() for _ in folders]
    for engine, folder in zip(engines, folders, strict=True):
        engine.open(folder)
    found = {}
    for kind in ("any-10", "all-10", "any-1000"):
        asks = [[engine.prepare(kind, text) for engine in engines] for text in texts]
        times: list[list[list[int]]] = [[[] for _ in engines] for _ in texts]
        for _ in range(rounds):
            for place, row in enumerate(asks):
                for which, ask in enumerate(row):
                    began = time.thread_time_ns()
                    ask()
                    times[place][which].append(time.thread_time_ns() - began)
        found[kind] = [mean(median(row[which]) for row in times) / 1000 for which in range(len(engines))]
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("passages", type=Path)
    options.add_argument("folder", type=Path)
    options.add_argument("--documents", type=int, default=5_000)
    options.add_argument("--segments", type=int, default=50)
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    rows = corpus.read(options.passages)[:: max(1, 200_000 // options.documents)][: options.documents]
    one, many = options.folder / "one", options.folder / "many"
    build(rows, one, 1)
    build(rows, many, options.segments)
    asked, _ = corpus.queries(options.passages)
    print(f"| kind, CPU µs a question | one segment | {options.segments} segments | times |\n|---|---|---|---|")
    for kind, (ours, theirs) in compare([one, many], asked[:400], options.rounds).items():
        print(f"| {kind} | {ours:.0f} | {theirs:.0f} | {theirs / ours:.2f} |")
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", FIRST_ANSWER, one, asked[0]], capture_output=True, text=True, check=True
    )
    print(f"a new process answers after {time.perf_counter() - began:.2f} s; inside it {done.stdout.split()[1]} s")


if __name__ == "__main__":
    main()
