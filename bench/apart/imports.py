"""``make bench-apart-imports``: the same import by this tree and by an earlier one, in turns.

Wall and processor time of all processes of an import, the ratio of the two trees within each round, and whether both
give the same documents. The import is that of an archive that is cut into stretches, of one that cannot be cut, and of
lines of JSON, all of the same pages.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import msgspec
from bench.crawl.web import ROOT, find_web
from bench.live.warc import write_archive

from periplus import Collection
from periplus.documents import BatchLog

CACHE = ROOT / "build" / "bench-crawl"
PROGRAM = "import sys; from periplus.cli import main; sys.argv[0] = 'periplus'; main()"
SUBREAPER = 36  # prctl(2): processes whose parent has ended are ours to wait for, so that their time is seen


class Import(NamedTuple):
    wall: float
    cpu: float
    digest: str  # of what it gave


def main() -> None:
    options = argparse.ArgumentParser(prog="bench-apart-imports", description=__doc__)
    options.add_argument("--before", type=Path, required=True, help="a tree of an earlier version, with its src/")
    options.add_argument("--web", type=Path, help="folder of pages; the local web when not named")
    options.add_argument("--pages", type=int, default=3_000)
    options.add_argument("--times", type=int, default=5, help="how often each page is among the lines of JSON")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--kinds", nargs="+", default=["stretches", "whole", "lines"])
    given = options.parse_args()
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        web = given.web or find_web(None, CACHE)
        files = files_of(web, folder, given.pages, given.times)
        for kind in given.kinds:
            compare(kind, files[kind], {"before": given.before, "after": ROOT}, folder, given.rounds)


def files_of(web: Path, folder: Path, pages: int, times: int) -> dict[str, Path]:
    """The same pages in a file of each kind; lines of JSON have each ``times`` times, by other ids."""
    write_archive(web, folder / "warc", pages)
    (packed,) = (folder / "warc").glob("*.warc.gz")
    plain = folder / "pages.warc"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    with Collection(folder / "texts") as collection:
        run(ROOT, packed, folder / "texts")
        log = BatchLog(collection.files, collection.database)
        texts = [document for number in log.numbers() for document in log.documents(number) if document.indexable]
    lines = folder / "pages.jsonl"
    rows = (
        {"id": f"{one.url}#{number}", "url": one.url, "title": one.title, "text": one.text}
        for number in range(times)
        for one in texts
    )
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {"stretches": packed, "whole": plain, "lines": lines}


def compare(kind: str, path: Path, trees: dict[str, Path], folder: Path, rounds: int) -> None:
    ratios: dict[str, list[float]] = {"wall": [], "cpu": []}
    same = True
    for number in range(rounds):
        order = list(trees)[:: 1 if number % 2 else -1]
        found = {name: measured(trees[name], path, folder / f"{kind}-{number}-{name}") for name in order}
        for name, one in found.items():
            print(f"{kind}, round {number + 1}, {name}: {one.wall:.2f} s, {one.cpu:.2f} CPU-s", flush=True)
        same = same and found["before"].digest == found["after"].digest
        for name, values in ratios.items():
            values.append(getattr(found["after"], name) / getattr(found["before"], name))
    told = "; ".join(
        f"{name} {statistics.median(values):.3f} times ({', '.join(f'{one:.3f}' for one in values)})"
        for name, values in ratios.items()
    )
    print(
        f"{kind}, {path.stat().st_size / 1e6:.1f} MB: {told}; {'the same' if same else 'OTHER'} documents", flush=True
    )


def measured(tree: Path, path: Path, collection: Path) -> Import:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    run(tree, path, collection)
    wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return Import(wall, cpu, digest_of(collection))


def run(tree: Path, path: Path, collection: Path) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, "import", str(path), "--dir", str(collection)]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:  # readers end after whoever asked them
        try:
            os.wait()
        except ChildProcessError:
            return


def digest_of(folder: Path) -> str:
    """Of all documents with their links, in their order."""
    seen = hashlib.sha256()
    with Collection.existing(folder) as collection:
        log = BatchLog(collection.files, collection.database)
        for number in log.numbers():
            for document in log.documents(number, links=True):
                seen.update(msgspec.msgpack.encode(document))
    return seen.hexdigest()


if __name__ == "__main__":
    main()
