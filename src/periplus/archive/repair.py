"""Cutting the torn tail that a crash leaves at the end of a file, and making sure of what stands before it.

A file that its writer closed is looked at from its end only; one whose marker is still there is read through from where
that writer began, so that damage in what was there before cuts nothing off. A file that some process is writing now is
left alone. What is to be trusted although no writer has synced it is written again: after a sync that failed, the
kernel may show bytes that it never wrote, and the next sync of them succeeds.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.archive import blanking
from periplus.archive.tails import ends_whole, whole_bytes
from periplus.archive.writer import SUFFIX, begun_at, failure, marker_of
from periplus.errors import StorageError
from periplus.storage import sync

if TYPE_CHECKING:
    from typing import BinaryIO


PIECE = 1 << 20  # bytes that are written again at once


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
    found = [repair_file(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    if any(found):
        sync(folder)
    return [item for item in found if item is not None]


def repair_file(path: Path) -> Repair | None:
    """Cut one file back to its last whole record, unless somebody writes it."""
    try:
        with path.open("r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            return _cut(path, file)
    except FileNotFoundError:
        return None  # nothing of it was left when it was thinned
    except OSError as error:
        raise StorageError(f"{path} cannot be repaired: {error.strerror or error}") from error


def write_again(path: Path, place: int) -> None:
    """Have what stands behind ``place`` on disk for certain, whatever became of it before."""
    try:
        with path.open("r+b", buffering=0) as file:
            fcntl.lockf(file, fcntl.LOCK_EX)  # a takedown that overwrites records waits, or is over
            for at in range(place, os.fstat(file.fileno()).st_size, PIECE):
                data = os.pread(file.fileno(), PIECE, at)
                done = 0
                while done < len(data):
                    done += os.pwrite(file.fileno(), data[done:], at + done)
            os.fsync(file.fileno())
    except OSError as error:
        raise failure(path, error) from error


def _cut(path: Path, file: BinaryIO) -> Repair | None:
    size = path.stat().st_size
    marker = marker_of(path)
    kept = size if not marker.exists() and ends_whole(file, size) else _kept(file, size, begun_at(marker))
    if kept < size:
        file.truncate(kept)
        os.fsync(file.fileno())
    if kept == 0:
        path.unlink()
    marker.unlink(missing_ok=True)
    return Repair(path.name, kept, size - kept) if kept < size or kept == 0 else None


def _kept(file: BinaryIO, size: int, begun: int) -> int:
    return begun + whole_bytes(file, begun) if begun <= size else whole_bytes(file)
