"""Stretches of a packed archive, so that several processes read one file at once.

Each record of most WARC files is a gzip member of its own, and nothing before it is needed to read it. Where a member
begins is not written down anywhere: it is found by its first bytes, and by unpacking to the beginning of a record. The
same bytes may stand inside a record that holds an archive itself. Such a cut shows itself, because the stretch before
it then ends inside a member; whoever reads stretches has to read on from that one without them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from isal import isal_zlib
from isal.igzip_lib import IsalError
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MEMBER: Final = b"\x1f\x8b\x08"
RECORD: Final = b"WARC/"
SEARCHED: Final = 64_000_000  # bytes behind which a file is taken for one that cannot be cut
_STEP: Final = 262_144
_LOOKED_AT: Final = 4_096  # bytes of a member
_DAMAGE: Final = (cast("type[Exception]", IsalError), EOFError)


class Stretch(Struct, frozen=True):
    """Members of a file from one offset to another; ``is_last`` when it ends where the file does."""

    path: str
    start: int
    end: int
    is_last: bool


def can_be_cut(path: Path | str) -> bool:
    """Whether a file begins with a gzip member that holds a WARC record."""
    with Path(path).open("rb") as file:
        return _begins_record(file, 0)


def stretches(path: Path | str, length_at: Callable[[int], int]) -> Iterator[Stretch | None]:
    """The file in stretches of about the lengths that ``length_at`` gives for the bytes that are left.

    The last one is ``None`` where no further member was found: the rest has to be read in another way.
    """
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = 0
        while start < size:
            wanted = start + max(1, length_at(size - start))
            end = size if wanted >= size else _next_member(file, wanted, size)
            if end is None:
                yield None
                return
            yield Stretch(str(path), start, end, end == size)
            start = end


def _next_member(file: BinaryIO, at: int, size: int) -> int | None:
    """The first member with a record at or behind ``at``, else the size of the file; ``None`` when it is too far."""
    limit = at + SEARCHED
    while at < size:
        if at >= limit:
            return None
        file.seek(at)
        data = file.read(_STEP + len(MEMBER) - 1)
        found = data.find(MEMBER)
        while found >= 0:
            if _begins_record(file, at + found):
                return at + found
            found = data.find(MEMBER, found + 1)
        at += _STEP
    return size


def _begins_record(file: BinaryIO, at: int) -> bool:
    file.seek(at)
    data = file.read(_LOOKED_AT)
    if not data.startswith(MEMBER):
        return False
    try:
        return isal_zlib.decompressobj(31).decompress(data, len(RECORD)).startswith(RECORD)
    except _DAMAGE:
        return False
