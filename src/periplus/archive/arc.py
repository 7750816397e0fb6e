"""ARC, the format before WARC: a line that names address, IP, date, type and length, then so many bytes."""

from __future__ import annotations

import datetime
from typing import Final, NamedTuple

from periplus.errors import Corrupt

START: Final = b"filedesc://"  # of the record that every file begins with
MAX_LINE: Final = 65_536  # bytes of a record's first line
_FIELDS: Final = (5, 10)  # of the two versions


class ArcRecord(NamedTuple):
    url: str
    moment: float
    kind: str
    block: bytes


def fields_of(line: bytes) -> list[str]:
    """The fields of a record's first line; an address may have spaces in it."""
    text = line.decode("utf-8", "replace")
    fields = text.split()
    if len(fields) not in _FIELDS:
        fields = text.rsplit(None, _FIELDS[0] - 1)
    if len(fields) < _FIELDS[0] or not (fields[-1].isascii() and fields[-1].isdigit() and len(fields[-1]) < 19):
        raise Corrupt(f"no ARC record here, but {line[:40]!r}")
    return fields


def record_of(fields: list[str], block: bytes) -> ArcRecord:
    return ArcRecord(fields[0], _seconds(fields[2]), fields[3], block)


def _seconds(text: str) -> float:
    try:
        return datetime.datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=datetime.UTC).timestamp()
    except ValueError:
        return 0.0
