"""Generations of an index that many machines share: a row says which is published, and its files are objects.

The folder of this machine is a working copy. It has what somebody here needed so far: a shard server only the segments
of its shard, a writer everything. All that is known of generations on one disk holds for the copy: readers lock the
record of what they have open, and what neither the published generation nor a reader names is swept.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import structs

from periplus.errors import NotFound, NotReady
from periplus.index.format.files import write_atomically
from periplus.index.format.manifest import FILE_NAME, decoded, encoded, parts_of, read_manifest
from periplus.index.format.segment import HEADER
from periplus.index.publishing.generations import OPEN_ATTEMPTS, WRITER_LOCK, Generations, Hold, taken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.index.format.manifest import Manifest
    from periplus.storage import Catalog, CatalogEntry, Depot


class SharedGenerations(Generations):
    def __init__(self, folder: Path, catalog: Catalog) -> None:
        super().__init__(folder)
        self._catalog = catalog
        self._decoded: tuple[CatalogEntry, Manifest] | None = None
        self._tidied = 0  # the generation after which this copy was swept last

    @property
    def depot(self) -> Depot:
        return self._catalog.depot

    def current(self) -> Manifest | None:
        found = self._current()
        return found[1] if found else None

    def _current(self) -> tuple[CatalogEntry, Manifest] | None:
        entry = self._catalog.current()
        if entry is None:
            return None
        if self._decoded is None or self._decoded[0] is not entry:
            self._decoded = entry, decoded(self._folder / FILE_NAME, entry.manifest)
        return self._decoded

    def published(self) -> int:
        return self._catalog.newest()

    def newest(self) -> int:
        return self._catalog.newest()

    def recorded_shards(self) -> int:
        return 0  # records of this copy may be of any age

    def is_here(self, segment: str) -> bool:
        found = self._current()
        part = f"segments/{segment}"
        return found is not None and self._catalog.is_here(found[0], lambda name: _part_of(name) == part)

    def fetch_headers(self, manifest: Manifest) -> None:
        found = self._current()
        if found is not None and found[1].generation == manifest.generation:
            self._catalog.pull(found[0], lambda name: name.endswith(f"/{HEADER}"))

    # Reading

    def hold(self, shard: int | None = None, *, summary_only: bool = False) -> Hold:
        self._make_folders()
        for _ in range(OPEN_ATTEMPTS):
            found = self._current()
            if found is None:
                raise NotReady("no index is published yet; run periplus index")
            entry, manifest = found
            descriptor = self._recorded(manifest)
            if descriptor is None:
                continue
            try:
                self._pull(entry, _part(manifest, shard, summary_only=summary_only))
            except BaseException as error:
                os.close(descriptor)
                if not isinstance(error, NotFound) or self._catalog.newest() == entry.number:
                    raise
                continue
            self._tidy(manifest)
            return Hold(manifest, descriptor)
        raise NotReady("the index is being replaced all the time; try again")

    def _recorded(self, manifest: Manifest) -> int | None:
        """The record of a generation, locked before its files are pulled, so that nobody here sweeps them."""
        record = self._record(manifest.generation)
        if not record.exists():
            write_atomically(record, encoded(manifest))
        return self._locked(record)

    def _pull(self, entry: CatalogEntry, part: Manifest) -> None:
        wanted = parts_of(part)
        self._catalog.pull(entry, lambda name: _part_of(name) in wanted)

    def _tidy(self, manifest: Manifest) -> None:
        """Once a generation: name it to other processes of this machine, and sweep those before, unless one writes."""
        if manifest.generation <= self._tidied:
            return
        self._tidied = manifest.generation
        with (self._folder / WRITER_LOCK).open("w") as lock:
            if not taken(lock):
                return
            here = read_manifest(self._folder)
            if here is None or here.generation < manifest.generation:
                write_atomically(self._folder / FILE_NAME, encoded(manifest))
            super().sweep()
            self._catalog.forget_swept()

    # Writing

    @contextmanager
    def writing(self, *, fresh: bool = False) -> Iterator[None]:
        with super().writing(), self._catalog.writing():
            if not fresh:  # what is built anew needs nothing of a generation that may be damaged
                self._take_up()
            self._catalog.sweep_leftovers()
            yield

    @contextmanager
    def publishing(self) -> Iterator[None]:
        with super().publishing(), self._catalog.publishing():
            self._take_up()
            yield

    @contextmanager
    def merging(self) -> Iterator[bool]:
        self._make_folders()
        with super().merging() as is_alone:
            if not is_alone:
                yield False
                return
            with self._catalog.merging() as is_only:
                yield is_only

    def _take_up(self) -> None:
        """Have all of the published generation here."""
        found = self._current()
        if found is not None:
            entry, manifest = found
            self._catalog.pull(entry)
            super().publish(manifest)

    def stage(self, folder: Path) -> None:
        for path in sorted(folder.iterdir()):
            name = f"{folder.name}/{path.name}"
            self._catalog.stage(f"{folder.parent.name}/{name}", f"segments/{name}")

    def publish(self, manifest: Manifest) -> None:
        """Upload what is new, then write the row, then let this machine know."""
        self._catalog.publish(manifest.generation, encoded(manifest), self._names(manifest))
        super().publish(manifest)

    def _names(self, manifest: Manifest) -> Iterator[str]:
        """The files of a generation; those of segments that are published already as they are known there."""
        found = self._current()
        known: dict[str, list[str]] = {}
        for name in found[0].files if found else ():
            known.setdefault(_part_of(name), []).append(name)
        for part in sorted(parts_of(manifest)):
            yield from known.get(part) or self._files_of(part)

    def drop_replaced(self) -> None:
        with self._catalog.writing():
            self._catalog.sweep(at_once=True)

    def sweep(self) -> None:
        super().sweep()
        self._catalog.forget_swept()
        self._catalog.sweep()


def _part(manifest: Manifest, shard: int | None, *, summary_only: bool) -> Manifest:
    """What of a generation is needed."""
    if summary_only:
        return structs.replace(manifest, segments=())
    return structs.replace(manifest if shard is None else manifest.of_shard(shard), summary=None)


def _part_of(name: str) -> str:
    return "/".join(name.split("/", 2)[:2])
