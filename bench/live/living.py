"""An index that is searched while it grows: how soon a page is found, and how long searches take during merges.

One process answers 100 queries a second, as the server does, with the thread that takes up new generations; a second
one indexes and merges, as under ``periplus up``. The first also parses pages, appends each as a batch, and asks for a
word that only this page has until it is found.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from periplus.app import Collection
from periplus.app.children import Child
from periplus.app.serving import Reloader
from periplus.app.up import build_until
from periplus.documents import BatchLog, parse
from periplus.records import Document, Page, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERIES = Path(__file__).resolve().parents[1] / "index" / "queries.txt"
RATE = 100.0  # queries a second
SLICE = 3_000  # documents of a segment: one more than SEGMENTS of them are merged
SEGMENTS = 7
PAUSE = 1.5  # seconds between two pages
POLL = 0.02
PATIENCE = 60.0


def measure(web: Path, documents: Path, folder: Path, seconds: float) -> dict[str, float]:
    rows = _documents(documents)
    with Collection(folder / "living") as collection:
        log = BatchLog(collection.create().files, collection.database)
        for _ in range(SEGMENTS):
            log.append(list(itertools.islice(rows, SLICE)))
            collection.pipeline.index(merge=False)
        collection.rank()
        builder = Child("indexer", build_until, (str(collection.folder), {}), lambda _: None)
        builder.start()
        try:
            with Reloader(collection):
                _wait(lambda: not collection.cold)
                return _phases(collection, log, web, rows, seconds)
        finally:
            builder.stop()


def _phases(
    collection: Collection, log: BatchLog, web: Path, rows: Iterator[Document], seconds: float
) -> dict[str, float]:
    load = _Load(collection)
    with load:
        time.sleep(2.0)  # the first answers fill caches
        alone = load.phase(seconds)
        pages = _Pages(collection, log, web)
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            pages.add()
            time.sleep(PAUSE)
        growing = load.taken()
        merging = _merged(collection, log, list(itertools.islice(rows, SLICE)), load)
    found = sorted(pages.delays)
    figures = {
        "documents": float(pages.manifest().documents),
        "pages added": float(len(found)),
        "found after, s, median": found[len(found) // 2],
        "found after, s, most": found[-1],
        "of that parsing, storing and indexing, s, median": sorted(pages.published)[len(found) // 2],
    }
    for name, times in (("alone", alone), ("while pages are added", growing), ("during a merge", merging)):
        figures |= {f"queries {name}": float(len(times))}
        figures |= {f"queries {name}, ms, {share}": value for share, value in _shares(times).items()}
    return figures


class _Load:
    """Asks at a fixed rate, whatever the answers take; times run from when a query was due."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._queries = itertools.cycle(QUERIES.read_text(encoding="utf-8").splitlines())
        self._merging = collection.folder / "index" / "merging"
        self._times: list[tuple[float, bool]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def phase(self, seconds: float) -> list[float]:
        self.taken()
        time.sleep(seconds)
        return self.taken()

    def taken(self, *, merging: bool = False) -> list[float]:
        """The times since the last call; those of a merge alone when asked for."""
        times, self._times = self._times, []
        return [taken for taken, was_merging in times if was_merging or not merging]

    @property
    def is_merging(self) -> bool:
        return self._merging.exists() and any(self._merging.iterdir())

    def _run(self) -> None:
        due = time.perf_counter()
        while not self._stop.is_set():
            was_merging = self.is_merging
            self._collection.engine.search(SearchRequest(next(self._queries)))
            self._times.append(((time.perf_counter() - due) * 1000, was_merging))
            due += 1 / RATE
            time.sleep(max(0.0, due - time.perf_counter()))


class _Pages:
    """Pages of the web, each with a word of its own, one batch each."""

    def __init__(self, collection: Collection, log: BatchLog, web: Path) -> None:
        self._collection = collection
        self._log = log
        self._files = iter(sorted(web.rglob("*.html")))
        self.delays: list[float] = []
        self.published: list[float] = []

    def add(self) -> None:
        number = len(self.delays)
        word = f"landfall{number}x"
        body = next(self._files).read_bytes().replace(b"</title>", b" " + word.encode() + b"</title>", 1)
        generation = self.manifest().generation
        began = time.perf_counter()
        self._log.append([parse(Page(f"http://new.test/{number}", body, "text/html", fetched=time.time()))])
        _wait(lambda: self.manifest().generation > generation)
        self.published.append(time.perf_counter() - began)
        _wait(lambda: bool(self._collection.engine.search(SearchRequest(f'"{word}"')).results))
        self.delays.append(time.perf_counter() - began)

    def manifest(self) -> Any:
        from periplus.index import IndexStore

        return IndexStore(self._collection.folder / "index").manifest()


def _merged(collection: Collection, log: BatchLog, rows: list[Document], load: _Load) -> list[float]:
    """One slice more makes a size class full; the times of queries while its segments are merged."""
    load.taken()
    log.append(rows)
    _wait(lambda: load.is_merging)
    _wait(lambda: not load.is_merging)
    return load.taken(merging=True)


def _documents(path: Path) -> Iterator[Document]:
    from periplus import addresses

    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            url = row["url"]
            yield Document(url, addresses.key(url), 1.7e9, title=row["title"], text=row["text"], language="en")


def _wait(until: Any) -> None:
    last = time.monotonic() + PATIENCE
    while not until():
        if time.monotonic() > last:
            raise TimeoutError("nothing happened for a minute")
        time.sleep(POLL)


def _shares(times: list[float]) -> dict[str, float]:
    ordered = sorted(times) or [0.0]
    return {f"p{share}": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 95, 99)}
