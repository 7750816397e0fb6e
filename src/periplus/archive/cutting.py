"""Stretches of a packed archive, so that several processes read one file at once.

Each record of most WARC files is a gzip member of its own, and nothing before it is needed to read it. Where a member
begins is not written down anywhere: it is found by its first bytes, and by unpacking to the beginning of a record. The
same bytes may stand inside a record that holds an archive itself. Such a cut shows itself, because the stretch before
it then ends inside a member; whoever reads stretches has to read on from that one without them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from periplus.archive.formats import WARC
from periplus.archive.reader import opened
from periplus.archive.streams import DAMAGE, GZIP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.archive.reader import ArchiveSource
    from periplus.archive.streams import Packing, Readable

SEARCHED: Final = 64_000_000  # bytes behind which a file is taken for one that cannot be cut
CANDIDATES: Final = 100_000  # places that look like a member, of which none is one; likewise
_STEP: Final = 262_144
_LOOKED_AT: Final = 4_096  # bytes of a member


class Stretch(Struct, frozen=True):
    """Members of a file from one offset to another; ``is_last`` when it ends where the file does."""

    path: str
    start: int
    end: int
    is_last: bool


class Sought(NamedTuple):
    """Where a packed part begins, if one was found, and how many places only looked like one."""

    at: int | None
    tried: int


def can_be_cut(path: Path | str, source: ArchiveSource | None = None) -> bool:
    """Whether a file begins with a gzip member that holds a WARC record."""
    with opened(Path(path), source) as file:
        return _begins_record(file, 0, GZIP, WARC.begins)


def stretches(
    path: Path | str,
    length_at: Callable[[int], int],
    start: int = 0,
    least: int = 1,
    source: ArchiveSource | None = None,
) -> Iterator[Stretch | None]:
    """The file from ``start`` on, in stretches of about the lengths that ``length_at`` gives for the bytes left.

    The first one has ``least`` bytes. The last one is ``None`` where no further member was found: the rest has to be
    read in another way.
    """
    with opened(Path(path), source) as file:
        size = os.fstat(file.fileno()).st_size
        while start < size:
            wanted = start + max(least, length_at(size - start))
            end = size if wanted >= size else _next_cut(file, wanted, size)
            if end is None:
                yield None
                return
            yield Stretch(str(path), start, end, end == size)
            start, least = end, 1


def _next_cut(file: Readable, at: int, size: int) -> int | None:
    """The first member with a record at or behind ``at``, else the size of the file; ``None`` when it is too far."""
    limit = min(size, at + SEARCHED)
    sought = next_part(file, at, limit, GZIP, WARC.begins, CANDIDATES)
    if sought.at is not None:
        return sought.at
    return size if limit == size and sought.tried < CANDIDATES else None


def next_part(
    file: Readable, at: int, limit: int, packing: Packing, begins: Callable[[bytes], bool], tries: int
) -> Sought:
    """The first packed part from ``at`` on that unpacks to the beginning of a record."""
    tried = 0
    while at < limit:
        file.seek(at)
        data = file.read(_STEP + len(packing.magic) - 1)
        found = data.find(packing.magic)
        while 0 <= found < _STEP:
            if _begins_record(file, at + found, packing, begins):
                return Sought(at + found, tried)
            tried += 1
            if tried >= tries:
                return Sought(None, tried)
            found = data.find(packing.magic, found + 1)
        at += _STEP
    return Sought(None, tried)


def _begins_record(file: Readable, at: int, packing: Packing, begins: Callable[[bytes], bool]) -> bool:
    file.seek(at)
    data = file.read(_LOOKED_AT)
    if not data.startswith(packing.magic):
        return False
    try:
        return begins(packing.peek(data))
    except DAMAGE:
        return False
