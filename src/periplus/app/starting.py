"""Starts a crawl on behalf of the web pages: one child process that crawls, then indexes and ranks what it brought."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from periplus import addresses, crawl
from periplus.app.children import Child
from periplus.app.collection import Collection
from periplus.errors import StorageBusy

if TYPE_CHECKING:
    from collections.abc import Sequence

BUSY = ("running", "paused", "stopping")


class CrawlStarter:
    """At most one crawl a collection: the crawler's own lock decides, this only says so early."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._lock = threading.Lock()
        self._child: Child | None = None

    def start(self, seeds: Sequence[str]) -> list[str]:
        """Crawl from ``seeds`` in a process of its own; gives them back in the spelling that is used."""
        listed = crawl.canonical_seeds(seeds)
        with self._lock:
            if crawl.status(self._collection.database).state in BUSY:
                raise StorageBusy("a crawl is under way; stop it first, or wait for its end")
            arguments = (str(self._collection.folder), self._collection.flags, listed)
            self._child = Child("crawler", crawl_once, arguments, lambda _: None)
            self._child.start()
        return listed

    def add(self, url: str) -> str:
        """Crawl one address now; ``known`` when the crawl has it already, which visits it when it is due."""
        wanted = addresses.canonical(url)
        place = addresses.host_key(addresses.host(wanted)), addresses.key(wanted)
        with self._collection.database.read() as tx:
            if tx.value("SELECT 1 FROM urls WHERE host = ? AND key = ?", place):
                return "known"
        self.start([wanted])
        return "queued"

    def close(self) -> None:
        if self._child is not None:
            self._child.stop()


def crawl_once(stopping: threading.Event, folder: str, flags: dict[str, Any], seeds: list[str]) -> None:
    """Child: crawl until nothing is due or somebody stops it, then make what came findable."""
    with Collection(folder, flags=flags) as collection, suppress(StorageBusy):
        crawler = crawl.Crawler(collection.folder, collection.database, collection.settings)
        ended = threading.Event()
        threading.Thread(target=_watch, args=(stopping, ended, crawler), daemon=True).start()
        try:
            crawler.run(seeds)
        finally:
            ended.set()
        collection.index()
        collection.rank()


def _watch(stopping: threading.Event, ended: threading.Event, crawler: crawl.Crawler) -> None:
    while not ended.wait(0.2):
        if stopping.is_set():
            crawler.stop()
            return
