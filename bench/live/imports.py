"""Records a second of ``periplus import``, as .jsonl, packed .jsonl and Parquet, of one version or of two in turns."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path


def measure(documents: Path, folder: Path, count: int, rounds: int, against: Path | None) -> dict[str, float]:
    """The verb as people run it, start of the process included; ``against`` is the ``src`` of another version."""
    files = write_files(documents, folder, count)
    versions = {"": None} | ({"before, ": against} if against else {})
    found: dict[str, list[dict[str, float]]] = {}
    for _, (kind, path), (name, source) in itertools.product(range(rounds), files.items(), versions.items()):
        found.setdefault(f"{name}{kind}", []).append(_run(path, folder / "collection", source))
    figures: dict[str, float] = {"records": float(count), "KB a record": files["jsonl"].stat().st_size / count / 1000}
    for name, runs in found.items():
        best = min(runs, key=lambda run: run["wall"])
        figures[f"{name}, records a second"] = count / best["wall"]
        figures[f"{name}, CPU ms a record"] = min(run["CPU"] for run in runs) / count * 1000
        figures[f"{name}, cores at work"] = best["CPU"] / best["wall"]
    return figures


def write_files(documents: Path, folder: Path, count: int) -> dict[str, Path]:
    """The first ``count`` documents in every kind of file."""
    with documents.open(encoding="utf-8") as file:
        lines = list(itertools.islice(file, count))
    files = {kind: folder / f"records.{kind}" for kind in ("jsonl", "jsonl.gz", "parquet")}
    files["jsonl"].write_text("".join(lines), encoding="utf-8")
    files["jsonl.gz"].write_bytes(gzip.compress("".join(lines).encode(), compresslevel=3))
    pq.write_table(pa.Table.from_pylist([json.loads(line) for line in lines]), files["parquet"])
    return files


def _run(path: Path, collection: Path, source: Path | None) -> dict[str, float]:
    environment = {**os.environ, **({"PYTHONPATH": str(source)} if source else {})}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "periplus", "import", "--dir", str(collection), str(path)]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(collection)
    return {"wall": wall, "CPU": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}
