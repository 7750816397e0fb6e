"""Taking records out of archive files for good, in place: all others keep their offsets, so what names them holds.

A record is overwritten by a gzip member of exactly its length that holds an empty ``metadata`` record. The places are
written to a plan first, and a crash in the middle is made good by ``finish`` (which ``repair`` calls), since carrying
out a plan twice does no harm. A file that is being written may be treated too: its writer only appends.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
import zlib
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from periplus.archive import record, thinned
from periplus.archive.writer import SUFFIX, failure
from periplus.errors import Corrupt, OverBudget, StorageError
from periplus.records import ArchiveLocation
from periplus.storage import sync
from periplus.storage.sealing import sealed, unsealed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

PLAN = "blanking.json"
REMOVED = "Periplus-Removed"
LEAST = 264  # bytes of a member that can be overwritten; the smallest that we write has 299

_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_TRAILER = 8
_STORED = 65_535  # bytes of one stored block of deflate
_BLOCK_HEADER = 5


def places_of(
    folder: Path | str, wanted: Callable[[str], bool], files: Collection[str] | None = None
) -> list[ArchiveLocation]:
    """Where all records about addresses that are ``wanted`` stand: responses, requests, revisits; in all ``files``."""
    found: list[ArchiveLocation] = []
    for path in sorted(Path(folder).glob(f"*{SUFFIX}")):
        if files is None or path.name in files:
            found += places_in(path, wanted)
    return found


def blank(folder: Path | str, places: Iterable[ArchiveLocation]) -> int:
    """Overwrite the records at these places; how many there were. The change is on disk when this returns."""
    folder = Path(folder)
    planned = [*_planned(folder), *places]
    if not planned:
        return 0
    blank_member(min(place.length for place in planned))  # raises before anything is planned that cannot be done
    temporary = folder / f".{PLAN}"
    try:
        with temporary.open("wb") as file:
            file.write(sealed(planned))
            os.fsync(file.fileno())
        temporary.replace(folder / PLAN)
        sync(folder)
        _carry_out(folder, planned)
        return len(planned)
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror or error}; the takedown is not done"
        ) from error


def finish(folder: Path | str) -> int:
    """Carry out what a plan says, if there is one."""
    folder = Path(folder)
    planned = _planned(folder)
    if planned:
        try:
            _carry_out(folder, planned)
        except OSError as error:
            raise failure(folder, error) from error
    return len(planned)


def _carry_out(folder: Path, planned: Sequence[ArchiveLocation]) -> None:
    for name in sorted({place.file for place in planned}):
        overwrite(folder / name, [place for place in planned if place.file == name])
    (folder / PLAN).unlink(missing_ok=True)
    sync(folder)


def is_blank(found: record.Record) -> bool:
    return REMOVED.lower() in found.fields


def blank_member(length: int) -> bytes:
    """A gzip member of ``length`` bytes with a record that says nothing."""
    blocks = next(n for n in count(1) if length - _overhead(n) <= n * _STORED)
    content = _empty_record(length - _overhead(blocks))
    parts = [content[at : at + _STORED] for at in range(0, len(content), _STORED)]
    if len(parts) != blocks:  # the last block would be empty
        parts += [b""] * (blocks - len(parts))
    packed = b"".join(
        struct.pack("<BHH", number == blocks, len(part), len(part) ^ 0xFFFF) + part
        for number, part in enumerate(parts, 1)
    )
    return b"".join((_GZIP_HEADER, packed, struct.pack("<II", zlib.crc32(content), len(content))))


def _overhead(blocks: int) -> int:
    return len(_GZIP_HEADER) + _TRAILER + blocks * _BLOCK_HEADER


def _empty_record(size: int) -> bytes:
    """A record of exactly ``size`` bytes, its block of spaces; a field is longer where that does not come out even."""
    for filling, width in ((filling, width) for filling in (0, 1) for width in range(1, 10)):
        fields = [
            ("WARC-Type", "metadata"),
            ("WARC-Record-ID", record.new_id()),
            ("WARC-Date", record.date_text(time.time())),
            (REMOVED, "1" * (1 + filling)),
        ]
        length = size - len(record.encode(fields, b"")) + 1 - width
        if length >= 0 and len(str(length)) == width:
            return record.encode(fields, b" " * length)
    raise Corrupt(f"a record of {size} bytes is too small to be overwritten")


def check_plan(folder: Path | str) -> None:
    """Raise ``StorageError`` where a plan is left that cannot be carried out."""
    _planned(Path(folder))


def _planned(folder: Path) -> list[ArchiveLocation]:
    """What is to be overwritten. A plan that is not as it was written is never carried out: it would hit others."""
    try:
        return unsealed((folder / PLAN).read_bytes(), list[ArchiveLocation])
    except FileNotFoundError:
        return []
    except (OSError, Corrupt) as error:
        advice = "periplus doctor --repair takes down again what was to be"
        raise StorageError(f"{folder / PLAN} cannot be read ({error}); {advice}") from error


def overwrite(path: Path, places: Sequence[ArchiveLocation]) -> None:
    """Overwrite the records at these places of one file, durably."""
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        return
    with file:
        fcntl.lockf(file, fcntl.LOCK_EX)  # a start may be writing the same bytes again: see repair
        moved = thinned.places_of(file)
        for place in places:
            at = place.offset if moved is None else moved.of(place.offset)
            if at is not None:  # else it was left out since the plan was made
                _write(file.fileno(), blank_member(place.length), at)
        os.fsync(file.fileno())


def _write(descriptor: int, member: bytes, at: int) -> None:
    data = memoryview(member)
    while data:
        written = os.pwrite(descriptor, data, at)
        data, at = data[written:], at + written


def places_in(path: Path, wanted: Callable[[str], bool]) -> Iterator[ArchiveLocation]:
    """Records of one file, as far as it is whole: a writer may be busy at its end."""
    with path.open("rb") as file:
        try:
            for placed in thinned.records(file):
                if placed.record.url and wanted(placed.record.url):
                    yield ArchiveLocation(path.name, placed.offset, placed.length)
        except (Corrupt, OverBudget):
            return
