"""The two formats of archives as a reader of damaged files needs them: how a record begins, and how long it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from periplus.archive import arc, record
from periplus.archive.record import Record

if TYPE_CHECKING:
    from periplus.archive.arc import ArcRecord

_MOST_OF_ALL: Final = 4_096  # bytes that nearly all heads fit into


class Head(NamedTuple):
    """What stands before the block of a record."""

    size: int
    length: int  # of the block
    line: list[str]  # of an ARC record
    fields: dict[str, str]  # of a WARC record


class Format(Protocol):
    """A kind of archive."""

    start: re.Pattern[bytes]  # how a record begins
    longest: int  # bytes that ``start`` looks at

    def begins(self, data: bytes) -> bool:
        """Whether bytes begin a record."""

    def head(self, data: bytearray, at: int) -> Head | None:
        """The head of the record at ``at``; none when more has to be read. Raises ``Corrupt``."""

    def record(self, head: Head, block: bytes) -> Record | ArcRecord: ...


class _Warc:
    start = re.compile(rb"WARC/[01]\.\d{1,3}\r?\n[A-Za-z][\w-]{1,60}:")
    longest = 80

    def begins(self, data: bytes) -> bool:
        return data.startswith(b"WARC/")

    def head(self, data: bytearray, at: int) -> Head | None:
        if not b"WARC/".startswith(data[at : at + 5]):
            raise record.foreign(bytes(data[at : at + 20]))
        for most in (_MOST_OF_ALL, record.MAX_FIELDS):
            found = bytes(data[at : at + most])
            size = record.fields_end(found)
            if size >= 0:
                fields = record.parse_fields(found[:size])
                return Head(size, record.block_length(fields), [], fields)
            if len(found) < most:
                return None
        return None

    def record(self, head: Head, block: bytes) -> Record:
        return Record(head.fields, block)


class _Arc:
    start = re.compile(
        rb"(?m:^)(?:https?|dns|ftp|filedesc|warcinfo):\S{1,4096}+ [\d.]{7,15} \d{8,17} [^\n]{0,512}\d\r?\n"
    )
    longest = 4_700

    def begins(self, data: bytes) -> bool:
        return self.start.match(data) is not None

    def head(self, data: bytearray, at: int) -> Head | None:
        end = data.find(b"\n", at, at + arc.MAX_LINE)
        if end < 0 and len(data) - at < arc.MAX_LINE:
            return None
        line = bytes(data[at : end + 1 if end >= 0 else at + arc.MAX_LINE])
        fields = arc.fields_of(line)
        return Head(len(line), int(fields[-1]), fields, {})

    def record(self, head: Head, block: bytes) -> ArcRecord:
        return arc.record_of(head.line, block)


WARC: Final[Format] = _Warc()
ARC: Final[Format] = _Arc()
