"""Manifest: what one published generation consists of; a small JSON file that is replaced in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from periplus.errors import Corrupt, Incompatible
from periplus.index.norms import Epoch

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "manifest.json"
FORMAT = 1


class SegmentEntry(Struct, frozen=True):
    """One segment of a generation, with the files that say what changed since it was written."""

    name: str
    documents: int  # as written
    live: int
    live_file: str = ""  # deletes and live frequencies; empty when nothing was deleted
    prior_file: str = ""


class Manifest(Struct, frozen=True):
    """A generation: segments, statistics and the norm epoch they share."""

    generation: int = 0
    last_batch: int = 0
    segments: tuple[SegmentEntry, ...] = ()
    documents: int = 0  # live
    created: float = 0.0
    epoch: Epoch = field(default_factory=Epoch)
    statistics: dict[str, float] = field(default_factory=dict)
    format: int = FORMAT


def read_manifest(folder: Path) -> Manifest | None:
    """The published generation; ``None`` when there is none yet."""
    path = folder / FILE_NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        fields = msgspec.json.decode(data)
        if isinstance(fields, dict) and fields.get("format", FORMAT) != FORMAT:
            raise Incompatible(f"{path} has format {fields['format']}, this version reads {FORMAT}; rebuild the index")
        return msgspec.convert(fields, Manifest)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise Corrupt(f"{path} is damaged ({error}); rebuild the index") from error
