"""IndexStore: builds generations from batches of documents and opens them for searching."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from periplus import addresses
from periplus.errors import NotReady
from periplus.index.manifest import FILE_NAME, Manifest, SegmentEntry, read_manifest
from periplus.index.norms import Epoch
from periplus.index.snapshot import Entry, Snapshot
from periplus.index.stored import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.records import Anchor, Document

    Batches = Iterable[tuple[int, Iterable[Document]]]
    AnchorSource = Callable[[int], Sequence[Anchor]]
    PriorSource = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]


class IndexStore:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def manifest(self) -> Manifest | None:
        return read_manifest(self._folder)

    def open(self) -> Snapshot:
        manifest = self.manifest()
        if manifest is None:
            raise NotReady("no index is published yet; run periplus index")
        return Snapshot(manifest, self._entries(manifest))

    def update(
        self,
        batches: Batches,
        *,
        anchors: AnchorSource | None = None,
        prior: PriorSource | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Manifest:
        old = self.manifest() or Manifest()
        entries = {entry.document.key: entry for entry in self._entries(old)}
        last, count = old.last_batch, 0
        for number, documents in batches:
            if number <= old.last_batch:
                continue
            last = max(last, number)
            for document in documents:
                if document.refusal:
                    entries.pop(document.key, None)
                else:
                    found = tuple(anchors(place_of(document).page_key)) if anchors else ()
                    entries[document.key] = Entry(document, found)
                count += 1
                if progress:
                    progress(count)
        if last == old.last_batch and old.generation:
            return old
        return self._publish(old, list(entries.values()), last, prior)

    def rebuild(self, batches: Batches, **options: object) -> Manifest:
        old = self.manifest() or Manifest()
        self._write(Manifest(generation=old.generation))
        return self.update(batches, **options)  # type: ignore[arg-type]

    def refresh_prior(self, prior: PriorSource | None) -> Manifest:
        old = self.manifest() or Manifest()
        return self._publish(old, self._entries(old), old.last_batch, prior)

    def remove(self, keys: Iterable[int]) -> Manifest:
        old = self.manifest() or Manifest()
        gone = set(keys)
        kept = [entry for entry in self._entries(old) if entry.document.key not in gone]
        return self._publish(old, kept, old.last_batch, None)

    def _entries(self, manifest: Manifest) -> list[Entry]:
        if not manifest.segments:
            return []
        data = (self._folder / manifest.segments[0].name).read_bytes()
        return msgspec.msgpack.decode(data, type=list[Entry])

    def _publish(self, old: Manifest, entries: list[Entry], last: int, prior: PriorSource | None) -> Manifest:
        entries.sort(key=lambda entry: place_of(entry.document).order)
        if prior is not None:
            places = [place_of(entry.document) for entry in entries]
            pages = np.array([place.page_key for place in places], np.int64)
            hosts = np.array([addresses.host_key(place.host) for place in places], np.int64)
            entries = [
                Entry(e.document, e.anchors, float(p)) for e, p in zip(entries, prior(pages, hosts), strict=True)
            ]
        name = f"thin-{old.generation + 1}.msgpack"
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_bytes(msgspec.msgpack.encode(entries))
        manifest = Manifest(
            generation=old.generation + 1,
            last_batch=last,
            segments=(SegmentEntry(name, len(entries), len(entries)),),
            documents=len(entries),
            created=time.time(),
            epoch=Epoch(documents=len(entries)),
        )
        self._write(manifest)
        return manifest

    def _write(self, manifest: Manifest) -> None:
        temporary = self._folder / f"{FILE_NAME}.tmp"
        temporary.write_bytes(msgspec.json.encode(manifest))
        os.replace(temporary, self._folder / FILE_NAME)
