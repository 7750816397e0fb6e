"""Cutting the torn tail that a crash leaves at the end of a file.

A file that its writer closed is looked at from its end only; one whose marker is still there is read through.
A file that some process is writing now is left alone.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.archive import blanking, member
from periplus.archive.writer import SUFFIX, marker_of, sync_folder
from periplus.errors import Corrupt, OverBudget, StorageError

if TYPE_CHECKING:
    from typing import BinaryIO

_TAIL = 1_000_000  # bytes looked at before the whole file is read
_HEADER = member.MAGIC + b"\x08"


class Repair(Struct, frozen=True):
    """What was cut off one file; a file with no whole record left is removed."""

    file: str
    kept: int
    removed: int


def repair(folder: Path | str) -> list[Repair]:
    """Cuts every packed file of ``folder`` back to its last whole record; tells which ones needed it."""
    folder = Path(folder)
    if not folder.is_dir():
        return []
    blanking.finish(folder)  # before anything is judged: a record half overwritten would look like a torn tail
    found = [_repaired(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    if any(found):
        sync_folder(folder)
    return [item for item in found if item is not None]


def _repaired(path: Path) -> Repair | None:
    try:
        with path.open("r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            return _cut(path, file)
    except OSError as error:
        raise StorageError(f"{path} cannot be repaired: {error.strerror or error}") from error


def _cut(path: Path, file: BinaryIO) -> Repair | None:
    size = path.stat().st_size
    marker = marker_of(path)
    kept = size if not marker.exists() and _ends_whole(file, size) else whole_bytes(file)
    if kept < size:
        file.truncate(kept)
        os.fsync(file.fileno())
    if kept == 0:
        path.unlink()
    marker.unlink(missing_ok=True)
    return Repair(path.name, kept, size - kept) if kept < size or kept == 0 else None


def _ends_whole(file: BinaryIO, size: int) -> bool:
    """Whether some member near the end is followed by whole members up to the very end."""
    start = max(0, size - _TAIL)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(_HEADER)
    while at >= 0:
        if start + at + whole_bytes(file, start + at) == size:
            return True
        at = tail.rfind(_HEADER, 0, at)
    return False


def whole_bytes(file: BinaryIO, offset: int = 0) -> int:
    """Bytes of whole members that hold records, from ``offset`` on."""
    kept = 0
    try:
        for length, content in member.members(file, offset):
            if not content.startswith(b"WARC/"):
                break
            kept += length
    except (Corrupt, OverBudget):
        return kept
    return kept
