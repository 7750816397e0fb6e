"""``periplus up``: crawl, index and rank in child processes while this one serves the pages."""

from __future__ import annotations

import gc
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from periplus.app.children import Child
from periplus.app.collection import Collection
from periplus.app.parts.occupancy import hold_up, refuse_second_crawl
from periplus.app.running.building import build_until
from periplus.app.serving.server import Reloader, further_servers, told_where, web_server
from periplus.app.serving.verifying import Verifier
from periplus.crawl import submitted_at
from periplus.errors import Occupied, StorageBusy

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.crawl import Crawler
    from periplus.records import CrawlStatus

LOOK_EVERY = 0.25  # seconds between looks for what was asked for
REVISIT_EVERY = 30.0  # seconds between looks for pages that are due again, once the crawl has run dry


class Supervisor:
    """Runs everything that a collection needs, until Ctrl-C."""

    def __init__(self, collection: Collection, seeds: list[str], say: Callable[[str], None]) -> None:
        """Refused while another one, or a crawl, is at work in the same folder: what it was told would be lost."""
        self._collection = collection.create()
        self._say = say
        refuse_demo(collection)
        self._held = ExitStack()
        refuse_second_crawl(collection.folder)
        with ExitStack() as held:
            lock = held.enter_context(hold_up(collection.folder))
            self._server = web_server(collection)  # binds: a port in use is said before anything is fetched
            lock.serves(self._server.address)
            self._held = held.pop_all()
        arguments = (str(collection.folder), collection.flags)
        self._children = [
            Child("crawler", crawl_until, (*arguments, seeds, collection.flags_at), say),
            Child("indexer", build_until, (*arguments, collection.flags_at), say),
        ]

    def run(self, started: Callable[[str, str], None]) -> None:
        """Serve until interrupted; ``started`` gets the address of the search page and of the console."""
        for child in self._children:
            child.start()
        try:
            with (
                Reloader(self._collection),
                Verifier(self._collection),
                further_servers(self._collection, self._server.socket, self._say),
            ):
                self._server.run(told_where(self._collection, started))
        finally:
            for child in self._children:
                child.stop()
            self._held.close()


def refuse_demo(collection: Collection) -> None:
    """Pages of the demo and of real sites in one index would help nobody."""
    from periplus.app.running.demonstration import is_demo

    if is_demo(collection):
        raise Occupied(f"{collection.folder} holds the demo; give your sites another --dir, or remove that folder")


def crawl_until(
    stopping: threading.Event,
    folder: str,
    flags: dict[str, Any],
    seeds: list[str],
    flags_at: float | None = None,
) -> None:
    """Child: crawl, and crawl again whenever pages are due, until stopped."""
    with Collection(folder, flags=flags, flags_at=flags_at) as collection:
        while not stopping.is_set():
            asked = submitted_at(collection.database)
            try:
                status = _crawled(stopping, collection, seeds)
            except StorageBusy:  # one that was started by hand or over the API: ours goes on after it
                stopping.wait(LOOK_EVERY)
                continue
            seeds = []
            if status.state == "stopped":  # somebody said `periplus stop`; the pages stay up
                _wait_for_resume(stopping, collection)
            else:
                _wait_for_submission(stopping, collection, asked)


def _wait_for_submission(stopping: threading.Event, collection: Collection, asked: float) -> None:
    """Until pages may be due again, or somebody submits one after ``asked``, when the crawl before began."""
    limit = time.monotonic() + REVISIT_EVERY
    while time.monotonic() < limit and submitted_at(collection.database) <= asked:
        if stopping.wait(LOOK_EVERY):
            return


def _wait_for_resume(stopping: threading.Event, collection: Collection) -> None:
    """Until somebody says `periplus resume`, at the command line or the console, or starts another crawl."""
    from periplus.crawl import resume_wanted, status

    while not stopping.wait(LOOK_EVERY):
        if resume_wanted(collection.database) or status(collection.database).state != "stopped":
            return


def _crawled(stopping: threading.Event, collection: Collection, seeds: list[str]) -> CrawlStatus:
    """One crawl, which is told when to stop; nothing of it stays, neither a thread nor the ranks that it read."""
    crawler, ended = collection.crawler(collection.in_force()), threading.Event()
    watcher = threading.Thread(target=_stop_crawler, args=(stopping, ended, crawler), daemon=True)
    watcher.start()
    try:
        return crawler.run(seeds)
    finally:
        ended.set()
        watcher.join()
        del crawler, watcher
        gc.collect()  # its parts know each other: files and ranks that they hold would stay open for days


def _stop_crawler(stopping: threading.Event, ended: threading.Event, crawler: Crawler) -> None:
    while not ended.wait(LOOK_EVERY):
        if stopping.is_set():
            crawler.stop()
            return
