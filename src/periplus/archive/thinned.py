"""Thinned files: an archive file without the records that nobody needs any more, in which all others keep their places.

A place (file, offset, length) is written down in rows, in batches and in other records, and none of these is changed
for it. So a thinned file keeps its name, its records stand in it byte for byte, and its second record is a list of the
offsets that they had and of those that they have. It takes the place of the file in one step: whoever opens the name
has the file as it was, or the thinned one with its list. It is valid WARC 1.1, whose first member says in its gzip
header (an extra field, which others pass over) that a list follows. Nobody appends to a thinned file.
"""

from __future__ import annotations

import fcntl
import os
import time
from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate
from secrets import token_hex
from typing import TYPE_CHECKING, Final, NamedTuple

from periplus.archive import member, record
from periplus.archive.writer import SOFTWARE, failure, information
from periplus.errors import Corrupt, PeriplusError
from periplus.storage import TEMPORARY_PREFIX, sync

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from periplus.archive.member import PlacedRecord

PLACES: Final = "application/vnd.periplus.places"  # Content-Type of the list
_STEP: Final = 1 << 20


class PlaceList(NamedTuple):
    """Where the records of a thinned file stood, and where they stand."""

    before: array[int]
    lengths: array[int]  # of all records before each, and of all
    start: int  # where the first one stands
    extent: int  # bytes of the file before anything was left out

    def of(self, offset: int) -> int | None:
        """Where the record stands that stood at ``offset``; none when it was left out."""
        at = bisect_left(self.before, offset)
        return self.at(at) if at < len(self.before) and self.before[at] == offset else None

    def at(self, number: int) -> int:
        """Where a record stands; of the number of them, where the last one ends."""
        return self.start + self.lengths[number]


class KeptRecord(NamedTuple):
    """A record that stays: where it stood at first, and the bytes of its member."""

    offset: int
    length: int


def places_of(file: BinaryIO) -> PlaceList | None:
    """The list of a thinned file; none of any other."""
    if not member.is_marked(file):
        return None
    try:
        found = member.placed_records(file)
        next(found)
        listed = next(found)
        return _decoded(listed.record.block, listed.offset + listed.length)
    except (PeriplusError, StopIteration, ValueError) as error:
        raise Corrupt(f"the list of places of a thinned file is damaged: {error}") from error


def is_thinned(file: BinaryIO) -> bool:
    return member.is_marked(file)


def extent(path: Path) -> int:
    """Up to where places are those of records: the size of a file, and of a thinned one the size that it had."""
    size = path.stat().st_size
    with path.open("rb") as file:
        places = places_of(file)
    if places is None:
        return size
    if size >= places.at(len(places.before)):
        return places.extent
    whole = bisect_right(places.lengths, size - places.start) - 1  # its end was lost
    return places.before[max(whole, 0)]


def records(file: BinaryIO, offset: int = 0) -> Iterator[PlacedRecord]:
    """All records from the place ``offset`` on, with their places, which in a thinned file are those that they had."""
    places = places_of(file)
    if places is None:
        yield from member.placed_records(file, offset)
        return
    at = bisect_left(places.before, offset)
    if at == len(places.before):
        return
    for placed in member.placed_records(file, places.at(at)):
        if at == len(places.before):
            raise Corrupt("records stand behind the end of a thinned file")
        yield placed._replace(offset=places.before[at])
        at += 1


def thin(path: Path, file: BinaryIO, kept: Sequence[KeptRecord]) -> int:
    """Put a thinned file with these records in place of ``path``, which ``file`` is open on; its bytes.

    The records are in the order of their places. The change is on disk when this returns.
    """
    before = places_of(file)
    size = before.extent if before is not None else path.stat().st_size
    ends = accumulate((one.length for one in kept), initial=0)
    first = member.marked(information(path.name, SOFTWARE))
    listed = _list_member(array("q", (one.offset for one in kept)), array("q", ends), size)
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{token_hex(8)}")  # by its name no archive file, for nobody
    try:
        with temporary.open("xb") as target:
            fcntl.flock(target, fcntl.LOCK_EX)  # who sweeps leaves it alone
            target.write(first)
            target.write(listed)
            for start, length in _stretches(before, kept):
                _copy(file, target, start, length)
            target.flush()
            os.fsync(target.fileno())
            temporary.replace(path)
        sync(path.parent)
    except OSError as error:
        raise failure(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return len(first) + len(listed) + sum(one.length for one in kept)


def _stretches(before: PlaceList | None, kept: Sequence[KeptRecord]) -> Iterator[tuple[int, int]]:
    """What is to be copied, as few stretches as it comes in."""
    start = length = 0
    for one in kept:
        at = one.offset if before is None else before.of(one.offset)
        if at is None:
            raise Corrupt(f"no record stands at {one.offset}")
        if at != start + length:
            if length:
                yield start, length
            start, length = at, 0
        length += one.length
    if length:
        yield start, length


def _copy(source: BinaryIO, target: BinaryIO, start: int, length: int) -> None:
    source.seek(start)
    while length > 0:
        piece = source.read(min(_STEP, length))
        if not piece:
            raise Corrupt("the file became shorter while it was copied")
        target.write(piece)
        length -= len(piece)


def _list_member(before: array[int], ends: array[int], size: int) -> bytes:
    block = array("q", [size]).tobytes() + before.tobytes() + ends.tobytes()
    fields = [
        ("WARC-Type", "metadata"),
        ("WARC-Record-ID", record.new_id()),
        ("WARC-Date", record.date_text(time.time())),
        ("Content-Type", PLACES),
    ]
    return record.pack(record.encode(fields, block))


def _decoded(block: bytes, start: int) -> PlaceList:
    """``start`` is where the first record stands."""
    numbers = array("q", block)
    count, rest = divmod(len(numbers) - 2, 2)
    if rest or count < 0:
        raise ValueError(f"{len(numbers)} numbers")
    return PlaceList(numbers[1 : 1 + count], numbers[1 + count :], start, numbers[0])
