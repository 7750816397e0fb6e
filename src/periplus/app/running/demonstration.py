"""The whole voyage over the small web that ships with Periplus, on loopback, with no network."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec import Struct

from periplus.app.collection import Collection
from periplus.app.serving.server import serve_collection
from periplus.crawl import audit
from periplus.demo import DEFAULT_PORT, DemoWeb
from periplus.errors import Occupied, PortInUse
from periplus.records import CrawlStatus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEMO_MARK = "demo"
# Real sites get the defaults: this web is our own, and in a hurry.
DEMO_SETTINGS = """
[crawl]
scope = "any"
delay = 0.05
ip_delay = 0.0
"""
EXAMPLES = ["spring tide", "lighthouse keeper", '"ship\'s biscuit"', "winds site:almanac.localhost"]


class Voyage(Struct, frozen=True):
    """What a demonstration did."""

    pages: int  # addresses with a stored response, now and before
    fetched: int  # of them in this run
    unchanged: int
    hosts: int
    documents: int
    links: int
    requests: int
    violations: int
    disk: int
    seconds: float


class Demonstration:
    """``periplus demo``: starts the demo web, then crawls, ranks, indexes and serves it in one folder."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self._started = time.perf_counter()
        self._web = _start_web()
        self.collection = Collection(folder, flags={"crawl.resolve": self._web.resolve, "serve.port": port})
        self._crawled = CrawlStatus()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.collection.close()
        self._web.stop()

    def crawl(self, progress: Callable[[CrawlStatus], None]) -> None:
        self._mark()
        self._crawled = self.collection.crawl(self._web.seeds(), progress=progress)

    def rank(self, progress: Callable[[int, float], None]) -> None:
        if self.collection.pipeline.due().ranks:
            self.collection.rank(progress=progress)

    def index(self, progress: Callable[[int], None]) -> None:
        self.collection.index(progress=progress)

    def voyage(self) -> Voyage:
        """The table of what was done."""
        status = self.collection.status()
        report = audit(self.collection.database)
        return Voyage(
            pages=status.pages,
            fetched=self._crawled.pages,
            unchanged=self._crawled.unchanged,
            hosts=status.crawl.hosts,
            documents=status.index.documents if status.index else 0,
            links=status.links,
            requests=report.requests,
            violations=len(report.violations),
            disk=status.disk,
            seconds=time.perf_counter() - self._started,
        )

    def serve(self, started: Callable[[str, str], None]) -> None:
        serve_collection(self.collection, started)

    def _mark(self) -> None:
        """Remember that this folder holds the demo; a collection of real pages is left alone."""
        existed = self.collection.exists
        self.collection.create(DEMO_SETTINGS)
        if existed and not is_demo(self.collection):
            raise Occupied(f"{self.collection.folder} holds a collection of yours; give the demo another --dir")
        facts = [("kind", DEMO_MARK), ("examples", msgspec.json.encode(EXAMPLES).decode())]
        with self.collection.database.write() as tx:
            tx.executemany("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING", facts)


def is_demo(collection: Collection) -> bool:
    with collection.database.read() as tx:
        return bool(tx.value("SELECT value FROM meta WHERE key = ?", ("kind",)) == DEMO_MARK)


def _start_web() -> DemoWeb:
    """On its own port, so that results open in a browser; on any other when that is taken."""
    try:
        web = DemoWeb(port=DEFAULT_PORT, public_port=DEFAULT_PORT)
        web.start()
    except PortInUse:
        web = DemoWeb(port=0, public_port=DEFAULT_PORT)
        web.start()
    return web
