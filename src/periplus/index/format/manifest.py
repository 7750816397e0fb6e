"""Manifest: what one published generation consists of; a small JSON file that is replaced in one step.

It names every file of the generation with its seal, and ends with a checksum of all its fields, so that whatever is
opened by it is what was published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field, structs
from xxhash import xxh3_64_hexdigest

from periplus.errors import INDEX_PART, Corrupt, Incompatible, NotFound, StorageError
from periplus.index.format.norms import Epoch

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "manifest.json"
FORMAT = 1
CHECKSUM = "checksum"


class SegmentEntry(Struct, frozen=True):
    """One segment of a generation, with the files that say what changed since it was written."""

    name: str
    documents: int  # as written
    live: int
    live_file: str = ""  # deletes and live frequencies; empty when nothing was deleted
    prior_file: str = ""
    seal: str = ""  # of segment.json; generations of earlier versions have no seals
    live_seal: int = 0
    prior_seal: int = 0
    shard: int = 0  # that all its documents are of


class SummaryEntry(Struct, frozen=True):
    """The files that say what the whole of a generation in several shards is (``generation_files.py``)."""

    words: str
    words_seal: int
    pages: str
    pages_seal: int


class Manifest(Struct, frozen=True):
    """A generation: segments, statistics and the norm epoch they share. The segments of a shard are an index."""

    generation: int = 0
    last_batch: int = 0
    segments: tuple[SegmentEntry, ...] = ()
    documents: int = 0  # live
    created: float = 0.0
    epoch: Epoch = field(default_factory=Epoch)
    statistics: dict[str, float] = field(default_factory=dict)
    format: int = FORMAT
    shards: int = 1
    summary: SummaryEntry | None = None  # of one shard there is none

    def of_shard(self, shard: int) -> Manifest:
        """This generation with the segments of one shard alone; ``NotFound`` when there is no such shard."""
        if not 0 <= shard < self.shards:
            raise NotFound(f"generation {self.generation} has no shard {shard}; its shards are 0 to {self.shards - 1}")
        entries = tuple(entry for entry in self.segments if entry.shard == shard)
        return structs.replace(self, segments=entries, documents=sum(entry.live for entry in entries))


def parts_of(manifest: Manifest) -> set[str]:
    """What it names, below the folder of the index: folders of segments, and files of overlays and summaries."""
    parts = {f"segments/{entry.name}" for entry in manifest.segments}
    parts |= {f"overlays/{name}" for e in manifest.segments for name in (e.live_file, e.prior_file) if name}
    summary = manifest.summary
    return parts | ({f"summaries/{name}" for name in (summary.words, summary.pages)} if summary else set())


def encoded(manifest: Manifest) -> bytes:
    """The manifest as it is written, with its checksum."""
    fields = msgspec.json.decode(msgspec.json.encode(manifest))
    return msgspec.json.format(msgspec.json.encode(fields | {CHECKSUM: _checksum(fields)}), indent=1)


def read_manifest(folder: Path) -> Manifest | None:
    """The published generation; ``None`` when there is none yet."""
    path = folder / FILE_NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error
    return decoded(path, data)


def decoded(path: Path, data: bytes) -> Manifest:
    try:
        fields = msgspec.json.decode(data, type=dict[str, Any])
        if fields.get("format", FORMAT) != FORMAT:
            raise Incompatible(f"{path} has format {fields['format']}, this version reads {FORMAT}; rebuild the index")
        stated = fields.pop(CHECKSUM, "")  # empty in generations of earlier versions
        if stated and stated != _checksum(fields):
            raise Corrupt(f"{path} does not match its checksum; run periplus index --rebuild", INDEX_PART)
        return msgspec.convert(fields, Manifest)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Corrupt(f"{path} is damaged ({error}); run periplus index --rebuild", INDEX_PART) from error


def _checksum(fields: dict[str, Any]) -> str:
    """Of the fields by themselves: versions to come may have more of them."""
    return xxh3_64_hexdigest(msgspec.json.encode(fields))
