"""Reads every file of a collection once, behind a running server, and tells of what is damaged before anybody asks.

Opening a generation compares all that kernels walk over. Stored texts, batches and the like are compared when they are
first read, which may be months later; here they are read in good time, one file after another with a pause between.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from periplus.errors import Corrupt, PeriplusError, StorageError
from periplus.storage import write_event
from periplus.storage.parquet import check_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.app.collection import Collection

PAUSE = 0.05  # seconds between two files
EVERY = 60.0  # seconds between two looks for files that are new
BATCHES = ("documents/", "links/")


class Verifier:
    """Works while its block runs; ``first_round`` is set when everything was read once."""

    def __init__(self, collection: Collection, pause: float = PAUSE) -> None:
        self._collection = collection
        self._pause = pause
        self._read: set[str] = set()
        self._stop = threading.Event()
        self.first_round = threading.Event()
        self._thread = threading.Thread(target=self._run, name="verifier", daemon=True)

    def __enter__(self) -> Verifier:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with suppress(OSError):  # a folder that is gone for a moment
                for name, check in self._checks():
                    if name not in self._read:
                        self._verify(name, check)
                        if self._stop.wait(self._pause):
                            return
            self.first_round.set()
            if self._stop.wait(EVERY):
                return

    def _checks(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """What there is to read now, by a name that changes with it."""
        collection = self._collection
        store, ranks = collection.stores.index, collection.stores.ranks
        with suppress(PeriplusError):  # a manifest that cannot be read is told by every search
            manifest = store.manifest()
            for entry in manifest.segments if manifest else ():
                yield f"segment {entry.name}", lambda name=entry.name: store.verify_segment(name)  # type: ignore[misc]
            if manifest and manifest.summary:
                yield f"generation {manifest.generation}", lambda: store.open_files().close()
        with suppress(PeriplusError):
            meta = ranks.meta()
            if meta is not None:
                yield f"ranks {meta.generation}", ranks.current
        for name in [name for folder in BATCHES for name in collection.files.names(folder)]:
            yield name, lambda name=name: check_whole(name, collection.files.read(name))  # type: ignore[misc]

    def _verify(self, name: str, check: Callable[[], object]) -> None:
        self._read.add(name)
        try:
            check()
        except Corrupt as error:
            self._tell(str(error))
        except (PeriplusError, OSError):
            self._read.discard(name)  # swept or compacted meanwhile

    def _tell(self, damage: str) -> None:
        self._collection.note_damage(damage)
        with suppress(StorageError), self._collection.database.write() as tx:
            write_event(tx, "files", damage, "error")
