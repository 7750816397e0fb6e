"""What the servers of one collection share, and the thread that keeps one of them up with the others.

Shared through rows: keys of programs, the operator's key, past queries, the operator's rules, blocked hosts, settings.
Requests look at what is in memory; this thread looks every ``LOOK_EVERY`` seconds whether any of it changed.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from periplus.errors import PeriplusError
from periplus.storage import Follower

if TYPE_CHECKING:
    from periplus.app.collection import Collection

LOOK_EVERY = 1.0  # seconds between looks at what other servers changed

_logger = logging.getLogger(__name__)


class Sharing:
    """Keeps a server up with the other servers of its collection while the block lasts."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._follower: Follower | None = None
        self._said: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sharing", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        with suppress(PeriplusError):  # a collection that cannot be written to was served all the same
            self._collection.query_counts.save()

    def _watch(self) -> None:
        while True:
            self._say([str(error) for error in self.look()])
            if self._stop.wait(LOOK_EVERY):
                return

    def look(self) -> list[PeriplusError | OSError]:
        """Share what changed, here or elsewhere; what went wrong, which is tried again with the next look."""
        try:
            if self._follower is None:
                collection = self._collection
                ours = (collection.keys.operator, collection.keys.programs, collection.live, collection.query_counts)
                self._follower = Follower(*ours, *collection.engine.sharing)
            return self._follower.look(self._collection.sound_state())
        except (PeriplusError, OSError) as error:
            return [error]

    def _say(self, lines: list[str]) -> None:
        """A line once, for as long as it is the same trouble."""
        for line in lines:
            if line not in self._said:
                _logger.warning("not shared with other servers: %s", line)
        self._said = set(lines)
