"""ARC, the format before WARC: a line that names address, IP, date, type and length, then so many bytes."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from periplus.archive.member import MAX_RECORD
from periplus.errors import Corrupt, OverBudget, Truncated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

START: Final = b"filedesc://"  # of the record that every file begins with
_LINE: Final = 65_536  # bytes of a record's first line
_FIELDS: Final = 5  # at least; the second version has more before the length


class ArcRecord(NamedTuple):
    url: str
    moment: float
    kind: str
    block: bytes


def records(stream: BufferedReader) -> Iterator[ArcRecord]:
    """All records of the file but the one that describes it."""
    while line := stream.readline(_LINE):
        if not line.strip():
            continue
        found = _record(line, stream)
        if not line.startswith(START):
            yield found


def _record(line: bytes, stream: BufferedReader) -> ArcRecord:
    fields = line.decode("utf-8", "replace").split()
    if len(fields) < _FIELDS or not (fields[-1].isascii() and fields[-1].isdigit() and len(fields[-1]) < 19):
        raise Corrupt(f"no ARC record here, but {line[:40]!r}")
    length = int(fields[-1])
    if length > MAX_RECORD:
        raise OverBudget(f"a record of {length} bytes is larger than {MAX_RECORD}")
    block = stream.read(length)
    if len(block) < length:
        raise Truncated(f"an ARC record has {len(block)} of {length} bytes")
    return ArcRecord(fields[0], _seconds(fields[2]), fields[3], block)


def _seconds(text: str) -> float:
    try:
        return datetime.datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=datetime.UTC).timestamp()
    except ValueError:
        return 0.0
