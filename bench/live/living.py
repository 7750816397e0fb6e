"""An index that is searched while it grows: how soon a page is found, and how long searches take during merges.

Three processes, as under ``periplus up``: one answers 100 queries a second and takes up new generations, one indexes
and merges, and this one parses pages and appends each as a batch, as the crawler does. The first is told a word that
only the new page has, and asks for it until it is found.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from periplus.app import Collection
from periplus.app.children import Child
from periplus.app.running.building import build_until
from periplus.app.serving.server import Reloader
from periplus.app.warming import warm_kernels
from periplus.documents import BatchLog, parse
from periplus.records import Document, Page, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

QUERIES = Path(__file__).resolve().parents[1] / "index" / "queries.txt"
RATE = 100.0  # queries a second
FIRST = 21_000  # documents that there are when queries begin, in one segment
SLICE = 11_500  # documents of an update: two of them double the collection, and so it is merged
PAUSE = 1.5  # seconds between two pages
POLL = 0.02
PATIENCE = 120.0


def measure(web: Path, documents: Path, folder: Path, seconds: float) -> dict[str, float]:
    warm_kernels(lambda *_: None)  # nobody compiles while queries are answered
    rows = _documents(documents)
    with Collection(folder / "living") as collection:
        log = BatchLog(collection.create().files, collection.database)
        log.append(list(itertools.islice(rows, FIRST)))
        collection.pipeline.index()
        collection.rank()
        builder = Child("indexer", build_until, (str(collection.folder), {}), lambda _: None)
        builder.start()
        try:
            with Answering(collection.folder) as answering:
                return _phases(collection, answering, log, web, rows, seconds)
        finally:
            builder.stop()


def _phases(
    collection: Collection, answering: Answering, log: BatchLog, web: Path, rows: Iterator[Document], seconds: float
) -> dict[str, float]:
    time.sleep(3.0)  # the first answers fill caches
    answering.times()
    time.sleep(seconds)
    alone = answering.times()
    pages = _Pages(collection, answering, log, web)
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        pages.add()
        time.sleep(PAUSE)
    growing = answering.times()
    merging = _merged(pages, answering, log, rows)
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
    figures["p99 during a merge, times alone"] = _shares(merging)["p99"] / _shares(alone)["p99"]
    return figures


class Answering:
    """The process that answers queries, and what it is told."""

    def __init__(self, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=answer_until, args=(str(folder), other), daemon=True)

    def __enter__(self) -> Answering:
        self._process.start()
        self._told("ready")
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.send(("stop", ""))
        self._process.join(PATIENCE)

    def times(self, *, merging: bool = False) -> list[float]:
        """The times since the last call; those of a merge alone when asked for."""
        self._pipe.send(("times", ""))
        return [taken for taken, was_merging in self._told("times") if was_merging or not merging]

    def found(self, word: str) -> float:
        """When a page with this word was found, by the clock of ``time.perf_counter``."""
        self._pipe.send(("find", word))
        return self._told("found")

    def _told(self, kind: str) -> Any:
        if not self._pipe.poll(PATIENCE):
            raise TimeoutError(f"no word of {kind!r} for {PATIENCE:.0f} s")
        told, value = self._pipe.recv()
        if told != kind:
            raise RuntimeError(f"{told}: {value}")
        return value


def answer_until(folder: str, pipe: Connection) -> None:
    """The process itself."""
    with Collection(folder) as collection, Reloader(collection):
        try:
            _wait(lambda: not collection.cold)
            load = _Load(collection)
            with load:
                pipe.send(("ready", None))
                _obey(collection, load, pipe)
        except Exception as problem:  # noqa: BLE001  # the other side says it
            pipe.send(("failed", repr(problem)))


def _obey(collection: Collection, load: _Load, pipe: Connection) -> None:
    while True:
        told, word = pipe.recv()
        if told == "stop":
            return
        if told == "times":
            pipe.send(("times", load.taken()))
        else:
            _wait(lambda: bool(collection.engine.search(SearchRequest(f'"{word}"')).results))  # noqa: B023
            pipe.send(("found", time.perf_counter()))


class _Load:
    """Asks at a fixed rate, whatever the answers take; times run from when a query was due."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._queries = itertools.cycle(QUERIES.read_text(encoding="utf-8").splitlines())
        self._times: list[tuple[float, bool]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def taken(self) -> list[tuple[float, bool]]:
        times, self._times = self._times, []
        return times

    def _run(self) -> None:
        engine = self._collection.engine
        due = time.perf_counter()
        while not self._stop.is_set():
            was_merging = is_merging(self._collection)
            engine._answers.clear()  # every query is computed
            engine.search(SearchRequest(next(self._queries)))
            self._times.append(((time.perf_counter() - due) * 1000, was_merging))
            due += 1 / RATE
            time.sleep(max(0.0, due - time.perf_counter()))


def is_merging(collection: Collection) -> bool:
    folder = collection.folder / "index" / "merging"
    return folder.exists() and any(folder.iterdir())


class _Pages:
    """Pages of the web, each with a word of its own, one batch each."""

    def __init__(self, collection: Collection, answering: Answering, log: BatchLog, web: Path) -> None:
        self._collection = collection
        self._answering = answering
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
        self.delays.append(self._answering.found(word) - began)

    def manifest(self) -> Any:
        from periplus.index import IndexStore

        return IndexStore(self._collection.folder / "index").manifest()


def _merged(pages: _Pages, answering: Answering, log: BatchLog, rows: Iterator[Document]) -> list[float]:
    """Two slices double the collection; the times of queries while all its segments become one."""
    answering.times()
    before = pages.manifest()
    for _ in range(2):
        generation = pages.manifest().generation
        log.append(list(itertools.islice(rows, SLICE)))
        _wait(lambda: pages.manifest().generation > generation)  # noqa: B023
    _wait(lambda: max(segment.documents for segment in pages.manifest().segments) > before.documents)
    return answering.times(merging=True)


def _documents(path: Path) -> Iterator[Document]:
    from periplus import addresses

    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            url = row["url"]
            yield Document(url, addresses.key(url), 1.7e9, title=row["title"], text=row["text"], language="en")


def _wait(until: Callable[[], bool]) -> None:
    last = time.monotonic() + PATIENCE
    while not until():
        if time.monotonic() > last:
            raise TimeoutError(f"nothing happened for {PATIENCE:.0f} s")
        time.sleep(POLL)


def _shares(times: list[float]) -> dict[str, float]:
    ordered = sorted(times) or [0.0]
    return {f"p{share}": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 95, 99)}
