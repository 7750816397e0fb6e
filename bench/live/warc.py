"""WARC → ``periplus import`` → ``periplus index``: pages a second, and where the time goes."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from periplus import archive
from periplus.records import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPLIT_PAGES = 800
# What each verb does before its first page, by itself.
STARTS = {
    "import": "from periplus.cli.verbs import application; application();"
    "from periplus.app.importing import leader, reading_apart; reading_apart.READERS.one().__enter__()",
    "index": "from periplus.cli.verbs import application; application(); from periplus.app import warming, Collection;"
    "warming.kernels_are_warm(); import periplus.jobs;"
    "from periplus.index.building.builder import load_kernels; load_kernels()",
}
STARTED = 1.7e9
SEED = 1
FAR = 0.44  # of a size: a page that differs by more is not near it


def measure(web: Path, folder: Path, pages: int, near: int = 0) -> dict[str, float]:
    """The two commands as people run them, from start to end of the process; then each step alone."""
    sizes = write_archive(web, folder / "warc", pages, near)
    pages = len(sizes)
    (path,) = (folder / "warc").glob("*.warc.gz")
    collection = folder / "pages"
    _run("warm")
    imported = _run("import", "--dir", str(collection), str(path))
    indexed = _run("index", "--dir", str(collection))
    wall = imported["wall"] + indexed["wall"]
    figures = {
        "pages": float(pages),
        "KB a page": sum(sizes) / pages / 1000,
        "pages a second": pages / wall,
        "pages a second at 50 KB": pages / wall * sum(sizes) / pages / 50_000,
    }
    for name, found in (("import", imported), ("index", indexed)):
        figures[f"{name}, wall"] = found["wall"]  # the CPU of processes that read pages is nobody's to wait for
    steps = split(path, folder / "split", pages)
    for name, script in STARTS.items():
        steps[f"start of {name}"] = _run_python("-c", script)["CPU"] * 1000 / pages
    return figures | {f"{name}, CPU ms a page": value for name, value in steps.items()}


def write_archive(web: Path, folder: Path, count: int, near: int = 0) -> list[int]:
    """A WARC file of random pages, all of them not far from ``near`` bytes; the size of each."""
    files = sorted(file for file in web.rglob("*.html") if file.is_file() and is_near(file.stat().st_size, near))
    chosen = sorted(random.Random(SEED).sample(files, min(count, len(files))))
    sizes = []
    with archive.ArchiveWriter(folder) as writer:
        for file in chosen:
            body = file.read_bytes()
            sizes.append(len(body))
            headers = (("Content-Type", "text/html"), ("Content-Length", str(len(body))))
            url = f"http://{file.relative_to(web)}"
            writer.append(Exchange(url, "GET", (), 200, "OK", headers, body, body, "127.0.0.1", STARTED, 0.01))
    return sizes


def is_near(size: int, wanted: int) -> bool:
    return not wanted or abs(size - wanted) <= FAR * wanted


def split(path: Path, folder: Path, count: int) -> dict[str, float]:
    """CPU milliseconds a page of each step, in one process, with everything loaded.

    The pages are taken from all over the archive, whose hosts stand one after the other and differ in size.
    """
    from periplus.app import Collection
    from periplus.documents import BatchLog, parse
    from periplus.documents.batches import tables_of
    from periplus.index import IndexStore
    from periplus.jobs.sources import StoredBatch

    every = max(1, count // SPLIT_PAGES)
    began = time.process_time()
    pages: list[Any] = [page for place, page in enumerate(archive.contents(path)) if place % every == 0]
    steps = {"reading the WARC": (time.process_time() - began) * 1000 / count}

    def timed(name: str, step: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = step()
        steps[name] = (time.process_time() - began) * 1000 / len(pages)
        return result

    with Collection(folder) as collection:
        log = BatchLog(collection.create().files, collection.database)
        warm = [parse(page) for page in pages[:20]]
        IndexStore(folder / "warm").update([(1, warm)])
        log.append(warm)
        documents = timed("parsing", lambda: [parse(page) for page in pages])
        tables = timed("making tables", lambda: tables_of(documents))
        number = timed("storing the batch", lambda: log.publish(log.stage(tables)))
        stored = timed("reading the batch", lambda: list(StoredBatch(log, number)))
        timed("indexing", lambda: IndexStore(folder / "index").update([(number, stored)]))
    return steps


def _run(*arguments: str) -> dict[str, float]:
    return _run_python("-m", "periplus", *arguments)


def _run_python(*arguments: str) -> dict[str, float]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": time.perf_counter() - began, "CPU": cpu}
