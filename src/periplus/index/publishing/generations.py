"""Generations on disk: the published one, those that readers still hold, and the sweeping of all others.

manifest.json             the published generation
generations/<n>.json      the same for every generation that may still be open; readers hold a shared lock on it
segments/<name>/          immutable
overlays/<name>.<n>.live  deletes and priors of a segment as of a generation
summaries/<n>.words       what is known of a generation in several shards as a whole
writer.lock               held by the one process that writes
built/<name>/             a segment that a task wrote; moved to segments/ when its turn comes
merging/<name>/           a segment that is being merged; moved to segments/ when it is published
merger.lock               held by the one process that merges, which takes writer.lock only to publish
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from periplus.errors import INDEX_PART, Corrupt, DatabaseBusy, Incompatible, NotReady
from periplus.index.format.files import write_atomically
from periplus.index.format.manifest import FILE_NAME, Manifest, decoded, encoded, parts_of, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

    from periplus.storage import Depot

OPEN_ATTEMPTS = 100
WRITER_LOCK = "writer.lock"
MERGER_LOCK = "merger.lock"
PUBLISHING_TIME = 60.0  # seconds that a merger may hold the writer's lock
POLL = 0.02


class Hold:
    """A generation that must not be swept while this is open; a forgotten one is let go when it is collected."""

    def __init__(self, manifest: Manifest, descriptor: int) -> None:
        self.manifest = manifest
        self.release = weakref.finalize(self, os.close, descriptor)


class Generations:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def segments(self) -> Path:
        return self._folder / "segments"

    @property
    def overlays(self) -> Path:
        return self._folder / "overlays"

    @property
    def summaries(self) -> Path:
        return self._folder / "summaries"

    def current(self) -> Manifest | None:
        """The published generation; ``None`` when there is none yet, ``Corrupt`` when it is damaged or was lost."""
        manifest = read_manifest(self._folder)
        # A writer may be about to publish the first one.
        if manifest is None and self.highest_number() and not self._is_held(WRITER_LOCK):
            manifest = read_manifest(self._folder)
            if manifest is None:
                path = self._folder / FILE_NAME
                raise Corrupt(
                    f"{path} is missing, but an index was published; run periplus index --rebuild", INDEX_PART
                )
        return manifest

    def whole(self) -> Manifest | None:
        """The published generation; ``None`` where it is damaged, too."""
        try:
            return self.current()
        except (Corrupt, Incompatible):
            return None

    def highest_number(self) -> int:
        """The highest number that a generation was given, whatever is left of it."""
        names = [path.stem for path in self._record(0).parent.glob("*.json")]
        return max((int(name) for name in names if name.isdigit()), default=0)

    def recorded_shards(self) -> int:
        """In how many shards the newest generation is of which a whole record is left; 0 when there is none."""
        for record in sorted(self._record(0).parent.glob("*.json"), reverse=True):
            with suppress(Corrupt, Incompatible, OSError):
                return decoded(record, record.read_bytes()).shards
        return 0

    def published(self) -> int:
        """The number of the published generation; 0 when there is none yet."""
        manifest = self.current()
        return manifest.generation if manifest else 0

    def is_here(self, segment: str) -> bool:
        """Whether all files of a published segment should be on this machine."""
        return True

    def fetch_headers(self, manifest: Manifest) -> None:
        """Have the headers of all segments here, where they may be elsewhere."""

    def names(self, manifest: Manifest) -> list[str]:
        """All files of a generation that is whole on this machine, below the folder of the index."""
        return [name for part in sorted(parts_of(manifest)) for name in self._files_of(part)]

    def _files_of(self, part: str) -> list[str]:
        path = self._folder / part
        return [f"{part}/{file.name}" for file in sorted(path.iterdir())] if path.is_dir() else [part]

    def hold(self, shard: int | None = None, *, summary_only: bool = False) -> Hold:
        """The published generation, kept from being swept. What is needed of it says what must be on this machine."""
        last = -1
        for _ in range(OPEN_ATTEMPTS):
            manifest = self.current()
            if manifest is None:
                raise NotReady("no index is published yet; run periplus index")
            descriptor = self._locked(self._record(manifest.generation))
            if descriptor is not None:
                return Hold(manifest, descriptor)
            if manifest.generation == last:
                raise Corrupt(f"{self._record(last)} is missing; run periplus doctor --repair", INDEX_PART)
            last = manifest.generation
        raise NotReady("the index is being replaced all the time; try again")

    @property
    def depot(self) -> Depot | None:
        """By which segments come from tasks on other machines."""
        return None

    @property
    def built_folder(self) -> Path:
        """Where tasks write segments, until their turn comes."""
        return self._folder / "built"

    @property
    def merging_folder(self) -> Path:
        return self._folder / "merging"

    @contextmanager
    def writing(self, *, fresh: bool = False) -> Iterator[None]:
        """Be the only writer; waits for one that only publishes a merge, and refuses when another one writes.

        A ``fresh`` start needs nothing of the published generation.
        """
        self._make_folders()
        with (self._folder / WRITER_LOCK).open("w") as lock:
            patience = time.monotonic() + PUBLISHING_TIME
            while not taken(lock):
                if time.monotonic() > patience or not self._is_held(MERGER_LOCK):
                    raise DatabaseBusy(f"another process is writing {self._folder}; wait until it is done")
                time.sleep(POLL)
            yield

    @contextmanager
    def merging(self) -> Iterator[bool]:
        """Be the only merger; False when another one is at it. What a crashed one left behind is removed."""
        if not self.merging_folder.is_dir():
            yield False  # nothing was ever written here
            return
        with (self._folder / MERGER_LOCK).open("w") as lock:
            is_alone = taken(lock)
            if is_alone:
                for path in self.merging_folder.iterdir():
                    shutil.rmtree(path, ignore_errors=True)
            yield is_alone

    @contextmanager
    def publishing(self) -> Iterator[None]:
        """Be the only writer, however long that takes; for the merger."""
        with (self._folder / WRITER_LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _make_folders(self) -> None:
        folders = (self.segments, self.overlays, self.summaries, self.merging_folder, self._record(0).parent)
        for folder in (self._folder, *folders):
            folder.mkdir(parents=True, exist_ok=True)

    def stage(self, folder: Path) -> None:
        """A segment that a merge wrote in ``merging_folder`` will be published; nothing is to be done on one disk."""

    def _is_held(self, name: str) -> bool:
        """Whether some process has the lock of that name."""
        try:
            with (self._folder / name).open("r") as lock:
                return not taken(lock)
        except FileNotFoundError:
            return False

    def publish(self, manifest: Manifest) -> None:
        """Make ``manifest`` the generation that readers open from now on; all its files are already on the disk."""
        data = encoded(manifest)
        write_atomically(self._record(manifest.generation), data)
        write_atomically(self._folder / FILE_NAME, data)

    def sweep(self) -> None:
        """Remove what no published or held generation refers to; only the writer may call this."""
        current = self.whole()
        kept = [current] if current else []
        for record in self._record(0).parent.glob("*.json"):
            held = self._held(record, current)
            if held is not None:
                kept.append(held)
        segments = {entry.name for manifest in kept for entry in manifest.segments}
        overlays = {name for m in kept for entry in m.segments for name in (entry.live_file, entry.prior_file) if name}
        summaries = {name for m in kept if m.summary for name in (m.summary.words, m.summary.pages)}
        for path in self.segments.iterdir():
            if path.name not in segments:
                shutil.rmtree(path, ignore_errors=True)
        for folder, names in ((self.overlays, overlays), (self.summaries, summaries)):
            for path in folder.glob("*"):
                if path.name not in names:
                    path.unlink(missing_ok=True)

    def drop_replaced(self) -> None:
        """Leave nobody time with files of earlier generations; on one disk the sweep of a publication is enough."""

    def _record(self, generation: int) -> Path:
        return self._folder / "generations" / f"{generation:08d}.json"

    @staticmethod
    def _locked(record: Path) -> int | None:
        """A descriptor of the record under a shared lock; ``None`` when it was swept meanwhile."""
        try:
            descriptor = os.open(record, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        try:
            is_there = os.fstat(descriptor).st_ino == record.stat().st_ino
        except FileNotFoundError:
            is_there = False
        if is_there:
            return descriptor
        os.close(descriptor)
        return None

    def _held(self, record: Path, current: Manifest | None) -> Manifest | None:
        """The manifest of a record that a reader holds; records that nobody holds are removed."""
        if current is not None and record == self._record(current.generation):
            return None
        with record.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                with suppress(Corrupt, Incompatible):  # who holds it has mapped its files already
                    return decoded(record, file.read())
                return None
            record.unlink()
        return None


def taken(lock: IO[str]) -> bool:
    """Whether the lock could be taken; it is let go when the file is closed."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
