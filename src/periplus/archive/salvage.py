"""All records of an archive that can be read, and the holes between them.

A file may be torn, overwritten in places, or put together wrongly. What follows such a place is read on from where a
next record begins: at the next packed part (gzip member, zstd frame) that unpacks to one, or, in what is unpacked, at
the next line that begins one. Work is bounded: by ``TRIES`` places that only look like a beginning, and by passing each
byte of the file once. Memory is bounded by the largest record.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from periplus.archive import member, record
from periplus.archive.cutting import next_part
from periplus.archive.formats import WARC
from periplus.archive.streams import GZIP, Unpacker
from periplus.errors import Corrupt, OverBudget, PeriplusError, Truncated

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from periplus.archive.arc import ArcRecord
    from periplus.archive.formats import Format, Head
    from periplus.archive.record import Record
    from periplus.archive.streams import FilePart, Packing

TRIES: Final = 100_000  # beginnings of records in a file that are none, before the rest of it is given up
_TRY: Final = 1_024  # bytes of fields that count as one of them
_LINE_ENDS: Final = 65_536  # bytes behind a record that are looked at for the next one
_NO_LINE_END: Final = re.compile(rb"[^\r\n]")
_DROPPED: Final = 1_000_000  # bytes that are let go of at once


class ArchivePlace(NamedTuple):
    """Bytes of a file; with ``within``, of what the packed part that begins there unpacks to."""

    offset: int
    length: int
    within: int | None = None

    def moved(self, by: int) -> ArchivePlace:
        if self.within is None:
            return self._replace(offset=self.offset + by)
        return self._replace(within=self.within + by)

    def __str__(self) -> str:
        inside = "" if self.within is None else f" of what is packed at {self.within}"
        return f"byte {self.offset}, {self.length} bytes{inside}"


class Hole(NamedTuple):
    """Where nothing could be read, and why."""

    place: ArchivePlace
    what: str


class FoundRecord(NamedTuple):
    """A record, and where it stands."""

    place: ArchivePlace
    record: Record | ArcRecord


class Salvage:
    """Reads one file. ``is_cut`` when more of it may follow, so that a record may end behind what is given here."""

    def __init__(self, file: FilePart, packing: Packing | None, format_: Format, *, is_cut: bool = False) -> None:
        self._file = file
        self._packing = packing
        self._format = format_
        self._is_cut = is_cut
        self._tries = TRIES

    def __iter__(self) -> Iterator[FoundRecord | Hole]:
        """Raises ``Truncated`` where a file that is cut ends inside a record."""
        at = self._packing.first if self._packing else 0
        hole: Hole | None = None
        while at < self._file.size:
            reading = self._from(at)
            while True:
                try:
                    found = next(reading)
                except StopIteration as end:
                    at = end.value
                    break
                if isinstance(found, Hole):
                    hole = _joined(hole, found)
                    continue
                if hole is not None:
                    yield hole
                    hole = None
                yield found
        if hole is not None:
            yield hole

    def _from(self, at: int) -> Generator[FoundRecord | Hole, None, int]:
        """What stands from a place on; ends with the place to go on from."""
        if self._packing is GZIP and self._format is WARC:
            at = yield from self._alone(at)
            if at >= self._file.size:
                return at
        ahead = _Ahead(Unpacker(self._file, self._packing, at), self._format)
        while True:
            try:
                found = self._next(ahead)
            except PeriplusError as error:
                if self._is_cut and isinstance(error, Truncated):
                    raise
                start, target = ahead.at, self._next_record(ahead, error)
                if target is not None:
                    yield Hole(ahead.place(start, target), str(error))
                    ahead.at = target
                    continue
                end = self._next_part(ahead) if ahead.failure is not None else self._file.size
                yield Hole(ahead.place(start, None, end), str(error))
                return end
            if found is None:
                return self._file.size
            yield found

    def _alone(self, at: int) -> Generator[FoundRecord, None, int]:
        """Records that have a gzip member each, which is quicker."""
        self._file.seek(at)
        for length, _, found in member.records_alone(self._file):
            yield FoundRecord(ArchivePlace(at, length), found)
            at += length
        return at

    def _next(self, ahead: _Ahead) -> FoundRecord | None:
        """The record that begins next; none at the end."""
        if not ahead.pass_line_ends():
            if ahead.failure is not None:
                raise ahead.failure
            return None
        start = ahead.at
        head = self._head(ahead)
        if head.length > member.MAX_RECORD:
            raise OverBudget(f"a record of {head.length} bytes is larger than {member.MAX_RECORD}")
        end = start + head.size + head.length
        if not ahead.reach(end, within=start):
            raise ahead.failure or record.short(ahead.end - start - head.size, head.length)
        self._check_end(ahead, start + head.size, end)
        ahead.at = end
        block = ahead.taken(start + head.size, end)
        found = FoundRecord(ahead.place(start, end), self._format.record(head, block))
        ahead.let_go(end)
        return found

    def _head(self, ahead: _Ahead) -> Head:
        start = ahead.at
        try:
            while (head := ahead.head()) is None:
                if not ahead.reach(ahead.end + 1, within=start):
                    raise ahead.failure or Truncated(
                        f"a record ends inside its fields, after {ahead.end - start} bytes"
                    )
        except Corrupt:
            if ahead.begins(start):  # so that all of its fields were looked at
                self._tries -= min(ahead.end - start, record.MAX_FIELDS) // _TRY
            raise
        return head

    def _check_end(self, ahead: _Ahead, block: int, end: int) -> None:
        """A record is followed by ends of lines, and then by another one, or by nothing."""
        after = ahead.past_line_ends(end)
        if after == ahead.end:
            if ahead.failure is not None and ahead.fails_in_part_of(end - 1):
                raise ahead.failure  # the checksum that would vouch for the record is missing or wrong
            return
        ahead.reach(after + self._format.longest)
        if not ahead.begins(after) and (after == end or ahead.holds_record(block, end)):
            raise Corrupt("a record does not end where its length says")

    def _next_record(self, ahead: _Ahead, error: PeriplusError) -> int | None:
        """Where the next record begins in what can be unpacked; none where that is all."""
        self._tries -= 1
        if isinstance(error, _Torn):
            return error.next
        start = ahead.at
        at = start + 1
        while self._tries > 0:
            if (found := ahead.find(at)) is not None:
                return found
            at = max(at, ahead.end - self._format.longest)
            ahead.let_go(at, keep_parts_from=start)
            if not ahead.reach(ahead.end + 1):
                return None
        return None

    def _next_part(self, ahead: _Ahead) -> int:
        """Where the packed part begins that can be read next; the end of the file where there is none."""
        if self._packing is None or self._tries <= 0:
            return self._file.size
        found, tried = next_part(
            self._file, ahead.part + 1, self._file.size, self._packing, self._format.begins, self._tries
        )
        self._tries -= tried
        return self._file.size if found is None else found


class _Torn(Corrupt):
    """A record is not whole, and the next packed part begins another one, at ``next``."""

    def __init__(self, following: int) -> None:
        super().__init__("a record ends too soon: the next packed part begins another one")
        self.next = following


class _Part(NamedTuple):
    start: int  # in what is unpacked
    offset: int  # in the file
    begins: bool  # a record


class _Ahead:
    """What was unpacked and not taken yet. Places count from where unpacking began."""

    def __init__(self, unpacker: Unpacker, format_: Format) -> None:
        self._unpacker = unpacker
        self._format = format_
        self._data = bytearray()
        self._gone = 0  # bytes that were let go of
        self._parts: deque[_Part] = deque()
        self.at = 0

    @property
    def end(self) -> int:
        return self._gone + len(self._data)

    @property
    def failure(self) -> Corrupt | None:
        """What keeps the file from being unpacked further."""
        return self._unpacker.failure

    @property
    def part(self) -> int:
        """Where the part begins that was unpacked last."""
        return self._unpacker.part

    def fails_in_part_of(self, place: int) -> bool:
        return self._part_of(place).offset == self._unpacker.part

    def reach(self, place: int, within: int | None = None) -> bool:
        """Unpack up to ``place``; False where that cannot be. ``within`` says that a record began there.

        Raises ``_Torn`` where another record begins a packed part before that one is whole.
        """
        while self.end < place:
            piece = self._unpacker.piece()
            if not piece:
                return False
            start = self.end
            self._data += piece
            if not self._unpacker.is_first:
                continue
            self._parts.append(_Part(start, self._unpacker.part, self._format.begins(piece)))
            if within is not None and start > within and self._parts[-1].begins:
                raise _Torn(start)
        return True

    def head(self) -> Head | None:
        return self._format.head(self._data, self.at - self._gone)

    def begins(self, place: int) -> bool:
        at = place - self._gone
        return self._format.begins(bytes(self._data[at : at + self._format.longest]))

    def holds_record(self, start: int, end: int) -> bool:
        return self._format.start.search(self._data, start - self._gone, end - self._gone) is not None

    def taken(self, start: int, end: int) -> bytes:
        return bytes(memoryview(self._data)[start - self._gone : end - self._gone])

    def pass_line_ends(self) -> bool:
        """Go to the next byte that ends no line; False where there is none."""
        while self.reach(self.at + 1):
            found = _NO_LINE_END.search(self._data, self.at - self._gone)
            if found is not None:
                self.at = self._gone + found.start()
                return True
            self.at = self.end
            self.let_go(self.at)
        return False

    def past_line_ends(self, place: int) -> int:
        """The first byte from ``place`` on that ends no line, or the end; no more than a few are looked at."""
        limit = place + _LINE_ENDS
        while place < limit and self.reach(place + 1):
            found = _NO_LINE_END.search(self._data, place - self._gone)
            if found is not None:
                return self._gone + found.start()
            place = self.end
        return place

    def find(self, place: int) -> int | None:
        """The first beginning of a record at or behind ``place``."""
        begun = next((part.start for part in self._parts if part.begins and part.start >= place), None)
        match = self._format.start.search(self._data, max(0, place - self._gone))
        if match is None:
            return begun
        found = self._gone + match.start()
        return found if begun is None else min(found, begun)

    def let_go(self, place: int, keep_parts_from: int | None = None) -> None:
        """Forget what stands before ``place``, when it is much."""
        if place - self._gone >= _DROPPED or place == self.end:
            del self._data[: place - self._gone]
            self._gone = place
        first = place if keep_parts_from is None else keep_parts_from
        while len(self._parts) > 1 and self._parts[1].start <= first:
            self._parts.popleft()

    def place(self, start: int, end: int | None, file_end: int = 0) -> ArchivePlace:
        """Where something stands in the file; without an ``end`` it goes on to ``file_end``."""
        if not self._parts:  # the first part gave nothing
            return ArchivePlace(self._unpacker.part, file_end - self._unpacker.part)
        first = self._part_of(start)
        if self._unpacker.is_plain:
            offset = first.offset + start - first.start
            return ArchivePlace(offset, (file_end if end is None else first.offset + end - first.start) - offset)
        if end is None:
            return self._rest(first, start, file_end)
        last = self._part_of(end)
        if last is first:
            return ArchivePlace(start - first.start, end - start, first.offset)
        return ArchivePlace(first.offset, last.offset - first.offset)

    def _rest(self, first: _Part, start: int, file_end: int) -> ArchivePlace:
        """What follows ``start``, which is in the part ``first``, and cannot be unpacked."""
        if start == first.start:
            return ArchivePlace(first.offset, file_end - first.offset)
        if self._unpacker.part != first.offset:  # all of the first part was read
            return ArchivePlace(self._unpacker.part, file_end - self._unpacker.part)
        if isinstance(self.failure, Truncated) or self.failure is None:
            return ArchivePlace(start - first.start, self.end - start, first.offset)
        return ArchivePlace(self._unpacker.reached, file_end - self._unpacker.reached)

    def _part_of(self, place: int) -> _Part:
        found = self._parts[0]
        for part in self._parts:
            if part.start > place:
                break
            found = part
        return found


def _joined(first: Hole | None, second: Hole) -> Hole:
    """Two holes with nothing between them as one."""
    if first is None:
        return second
    a, b = first.place, second.place
    if a.within != b.within:
        return Hole(
            ArchivePlace(a.within if a.within is not None else a.offset, _end(b) - (a.within or a.offset)), first.what
        )
    return Hole(a._replace(length=b.offset + b.length - a.offset), first.what)


def _end(place: ArchivePlace) -> int:
    return place.offset + place.length if place.within is None else place.within + 1
