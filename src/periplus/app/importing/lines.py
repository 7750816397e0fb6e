"""Files of JSON lines, plain or packed: read here, and given to others in portions of raw lines."""

from __future__ import annotations

import codecs
import io
import os
from typing import TYPE_CHECKING, Any, Final

import msgspec

from periplus import archive
from periplus.app.importing.items import BadRecord, FilePortion, Line, bad, record_of
from periplus.app.importing.opening import ask_for
from periplus.errors import Incompatible, PeriplusError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typing_extensions import Buffer

    from periplus.app.importing.items import Entry
    from periplus.app.importing.opening import Opener
    from periplus.app.importing.sizes import Sizes

SUFFIXES: Final = tuple(f".{kind}{packing}" for kind in ("jsonl", "ndjson") for packing in ("", ".gz", ".zst", ".lz4"))
PORTION: Final = 8_000_000  # bytes of a portion, or one line
_STEP: Final = 65_536
_LOOKED_AT: Final = 1_024
_SHOWN: Final = 6  # names of fields
_MARKS: Final = (  # that a file in another encoding than UTF-8 begins with
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Lines(FilePortion, frozen=True):
    """Lines of a file, the first of which has the number ``first``."""

    file: str
    first: int
    lines: list[bytes]
    size: int
    moment: float

    @property
    def count(self) -> int:
        return len(self.lines)

    @property
    def place(self) -> tuple[str, str]:
        return self.file, f"lines {self.first} to {self.first + len(self.lines) - 1}"

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        for number, line in enumerate(self.lines, self.first):
            if line and not line.isspace():
                yield _entry(line, self.file, number, self.moment)


class TooLong(FilePortion, frozen=True):
    """A line that was not read."""

    file: str
    number: int
    most: int  # bytes
    count: int = 1
    size: int = 0

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        yield bad(self.file, f"line {self.number}", f"longer than {self.most} bytes", "too-large")


def check(path: Path, opened: Opener) -> None:
    """Raise what is wrong with a file that is no text at all."""
    with ask_for(opened, path) as file:
        try:
            start = archive.unpacked(file).peek(_LOOKED_AT)[:_LOOKED_AT]
        except PeriplusError as error:
            raise type(error)(f"{path}: {error}") from error
    if b"\0" in start and not start.startswith(tuple(mark for mark, _ in _MARKS)):
        raise Incompatible(f"{path} holds binary data, not lines of JSON; name it by what it is")


def portions(path: Path, opened: Opener, sizes: Sizes) -> Iterator[Lines | TooLong]:
    """The file in portions; raises ``Corrupt`` or ``Truncated`` where a packed one cannot be read further."""
    longest = sizes.longest_line
    lines: list[bytes] = []
    number, size = 1, 0  # of the first of the lines that wait, and all their bytes
    failure: PeriplusError | None = None
    with ask_for(opened, path) as file:
        moment = os.fstat(file.fileno()).st_mtime
        stream = _as_utf8(archive.unpacked(file))
        while failure is None:
            try:
                line = stream.readline(longest + 1)
            except PeriplusError as error:
                failure, line = error, b""
            if len(line) <= longest and line:
                lines.append(line)
                size += len(line)
            if lines and (len(lines) >= sizes.lines or size >= PORTION or len(line) > longest or not line):
                yield Lines(str(path), number, lines, size, moment)
                number, size, lines = number + len(lines), 0, []
            if len(line) > longest:
                yield TooLong(str(path), number, longest)
                _pass_line(stream)
                number += 1
            if not line:
                break
    if failure is not None:
        raise failure


def _pass_line(stream: io.BufferedReader) -> None:
    while (rest := stream.readline(_STEP)) and not rest.endswith(b"\n"):
        pass


def _entry(line: bytes, file: str, number: int, moment: float) -> Entry:
    try:
        return record_of(_decoder.decode(line), moment)
    except BadRecord as error:
        return bad(file, f"line {number}", f"{error}; it has {_fields(line)}")
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return bad(file, f"line {number}", str(error))


def _fields(line: bytes) -> str:
    """The names in a line that lacks those that are wanted."""
    try:
        names = list(msgspec.json.decode(line, type=dict[str, Any]))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return "fields that cannot be read"
    return ", ".join(name[:40] for name in names[:_SHOWN]) or "nothing"


_decoder = msgspec.json.Decoder(Line)


def _as_utf8(stream: io.BufferedReader) -> io.BufferedReader:
    """What a stream holds in UTF-8, whatever mark it begins with."""
    start = stream.peek(4)[:4]
    if start.startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
    encoding = next((name for mark, name in _MARKS if start.startswith(mark)), "")
    return io.BufferedReader(_Recoded(stream, encoding)) if encoding else stream


class _Recoded(io.RawIOBase):
    """A stream of another encoding in UTF-8."""

    def __init__(self, stream: io.BufferedReader, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        while not self._ready and (data := self._stream.read1(_STEP)):
            self._ready = self._decoder.decode(data).encode("utf-8", "replace")
        room = memoryview(buffer)
        taken, self._ready = self._ready[: len(room)], self._ready[len(room) :]
        room[: len(taken)] = taken
        return len(taken)
