"""``periplus up`` where machines have joined: they crawl, index, rank and serve, and this process crawls with them."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from periplus.app.children import Child
from periplus.app.machines import running
from periplus.app.running.up import crawl_until, refuse_demo
from periplus.cluster import Nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.collection import Collection


class ClusterSupervisor:
    """Has the cluster run all that a collection needs, until Ctrl-C; a crash of this process leaves it running."""

    def __init__(self, collection: Collection, seeds: list[str], say: Callable[[str], None]) -> None:
        refuse_demo(collection)
        self._collection = collection.create()
        arguments = (str(collection.folder), collection.flags, seeds, collection.flags_at)
        self._crawler = Child("crawler", crawl_until, arguments, say)  # brings the seeds in
        self._say = say

    def run(self, started: Callable[[str, str], None]) -> None:
        """Until interrupted; ``started`` gets the address of a search page and of its console."""
        stopping = threading.Event()
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, lambda *_: stopping.set())
        with running(self._collection):
            self._crawler.start()
            try:
                started(*self._pages())
                stopping.wait()
            finally:
                self._crawler.stop()

    def _pages(self) -> tuple[str, str]:
        """Every node has a broker; the addresses of one, and the others in words."""
        port = self._collection.settings.serve.port
        pages = [f"http://{node.address}:{port}/" for node in Nodes(self._collection.database).alive() if node.is_free]
        if len(pages) > 1:
            self._say(f"also at {', '.join(pages[1:])}")
        first = self._collection.settings.serve.public_url or next(iter(pages), "")
        return first, f"{first.rstrip('/')}/console"
