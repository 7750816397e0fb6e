"""What ``periplus up`` does with what was crawled: indexed and ranked when it is due, merged behind that."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from periplus import log_lines
from periplus.app.collection import Collection
from periplus.errors import INDEX_PART, Corrupt, LeaseLost, NotFound, StorageBusy, StorageError, StorageFull
from periplus.storage import write_event

LOOK_EVERY = 0.25  # seconds between looks for new batches
REST = 20.0  # a rank run, or an index built anew, that took t seconds is followed by a pause of at least REST * t
FULL_DISK_PAUSE = 60.0
DAMAGE_PAUSE = 60.0  # after damage that cannot be mended here
REBUILD_PAUSE = 60.0  # at least, between two times that the index is built anew: a disk may damage whatever is written
TIDY_EVERY = 60.0  # seconds between looks for files of batches that were merged
MERGE_NICENESS = 10  # of the thread that merges


def build_until(stopping: threading.Event, folder: str, flags: dict[str, Any], flags_at: float | None = None) -> None:
    """Child: index and rank whenever there is something new, until stopped; merges run beside that."""
    from periplus.index.building.builder import load_kernels

    load_kernels()  # loads the kernels, so that the first page need not wait for that
    with Collection(folder, flags=flags, flags_at=flags_at) as collection:
        builder = Builder(collection)
        while not stopping.wait(LOOK_EVERY):
            try:
                builder.look()
            except (StorageBusy, LeaseLost):
                continue  # somebody runs `periplus index` by hand, or another machine does: look again later
            except StorageFull:
                stopping.wait(FULL_DISK_PAUSE)
            except Corrupt as damage:
                builder.tell(damage)
                stopping.wait(DAMAGE_PAUSE)


class Builder:
    """What the child that indexes does at each look."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._next_rank, self._next_tidy = 0.0, time.monotonic() + TIDY_EVERY
        self._merging: Merging | None = None
        self._next_rebuild = 0.0
        self._told: set[str] = set()

    def look(self) -> None:
        """An index that is damaged is built anew; other damage is raised.

        Who searches goes on with what is open, until the new generation is there.
        """
        try:
            self._step()
        except Corrupt as damage:
            if damage.part != INDEX_PART or time.monotonic() < self._next_rebuild:
                raise
            self._build_again(damage)
        self._told.clear()

    def tell(self, damage: Corrupt) -> None:
        """Once, also where the state is what is damaged."""
        if str(damage) in self._told:
            return
        self._told.add(str(damage))
        log_lines.say(str(damage), "error", event=damage.code)
        with suppress(StorageError), self._collection.database.write() as tx:
            write_event(tx, "jobs", f"index and ranks wait: {damage}", "error")

    def _step(self) -> None:
        pipeline = self._collection.pipeline
        if self._merging is not None and self._merging.met_damage:
            self._merging = None
            self._verify_segments()
        due = pipeline.due()
        if due.ranks and time.monotonic() >= self._next_rank:
            began = time.monotonic()
            self._collection.rank()
            self._next_rank = time.monotonic() + REST * (time.monotonic() - began)
        if due.batches or due.backlog:
            pipeline.index(merge=False)
            self._merge()
        if time.monotonic() >= self._next_tidy:
            self._next_tidy = time.monotonic() + TIDY_EVERY
            pipeline.tidy()

    def _build_again(self, damage: Corrupt) -> None:
        began = time.monotonic()
        try:
            self._collection.pipeline.index(rebuild=True, why=str(damage))
        finally:
            now = time.monotonic()
            self._next_rebuild = now + max(REBUILD_PAUSE, REST * (now - began))

    def _verify_segments(self) -> None:
        """A merge that another publication overtook may miss files; one of a damaged index fails for good."""
        store = self._collection.stores.index
        manifest = store.manifest()
        for entry in manifest.segments if manifest else ():
            try:
                store.verify_segment(entry.name)
            except Corrupt:
                raise
            except NotFound:
                pass  # swept

    def _merge(self) -> None:
        if self._merging is None or not self._merging.is_alive():
            self._merging = Merging(self._collection)
            self._merging.start()


class Merging(threading.Thread):
    """What a full disk or another process keeps from being merged now is merged after a later update."""

    def __init__(self, collection: Collection) -> None:
        super().__init__(daemon=True)
        self._collection = collection
        self.met_damage = False

    def run(self) -> None:
        _step_back()
        try:
            self._collection.pipeline.merge()
        except Corrupt:
            self.met_damage = True
        except StorageError:
            pass


def _step_back() -> None:
    """Searches come before this thread."""
    if sys.platform == "linux":  # where threads have priorities of their own
        with suppress(OSError):
            niceness = max(MERGE_NICENESS, os.getpriority(os.PRIO_PROCESS, 0))
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
