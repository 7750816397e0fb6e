"""Settings that servers take up while they run: what the console changed, here or elsewhere, and edits of the file.

``settings.IN_FORCE`` says which of them; all others are as they were when the server started.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from periplus import settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.collection import Collection
    from periplus.settings import Settings

_Stamp = tuple[int, int]


class LiveSettings:
    """A part of what servers share (``storage.Follower``); tells listeners of settings that changed."""

    shares = settings.SHARED

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._listeners: list[Callable[[Settings], None]] = []
        self._stamp: _Stamp | None = None
        self._lock = threading.Lock()  # the console takes up at once what it changed

    def begin(self) -> Settings:
        """Go by all that is in force, before anything was made from settings."""
        self._stamp = self._stamp_of_file()
        self._spread(self._collection.in_force().values)
        return self._collection.settings

    def listen(self, listener: Callable[[Settings], None]) -> None:
        self._listeners.append(listener)

    def share(self, *, changed: bool) -> None:
        """Raises ``SettingError`` where the file was edited wrongly; what was read before stays in force."""
        with self._lock:
            stamp = self._stamp_of_file()
            if not changed and stamp == self._stamp:
                return
            running = self._collection.settings
            fresh = settings.renewed(running, self._collection.in_force().values)
            if fresh != running:
                self._spread(fresh)
            self._stamp = stamp

    def _spread(self, fresh: Settings) -> None:
        self._collection.go_by(fresh)
        self._collection.query_counts.take(on=fresh.search.past_queries, clicks=fresh.search.clicks)
        if self._collection.known_engine is not None:
            self._collection.known_engine.take(fresh)
        for listener in self._listeners:
            listener(fresh)

    def _stamp_of_file(self) -> _Stamp | None:
        try:
            found = (self._collection.folder / settings.FILE_NAME).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size
