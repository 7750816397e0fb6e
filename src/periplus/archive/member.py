"""Records of a file one after another, with their places: gzip members, or plain records.

Memory is bounded by the largest record that is accepted, whatever the file says of itself.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from isal import isal_zlib
from isal.igzip_lib import IsalError

from periplus.archive import record
from periplus.errors import Corrupt, Incompatible, OverBudget, PeriplusError, Truncated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from periplus.archive.record import Record
    from periplus.archive.streams import Readable

MAX_RECORD = 256_000_000  # bytes of one record, unpacked
MAGIC = b"\x1f\x8b"
# The first member of a thinned file says so in its gzip header, in an extra field, which others pass over.
_FLAGS, _EXTRA, _HEADER = 3, 4, 10  # place of the flags; the flag of an extra field; bytes of the header before it
_MARK = b"\x06\x00Pp\x02\x00\x01\x00"  # the field: its length, a name, the length of what it says, a version
_STEP = 65_536
_LARGE = 32_000_000  # bytes of a record that is read in steps rather than at once
_TRAILER = b"\r\n"
RECORD_END = 2 * _TRAILER
_DAMAGE = (cast("type[Exception]", IsalError), EOFError)


class PlacedRecord(NamedTuple):
    offset: int
    length: int  # bytes in the file
    record: Record


def placed_records(file: BinaryIO, offset: int = 0, limit: int = MAX_RECORD) -> Iterator[PlacedRecord]:
    """All records from ``offset`` on; raises ``Corrupt`` or ``Truncated`` where the file stops being whole."""
    file.seek(offset)
    start = file.read(len(MAGIC))
    file.seek(offset)
    packed = start != b"" and MAGIC.startswith(start)
    yield from _packed(file, offset, limit) if packed else plain_records(file, offset, limit)


class PlainFile(io.BufferedReader):
    """A file that is known to be no thinned one: its beginning, which may be far away, need not be read to tell."""


def is_marked(file: BinaryIO) -> bool:
    """Whether this is a thinned file (``thinned``)."""
    if isinstance(file, PlainFile):
        return False
    file.seek(0)
    start = file.read(_HEADER + len(_MARK))
    return start.startswith(MAGIC) and start[_HEADER:] == _MARK and bool(start[_FLAGS] & _EXTRA)


def marked(packed: bytes) -> bytes:
    """The member that a thinned file begins with."""
    return b"".join((packed[:_FLAGS], bytes([_EXTRA]), packed[_FLAGS + 1 : _HEADER], _MARK, packed[_HEADER:]))


def members(file: BinaryIO, offset: int = 0, limit: int = MAX_RECORD) -> Iterator[tuple[int, bytes]]:
    """Packed length and content of each whole gzip member from ``offset`` on."""
    file.seek(offset)
    ahead = b""
    while ahead := ahead or file.read(_STEP):
        length, content, ahead = _member(file, ahead, limit)
        yield length, content


def _member(file: Readable, ahead: bytes, limit: int) -> tuple[int, bytes, bytes]:
    """The member that begins with ``ahead``: its packed length, its content, and what was read past it."""
    if not ahead.startswith(MAGIC[: len(ahead)]):
        raise Corrupt(f"no gzip member here, but {ahead[:8]!r}")
    decoder = isal_zlib.decompressobj(31)
    parts: list[bytes] = []
    taken = size = 0
    while not decoder.eof:
        if not ahead:
            raise Truncated(f"a gzip member ends after {taken} bytes")
        parts.append(_inflated(decoder, ahead))
        taken += len(ahead)
        size += len(parts[-1])
        if size > limit:
            raise OverBudget(f"a record unpacks to more than {limit} bytes")
        ahead = b"" if decoder.eof else file.read(_STEP)
    rest: bytes = decoder.unused_data
    return taken - len(rest), b"".join(parts), rest


def _inflated(decoder: isal_zlib.Decompress, data: bytes) -> bytes:
    try:
        content: bytes = decoder.decompress(data)
    except _DAMAGE as error:
        raise Corrupt(f"a gzip member is damaged: {error}") from error
    return content


def _packed(file: BinaryIO, offset: int, limit: int) -> Iterator[PlacedRecord]:
    for length, content in members(file, offset, limit):
        found = record.decode(content)
        start = record.fields_end(content)
        if content[start + len(found.block) :].strip(_TRAILER):
            raise Incompatible(
                "several records share one gzip member, so none can be read by its offset; recompress it"
            )
        yield PlacedRecord(offset, length, found)
        offset += length


def plain_records(file: BinaryIO, offset: int = 0, limit: int = MAX_RECORD) -> Iterator[PlacedRecord]:
    """The records that are not packed, from where the file stands, which is ``offset``."""
    ahead = b""
    while True:
        skipped, ahead = _past_empty_lines(file, ahead)
        offset += skipped
        if not ahead:
            return
        ahead, start = _whole_fields(file, ahead)
        fields = record.parse_fields(ahead[:start])
        length = record.block_length(fields)
        if length > limit:
            raise OverBudget(f"a record of {length} bytes is larger than {limit}")
        ahead += file.read(max(0, start + length - len(ahead)))
        if len(ahead) < start + length:
            raise record.short(len(ahead) - start, length)
        yield PlacedRecord(offset, start + length, record.Record(fields, ahead[start : start + length]))
        offset += start + length
        ahead = ahead[start + length :]


def records_alone(file: Readable) -> Iterator[tuple[int, int, Record]]:
    """Records that have a gzip member each, from where the file stands: packed length, unpacked length, record.

    It ends before the first member that is anything else (several records, damage, very large, no gzip at all); whoever
    reads on from there meets it.
    """
    ahead = b""
    while ahead := ahead or file.read(_STEP):
        try:
            length, content, ahead = _member(file, ahead, _LARGE)
            found = record.decode(content)
        except PeriplusError:
            return
        end = record.fields_end(content) + len(found.block)
        if content[end:] != RECORD_END:
            return
        yield length, len(content), found


def _past_empty_lines(file: BinaryIO, ahead: bytes) -> tuple[int, bytes]:
    skipped = 0
    while True:
        kept = ahead.lstrip(_TRAILER)
        skipped += len(ahead) - len(kept)
        if kept:
            return skipped, kept
        ahead = _some(file)
        if not ahead:
            return skipped, b""


def _whole_fields(file: BinaryIO, ahead: bytes) -> tuple[bytes, int]:
    if not ahead.startswith(b"WARC/"[: len(ahead)]):
        raise record.foreign(ahead)
    while (start := record.fields_end(ahead)) < 0:
        more = _some(file)
        if not more:
            raise Truncated(f"a WARC record ends inside its fields, after {len(ahead)} bytes")
        ahead += more
    return ahead, start


def _some(file: BinaryIO) -> bytes:
    """What can be had at once: to ask for more would fail at damage that comes behind whole records."""
    return cast("BufferedReader", file).read1(_STEP)
