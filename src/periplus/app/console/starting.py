"""Starts a crawl on behalf of the web pages: one child process that crawls, then indexes and ranks what it brought."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from periplus import crawl
from periplus.app.children import Child
from periplus.app.collection import Collection
from periplus.app.parts.occupancy import is_up
from periplus.errors import StorageBusy
from periplus.storage import Blocklist

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOOK_EVERY = 0.25  # seconds between looks whether another crawl has ended


class CrawlStarter:
    """At most one crawl a collection: the crawler's own lock decides, this only says so early."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._started = 0.0

    def start(self, seeds: Sequence[str], options: Mapping[str, Any] | None = None) -> list[str]:
        """Crawl from ``seeds`` in a process of its own; gives them back in the spelling that is used.

        ``options`` are names of crawl settings; they are remembered, as from the command line.
        """
        listed = crawl.canonical_seeds(seeds)
        loaded = self._collection.in_force(options)
        crawl.check(loaded.values.crawl, loaded.origins)  # says what is wrong before anything starts
        flags = self._collection.flags_left() | {f"crawl.{name}": value for name, value in (options or {}).items()}
        with self._lock:
            if self._is_busy():
                raise StorageBusy("a crawl is under way; stop it first, or wait for its end")
            self._begin(flags, listed)
        return listed

    def go_on(self) -> None:
        """Visit what is due, unless a crawl is under way, which does so by itself."""
        with self._lock:
            if not self._is_busy():
                self._begin(self._collection.flags_left(), [])

    def _is_busy(self) -> bool:
        """A crawl runs, or the one that was started last has not come so far yet."""
        if crawl.status(self._collection.database).state in crawl.UNDER_WAY:
            return True
        is_coming = self._child is not None and self._child.is_at_work
        return is_coming and crawl.last_sign(self._collection.database) < self._started

    def _begin(self, flags: dict[str, Any], seeds: list[str]) -> None:
        self._started = time.time()
        arguments = (str(self._collection.folder), flags, seeds, self._started)
        self._child = Child("crawler", crawl_once, arguments, lambda _: None)
        self._child.start()

    def add(self, url: str, *, trusted: bool = True) -> crawl.Submission:
        """Have one address visited now, by the crawl that is at work or by one that begins."""
        collection = self._collection
        blocked = Blocklist(collection.files).targets()
        settings = collection.in_force().values.crawl
        done = crawl.submit(collection.sound_state(), settings, url, blocked=blocked, trusted=trusted)
        is_stopped = crawl.status(collection.database).state == "stopped"  # by somebody, who is not overruled
        if done.state != "refused" and not is_up(collection.folder) and (trusted or not is_stopped):
            self.go_on()
        return done

    def close(self) -> None:
        if self._child is not None:
            self._child.stop()


def crawl_once(
    stopping: threading.Event, folder: str, flags: dict[str, Any], seeds: list[str], flags_at: float | None = None
) -> None:
    """Child: crawl until nothing is due or somebody stops it, then make what came findable."""
    with Collection(folder, flags=flags, flags_at=flags_at) as collection:
        while not stopping.is_set() and not _has_crawled(stopping, collection, seeds):
            stopping.wait(LOOK_EVERY)
        with suppress(StorageBusy):  # whoever indexes at the moment takes it up
            collection.index()
            collection.rank()


def _has_crawled(stopping: threading.Event, collection: Collection, seeds: list[str]) -> bool:
    """Crawl, unless another one came first: then its end is waited for, and no seed is lost."""
    crawler = collection.crawler(collection.in_force())
    ended = threading.Event()
    threading.Thread(target=_watch, args=(stopping, ended, crawler), daemon=True).start()
    try:
        crawler.run(seeds)
    except StorageBusy:
        return False
    finally:
        ended.set()
    return True


def _watch(stopping: threading.Event, ended: threading.Event, crawler: crawl.Crawler) -> None:
    while not ended.wait(0.2):
        if stopping.is_set():
            crawler.stop()
            return
